"""Documents as mixtures of topics: compiled if the extension was built, otherwise the NumPy twins here.

A block holds documents as CSR rows of counts. Topics come word-major, (V, K): one row for each word.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import gammaln, psi

from .. import kernels
from .._types import Array

if TYPE_CHECKING:
    from ..engine.blocks import Block

_TINY = 1e-200  # no probability of a word is smaller
_DOCUMENTS = 512  # documents that the NumPy twins process together
_FEWER = 0.8  # if less than this part of the documents is still changing, the settled ones are set aside


class TopicStatistics(NamedTuple):
    """What a block of documents contributes to new topics."""

    objective: float  # the documents' part of the bound
    log_shares: Array  # (K,) summed E[log theta]
    words: Array  # (V, K) summed A_dk x_dw / s_dw: times B the expected counts

    def merge(self, other: TopicStatistics) -> TopicStatistics:
        """The statistics of both blocks together."""
        pairs: Any = zip(self, other, strict=True)
        return TopicStatistics(*[a + b for a, b in pairs])


def lda_statistics(
    block: Block, B: Array, prior: Array, start: Array | None, max_iter: int, tol: float
) -> TopicStatistics:
    """The E-step of latent Dirichlet allocation.

    Each document d iterates gamma_dk = prior_k + A_dk sum_w x_dw B_wk / s_dw with A_dk = exp E[log theta_dk] and
    s_dw = sum_k A_dk B_wk, until gamma changes by less than ``tol`` in the mean over the topics.

    Parameters
    ----------
    block : Block
    B : array of shape (V, K)
        exp E[log beta].
    prior : array of shape (K,)
    start : array of shape (n, K) or None
        gamma to start from, None for ones.
    max_iter : int
        Largest number of steps of a document.
    tol : float
    """
    if kernels.use_compiled():
        grid = _grid(block, B, max_iter, B.size)
        return TopicStatistics(*kernels.compiled.lda_statistics(block.rows, B, prior, start, max_iter, tol, *grid))
    answer = TopicStatistics(0.0, np.zeros(B.shape[1]), np.zeros(B.shape))
    for lo, X, weight in _parts(block):
        given = np.ones((X.shape[0], B.shape[1])) if start is None else start[lo : lo + X.shape[0]]
        gamma = _gamma(X, B, prior, given, max_iter, tol)
        logs, bound, R = _bound(X, B, prior, gamma)
        R.data *= np.repeat(weight, np.diff(R.indptr))
        answer = answer.merge(TopicStatistics(float(weight @ bound), weight @ logs, R.T @ np.exp(logs)))
    return answer


def lda_memberships(block: Block, B: Array, prior: Array, max_iter: int, tol: float) -> tuple[NDArray[Any], float]:
    """Normalised gamma (n, K) in the type of the rows, and the documents' part of the bound; from gamma = 1."""
    if kernels.use_compiled():
        grid = _grid(block, B, max_iter, 0)
        answer: tuple[NDArray[Any], float] = kernels.compiled.lda_memberships(
            block.rows, B, prior, max_iter, tol, *grid
        )
        return answer
    parts, total = [], 0.0
    for _, X, weight in _parts(block):
        gamma = _gamma(X, B, prior, np.ones((X.shape[0], B.shape[1])), max_iter, tol)
        total += float(weight @ _bound(X, B, prior, gamma)[1])
        parts.append(gamma / gamma.sum(axis=1, keepdims=True))
    return np.concatenate(parts).astype(block.X.dtype), total


def plsi_step(block: Block, A: Array, B: Array) -> tuple[float, Array, Array]:
    """A step of probabilistic latent semantic analysis.

    With s_dw = sum_k A_dk B_wk: the log likelihood sum x_dw log s_dw, the shares (n, K) that the topics then have in
    the documents (rows ~ A_dk sum_w x_dw B_wk / s_dw, all zero in a document without words), and for each word
    sum_d A_dk x_dw / s_dw, (V, K).
    """
    if kernels.use_compiled():
        grid = _grid(block, B, 1, B.size)
        answer: tuple[float, Array, Array] = kernels.compiled.plsi_step(block.rows, np.ascontiguousarray(A), B, *grid)
        return answer
    total, words, shares = 0.0, np.zeros(B.shape), np.zeros(A.shape)
    for lo, X, weight in _parts(block):
        mine = A[lo : lo + X.shape[0]]
        s = _probabilities(X, mine, B)
        R = _like(X, X.data / s)
        T = mine * (R @ B)
        sums = T.sum(axis=1, keepdims=True)
        np.divide(T, sums, out=shares[lo : lo + X.shape[0]], where=sums > 0)
        per_word = np.repeat(weight, np.diff(X.indptr))
        total += float(per_word @ (X.data * np.log(s)))
        R.data *= per_word
        words += R.T @ mine
    return total, shares, words


def fold_in(
    block: Block, B: Array, weights: Array, beta: float, max_iter: int, tol: float
) -> tuple[NDArray[Any], float]:
    """Shares (n, K) of fixed topics in documents, in the type of the rows, and the log likelihood.

    T_dk ~ A_dk sum_w x_dw B_wk / s_dw with A_dk = T_dk^beta weights_k^(1-beta), from equal shares until none changes by
    more than ``tol``. A document without words gets zeros.
    """
    log_weights = np.log(np.maximum(weights, _TINY))
    if kernels.use_compiled():
        grid = _grid(block, B, max_iter, 0)
        answer: tuple[NDArray[Any], float] = kernels.compiled.fold_in(
            block.rows, B, log_weights, beta, max_iter, tol, *grid
        )
        return answer
    parts, total, K = [], 0.0, B.shape[1]
    for _, X, weight in _parts(block):
        T = np.where(np.diff(X.indptr)[:, None] > 0, np.full((X.shape[0], K), 1 / K), 0.0)
        active = np.flatnonzero(np.diff(X.indptr))
        for _ in range(max_iter):
            if not len(active):
                break
            A = T[active]
            if beta != 1:
                A = np.where(A > 0, np.exp(beta * np.log(np.maximum(A, _TINY)) + (1 - beta) * log_weights), 0.0)
            new = _shares(X[active], A, B)
            sums = new.sum(axis=1, keepdims=True)
            new = np.where(sums > 0, new / np.where(sums > 0, sums, 1.0), T[active])
            change = np.abs(new - T[active]).max(axis=1)
            T[active] = new
            active = active[change > tol]
        per_word = np.repeat(weight, np.diff(X.indptr))
        total += float(per_word @ (X.data * np.log(_probabilities(X, T, B))))
        parts.append(T)
    return np.concatenate(parts).astype(block.X.dtype), total


def _grid(block: Block, B: Array, max_iter: int, width: int) -> tuple[int, int]:
    """Number of chunks, a function of the shapes only, and number of threads; a document is more work than a row.

    If each chunk has a result of ``width`` numbers, there are fewer chunks, so that these cost less than the documents.
    """
    most = 64 if width == 0 else max(4, min(block.X.nnz // (8 * block.d), (1 << 22) // width))
    chunks = max(1, min(64, block.n // 64, most))
    return chunks, kernels.threads_for(block.X.nnz * B.shape[1] * min(max_iter, 10), chunks)


def _parts(block: Block) -> Iterator[tuple[int, Any, Array]]:
    """(First document, counts without explicit zeros, weights), some documents at a time."""
    for lo in range(0, block.n, _DOCUMENTS):
        X = sparse.csr_array(block.X[lo : lo + _DOCUMENTS], dtype=np.float64, copy=True)
        X.eliminate_zeros()
        yield lo, X, np.ones(X.shape[0]) if block.weight is None else block.weight[lo : lo + X.shape[0]]


def _probabilities(X: sparse.csr_array, A: Array, B: Array) -> Array:
    """s_dw = sum_k A_dk B_wk of the words that occur, in the order of ``X.data``."""
    documents = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    answer: Array = np.einsum("pk,pk->p", A[documents], B[X.indices]) + _TINY
    return answer


def _like(X: sparse.csr_array, values: Array) -> Any:
    """A CSR matrix with the pattern of X."""
    return sparse.csr_array((values, X.indices, X.indptr), shape=X.shape)


def _shares(X: sparse.csr_array, A: Array, B: Array) -> Array:
    """A_dk sum_w x_dw B_wk / s_dw."""
    shares: Array = A * (_like(X, X.data / _probabilities(X, A, B)) @ B)
    return shares


def _expectations(gamma: Array) -> Array:
    """The numbers exp E[log theta] in units of the largest of a document, which cancel."""
    logs = psi(gamma)
    answer: Array = np.exp(logs - logs.max(axis=1, keepdims=True))
    return answer


def _gamma(X: sparse.csr_array, B: Array, prior: Array, start: Array, max_iter: int, tol: float) -> Array:
    """The gamma of documents; one that has settled is set aside."""
    gamma = np.where(np.diff(X.indptr)[:, None] > 0, start, prior)
    active = np.flatnonzero(np.diff(X.indptr))
    mine, moving = X[active], np.ones(len(active), dtype=bool)
    for _ in range(max_iter):
        if not moving.any():
            break
        if moving.mean() < _FEWER:
            active, mine = active[moving], mine[moving]
            moving = np.ones(len(active), dtype=bool)
        old = gamma[active]
        new = prior + _shares(mine, _expectations(old), B)
        gamma[active[moving]] = new[moving]
        moving &= np.abs(new - old).mean(axis=1) >= tol
    return gamma


def _bound(X: sparse.csr_array, B: Array, prior: Array, gamma: Array) -> tuple[Array, Array, Any]:
    """E[log theta], the bound of each document, and x_dw / s_dw."""
    logs = psi(gamma) - psi(gamma.sum(axis=1, keepdims=True))
    s = _probabilities(X, np.exp(logs), B)
    explained = _like(X, X.data * np.log(s)).sum(axis=1)
    divergence = ((prior - gamma) * logs + gammaln(gamma) - gammaln(prior)).sum(axis=1)
    bound = explained + divergence + gammaln(prior.sum()) - gammaln(gamma.sum(axis=1))
    return logs, bound, _like(X, X.data / s)
