"""Passes over the links of a graph: compiled if the extension was built, otherwise the NumPy twins here.

A graph is a symmetric CSR matrix without a diagonal; links that are not 0 or 1 are weights.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import gammaln, log_softmax, psi, softmax

from .. import kernels
from .._types import Array

_FLOOR = 1e-12  # no rate of a link is smaller
_SMALL = 2.0**-26  # added to denominators
_LINE = 8  # numbers in a cache line
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
        answer: tuple[Array, float] = kernels.compiled.ratio_rows(
            _rows(V), np.ascontiguousarray(P), np.ascontiguousarray(Q), *_grid(V, Q.shape[1])
        )
        return answer
    nodes = np.repeat(np.arange(V.shape[0]), np.diff(V.indptr))
    s = np.empty(V.nnz)
    for lo in range(0, V.nnz, _LINKS):
        part = slice(lo, lo + _LINKS)
        s[part] = np.einsum("pk,pk->p", P[nodes[part]], Q[V.indices[part]]) + _FLOOR
    R = sparse.csr_array((V.data / s, V.indices, V.indptr), shape=V.shape)
    return R @ Q, float(V.data @ np.log(s))


class Factor(NamedTuple):
    """A factor (n, wide) of a matrix, with the sums and the sums of squares of its columns."""

    rows: Array
    sums: Array
    squares: Array

    @classmethod
    def of(cls, rows: Array) -> Factor:
        """The factor of these rows."""
        return cls(rows, rows.sum(axis=0), np.square(rows).sum(axis=0))


def factor_step(V: sparse.csr_array, P: Factor, Q: Factor, beta: Array, out: Array) -> tuple[Factor, float]:
    """A multiplicative step of P, P_ik <- P_ik (sum_j v_ij / s_ij Q_jk) / (sum_j Q_jk + beta_k P_ik), s_ij = P_i . Q_j.

    The new rows are written to ``out``. Gives the new factor, and sum_ij v_ij log s_ij before the step. The columns are
    filled up, see :func:`padded`.
    """
    if not kernels.use_compiled():
        ratios, logs = ratio_rows(V, P.rows, Q.rows)
        np.divide(P.rows * ratios, Q.sums + P.rows * beta + _SMALL, out=out)
        return Factor.of(out), logs
    logs, sums, squares = kernels.compiled.factor_rows(
        _rows(V), P.rows, Q.rows, np.stack([Q.sums, beta]), out, np.diff(V.indptr).max(), *_grid(V, out.shape[1])
    )
    return Factor(out, sums, squares), logs


class BlockPass(NamedTuple):
    """What a pass over the links of a mixed-membership blockmodel gives."""

    phi: Array  # (n, K), towards nodes without a link
    near: Array  # (n, K), the sums of the phi of linked nodes
    M: Array  # (n, K), how often a node acts as each block towards its links
    N1: Array  # (K, K), expected links
    N0: Array  # (K, K), expected pairs without one
    bound: float  # of the log likelihood


def block_pass(A: sparse.csr_array, gamma: Array, phi: Array, near: Array, B: Array, alpha: float) -> BlockPass:
    """A pass over a mixed-membership blockmodel from gamma, phi, near and B; see :mod:`soft_clustering.graphs.mmsb`."""
    degree, no_link = np.diff(A.indptr).astype(np.float64), np.log1p(-B)
    if kernels.use_compiled():
        (n, K), grid = gamma.shape, _grid(A, 4 * B.shape[1])
        room = _zeros(5, n, _wide(K))
        room[0, :, :K], room[1, :, :K] = phi, near
        N1, N0, bound = kernels.compiled.block_pass(
            _rows(A), degree, np.ascontiguousarray(gamma), room, B, no_link, alpha, *grid
        )
        phi, near, M = (room[i, :, :K] for i in (0, 1, 4))
    else:
        rest = (len(gamma) - 1 - degree)[:, None]
        sums = gamma.sum(axis=1, keepdims=True)
        E = psi(gamma) - psi(sums)
        most = E.max(axis=1, keepdims=True)
        a = np.exp(E - most)
        ratios, logs = ratio_rows(A, a @ B, a)
        N1, M = a.T @ ratios, a * (ratios @ B)
        for _ in range(2):
            log_phi = log_softmax((phi.sum(axis=0) - phi - near) @ no_link / np.maximum(rest, 1) + E, axis=1)
            phi = np.exp(log_phi)
            near = A @ phi
        N0 = phi.T @ (phi.sum(axis=0) - phi - near)
        divergence = gammaln(sums).sum() - gammaln(gamma).sum() + ((gamma - alpha) * E).sum()
        bound = logs / 2 + degree @ most[:, 0] + (rest * phi * (E - log_phi)).sum() - divergence
    n, K = gamma.shape
    N0 = np.maximum((N0 + N0.T) / 4, 0)
    bound += (N0 * no_link).sum() + n * (gammaln(K * alpha) - K * gammaln(alpha))
    return BlockPass(phi, near, M, B * N1 / 2, N0, float(bound))


def padded(F: Array) -> Array:
    """A copy with zero columns that fill up whole vectors, as the affiliation kernels take it."""
    wide = _zeros(F.shape[0], _wide(F.shape[1]))
    wide[:, : F.shape[1]] = F
    return wide


def _wide(K: int) -> int:
    return K if kernels.compiled is None else int(kernels.compiled.filled_up(K))


def _zeros(*shape: int) -> Array:
    """An array that begins at a cache line: vectors of rows that cross lines are read at half the speed."""
    size = math.prod(shape)
    room = np.zeros(size + _LINE - 1)
    first = -(room.ctypes.data // room.itemsize) % _LINE
    return room[first : first + size].reshape(shape)


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
            hashed = scramble(scramble(places ^ low) + high)
            uniform = ((hashed >> np.uint32(9)) + 0.5) / 2.0**23
            draw[:] = softmax((w - np.log(-np.log(uniform))) / t, axis=0)
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


def _rows(V: sparse.csr_array) -> Any:
    """The links of a CSR matrix with their weights."""
    m = V.shape[1]
    indptr, indices = _links(V)
    return kernels.compiled.Rows(V.data, np.zeros(m), np.ones(m), None, indices, indptr, m)


def _grid(V: sparse.csr_array, K: int) -> tuple[int, int]:
    """The number of chunks, a function of the shape only, and the number of threads."""
    chunks = max(1, min(64, V.shape[0] // 64))
    return chunks, kernels.threads_for(V.nnz * K * 2, chunks)


def _tiles(W: Array) -> int:
    """The number of parts of W (starts, K, n) that are distributed among threads."""
    return int(len(W) * -(-W.shape[2] // 64))


def scramble(x: NDArray[np.uint32]) -> NDArray[np.uint32]:
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
