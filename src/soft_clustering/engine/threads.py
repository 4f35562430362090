"""BLAS on one thread while fitting: the kernels split sums over rows, in an order that does not depend on threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import scipy.linalg  # noqa: F401  # its BLAS must be loaded to be found
from sklearn.utils.parallel import _get_threadpool_controller

from ..kernels import threads_for, threads_lost

# Finding the libraries takes 10 ms: it is done here, so that the first fit does not wait for it, and only once, as
# scikit-learn's own loops use the same controller.
_CONTROLLER = _get_threadpool_controller()
_BLAS = _CONTROLLER.select(user_api="blas").lib_controllers


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """A context in which BLAS runs on one thread, so that results do not depend on the number of cores.

    The controller's own context also collects what is known of each library, which takes longer than a pass.
    """
    before = [library.get_num_threads() for library in _BLAS]
    try:
        for library in _BLAS:
            library.set_num_threads(1)
        yield
    finally:
        for library, threads in zip(_BLAS, before, strict=True):
            library.set_num_threads(threads)


def single_threaded() -> AbstractContextManager[Any]:
    """A context in which BLAS and OpenMP run on one thread, for scikit-learn's own loops on little data."""
    context: AbstractContextManager[Any] = _CONTROLLER.limit(limits=1)
    return context


def threads_that_pay(work: int) -> AbstractContextManager[Any]:
    """A context for scikit-learn's own loops: one thread for little work, as many as usual for more.

    Its threads and those of our kernels belong to two runtimes, which take the cores from each other while they wait.
    """
    pay = threads_for(work, 2, 2) > 1 and not threads_lost()
    return nullcontext() if pay else single_threaded()
