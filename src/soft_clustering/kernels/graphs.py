"""Passes over the links of a graph: compiled if the extension was built, otherwise the NumPy twins here.

A graph is a symmetric CSR matrix without a diagonal; links that are not 0 or 1 are weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import softmax

from .. import kernels
from .._types import Array

_FLOOR = 1e-12  # no rate of a link is smaller
_PAD = 4  # columns of affiliations come in multiples of it
_LINKS = 1 << 16  # links that the NumPy twins process together
_WEDGES = 1 << 22  # pairs of links at a node that the NumPy twin looks at together
_SHRINK, _TRIALS, _ENOUGH = 0.3, 11, 0.05  # line search: factor of a step, steps tried, part of the promised gain
_STEEP = 10.0  # largest entry of a gradient
_FLAT = 1e-8  # squared length of a gradient that is not followed


def ratio_rows(V: sparse.csr_array, P: Array, Q: Array) -> tuple[Array, float]:
    """Over the links (i, j): sum_j v_ij / s_ij Q_j for each node i, (n, K), and sum_ij v_ij log s_ij; s_ij = P_i . Q_j.

    Parameters
    ----------
    V : CSR matrix of shape (n, m)
    P : array of shape (n, K)
    Q : array of shape (m, K)
    """
    if kernels.use_compiled():
        n, m = V.shape
        indices = V.indices.astype(V.indptr.dtype, copy=False)
        rows = kernels.compiled.Rows(V.data, np.zeros(m), np.ones(m), None, indices, V.indptr, m)
        chunks = max(1, min(64, n // 64))
        threads = kernels.threads_for(V.nnz * Q.shape[1] * 2, chunks)
        answer: tuple[Array, float] = kernels.compiled.ratio_rows(
            rows, np.ascontiguousarray(P), np.ascontiguousarray(Q), chunks, threads
        )
        return answer
    nodes = np.repeat(np.arange(V.shape[0]), np.diff(V.indptr))
    s = np.empty(V.nnz)
    for lo in range(0, V.nnz, _LINKS):
        part = slice(lo, lo + _LINKS)
        s[part] = np.einsum("pk,pk->p", P[nodes[part]], Q[V.indices[part]]) + _FLOOR
    R = sparse.csr_array((V.data / s, V.indices, V.indptr), shape=V.shape)
    return R @ Q, float(V.data @ np.log(s))


def padded(F: Array) -> Array:
    """A copy with zero columns up to a multiple of four, as the affiliation kernels take it."""
    wide = np.zeros((F.shape[0], -(-F.shape[1] // _PAD) * _PAD))
    wide[:, : F.shape[1]] = F
    return wide


def affiliation_sweep(
    A: sparse.csr_array, F: Array, total: Array, order: NDArray[np.int64], rate: float, most: float
) -> None:
    """Move every row of F (n, wide) once, in order, up the likelihood of the Bernoulli-Poisson model; in place.

    P(link) = 1 - exp(-F_u . F_v - rate). ``total`` is the sum of the rows and is updated; no entry exceeds ``most``.
    """
    if kernels.use_compiled():
        kernels.compiled.affiliation_sweep(*_links(A), F, total, order, rate, most)
        return
    for u in order:
        rest = total - F[u]
        F[u] = _ascend(F[u], F[A.indices[A.indptr[u] : A.indptr[u + 1]]], rest, rate, most)
        total[:] = rest + F[u]


def affiliation_rows(A: sparse.csr_array, F: Array, f: Array, rate: float, most: float, steps: int) -> None:
    """Move the rows f (m, wide) of new nodes with links A (m, n) to the nodes of F; in place."""
    total = F.sum(axis=0)
    if kernels.use_compiled():
        kernels.compiled.affiliation_rows(*_links(A), F, total, f, rate, most, steps)
        return
    for u in range(len(f)):
        near = F[A.indices[A.indptr[u] : A.indptr[u + 1]]]
        for _ in range(steps):
            before = f[u].copy()
            f[u] = _ascend(f[u], near, total, rate, most)
            if (f[u] == before).all():
                break


def affiliation_likelihood(A: sparse.csr_array, F: Array, rate: float) -> float:
    """The log likelihood of the links and of the pairs without one: sum log(1 - exp(-x - rate)) - sum (x + rate)."""
    n, total = len(F), F.sum(axis=0)
    pairs = (total @ total - np.einsum("ij,ij->", F, F)) / 2 + rate * (n * (n - 1) - A.nnz) / 2
    if kernels.use_compiled():
        links = kernels.compiled.affiliation_links(*_links(A), F, rate)
    else:
        nodes = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
        z = np.einsum("pk,pk->p", F[nodes], F[A.indices])
        links = (np.log(-np.expm1(-z - rate)) + z).sum() / 2
    return float(links - pairs)


def closed_wedges(A: sparse.csr_array) -> Array:
    """For each node, the number of links among the nodes that it is linked to, in both directions."""
    closed = np.zeros(A.shape[0])
    if kernels.use_compiled():
        kernels.compiled.closed_wedges(*_links(A), closed)
        return closed
    ones = sparse.csr_array((np.ones(A.nnz), A.indices, A.indptr), shape=A.shape)
    wedges = np.cumsum(ones @ np.diff(A.indptr))
    ends = np.unique(np.append(np.searchsorted(wedges, np.arange(_WEDGES, wedges[-1], _WEDGES)) + 1, len(closed)))
    for lo, hi in zip(np.append(0, ends[:-1]), ends, strict=True):
        rows = ones[lo:hi]
        closed[lo:hi] = (rows @ ones).multiply(rows).sum(axis=1)
    return closed


def gumbel_softmax(W: Array, keys: NDArray[np.uint64], t: float, out: NDArray[np.float32], threads: int) -> Array:
    """Draw softmax((W + g) / t) over the second axis of W (starts, K, n), g Gumbel numbers; return the means.

    The draws are written to ``out`` (starts, draws, K, n). Each random number is a hash of its place in a plane (K, n)
    and of the plane's key, ``keys`` (starts, draws), and depends on nothing else.
    """
    if kernels.use_compiled():
        mean = np.empty_like(W)
        kernels.compiled.gumbel_softmax(W, keys, t, out, mean, kernels.threads_for(32 * out.size, _tiles(W), threads))
        return mean
    places = np.arange(W[0].size, dtype=np.uint32).reshape(W[0].shape)
    for w, of_start, draws in zip(W, keys, out, strict=True):
        for key, draw in zip(of_start, draws, strict=True):
            low, high = np.uint32(key & np.uint64(0xFFFFFFFF)), np.uint32(key >> np.uint64(32))
            hashed = _scramble(_scramble(places ^ low) + high)
            draw[:] = softmax((w - np.log(-np.log((hashed + 0.5) / 2.0**32))) / t, axis=0)
    answer: Array = out.mean(axis=1, dtype=np.float64)
    return answer


def gumbel_slope(draws: NDArray[np.float32], mean: Array, slope: Array, t: float, threads: int) -> Array:
    """The gradient in W of a function of the mean of these draws, from its gradient ``slope`` in the mean."""
    if kernels.use_compiled():
        out = np.empty_like(mean)
        kernels.compiled.gumbel_slope(
            draws, mean, slope, t, out, kernels.threads_for(draws.size, _tiles(mean), threads)
        )
        return out
    along = np.einsum("sdkn,skn->sdn", draws, slope)
    gradient: Array = (mean * slope - np.einsum("sdkn,sdn->skn", draws, along) / draws.shape[1]) / t
    return gradient


def _tiles(W: Array) -> int:
    """The number of parts of W (starts, K, n) that are distributed among threads."""
    return int(len(W) * -(-W.shape[2] // 64))


def _scramble(x: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """MurmurHash3's 32-bit finaliser."""
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    x = (x ^ (x >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    scrambled: NDArray[np.uint32] = x ^ (x >> np.uint32(16))
    return scrambled


def _links(A: sparse.csr_array) -> tuple[Any, Any]:
    """The index arrays of a CSR matrix. SciPy keeps them in one type, so nothing is copied."""
    return A.indptr, A.indices.astype(A.indptr.dtype, copy=False)


def _ascend(f: Array, near: Array, rest: Array, rate: float, most: float) -> Array:
    """One projected gradient step of a row with backtracking; ``near`` are the rows that it is linked to."""

    def value(row: Array) -> float:
        z = near @ row
        return float((np.log(-np.expm1(-z - rate)) + z).sum() - row @ rest)

    g = near.T @ (1 / np.expm1(near @ f + rate) + 1) - rest
    g[(f <= 0) & (g < 0)] = 0
    g = np.clip(g, -_STEEP, _STEEP)
    if g @ g < _FLAT:
        return f
    now = value(f)
    for step in _SHRINK ** np.arange(_TRIALS):
        trial = np.clip(f + step * g, 0, most)
        if value(trial) >= now + _ENOUGH * (g @ (trial - f)):
            answer: Array = trial
            return answer
    return f
