"""The fuzzy family."""
