"""Memberships of many rows in many clusters: where they are written, and the largest of each row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def check_out(out: object, shape: tuple[int, int], X: object) -> None:
    """Raise an error unless memberships of this shape can be written to ``out``."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be a NumPy array or memory map. Got {type(out).__name__} instead.")
    if out.shape != shape:
        raise ValueError(f"out must have shape (n_samples, n_clusters) = {shape}. Got shape {out.shape} instead.")
    if out.dtype.type not in (np.float32, np.float64):
        raise ValueError(f"out must have dtype float32 or float64. Got {out.dtype} instead.")
    if not out.flags.writeable:
        raise ValueError("out must be writeable. Got a read-only array instead; open a memory map with mode 'r+'.")
    if isinstance(X, np.ndarray) and np.shares_memory(X, out):
        raise ValueError("out must not share memory with X: rows would be overwritten before they are read.")


def largest_entries(memberships: NDArray[Any], top_k: int, normalise: bool) -> sparse.csr_array:
    """The ``top_k`` largest positive entries of each row; among equal entries those of smaller columns.

    Parameters
    ----------
    memberships : ndarray of shape (n, K)
        Rows with a positive entry if they are normalised.
    top_k : int
    normalise : bool
        Whether the rows are divided by their sum, if an entry may be missing.

    Examples
    --------
    >>> largest_entries(np.array([[0.2, 0.6, 0.2], [0.0, 0.0, 1.0]]), 2, True).toarray()
    array([[0.25, 0.75, 0.  ],
           [0.  , 0.  , 1.  ]])
    """
    n_clusters = memberships.shape[1]
    kept = memberships > 0
    if top_k < n_clusters:
        kept &= memberships >= np.partition(memberships, -top_k, axis=1)[:, [-top_k]]
        tied = np.flatnonzero(kept.sum(axis=1) > top_k)
        order = np.argsort(-memberships[tied], axis=1, kind="stable")
        kept[tied[:, None], order[:, top_k:]] = False
    ends = np.append(0, np.cumsum(kept.sum(axis=1)))
    data = memberships[kept]
    if normalise and top_k < n_clusters:
        data /= np.repeat(np.add.reduceat(data, ends[:-1]), np.diff(ends))
    index = np.int32 if len(data) <= np.iinfo(np.int32).max else np.int64  # SciPy would keep the wider type
    return sparse.csr_array((data, np.nonzero(kept)[1].astype(index), ends.astype(index)), shape=memberships.shape)
