"""The limits of threads: which libraries they hold to one thread, and that they end with the context."""

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from soft_clustering.engine.threads import single_threaded, single_threaded_blas


def threads():
    """The number of threads of each library, by the kind of library."""
    info = threadpool_info()
    return {kind: {pool["num_threads"] for pool in info if pool["user_api"] == kind} for kind in ("blas", "openmp")}


@pytest.mark.parametrize("limit, openmp", [(single_threaded_blas, {2}), (single_threaded, {1})])
def test_threads_inside_and_after(limit, openmp):
    with threadpool_limits(2):
        before = threads()
        assert before["blas"] == {2}
        with limit():
            found = threads()
        assert found["blas"] == {1}
        if before["openmp"] == {2}:  # a library of OpenMP is loaded
            assert found["openmp"] == openmp
        assert threads() == before
