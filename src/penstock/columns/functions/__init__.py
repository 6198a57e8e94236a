"""The built-in functions: what they take, what they give, and which kernel computes them."""
