"""A mixture over the links of a graph: compiled if the extension was built, otherwise the twin here."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .. import kernels
from .._rows import entries_at
from .._types import Array
from .graphs import _links

_CHUNK = 256  # nodes that a thread takes at a time
_LINKS = 1 << 16  # links that the NumPy twin processes together
_LEAST = np.finfo(np.float64).tiny


def link_rows(A: sparse.csr_array, P: sparse.csr_array, Q: sparse.csr_array) -> tuple[Array, Array]:
    """With s_ij = P_i . Q_j over the links: k_iz = P_iz sum_j a_ij / s_ij Q_jz, and sum_j a_ij log s_ij for each node.

    Parameters
    ----------
    A : CSR matrix of shape (m, n)
    P : CSR matrix of shape (m, K)
    Q : CSR matrix of shape (n, K)
        The columns of all are sorted. A link without a common column of P_i and Q_j is left out of k; for the logarithm
        its s_ij is the least positive number.

    Returns
    -------
    k : array
        At the entries of P.
    logs : array of shape (m,)
    """
    k, logs = np.zeros(P.nnz), np.zeros(A.shape[0])
    if A.nnz == 0:
        return k, logs
    if kernels.use_compiled():
        threads = kernels.threads_for(16 * A.nnz, max(1, A.shape[0] // _CHUNK))
        longest = int(np.diff(P.indptr).max())
        kernels.compiled.link_rows(*_links(A), A.data, *_arrays(P), *_arrays(Q), P.shape[1], longest, k, logs, threads)
        return k, logs
    nodes, s = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr)), np.empty(A.nnz)
    for lo in range(0, A.nnz, _LINKS):
        part = slice(lo, lo + _LINKS)
        s[part] = np.asarray(P[nodes[part]].multiply(Q[A.indices[part]]).sum(axis=1)).ravel()
    ratios = np.divide(A.data, s, out=np.zeros(A.nnz), where=s >= _LEAST)
    k = P.data * entries_at(sparse.csr_array((ratios, A.indices, A.indptr), shape=A.shape) @ Q, P)
    np.add.at(logs, nodes, A.data * np.log(np.maximum(s, _LEAST)))
    return k, logs


def _arrays(rows: sparse.csr_array) -> tuple[Any, Any, Any]:
    """Where rows begin, columns and entries, in the types that the kernel takes."""
    return rows.indptr.astype(np.int64, copy=False), rows.indices.astype(np.int32, copy=False), rows.data
