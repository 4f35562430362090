from __future__ import annotations

import pytest

from soft_clustering import kernels


@pytest.fixture(params=[16, 0], ids=["16-byte", "widest"])
def vectors(request):
    """Both instantiations of the vector code: the baseline, and the widest that the processor has."""
    kernels.compiled.vector_bytes(request.param)
    yield
    kernels.compiled.vector_bytes(0)


@pytest.fixture
def twin(monkeypatch):
    """A function that calls a kernel's NumPy twin."""

    def call(kernel, *arguments):
        with monkeypatch.context() as patch:
            patch.setattr(kernels, "compiled", None)
            return kernel(*arguments)

    return call
