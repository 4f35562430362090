"""Held-out links and words: how well a fit without them predicts them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from .._estimators import Estimator
from .._types import Array, CoverLike, DataLike, Matrix
from ..documents.corpus import DocumentClusterer
from ..graphs.network import row_sums
from ..inputs.graphs import validate_graph
from ..metrics._covers import read_cover

N_SPLITS = {"graph": 4, "documents": 2}  # the noise of a few held-out links can decide between K and K - 1
_SHARE = 0.1  # the share of the links or words that is held out
_BACKGROUND = 0.1  # this share of the prediction is by chance, so that no probability is 0
_STEPS = 20  # steps of expectation and maximisation that find the words of the clusters


class Split(NamedTuple):
    """The counts without the held-out ones, and the held-out ones."""

    train: sparse.csr_array  # (n, n) links of a graph, or (n, V) words of documents
    rows: NDArray[np.integer[Any]]
    columns: NDArray[np.integer[Any]]
    counts: Array


def counts_of(estimator: Estimator, X: DataLike, modality: str) -> sparse.csr_array | None:
    """Return a graph or a corpus as a CSR matrix; None if X is neither.

    Another library's estimator may take data that this library cannot read. Then the criterion does not apply.
    """
    reader = clone(estimator)
    try:
        if modality == "graph":
            return validate_graph(reader, X, binary=False)
        if isinstance(reader, DocumentClusterer):
            return reader._documents(X, reset=True)
        return sparse.csr_array(X, dtype=np.float64)
    except (TypeError, ValueError):
        return None


def split(counts: sparse.csr_array, modality: str, seed: int) -> Split:
    """Hold out each link, or each word of a document, with probability 0.1.

    The held-out part of a Poisson variable is independent of the rest, so that the fit need not treat it as missing.
    Weights and other entries that are not whole numbers are held out completely or not at all.
    """
    rng = np.random.RandomState(seed)
    entries = sparse.coo_array(sparse.triu(counts, 1)) if modality == "graph" else counts.tocoo()
    rows, columns = entries.coords if hasattr(entries, "coords") else (entries.row, entries.col)
    data = entries.data.astype(np.float64)
    if modality == "graph" or (data % 1).any() or data.max(initial=0.0) > 2**31:
        held = np.where(rng.uniform(size=len(data)) < _SHARE, data, 0.0)
    else:
        held = rng.binomial(data.astype(np.int64), _SHARE).astype(np.float64)
    train = sparse.csr_array((data - held, (rows, columns)), shape=counts.shape)
    train.eliminate_zeros()
    if modality == "graph":
        train = sparse.csr_array(train + train.T)
    out = held > 0
    return Split(train, rows[out], columns[out], held[out])


def word_gain(memberships: Array, part: Split) -> float:
    """Return the mean log ratio of the probability of the held-out words under the clusters to that by chance.

    Parameters
    ----------
    memberships : array of shape (n, K)
        The memberships of a fit to ``part.train``.
    part : Split

    Returns
    -------
    gain : float
        0 for chance, larger is better; nan if nothing was held out.

    Notes
    -----
    Rows of the memberships are divided by their sums, theta. By chance, a word is drawn from those of the corpus. Under
    the clusters the ratio to this is sum_k theta_dk p(w | k) / p(w), where p(w | k) is most likely for theta and the
    words of the fit. A tenth of every prediction is by chance, so that no probability is 0.
    """
    U = np.asarray(memberships, dtype=np.float64)
    sums = U.sum(axis=1, keepdims=True)
    return _mean_log(_word_ratios(U / np.where(sums > 0, sums, 1.0), part), part)


def link_gain(factors: tuple[Matrix, Matrix], part: Split) -> float:
    """Return the mean log ratio of the rates of the held-out links to those by chance.

    Parameters
    ----------
    factors : two arrays or CSR arrays with a row per node
        Of a fit to ``part.train``, see :func:`link_factors`.
    part : Split

    Returns
    -------
    gain : float
        0 for chance, larger is better; nan if nothing was held out.

    Notes
    -----
    By chance, nodes i and j are linked at the rate d_i d_j / 2m of their degrees in the fit. The model expects links in
    proportion to x_ij = L_i . R_j + L_j . R_i, scaled so that it expects as many as there were. A tenth of every rate
    is by chance, so that none is 0. Links of a node that has no others are left out: nothing is known of it.
    """
    left, right = factors
    degrees = row_sums(part.train)
    total = degrees.sum()
    # over ordered pairs of different nodes
    expected = float((left.sum(axis=0) * right.sum(axis=0)).sum() - _dots(left, right).sum())
    rates = _dots(left[part.rows], right[part.columns]) + _dots(left[part.columns], right[part.rows])
    # divided first: products of small weights would underflow
    chance = degrees[part.rows] / total * degrees[part.columns] if total else np.zeros(len(part.rows))
    scaled = rates / 2 * (total / expected if expected > 0 else 0.0)
    return _mean_log(np.where(chance > 0, scaled / np.where(chance > 0, chance, 1.0), np.nan), part)


def link_factors(model: Estimator, cover: CoverLike, part: Split) -> tuple[Matrix, Matrix]:
    """Return matrices L and R such that links of nodes i and j are expected in proportion to L_i . R_j.

    They are those of a model that has rates of links. For other models links between communities occur as often as they
    do in the fit: with the degrees d and the shares W of the cover (a node in O_i communities has the share 1 / O_i in
    each), the rate is d_i W_i B W_j d_j, B = (W^T A W) / (v v^T), v = W^T d.
    """
    own = model._link_factors() if hasattr(model, "_link_factors") else None
    if own is not None:
        return own[0], own[1]
    A = part.train
    C = read_cover("cover", cover, A.shape[0]).astype(np.float64)
    W = sparse.csr_array(sparse.diags_array(1 / np.maximum(np.diff(C.indptr), 1)) @ C)
    degrees = row_sums(A)
    volumes = sparse.diags_array(1 / np.maximum(W.T @ degrees, np.finfo(float).tiny))
    ends = sparse.csr_array(sparse.diags_array(degrees) @ W @ volumes)
    return sparse.csr_array(ends @ (W.T @ A @ W)), ends


def _dots(left: Any, right: Any) -> Array:
    """The products of the rows of two matrices."""
    products = left.multiply(right) if sparse.issparse(left) else left * right
    return np.asarray(products.sum(axis=1), dtype=np.float64).ravel()


def _mean_log(ratios: Array, part: Split) -> float:
    known = np.isfinite(ratios)
    if not known.any():
        return float("nan")
    logs = np.log((1 - _BACKGROUND) * ratios[known] + _BACKGROUND)
    return float(np.average(logs, weights=part.counts[known]))


def _word_ratios(shares: Array, part: Split) -> Array:
    """Return the ratios of words; nan for words that the fit has not seen."""
    X = part.train.tocsr()
    lengths = np.diff(X.indptr)
    rows = np.repeat(np.arange(X.shape[0]), lengths)
    frequencies = np.asarray(X.sum(axis=0), dtype=np.float64).ravel()
    words = _normalised((X.T @ shares).T)
    for _ in range(_STEPS):
        expected = (shares[rows] * words.T[X.indices]).sum(axis=1)
        quotients = sparse.csr_array((X.data / np.where(expected > 0, expected, 1.0), X.indices, X.indptr), X.shape)
        words = _normalised(words * (quotients.T @ shares).T)
    predicted = (shares[part.rows] * words.T[part.columns]).sum(axis=1)
    chance = frequencies[part.columns] / frequencies.sum()
    return np.where(chance > 0, predicted / np.where(chance > 0, chance, 1.0), np.nan)


def _normalised(words: Array) -> Array:
    sums = words.sum(axis=1, keepdims=True)
    probabilities: Array = words / np.where(sums > 0, sums, 1.0)
    return probabilities
