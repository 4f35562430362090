"""BLAS on one thread while fitting: the kernels split sums over rows, in an order that does not depend on threads."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    # Finding the libraries takes milliseconds, so it is done once per process.
    return ThreadpoolController()


def single_threaded_blas() -> AbstractContextManager[Any]:
    """A context in which BLAS runs on one thread, so that results do not depend on the number of cores."""
    context: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return context


def single_threaded() -> AbstractContextManager[Any]:
    """A context in which BLAS and OpenMP run on one thread, for scikit-learn's own loops on little data."""
    context: AbstractContextManager[Any] = _controller().limit(limits=1)
    return context
