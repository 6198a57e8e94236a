"""Modules that only programs written for PyFlink ask for: the alias looks here when Penstock has none of that name."""
