"""The mixture family."""
