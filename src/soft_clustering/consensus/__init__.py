"""Consensus of several partitions of the same objects, as the cut of a graph."""
