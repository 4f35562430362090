"""What the estimators of graphs share: input, new nodes, a spectral start."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import ArpackError, eigsh
from sklearn.cluster import KMeans
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..base import InductiveSoftClusterer, Modality
from ..inputs.features import check_enough_samples
from ..inputs.graphs import validate_graph, validate_links

Array = NDArray[np.float64]
_SMALL = 50  # nodes, up to which all eigenvectors are computed


class GraphClusterer(InductiveSoftClusterer):
    """A soft clusterer of the nodes of a graph. New nodes come as rows of links to the nodes of ``fit``.

    ``_binary`` says whether the model only counts links.
    """

    modality: ClassVar[Modality] = "graph"
    train_rule: ClassVar[Literal["exact", "reinferred"]] = "reinferred"
    _binary: ClassVar[bool] = False

    def _graph(self, X: Any) -> Any:
        """The adjacency matrix for ``fit``: symmetric CSR without a diagonal, in float64 or float32."""
        A = validate_graph(self, X, binary=self._binary).adjacency
        if self.n_clusters is not None:
            check_enough_samples(A.shape[0], self.n_clusters)
        return A

    def _links(self, X: Any) -> Any:
        """Links of new nodes."""
        check_is_fitted(self, "memberships_")
        return validate_links(self, X, binary=self._binary)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = True
        tags.input_tags.positive_only = True
        return tags


def neighbour_means(links: Any, rows: NDArray[Any]) -> Array:
    """Mean of the rows of the linked nodes, weighted by the links; zeros without a link."""
    sums = np.asarray(links.sum(axis=1)).reshape(-1, 1)
    means: Array = (links @ rows) / np.where(sums > 0, sums, 1.0)
    return means


def spectral_labels(A: Any, K: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Clusters of the nodes in the leading eigenvectors of the regularised normalised adjacency matrix.

    Degrees are raised by their mean, which keeps small components from taking the eigenvectors.
    """
    n = A.shape[0]
    degree = np.asarray(A.sum(axis=1), dtype=np.float64).ravel()
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
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = vectors / np.where(norms > 0, norms, 1.0)
    labels: NDArray[np.intp] = KMeans(K, n_init=10, random_state=rng.randint(2**31 - 1)).fit(rows).labels_
    return labels
