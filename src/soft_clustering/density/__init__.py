"""The density family."""
