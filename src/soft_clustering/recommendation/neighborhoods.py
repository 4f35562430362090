"""Neighbours of samples of every modality, and how the labels of a fit follow them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.neighbors import NearestNeighbors

from .._types import Array
from ..documents.corpus import inverse_frequency, unit_rows
from ..inputs.documents import count_vectorizer, validate_documents
from ..inputs.images import validate_grid
from ..metrics._validation import check_features
from ..plotting.graph import undirected

_N_NEIGHBORS = 10
_N_ROWS = 3000  # samples whose neighbours are looked up; their neighbours are among all samples


class Neighborhoods(NamedTuple):
    """The neighbours of some samples."""

    rows: NDArray[np.intp]  # the samples
    links: sparse.csr_array  # (len(rows), n): positive where a sample is a neighbour
    radii: Array | None  # the distance to the farthest neighbour, where distances are known


def neighborhoods(X: Any, modality: str = "features") -> Neighborhoods:
    """Return the neighbours of up to 3000 samples, always the same ones.

    Parameters
    ----------
    X : data of the modality
    modality : {'features', 'graph', 'documents', 'image', 'distances'}
        Features: the 10 nearest rows. Documents: the 10 of most similar words, by the cosine of their tf-idf rows.
        Distances: the 10 nearest. Graph: the nodes that a node is linked to, with the weights of the links. Image: the
        pixels above, below, left and right.

    Examples
    --------
    >>> near = neighborhoods([[0.0], [0.1], [0.3], [5.0], [5.1], [5.3]])
    >>> near.links.shape
    (6, 6)
    """
    if modality == "graph":
        links = sparse.csr_array(undirected(X), dtype=np.float64)
        links.setdiag(0)
        links.eliminate_zeros()
        rows = np.arange(links.shape[0])
        return Neighborhoods(rows, links, None)
    if modality == "image":
        height, width = validate_grid(X).shape[:2]
        return Neighborhoods(np.arange(height * width), _grid(height, width), None)
    metric = {"features": "euclidean", "documents": "euclidean", "distances": "precomputed"}[modality]
    data = _rows_of(X, modality)
    n = data.shape[0]
    rows = np.sort(np.random.RandomState(0).permutation(n)[:_N_ROWS])
    finder = NearestNeighbors(n_neighbors=min(_N_NEIGHBORS + 1, n), metric=metric).fit(data)
    distances, found = finder.kneighbors(data[rows])
    # A row is its own neighbour, but not always the first one: duplicates are as near.
    others = found != rows[:, None]
    others[others.all(axis=1), -1] = False
    k = found.shape[1] - 1
    distances, found = distances[others].reshape(-1, k), found[others].reshape(-1, k)
    links = sparse.csr_array((np.ones(found.size), found.ravel(), np.arange(len(rows) + 1) * k), shape=(len(rows), n))
    return Neighborhoods(rows, links, distances[:, -1] if k else None)


def _rows_of(X: Any, modality: str) -> Any:
    """Return rows whose distances are those between the samples; for distances, the matrix of them."""
    if modality == "documents":
        counts = validate_documents(BaseEstimator(), X, vectorizer=None, default=count_vectorizer, reset=True)
        return unit_rows(counts, inverse_frequency(counts))
    if modality == "distances":
        return np.asarray(X, dtype=np.float64)
    features = check_features(X)
    return features / (float(abs(features).max()) or 1.0)  # squares of large entries would overflow


def _grid(height: int, width: int) -> sparse.csr_array:
    """Return the links between neighbouring pixels of an image."""
    place = np.arange(height * width).reshape(height, width)
    pairs = np.concatenate(
        [
            np.stack([place[:, :-1].ravel(), place[:, 1:].ravel()]),
            np.stack([place[:-1].ravel(), place[1:].ravel()]),
        ],
        axis=1,
    )
    half = sparse.csr_array((np.ones(pairs.shape[1]), tuple(pairs)), shape=(place.size, place.size))
    return sparse.csr_array(half + half.T)


def neighbor_agreement(near: Neighborhoods, labels: NDArray[Any]) -> float:
    """Return how much more often than by chance neighbours have the same label: 1 always, 0 as by chance.

    As Cohen's kappa, it is (s - c) / (1 - c), where s is the share of the neighbours with the label of the sample and
    c the share that two random samples give, the sum of the squared shares of the labels. In a graph, a node counts by
    its links. So neither many nor unequal clusters are favoured, as they are by the share s or by the modularity s - c.

    Examples
    --------
    >>> import numpy as np
    >>> near = neighborhoods(np.r_[np.linspace(0, 1, 20), np.linspace(9, 10, 20)][:, None])
    >>> neighbor_agreement(near, np.repeat([0, 1], 20))
    1.0
    """
    codes = np.unique(labels, return_inverse=True)[1].reshape(-1)
    total = float(near.links.sum())
    if codes.max(initial=0) == 0 or total == 0:
        return 0.0
    links = near.links.tocoo()
    same = codes[near.rows[links.row]] == codes[links.col]
    share = float(links.data[same].sum()) / total
    weights = np.ones(len(codes)) if near.radii is not None else np.asarray(near.links.sum(axis=0)).ravel()
    shares = np.bincount(codes, weights=weights) / weights.sum()
    chance = float((shares**2).sum())
    return 0.0 if chance >= 1 else (share - chance) / (1 - chance)


def valley(near: Neighborhoods, labels: NDArray[Any]) -> float:
    """Return how much sparser the data are where clusters meet: a logarithm of distances, 0 if they are not.

    For each cluster, the mean logarithm of the distance to the tenth neighbour is compared between the samples with a
    neighbour in another cluster and the others; the mean over the samples of all clusters is returned, each value at
    most 1 in size. A cluster with fewer than three samples at its border is apart from the others and counts 1, one
    with fewer than three samples inside counts -1.
    """
    if near.radii is None:
        return float("nan")
    codes = np.unique(labels, return_inverse=True)[1].reshape(-1)
    own = codes[near.rows]
    links = near.links.tocoo()
    at_border = np.zeros(len(own), dtype=bool)
    at_border[links.row[codes[near.rows[links.row]] != codes[links.col]]] = True
    positive = near.radii[near.radii > 0]
    if codes.max(initial=0) == 0 or positive.size == 0:
        return 0.0
    heights = np.log(np.maximum(near.radii, positive.min()))
    values = np.zeros(codes.max() + 1)
    for k in range(len(values)):
        border, inside = heights[(own == k) & at_border], heights[(own == k) & ~at_border]
        if len(border) < 3:
            values[k] = 1.0
        elif len(inside) < 3:
            values[k] = -1.0
        else:
            values[k] = np.clip(border.mean() - inside.mean(), -1, 1)
    return float(values[own].mean())
