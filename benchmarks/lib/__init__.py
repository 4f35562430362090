"""What the benchmarks share: timing, records, data sets, processes of other packages."""
