"""Topics and overlapping groups of documents."""
