"""Real Dask clusters of two worker processes."""

from contextlib import contextmanager

import pytest


@contextmanager
def two_workers(**options):
    """The client of two workers of one thread each; it is not the default one, so that other tests compute here."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, **options
        ) as made,
        distributed.Client(made, set_as_default=False) as client,
    ):
        yield client
