"""Soft HDBSCAN: the hierarchy of densities, and degrees by the levels at which a sample is connected to its clusters.

kappa_i is the distance of sample i to its ``min_samples``-th other sample, r_ij = max(kappa_i, kappa_j, d_ij). At a
level (a distance), samples are connected if a path of r no greater joins them. Going down, a component splits; parts of
at least ``min_cluster_size`` samples are clusters, the samples of the others fall out. e_j is the level at which sample
j falls out of its last cluster, b_k the one at which cluster k splits off, C_k are the samples of k and of its parts.

* Stability S_k = sum_{j in C_k} (1 / e_j - 1 / b_k), a part counting with its size and its birth: the clusters of the
  largest total stability are selected.
* Entry of any x into cluster k: eps_k(x) = max(kappa(x), min_{j in C_k} max(d(x, x_j), e_j)), the level at which x
  itself is connected to a sample of k that is still in k.
* u_k = eps_k^-p / (sum_l eps_l^-p + b^-p), p = 2 / (m - 1), b the birth of the cluster of the least entry: noise
  clustering with the birth as the noise distance.

Three facts follow. A sample of cluster k enters k at e_k < b_k, and any other cluster not below b_k; a sample of no
cluster enters k not below b_k; so the largest membership, noise included, is the label in the tree. And a training
sample that is asked for as a new one finds itself, so that prediction needs no special case.

References
----------
R. J. G. B. Campello, D. Moulavi, J. Sander (2013). Density-based clustering based on hierarchical density estimates.
PAKDD, LNCS 7819, 160-172.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._types import Array, MatrixLike
from ..base import InductiveSoftClusterer, MembershipKind
from ..engine.dissimilarities import tag_metric, weight_of_known
from ..engine.fitting import Fit, say
from ..inputs.features import validate_weights
from ..kernels.hierarchy import Clusters, Pairs
from .eps import core_distances
from .hierarchy import Hierarchy, condense, snapped
from .space import Space, validate_rows

if TYPE_CHECKING:
    from typing import Self


_NEXT = 1 + 2.0**-35  # a level times this is above it, whatever the rounding to 36 bits
_NODE = [("parent", np.intp), ("child", np.intp), ("level", np.float64), ("size", np.float64)]
_LEAST = 1e-300  # the least positive level, in the unit of the space


class Entries(NamedTuple):
    """What tells the levels of any sample: the training samples of positive weight, and the clusters."""

    space: Space
    columns: NDArray[np.intp]  # of precomputed dissimilarities
    points: Array  # objects of the space, no features if precomputed; their order does not depend on that of the rows
    weight: Array
    enough: int  # the weight within a core distance, the sample's own included
    clusters: Clusters
    births: Array  # (K,)
    m: float

    def of(self, X: NDArray[Any]) -> tuple[Array, Array]:
        """Levels of entry (n, K) and core distances (n,) of validated rows, as levels."""
        rows, pairs = self.space.objects(X), self.space.pairs(self.points)
        if self.space.metric == "precomputed":
            rows = np.ascontiguousarray(rows[:, self.columns])
        core = core_distances(rows, self.weight, self.enough, pairs)
        nowhere = np.full(len(rows), -1)
        return entry_levels(self.space, pairs, rows, core, nowhere, self.clusters), self.space.levels(core)

    def labels(self, levels: Array) -> NDArray[np.intp]:
        """The cluster of the least level, -1 where that is not below its birth."""
        if not len(self.births):
            return np.full(len(levels), -1)
        nearest = levels.argmin(axis=1)
        return np.where(levels.min(axis=1) < self.births[nearest], nearest, -1)

    def memberships(self, levels: Array) -> tuple[Array, Array]:
        """Memberships (n, K), and the noise mass (n,)."""
        if not len(self.births):
            return np.empty((len(levels), 0)), np.ones(len(levels))
        levels = np.column_stack([levels, self.births[levels.argmin(axis=1)]])
        least = levels.min(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
            share = (least / levels) ** (2 / (self.m - 1))
        share = np.where(least == 0, levels == 0, share)
        share = np.where(np.isinf(least), np.arange(levels.shape[1]) == len(self.births), share)
        share /= share.sum(axis=1, keepdims=True)
        return share[:, :-1], share[:, -1]


def entry_levels(
    space: Space, pairs: Pairs, rows: Array, core: Array, member: NDArray[np.intp], clusters: Clusters
) -> Array:
    """Levels (rows, K) at which objects with some core distances enter clusters, but for those of which they are."""
    K = len(clusters.starts) - 1
    return space.levels(pairs.contacts(rows, core, member, clusters)) if K else np.empty((len(rows), 0))


class SoftHDBSCAN(InductiveSoftClusterer):
    """Soft HDBSCAN: clusters of different densities, with memberships and a noise mass by the levels of the hierarchy.

    Parameters
    ----------
    min_cluster_size : int, default=5
        Samples (their weight) of a cluster; smaller parts of a cluster that splits fall out of it.
    min_samples : int or None, default=5
        The core distance of a sample is the distance to this many other samples: large values smooth the densities.
        None takes ``min_cluster_size``.
    m : float, default=1.5
        Fuzzifier, > 1: memberships are proportional to level^(-2 / (m - 1)). Near 1 they are nearly 0 or 1.
    cluster_selection_method : {'eom', 'leaf'}, default='eom'
        ``'eom'``: the disjoint clusters of the largest total stability ("excess of mass"). ``'leaf'``: all clusters
        that do not split, which are more and smaller.
    cluster_selection_epsilon : float, default=0.0
        A selected cluster that is born below this distance is replaced by the one around it that is not: no split
        below this distance counts.
    allow_single_cluster : bool, default=False
        Whether all samples may be one cluster.
    metric : str, default='euclidean'
        A name that :func:`sklearn.metrics.pairwise_distances` knows and that needs no scale from the data, or
        ``'precomputed'``: X is a square matrix of dissimilarities, which may be infinite between parts that are not
        connected. ``'gower'``: X is a data frame of numbers and categories, in which values may be missing, as for
        :class:`RelationalFCM`.
    verbose : int, default=0
        1 prints a line.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_samples, n_clusters_)
        Rows sum to at most 1; the rest is ``noise_mass_``.
    noise_mass_ : ndarray of shape (n_samples,)
        Membership in the noise.
    labels_ : ndarray of shape (n_samples,)
        The cluster of largest membership, the same as in the tree; -1 where the noise mass is at least as large.
    entry_levels_ : ndarray of shape (n_samples, n_clusters_)
        Distance at which each sample is connected to a sample of each cluster.
    birth_levels_ : ndarray of shape (n_clusters_,)
        Distance at which each cluster splits off. Of the cluster of all samples: just above the last split.
    exit_levels_ : ndarray of shape (n_samples,)
        Distance at which each sample falls out of its last cluster of the tree: small where it is dense.
    core_distances_ : ndarray of shape (n_samples,)
    stabilities_ : ndarray of shape (n_clusters_,)
        Sum over the samples of 1 / exit - 1 / birth.
    condensed_tree_ : structured array with the fields parent, child, level and size
        A row per cluster but the root and per sample (of positive weight): the cluster of which the child splits off,
        or out of which the sample falls, and the level. The children below n_samples are samples; the root is
        n_samples.
    min_samples_ : int
        The one used: at most n_samples - 1.
    n_clusters_ : int
        Also readable as ``n_clusters`` after ``fit``; it cannot be prescribed. The largest cluster is the first one.

    See Also
    --------
    soft_clustering.SoftDBSCANGM : density clusters of one radius, with ellipsoids around them.
    soft_clustering.FCM : noise clustering (``noise_distance``) about centres, the number of clusters given.

    Notes
    -----
    The hierarchy, the stability and the selection are those of HDBSCAN [1]_ [2]_, the epsilon is that of [4]_. The
    memberships are ours, not those of the package hdbscan. They are noise clustering [5]_ on levels in place of
    distances, with the birth of the nearest cluster as the noise distance, so that three things hold for every sample:
    the label in the tree is the largest membership; a training sample that is predicted as a new one gets its row of
    ``memberships_`` back, bitwise; and nothing depends on the order of the rows.

    For the last of these, all edges of the spanning tree of the same length are one split, into as many parts as there
    are, where HDBSCAN splits in two by the order of the rows: a sample between two clusters at the level at which they
    part is noise, with the same membership in both. Levels are rounded to 36 bits, as distances on a grid that are
    equal but for rounding would not be ties. With the selection ``'eom'`` labels differ from those of hdbscan in a
    few rows, as those of hdbscan do between two orders of the rows; with ``'leaf'`` on rounded data they differ more.

    The tree decides what is noise. Where clusters are close for the number of features, it calls too much noise; the
    shares ``memberships_ / (1 - noise_mass_)`` are then more useful than the memberships. Levels are continuous in the
    sample, but the noise mass of new samples jumps where another cluster, with a birth of its own, becomes the nearest
    one. m = 1.5 was chosen on planted mixtures.

    Euclidean distances (also their squares, and cosine distances, which are squares between unit vectors) are searched
    by trees of boxes: O(n log n) time in a few features, up to O(n^2 d) in many, and O(n K log n) for the memberships.
    Other metrics take O(n^2) time. Memory is O(n (min_samples + K)) beyond X, and O(n^2) if precomputed.

    Weights count as samples: weight 2 is the same as the row twice.

    References
    ----------
    .. [1] R. J. G. B. Campello, D. Moulavi, J. Sander (2013). Density-based clustering based on hierarchical density
       estimates. PAKDD, LNCS 7819, 160-172.
    .. [2] R. J. G. B. Campello, D. Moulavi, A. Zimek, J. Sander (2015). Hierarchical density estimates for data
       clustering, visualization, and outlier detection. ACM Transactions on Knowledge Discovery from Data 10(1), 5.
    .. [3] L. McInnes, J. Healy (2017). Accelerated hierarchical density based clustering. ICDM Workshops, 33-42.
    .. [4] C. Malzer, M. Baum (2020). A hybrid approach to hierarchical density-based cluster selection. IEEE
       International Conference on Multisensor Fusion and Integration for Intelligent Systems, 223-228.
    .. [5] R. N. Dave (1991). Characterization and detection of noise in clustering. Pattern Recognition Letters 12(11),
       657-664.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from soft_clustering import SoftHDBSCAN
    >>> X, _ = make_moons(300, noise=0.07, random_state=0)
    >>> model = SoftHDBSCAN(min_cluster_size=15).fit(X)
    >>> model.n_clusters_
    2
    >>> between = [[0.2, 0.3], [0.5, 0.25]]
    >>> model.predict_memberships(between).round(2)
    array([[0.86, 0.01],
           [0.13, 0.13]])
    >>> model.predict_noise_mass(between).round(2)
    array([0.13, 0.73])
    >>> np.array_equal(model.predict_memberships(X), model.memberships_)
    True
    """

    membership_kind: ClassVar[MembershipKind] = "subpartition"
    entry_levels_: Array
    birth_levels_: Array
    exit_levels_: Array
    core_distances_: Array
    stabilities_: Array
    condensed_tree_: NDArray[Any]
    min_samples_: int
    _state: Entries
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "min_cluster_size": [Interval(Integral, 2, None, closed="left")],
        "min_samples": [None, Interval(Integral, 1, None, closed="left")],
        "m": [Interval(Real, 1, None, closed="neither")],
        "cluster_selection_method": [StrOptions({"eom", "leaf"})],
        "cluster_selection_epsilon": [Interval(Real, 0, None, closed="left")],
        "allow_single_cluster": ["boolean"],
        "metric": [str],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        min_cluster_size: int = 5,
        *,
        min_samples: int | None = 5,
        m: float = 1.5,
        cluster_selection_method: str = "eom",
        cluster_selection_epsilon: float = 0.0,
        allow_single_cluster: bool = False,
        metric: str = "euclidean",
        verbose: int = 0,
    ) -> None:
        self.min_cluster_size = min_cluster_size
        self.min_samples = min_samples
        self.m = m
        self.cluster_selection_method = cluster_selection_method
        self.cluster_selection_epsilon = cluster_selection_epsilon
        self.allow_single_cluster = allow_single_cluster
        self.metric = metric
        self.verbose = verbose

    @property
    def n_clusters(self) -> int:
        """The number of clusters found, ``n_clusters_``; an AttributeError before ``fit``."""
        check_is_fitted(self, "n_clusters_")
        return self.n_clusters_

    def fit(self, X: MatrixLike, y: object = None, *, sample_weight: ArrayLike | None = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_samples) if ``metric='precomputed'``
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            Weight 2 is the same as the row twice, weight 0 the same as no row.

        Returns
        -------
        self : object
        """
        with Fit[None](self) as fit:
            X, metric = validate_rows(self, X, self.metric, reset=True)
            weight = weight_of_known(X, validate_weights(sample_weight, X), metric)
            space = Space.of(X if weight is None else X[weight > 0], metric)
            objects = space.objects(X)
            order = canonical_order(space, objects, weight)
            points = objects[order] if self.metric != "precomputed" else space.symmetric(objects[order][:, order])
            mass = np.ones(len(order)) if weight is None else weight[order]
            asked = self.min_cluster_size if self.min_samples is None else self.min_samples
            self.min_samples_ = min(asked, max(int(np.ceil(mass.sum())) - 1, 0))

            pairs, enough = space.pairs(points), self.min_samples_ + 1
            near, which = pairs.nearest(points, min(enough, len(points)))
            core = near[:, -1].copy() if weight is None else core_distances(points, mass, enough, pairs)
            ends, lengths = pairs.spanning_tree(core, near, which)
            tree = condense(ends, space.levels(lengths), space.levels(core), mass, self.min_cluster_size)
            stabilities, epsilon = tree.stabilities(mass), space.level(self.cluster_selection_epsilon)
            selected = tree.select(stabilities, self.cluster_selection_method, epsilon, self.allow_single_cluster)
            births, label = tree.birth[selected], tree.labels(selected)
            if 0 in selected:  # no sample falls out of the root above its last split
                births = np.maximum(snapped(tree.exit.max(keepdims=True) * _NEXT), _LEAST)
            clusters = members(label, space.found(tree.exit), len(selected))
            levels = entry_levels(space, pairs, points, core, label, clusters)
            inside = np.flatnonzero(label >= 0)
            levels[inside, label[inside]] = tree.exit[inside]

            kept = points if self.metric != "precomputed" else np.empty((len(points), 0))
            self._state = Entries(space, order, kept, mass, enough, clusters, births, self.m)
            self._store(X, levels, space.levels(core), tree)
            self.birth_levels_ = space.in_input_units(births)
            with np.errstate(over="ignore"):
                self.stabilities_ = np.ldexp(stabilities[selected], -space.level_exponent)
            say(self, f"{len(births)} clusters, {np.count_nonzero(self.labels_ == -1)} noise samples")
            if not len(births):
                fit.warn(f"SoftHDBSCAN {self._without_clusters}")
        return self

    @property
    def _without_clusters(self) -> str:
        """What is said of a fit that found no cluster."""
        return (
            f"found no cluster, so all samples are noise: decrease min_cluster_size={self.min_cluster_size}, or allow "
            "a single cluster (allow_single_cluster=True)"
        )

    def _store(self, X: NDArray[Any], levels: Array, core: Array, tree: Hierarchy) -> None:
        """Set the results of all rows; those of weight 0 take no part, and get theirs as new samples do."""
        state, n = self._state, len(X)
        space, order = state.space, state.columns
        entries, cores, exits = np.empty((n, levels.shape[1])), np.empty(n), np.empty(n)
        entries[order], cores[order], exits[order] = levels, core, tree.exit
        left = np.setdiff1d(np.arange(n), order)
        if len(left):
            entries[left], cores[left] = state.of(X[left])
            root = members(np.zeros(len(order), dtype=np.intp), space.found(tree.exit), 1)
            exits[left] = state._replace(clusters=root).of(X[left])[0][:, 0]
        self.entry_levels_ = space.in_input_units(entries)
        self.exit_levels_, self.core_distances_ = space.in_input_units(exits), space.in_input_units(cores)
        nodes = np.arange(1, len(tree.parent))
        self.condensed_tree_ = np.empty(len(nodes) + len(order), dtype=_NODE)
        self.condensed_tree_["parent"] = n + np.append(tree.parent[nodes], tree.cluster)
        self.condensed_tree_["child"] = np.append(n + nodes, order)
        self.condensed_tree_["level"] = space.in_input_units(np.append(tree.birth[nodes], tree.exit))
        self.condensed_tree_["size"] = np.append(tree.size[nodes], state.weight)
        memberships, noise_mass = state.memberships(entries)
        self._set_memberships(memberships.astype(X.dtype), noise_mass.astype(X.dtype))
        self.labels_ = state.labels(entries)

    def predict_memberships(self, X: MatrixLike) -> NDArray[Any]:
        """Memberships of new data; rows sum to at most 1.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_training_samples) if ``metric='precomputed'``

        Returns
        -------
        memberships : ndarray of shape (n_samples, n_clusters)
        """
        X, levels = self._levels(X)
        return self._state.memberships(levels)[0].astype(X.dtype)

    def predict_noise_mass(self, X: MatrixLike) -> NDArray[Any]:
        """Membership of each sample in the noise.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_training_samples) if ``metric='precomputed'``

        Returns
        -------
        noise_mass : ndarray of shape (n_samples,)
        """
        X, levels = self._levels(X)
        return self._state.memberships(levels)[1].astype(X.dtype)

    def predict(self, X: MatrixLike, **keywords: Any) -> NDArray[np.intp]:
        """The cluster of largest membership for new data, -1 for noise.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_training_samples) if ``metric='precomputed'``

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        X, levels = self._levels(X)
        return self._state.labels(levels)

    def _levels(self, X: MatrixLike) -> tuple[NDArray[Any], Array]:
        check_is_fitted(self, "_state")
        X, _ = validate_rows(self, X, self._state.space.metric, reset=False)
        return X, self._state.of(X)[0]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tag_metric(tags, self.metric)
        return tags


def canonical_order(space: Space, objects: Array, weight: Array | None) -> NDArray[np.intp]:
    """The rows of positive weight, sorted by their values: nothing that follows depends on how they were ordered."""
    rows = np.arange(len(objects)) if weight is None else np.flatnonzero(weight)
    if space.metric == "precomputed":
        return rows
    keys = objects[rows].T[::-1]
    return rows[np.lexsort(keys if weight is None else (weight[rows], *keys))]


def members(label: NDArray[np.intp], floor: Array, K: int) -> Clusters:
    """The points of each of K clusters, which are labelled; -1 is none."""
    points = np.argsort(label, kind="stable")[np.count_nonzero(label < 0) :]
    return Clusters(points, np.searchsorted(label[points], np.arange(K + 1)), floor[points])
