"""Benchmarks by question: speed, quality, agreement, scale."""
