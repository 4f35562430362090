"""Whether other implementations of the same method find the same."""
