"""Held-out links and words: how well the memberships of a fit without them predict them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from .._estimators import Estimator
from .._types import Array, DataLike
from ..documents.corpus import DocumentClusterer
from ..graphs.network import row_sums
from ..inputs.graphs import validate_graph

N_SPLITS = 2
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


def gain(memberships: Array, part: Split, modality: str) -> float:
    """Return the mean log ratio of the probability of the held-out data under the clusters to that by chance.

    Parameters
    ----------
    memberships : array of shape (n, K)
        The memberships of a fit to ``part.train``.
    part : Split
    modality : {'graph', 'documents'}

    Returns
    -------
    gain : float
        0 for chance, larger is better; nan if nothing was held out.

    Notes
    -----
    Rows of the memberships are divided by their sums, theta. By chance, a link joins nodes i and j in proportion to
    their degrees, and a word is drawn from those of the corpus. Under the clusters the ratio to this is

        graph:      2 m theta_i^T O theta_j,    O = (theta^T A theta) / (v v^T),    v = theta^T degrees,
        documents:  sum_k theta_dk p(w | k) / p(w),    p(w | k) most likely for theta and the words of the fit.

    A tenth of every prediction is by chance, so that no probability is 0.
    """
    U = np.asarray(memberships, dtype=np.float64)
    sums = U.sum(axis=1, keepdims=True)
    shares = U / np.where(sums > 0, sums, 1.0)
    ratios = _link_ratios(shares, part) if modality == "graph" else _word_ratios(shares, part)
    known = np.isfinite(ratios)
    if not known.any():
        return float("nan")
    logs = np.log((1 - _BACKGROUND) * ratios[known] + _BACKGROUND)
    return float(np.average(logs, weights=part.counts[known]))


def _link_ratios(shares: Array, part: Split) -> Array:
    A = part.train
    volumes = shares.T @ row_sums(A)
    chance = np.outer(volumes, volumes)
    lifts = float(A.sum()) * (shares.T @ (A @ shares)) / np.where(chance > 0, chance, 1.0)
    ratios: Array = ((shares[part.rows] @ lifts) * shares[part.columns]).sum(axis=1)
    return ratios


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
