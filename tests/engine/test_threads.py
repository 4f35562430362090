"""Threads: the limits of libraries, how many a kernel takes, and fits in processes that others have started."""

import os
import subprocess
import sys

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from soft_clustering import kernels
from soft_clustering.engine.threads import single_threaded, single_threaded_blas, threads_that_pay


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


def test_threads_follow_the_work(monkeypatch):
    monkeypatch.setattr(kernels, "most_threads", lambda: 8)
    grain = kernels._GRAIN
    found = [kernels.threads_for(work, 64) for work in (0, grain, 2 * grain - 1, 2 * grain, 5 * grain, 100 * grain)]
    assert found == [1, 1, 1, 2, 5, 8]
    assert kernels.threads_for(100 * grain, 3) == 3  # chunks
    assert kernels.threads_for(100 * grain, 64, 4) == 4


def test_loops_of_sklearn_get_threads_for_much_work_only():
    with threadpool_limits(2):
        for work, expected in ((1000, {1}), (10**9, {2})):
            with threads_that_pay(work):
                assert threads()["blas"] == expected


# The parent uses threads; then its children, made in three ways, fit what the parent has fitted.
FITS = """
import multiprocessing, sys, warnings
import joblib, numpy as np
from sklearn.datasets import make_blobs
from soft_clustering import FCM, GMM, kernels

def fit(n):
    X, _ = make_blobs(n, 8, centers=4, cluster_std=4.0, random_state=0)
    return [FCM(4, n_init=1, random_state=0).fit(X).objective_, GMM(4, random_state=0).fit(X).objective_]

if __name__ == "__main__":
    sizes = [500, 100_000]
    expected = [fit(n) for n in sizes]
    assert kernels._threads_used
    way = sys.argv[1]
    if way == "loky":
        found = joblib.Parallel(2)(joblib.delayed(fit)(n) for n in sizes)
    else:
        with multiprocessing.get_context(way).Pool(1) as pool:
            found = pool.map_async(fit, sizes).get(timeout=100)
            assert pool.apply(kernels.threads_lost) == (way == "fork")
    assert found == expected, (found, expected)
    assert not kernels.threads_lost()
"""


@pytest.mark.skipif(kernels.compiled is None, reason="threads belong to the compiled kernels")
@pytest.mark.parametrize("way", ["fork", "spawn", "loky"])
def test_fits_in_child_processes(tmp_path, way):
    if way == "fork" and not hasattr(os, "fork"):
        pytest.skip("this platform has no fork")
    if kernels.usable_cores() < 2:
        pytest.skip("the fits of the parent use one core only")
    script = tmp_path / "fits.py"
    script.write_text(FITS)
    environment = os.environ | {"OMP_NUM_THREADS": "2", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, str(script), way], env=environment, timeout=200, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
