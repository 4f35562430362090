"""What the estimators of graphs share: input, new nodes, sums over links."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .._rows import at_least, row_maxima
from .._types import Array, GraphLike, Matrix, MatrixLike
from ..base import InductiveSoftClusterer, Modality
from ..inputs.features import check_enough_samples
from ..inputs.graphs import validate_graph, validate_links

_FAINTEST = 1e-30  # weight of a link, in mean weights
_LEAST = 1e-300  # weight of a link, in units of the largest: none becomes 0


class GraphClusterer(InductiveSoftClusterer):
    """A soft clusterer of the nodes of a graph. New nodes come as rows of links to the nodes of ``fit``.

    ``_binary`` says whether the model knows only links that are there or not.

    A model that computes sparse rows of memberships gives them to ``dense_unless_large``: ``memberships_`` and what
    ``predict_memberships`` returns are CSR arrays where an array would have more than 1e8 entries, and so are covers.
    """

    n_features_in_: int
    node_names_: NDArray[Any]
    objective_: float
    objective_history_: Array
    n_iter_: int
    converged_: bool
    threshold_: float
    modality: ClassVar[Modality] = "graph"
    train_rule: ClassVar[Literal["exact", "reinferred"]] = "reinferred"
    _binary: ClassVar[bool] = False

    def _graph(self, X: GraphLike) -> Any:
        """The adjacency matrix for ``fit``: symmetric CSR without a diagonal, in float64 or float32."""
        A = validate_graph(self, X, binary=self._binary)
        n_clusters = getattr(self, "n_clusters", None)  # what is no parameter is not known before the fit
        if n_clusters is not None:
            check_enough_samples(A.shape[0], n_clusters)
        return A

    def _links(self, X: MatrixLike) -> Any:
        """Links of new nodes."""
        check_is_fitted(self, "memberships_")
        return validate_links(self, X, binary=self._binary)

    def get_communities(self, threshold: float | None = None, top_k: int | None = None) -> list[list[Any]]:
        """The overlapping communities as lists of nodes.

        Parameters
        ----------
        threshold, top_k : as for ``get_cover``

        Returns
        -------
        communities : list of list
            The nodes of each community, in the order of the columns of ``memberships_`` and with the names of
            ``node_names_``; a community without nodes is an empty list.
        """
        cover = sparse.csc_array(self.get_cover(threshold, top_k))
        return [self.node_names_[cover.indices[lo:hi]].tolist() for lo, hi in pairwise(cover.indptr)]

    def _strengths(self) -> NDArray[Any]:
        """What ``threshold_`` is compared with."""
        return self.memberships_

    def _link_factors(self) -> tuple[Any, Any] | None:
        """Matrices L and R with a row per node where the model expects links in proportion to L_i . R_j, or None."""
        return None

    def _least_strengths(self) -> Any:
        """From which strength on a node is a member: a number, or (n, 1)."""
        return self.threshold_

    def _default_cover(self) -> NDArray[np.bool_]:
        """Strengths from ``threshold_`` on; a node that has none belongs to its strongest community, as ``labels_``."""
        if not hasattr(self, "threshold_"):
            return super()._default_cover()
        strengths = self._strengths()
        least = np.minimum(self._least_strengths(), row_maxima(strengths))
        # Equal strengths are members of all, whichever way they were rounded.
        cover: NDArray[np.bool_] = at_least(strengths, least * (1 - 1e-6))
        return cover

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = True
        tags.input_tags.positive_only = True
        return tags


def row_sums(links: Matrix) -> Array:
    """Sums of the rows of a matrix, (n,), in double precision: those of large weights overflow in single precision."""
    return np.asarray(links.astype(np.float64).sum(axis=1)).ravel()


def one_hot(labels: NDArray[np.integer[Any]], K: int | None = None) -> sparse.csr_array:
    """Memberships of 1 in the community of each label, (n, K); an empty row for a label of -1.

    Examples
    --------
    >>> one_hot(np.array([1, -1, 0])).toarray()
    array([[0., 1.],
           [0., 0.],
           [1., 0.]])
    """
    nodes = np.flatnonzero(labels >= 0)
    K = int(labels.max(initial=-1)) + 1 if K is None else K
    return sparse.csr_array((np.ones(len(nodes)), (nodes, labels[nodes])), shape=(len(labels), K))


def soft_modularity(A: Matrix, C: Any) -> float:
    """tr(C^T B C) / 2m: for memberships of 0 and 1 the modularity of the partition.

    Examples
    --------
    >>> A = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    >>> soft_modularity(A, np.repeat(np.eye(2), 2, axis=0))
    0.5
    """
    A = A.astype(np.float64)
    degrees = row_sums(A)
    total = degrees.sum()
    inside = C.multiply(A @ C).sum() if sparse.issparse(C) else np.vdot(C, A @ C)
    return float(inside / total - np.square(degrees / total @ C).sum())


def mean_weight(A: sparse.csr_array) -> float:
    """The mean weight of a link; in units of it a result does not depend on the unit of the weights."""
    return float(A.data.mean(dtype=np.float64))


def weight_unit(A: sparse.csr_array) -> float:
    """The mean weight of a link; of equal ones exactly their weight, 1 without links."""
    if A.nnz == 0:
        return 1.0
    return float(A.data[0]) if (A.data == A.data[0]).all() else mean_weight(A)


def in_units(A: sparse.csr_array, unit: float) -> sparse.csr_array:
    """The links in units of a weight, in double precision; none is so faint that its products vanish."""
    weights = np.maximum(A.data.astype(np.float64) / unit, _FAINTEST)
    return sparse.csr_array((weights, A.indices, A.indptr), shape=A.shape)


def relative_weights(A: sparse.csr_array) -> sparse.csr_array:
    """The links in units of the largest weight, in double precision; equal weights become 1."""
    weights = A.data.astype(np.float64)
    weights = np.maximum(weights / weights.max(initial=0), _LEAST)
    return sparse.csr_array((weights, A.indices, A.indptr), shape=A.shape)


def neighbour_means(links: sparse.csr_array, rows: NDArray[Any]) -> Array:
    """Mean of the rows of the linked nodes, weighted by the links; zeros without a link."""
    links = links.astype(np.float64)
    sums = row_sums(links)[:, None]
    means: Array = (links @ rows) / np.where(sums > 0, sums, 1.0)
    return means
