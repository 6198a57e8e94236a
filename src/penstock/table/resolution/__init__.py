"""From written expressions to typed ones: names, types, implied casts."""
