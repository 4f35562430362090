"""What the consensus methods share: U, the partitions side by side, and memberships as U times a small matrix.

With U_b (n, K_b) the memberships of partition b, U = [U_1, ..., U_r] has t = sum_b K_b columns, one per base cluster,
and w (t,) holds the weight of a column's partition. A method cuts a graph of objects, of base clusters or of both, and
says from that how strongly a base cluster speaks for a consensus cluster: links L (t, K). The soft consensus is U L
with rows scaled to sum to 1, for the objects of ``fit`` and for new ones alike.

A partition of weight 2 is two copies of it, because copies become weights: base clusters with the same memberships are
merged into one column, whose weight is the sum of theirs, and the weights are scaled to a mean of 1 over those columns.
A method reads a column of weight w as w equal base clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._types import Array, Matrix, MatrixLike, Seed
from ..base import InductiveSoftClusterer, Modality
from ..engine.fitting import Fit, say
from ..engine.threads import single_threaded
from ..inputs.features import check_enough_samples
from ..inputs.partitions import Partitions, validate_partition_weights, validate_partitions
from .partitioning import cut_vectors, k_means_parts, metis_parts

if TYPE_CHECKING:
    from typing import Self

_SAME_PLACE = 1e-9  # part of the largest product: columns whose products differ by more are not equal

PARAMETERS: dict[str, list[Any]] = {
    "n_clusters": [Interval(Integral, 1, None, closed="left")],
    "partitioner": [StrOptions({"spectral", "metis"})],
    "n_init": [Interval(Integral, 1, None, closed="left")],
    "random_state": ["random_state"],
    "verbose": ["verbose"],
}


def one_hot(labels: NDArray[np.intp], K: int) -> Array:
    """(n, K), 1 in the column of the label.

    Examples
    --------
    >>> import numpy as np
    >>> one_hot(np.array([1, 0]), 3)
    array([[0., 1., 0.],
           [1., 0., 0.]])
    """
    return np.eye(K)[labels]


def mean_links(labels: NDArray[np.intp], w: Array, K: int) -> Array:
    """Links that make the consensus the weighted mean of an object's memberships in the base clusters of each part.

    The mean, not the sum: a part would win by the number of its base clusters, were they told apart or not.

    Examples
    --------
    >>> import numpy as np
    >>> mean_links(np.array([0, 0, 1]), np.array([1.0, 3.0, 1.0]), 3)
    array([[0.25, 0.  , 0.  ],
           [0.75, 0.  , 0.  ],
           [0.  , 1.  , 0.  ]])
    """
    links = w[:, None] * one_hot(labels, K)
    total = links.sum(axis=0)
    return links / np.where(total > 0, total, 1)


def scaled(U: Any, rows: Array, columns: Array) -> Any:
    """An array or CSR matrix (n, t) times a factor per row (n,) and per column (t,)."""
    if sparse.issparse(U):
        return U.multiply(rows[:, None]).multiply(columns).tocsr()
    Z = U * columns
    Z *= rows[:, None]
    return Z


class ConsensusClusterer(InductiveSoftClusterer):
    """A consensus of partitions; a subclass writes ``_cut``."""

    modality: ClassVar[Modality] = "partitions"
    n_clusters: int
    partitioner: str
    n_init: int
    random_state: Seed
    verbose: int
    consensus_memberships_: NDArray[Any]

    def _cut(self, U: Matrix, w: Array, rng: np.random.RandomState) -> Array:
        """Cut the graph, set what is fitted, and return the links (t, K) of base clusters to consensus clusters.

        The columns of U are the different base clusters with members and a positive weight, in an order of their own;
        w counts how often each occurs, with a mean of 1.
        """
        raise NotImplementedError

    def fit(self, X: Sequence[MatrixLike], y: object = None, *, partition_weights: ArrayLike | None = None) -> Self:
        """Find the consensus.

        Parameters
        ----------
        X : list of partitions
            Of the same objects, each a label vector (n_objects,), where -1 or NaN says that the object is missing, or
            a matrix (n_objects, K_b) of non-negative memberships, dense or sparse, where a row of zeros says so. Rows
            are scaled to sum to 1. No object may be missing everywhere.
        y : ignored
        partition_weights : array-like of shape (n_partitions,), default=None
            How much each partition counts: one of weight 2 as two copies of it, one of weight 0 not at all. Only ratios
            matter, so two copies of every partition change nothing.

        Returns
        -------
        self : object
        """
        with Fit[None](self) as fit:
            fit.enter(single_threaded())
            partitions = validate_partitions(X)
            weights = validate_partition_weights(partition_weights, len(partitions.memberships))
            check_enough_samples(partitions.memberships[0].shape[0], self.n_clusters)
            U = _side_by_side(partitions)
            w = np.repeat(weights, [len(labels) for labels in partitions.columns])
            self._base_labels, self._columns = partitions.columns, np.flatnonzero(w * U.sum(axis=0))
            U, w = self._known_columns(U), w[self._columns]
            first, self._merged = _different_columns(U)
            total = np.bincount(self._merged, w)
            links = self._cut(U[:, first], total / total.mean(), check_random_state(self.random_state))
            self._links = links[self._merged] * (w / total[self._merged])[:, None]
            self.consensus_memberships_ = self._consensus(U, partitions.dtype)
            self._set_memberships(self._crisp(self.consensus_memberships_))

            sizes = np.bincount(self.labels_, minlength=self.n_clusters)
            given = f"{len(weights)} partitions with {len(self._columns)} clusters"
            say(self, f"found consensus clusters of {', '.join(map(str, sizes))} objects in {given}")
            if not sizes.all():
                other = " or partitioner='spectral'" if self.partitioner == "metis" else ""
                fit.warn(
                    f"{type(self).__name__} found {np.count_nonzero(sizes)} distinct clusters, fewer than "
                    f"n_clusters={self.n_clusters}: the partitions do not separate more; use fewer clusters{other}"
                )
        return self

    def predict_consensus(self, X: Sequence[MatrixLike]) -> NDArray[Any]:
        """The soft consensus of new objects; of the objects of ``fit`` it is ``consensus_memberships_``.

        Parameters
        ----------
        X : list of partitions
            As in ``fit``: the same partitions in the same order, of the new objects. A label vector of ``fit`` may
            also come as a matrix, with a column for each of its labels in ascending order, and a matrix as a vector
            of column numbers.

        Returns
        -------
        memberships : ndarray of shape (n_objects, n_clusters)
            Rows sum to 1.
        """
        check_is_fitted(self, "memberships_")
        partitions = validate_partitions(X, self._base_labels)
        with single_threaded():
            return self._consensus(self._known_columns(_side_by_side(partitions)), partitions.dtype)

    def predict_memberships(self, X: Sequence[MatrixLike]) -> NDArray[Any]:
        """Memberships of new objects: 1 in the cluster of largest soft consensus.

        Parameters
        ----------
        X : list of partitions
            As in :meth:`predict_consensus`.

        Returns
        -------
        memberships : ndarray of shape (n_objects, n_clusters)
            0 and 1.
        """
        return self._crisp(self.predict_consensus(X))

    def _known_columns(self, U: Matrix) -> Any:
        """The columns of base clusters that had members in ``fit``."""
        if len(self._columns) < U.shape[1]:
            U = U[:, self._columns]
        empty = np.flatnonzero(U @ np.ones(U.shape[1]) == 0)
        if len(empty):
            raise ValueError(
                f"Every object must be in some partition of X. Got {len(empty)} objects that are missing in every "
                f"partition of positive weight, the first is object {empty[0]}."
            )
        return U

    def _consensus(self, U: Matrix, dtype: type[np.floating[Any]]) -> NDArray[Any]:
        C = U @ self._links
        C = (C / C.sum(axis=1, keepdims=True)).astype(dtype)
        # Equal up to rounding is equal: a tie goes to the first cluster, however the sums were rounded.
        largest = C.max(axis=1, keepdims=True)
        tie = 1e-6 if dtype is np.float32 else 1e-12
        consensus: NDArray[Any] = np.where(largest - tie <= C, largest, C)
        return consensus

    def _crisp(self, consensus: NDArray[Any]) -> NDArray[Any]:
        return one_hot(consensus.argmax(axis=1), consensus.shape[1]).astype(consensus.dtype)

    def _parts_of_graph(self, S: Matrix, rng: np.random.RandomState, w: Array | None = None) -> NDArray[np.intp]:
        """Cut a graph of weights S, which may be overwritten; w counts how many nodes a row stands for."""
        if self.partitioner == "metis":
            return metis_parts(S, self.n_clusters, self.n_init, rng)
        return k_means_parts(cut_vectors(S, self.n_clusters, rng), self.n_clusters, self.n_init, rng, w)

    def _of_base_clusters(self, labels: NDArray[np.intp]) -> NDArray[np.intp]:
        """Labels of different columns as labels of all base clusters in the order of X, -1 for one without members."""
        found = np.full(sum(map(len, self._base_labels)), -1, dtype=np.intp)
        found[self._columns] = labels[self._merged]
        return found

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags


def _side_by_side(partitions: Partitions) -> Any:
    """U = [U_1, ..., U_r]: CSR if all partitions are crisp or sparse, an array otherwise."""
    blocks = partitions.memberships
    if all(sparse.issparse(U) or np.count_nonzero(U) <= len(U) for U in blocks):
        return sparse.csr_array(sparse.hstack([sparse.csr_array(U) for U in blocks]))
    return np.hstack([U.toarray() if sparse.issparse(U) else U for U in blocks])


def _different_columns(U: Matrix) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The places of the different columns, and for each column of U which of them it equals.

    They are sorted by themselves, so the result does not depend on the order of the partitions and their clusters.

    Examples
    --------
    >>> import numpy as np
    >>> first, merged = _different_columns(np.array([[0.2, 0.8, 0.2], [0.7, 0.3, 0.7]]))
    >>> first.tolist(), merged.tolist()
    ([0, 1], [0, 1, 0])
    """
    # Equal columns have the same product with random numbers, up to rounding.
    place = np.random.RandomState(0).uniform(1, 2, U.shape[0]) @ U
    order = np.argsort(place)
    if not (np.diff(place[order]) <= _SAME_PLACE * place.max()).any():
        return order, np.argsort(order)
    columns: Any = sparse.csc_array(U) if sparse.issparse(U) else np.asfortranarray(U)
    seen: dict[bytes, int] = {}
    group = np.empty(U.shape[1], dtype=np.intp)
    first: list[int] = []
    for j in range(U.shape[1]):
        if sparse.issparse(columns):
            part = slice(columns.indptr[j], columns.indptr[j + 1])
            content = columns.indices[part].tobytes() + columns.data[part].tobytes()
        else:
            content = columns[:, j].tobytes()
        group[j] = seen.setdefault(content, len(first))
        if group[j] == len(first):
            first.append(j)
    order = np.argsort(place[first])
    return np.array(first, dtype=np.intp)[order], np.argsort(order)[group]
