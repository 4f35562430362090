"""How cost grows with the data, and what Dask adds."""
