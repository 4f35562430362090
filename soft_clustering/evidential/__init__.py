"""The evidential family."""
