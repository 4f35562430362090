from __future__ import annotations

import os
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

from soft_clustering import kernels

pytest.register_assert_rewrite("helpers")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of shared data sets; a test that asks for it is skipped where there is none."""
    given = os.environ.get("SOFT_CLUSTERING_DATA_SHARED")
    folder = Path(given) if given else ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder}: set SOFT_CLUSTERING_DATA_SHARED to their folder")
    return folder


@pytest.fixture(scope="session")
def browser():
    """A browser without a window; a test that asks for it is skipped where there is none."""
    from helpers.chromium import Browser, missing

    reason = missing()
    if reason:
        pytest.skip(reason)
    with Browser() as browser:
        yield browser


@pytest.fixture(params=[16, 32, 0], ids=["16-byte", "32-byte", "widest"])
def vectors(request):
    """The instantiations of the vector code: the baseline, the next one, and the widest that the processor has."""
    kernels.compiled.vector_bytes(request.param)
    yield
    kernels.compiled.vector_bytes(0)


@pytest.fixture
def three_threads(monkeypatch):
    """Three threads for the kernels, even where there is one core."""
    monkeypatch.setattr(kernels, "usable_cores", lambda: 3)
    with threadpool_limits(3, user_api="openmp"):
        assert kernels.compiled is None or kernels.most_threads() == 3
        yield


@pytest.fixture
def twin(monkeypatch):
    """A function that calls a kernel's NumPy twin."""

    def call(kernel, *arguments, **keywords):
        with monkeypatch.context() as patch:
            patch.setattr(kernels, "compiled", None)
            return kernel(*arguments, **keywords)

    return call
