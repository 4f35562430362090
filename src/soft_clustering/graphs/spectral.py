"""Clusters of nodes by the leading eigenvectors of a graph, to start from."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import ArpackError, eigsh
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from .._types import Array
from ..engine.threads import threads_that_pay
from .network import row_sums

_SMALL = 50  # nodes, up to which all eigenvectors are computed


def spectral_labels(A: sparse.csr_array, K: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Clusters of the nodes in the leading eigenvectors of the regularised normalised adjacency matrix.

    Degrees are raised by their mean, which keeps small components from taking the eigenvectors.
    """
    n = A.shape[0]
    if K == 1:
        return np.zeros(n, dtype=np.intp)
    degree = row_sums(A)
    root = sparse.diags_array(1 / np.sqrt(degree + max(degree.mean(), np.finfo(float).tiny)))
    L = root @ A.astype(np.float64) @ root
    start = rng.uniform(size=n)
    if n <= max(_SMALL, 3 * K):
        vectors = np.linalg.eigh(L.toarray())[1][:, -K:]
    else:
        try:
            vectors = eigsh(L, k=K, which="LA", v0=start)[1]
        except ArpackError:
            vectors = rng.normal(size=(n, K))
    return cluster_directions(vectors, K, 10, rng)


def cluster_directions(vectors: Array, K: int, n_init: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Clusters of vectors by their directions, by k-means."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = vectors / np.where(norms > 0, norms, 1.0)
    seed = rng.randint(2**31 - 1)
    with warnings.catch_warnings(), threads_that_pay(rows.size * K):
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different directions than clusters
        labels: NDArray[np.intp] = KMeans(K, n_init=n_init, random_state=seed).fit(rows).labels_
    return labels
