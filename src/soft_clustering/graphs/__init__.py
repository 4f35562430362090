"""Communities of graphs, overlapping or not."""
