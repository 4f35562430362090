"""Fuzzy c-medoids.

The prototype of a cluster is one of the objects, its medoid. With R_ij = d_ij^exponent, minimise

    J = sum_i w_i sum_k u_ik^m R(i, M_k)

over memberships with sum_k u_ik = 1 and K different objects M, by alternating

* u_ik = R(i, M_k)^(-1/(m-1)) / sum_l R(i, M_l)^(-1/(m-1));
* M_k = argmin_j sum_i w_i u_ik^m R_ij.

A medoid then only moves within its own fuzzy cluster. So swaps follow: without the memberships,

    J(M) = sum_i w_i (sum_k R(i, M_k)^(-1/(m-1)))^(1-m),

a medoid changes places with any object that lowers J, until there is none.

References
----------
R. Krishnapuram, A. Joshi, O. Nasraoui, L. Yi (2001). Low-complexity fuzzy relational clustering algorithms for web
mining. IEEE Trans. Fuzzy Systems 9(4), 595-607.
E. Schubert, P. J. Rousseeuw (2021). Fast and eager k-medoids clustering: O(k) runtime improvement of the PAM, CLARA,
and CLARANS algorithms. Information Systems 101, 101804.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._types import Array, MatrixLike, Seed
from ..engine.alternating import is_drawn
from ..engine.dissimilarities import DissimilarityMetric, KnownMetric
from ..engine.fitting import Fit
from ..engine.loop import Policy, Scale, iterate
from ..inputs.features import naming, validate_matrix
from ..inputs.pairwise import check_dissimilarities
from .base import RELATIONAL, Found, RelationalClusterer
from .relation import MOST_PAIRS, Relation

Medoids = NDArray[np.intp]

_GAIN = 1e-9  # part of the objective that a move must gain
_SWAPS = 1 << 22  # numbers of R that a search for swaps looks at, per cluster
_PIECE = 1 << 16  # numbers of a temporary array


def changed(old: Medoids, new: Medoids, history: list[float], scale: Scale) -> float:
    """How many medoids are others."""
    return float(np.count_nonzero(old != new))


class FuzzyCMedoids(RelationalClusterer[Medoids]):
    """Fuzzy c-medoids: degrees of membership around typical samples.

    Works under any metric and from given dissimilarities. Each cluster has a sample that stands for it, so that a new
    object is compared with K objects only.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters K.
    m : float or 'auto', default='auto'
        Fuzzifier, > 1: near 1 the memberships are almost hard, large values make them equal. ``'auto'``: the rule of
        :class:`FCM`, at most 2; 1.1 for ``metric='precomputed'``, as the rule counts features, and more would be too
        soft where there are many.
    metric : str or callable, default='euclidean'
        How dissimilar two rows are: a metric of :func:`sklearn.metrics.pairwise_distances` that needs no parameters
        from the data, a symmetric function of two rows, or ``'precomputed'``: X is an (n, n) matrix of dissimilarities.
        Sparse rows are for ``'euclidean'``, ``'cityblock'`` and ``'cosine'``.
        ``'gower'``: X is a data frame of numbers and categories (columns of type category, object, string or bool), in
        which values may be missing; see Notes.
    exponent : float, default=1.0
        The power of the dissimilarities that is minimised. With 1, far objects pull the medoids less than with 2.
    n_candidates : int or None, default=None
        None: all objects are candidates for a medoid, and the dissimilarities of all pairs are held in memory. An int:
        so many objects of largest membership in a cluster are candidates for its medoid (at least ``n_clusters``), and
        dissimilarities are computed when they are needed, in linear memory.
    swap : bool, default=True
        Whether medoids also change places with objects of other clusters.
    noise_distance : float, 'auto' or None, default=None
        Distance of all samples to one more cluster, which takes the outliers: noise clustering [3]_. ``'auto'``: the
        square is ``noise_scale`` times that of the median distance of a sample to its nearest medoid, in a fit without
        noise. None: there is no such cluster.
    noise_scale : float, default=10.0
        For ``noise_distance='auto'``. Small values make more samples noise; below 4 they may take whole clusters.
    init : {'k-means++', 'random'} or array of shape (n_clusters,), default='k-means++'
        The first medoids, drawn by their dissimilarity to those before or at random; or indices of samples, which force
        one start.
    n_init : int, default=2
        Starts; the one of smallest objective is kept.
    max_iter : int, default=100
        Passes per start: moves of all medoids within their clusters, or a round of swaps.
    random_state : int, RandomState or None, default=None
        Seed of the starts, and of the objects that swaps are tried with.
    verbose : int, default=0
        1 prints a line per start, 2 a line per pass.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Rows sum to 1; with noise to 1 - ``noise_mass_``.
    labels_ : ndarray of shape (n_samples,)
        Cluster of largest membership; -1 for noise.
    noise_mass_ : ndarray of shape (n_samples,)
        Membership in the noise, if there is a ``noise_distance``.
    noise_distance_ : float
        The distance used.
    medoid_indices_ : ndarray of shape (n_clusters,)
        Which samples are the medoids.
    centers_ : ndarray of shape (n_clusters, n_features)
        The medoids, rows of X; not set for ``metric='precomputed'`` and ``'gower'``.
    n_clusters_ : int
    m_ : float
        The fuzzifier used.
    objective_ : float
        J at the medoids.
    objective_history_ : ndarray
        J at each set of medoids visited, the last one included.
    n_iter_ : int
        Passes of the best start.
    converged_ : bool
        Whether no move and no swap that was tried lowers J.

    See Also
    --------
    soft_clustering.RelationalFCM : means of the objects as prototypes.
    soft_clustering.FCM : centres between the samples, for Euclidean distances.

    Notes
    -----
    A move of all medoids costs O(n^2 K) multiplications, a round of swaps O(n^2 K) powers, which take most of the time:
    ``swap=False`` is several times faster, but a medoid then never leaves its own cluster. Of more than 2048 samples, a
    round tries 4 million / n drawn ones. Memory is 8 n^2 bytes, for precomputed dissimilarities up to three times that;
    more than 20,000 samples need ``n_candidates``, which makes memory O(n) and the time of a move O(n K n_candidates).

    Prediction measures new samples to the medoids only. ``metric='precomputed'`` takes the dissimilarities to all
    training samples, or to the medoids, (n_new, K), in their order. ``score`` is minus the objective.

    ``metric='gower'`` measures two rows by the mean, over the columns that both have, of the difference of two numbers
    in units of the range of the column in ``fit``, at most 1, and of 1 for two different categories [4]_; rows without
    a common column are 1 apart. In new data a category that was not there in ``fit`` differs from all others. A sample
    without any value has no influence.

    The move is that of [1]_, with ``n_candidates`` its linear variant; the robust variant there, which trims the worst
    objects, is not offered: ``noise_distance`` takes its place. That every object is the medoid of at most one cluster,
    the swaps, which follow [2]_ with the fuzzy objective, and several starts are ours.

    References
    ----------
    .. [1] R. Krishnapuram, A. Joshi, O. Nasraoui, L. Yi (2001). Low-complexity fuzzy relational clustering algorithms
       for web mining. IEEE Trans. Fuzzy Systems 9(4), 595-607.
    .. [2] E. Schubert, P. J. Rousseeuw (2021). Fast and eager k-medoids clustering: O(k) runtime improvement of the
       PAM, CLARA, and CLARANS algorithms. Information Systems 101, 101804.
    .. [3] R. N. Dave (1991). Characterization and detection of noise in clustering. Pattern Recognition Letters 12(11),
       657-664.
    .. [4] J. C. Gower (1971). A general coefficient of similarity and some of its properties. Biometrics 27(4),
       857-871.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from soft_clustering import FuzzyCMedoids
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = FuzzyCMedoids(n_clusters=3, random_state=0).fit(X)
    >>> X[model.medoid_indices_].tolist() == model.centers_.tolist()
    True
    >>> round(model.objective_, 3)
    61.366
    >>> model.predict_memberships([[5.0, 3.4, 1.5, 0.2]]).max().round(2)
    np.float64(1.0)
    """

    medoid_indices_: Medoids
    centers_: NDArray[Any]
    _sparse = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: rule for name, rule in RELATIONAL.items() if name != "tol"},
        "n_candidates": [None, Interval(Integral, 1, None, closed="left")],
        "swap": ["boolean"],
        "init": [StrOptions({"k-means++", "random"}), "array-like"],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        m: float | str = "auto",
        metric: DissimilarityMetric = "euclidean",
        exponent: float = 1.0,
        n_candidates: int | None = None,
        swap: bool = True,
        noise_distance: Literal["auto"] | float | None = None,
        noise_scale: float = 10.0,
        init: str | ArrayLike = "k-means++",
        n_init: int = 2,
        max_iter: int = 100,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.m = m
        self.metric = metric
        self.exponent = exponent
        self.n_candidates = n_candidates
        self.swap = swap
        self.noise_distance = noise_distance
        self.noise_scale = noise_scale
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    @property
    def _policy(self) -> Policy:
        return Policy(residual=changed, place=None)

    def _relation(self, X: Any, weight: Array | None, metric: KnownMetric) -> Relation:
        n = X.shape[0] if weight is None else np.count_nonzero(weight)
        held = self.n_candidates is None or self.metric == "precomputed"
        if held and n > MOST_PAIRS and self.metric != "precomputed":
            raise ValueError(
                f"n_candidates must be an int if n_samples > {MOST_PAIRS}: the dissimilarities of all pairs of "
                f"n_samples={n} would take {8e-9 * n * n:.1f} GB. Got n_candidates=None instead."
            )
        return Relation(X, weight, metric, self.exponent, held=held)

    def _runs(self, fit: Fit[Medoids], relation: Relation, rng: np.random.RandomState) -> None:
        def step(medoids: Medoids) -> tuple[Medoids, float]:
            found = self._rule(relation.columns(medoids))
            objective = float(relation.weight @ found.objective)
            moved = self._alternated(found, relation)
            if self._cost(moved, relation) < (1 - _GAIN) * objective:
                return moved, objective
            return (self._swapped(medoids, objective, relation, rng) if self.swap else medoids), objective

        loop = partial(iterate, step=step, policy=self._policy, max_iter=self.max_iter, tol=0.0, report=fit.report)
        fit.run_starts(self._starts(relation, rng), loop)

    def _starts(self, relation: Relation, rng: np.random.RandomState) -> Iterator[Medoids]:
        K = self.n_clusters
        if not is_drawn(self.init):
            yield self._given_medoids(relation)
            return
        for _ in range(self.n_init):
            yield relation.seeds(K, rng, self._most) if self.init == "k-means++" else relation.random(K, rng)

    def _given_medoids(self, relation: Relation) -> Medoids:
        n, given = relation.n_samples, validate_matrix("init", self.init, (self.n_clusters,))
        medoids = given.astype(np.intp)
        if (medoids != given).any() or not 0 <= medoids.min() <= medoids.max() < n or len(set(medoids)) < len(medoids):
            raise ValueError(f"init must hold n_clusters different indices of samples, below {n}. Got {self.init!r}.")
        if relation.kept is None:
            return medoids
        if not np.isin(medoids, relation.kept).all():
            raise ValueError("init must hold indices of samples with a positive sample_weight.")
        return np.searchsorted(relation.kept, medoids)

    def _cost(self, medoids: Medoids, relation: Relation) -> float:
        return float(relation.weight @ self._rule(relation.columns(medoids)).objective)

    def _alternated(self, found: Found, relation: Relation) -> Medoids:
        """For each cluster the best candidate, clusters of least cost first; an object is the medoid of one only."""
        K, W = self.n_clusters, relation.weight[:, None] * found.weights
        costs = np.full((len(W), K), np.inf)
        if self.n_candidates is None:
            costs[:] = relation.times(W)
        else:
            for k in range(K):
                p = min(max(self.n_candidates, K), len(W))  # one remains if the others take some
                best = np.argpartition(-found.memberships[:, k], p - 1)[:p]
                costs[best, k] = W[:, k] @ relation.columns(best)
        medoids = np.empty(K, dtype=np.intp)
        for k in np.argsort(costs.min(axis=0), kind="stable"):
            medoids[k] = costs[:, k].argmin()
            costs[medoids[k]] = np.inf
        return medoids

    def _swapped(self, medoids: Medoids, objective: float, relation: Relation, rng: np.random.RandomState) -> Medoids:
        """One medoid after the other changes places with the object of least J, if that gains."""
        n, K, medoids, D = len(relation), self.n_clusters, medoids.copy(), relation.columns(medoids)
        n_tried = min(n, max(1, _SWAPS // n))
        tried = np.arange(n) if n_tried == n else np.sort(rng.choice(n, n_tried, replace=False))
        R = relation.columns(tried)
        for k in range(K):
            alone = K == 1 and self._noise == 0
            rest = np.full(n, np.inf) if alone else self._rule(np.delete(D, k, axis=1)).objective
            costs = joined_costs(R, rest, relation.weight, self.m_)
            costs[np.isin(tried, medoids)] = np.inf
            best = costs.argmin()
            if costs[best] < (1 - _GAIN) * objective:
                objective, medoids[k], D[:, k] = float(costs[best]), tried[best], R[:, best]
        return medoids

    def _distances(self, state: Medoids, relation: Relation) -> Array:
        return relation.columns(state)

    def _all_distances(self, D: Array, relation: Relation, X: Any) -> Array:
        return self._measured(X)  # as prediction measures them: for some metrics a medoid is not quite 0 from itself

    def _store(self, state: Medoids, relation: Relation, X: Any) -> None:
        self.medoid_indices_ = state.copy() if relation.kept is None else relation.kept[state]
        self._known, self._n_known = relation.objects.landmarks(state), len(state)
        if self.metric not in ("precomputed", "gower"):
            rows = X[self.medoid_indices_]
            self.centers_ = rows.toarray() if sparse.issparse(rows) else rows

    def _new_objects(self, X: MatrixLike) -> Any:
        check_is_fitted(self, "memberships_")
        K, n = len(self.medoid_indices_), self.n_features_in_
        with naming("X"):
            if self._known.metric.name != "precomputed" or not np.shape(X)[1:] == (K,) != (n,):
                return super()._new_objects(X)
            given: NDArray[Any] = check_array(X, dtype=[np.float64, np.float32], input_name="X")
        check_dissimilarities(given, square=False)
        return given

    def _measured(self, X: Any) -> Array:
        if X.shape[1] == self.n_features_in_ or self._known.metric.name != "precomputed":
            return super()._measured(X)
        return self._powers(self._known.metric.objects(X))

    def _new_distances(self, R: Array) -> Array:
        return R


def joined_costs(R: Array, rest: Array, weight: Array, m: float) -> Array:
    """J (t,) after each of t objects joins the medoids that make the objective ``rest`` (n,) of each object.

    Medoids together are as good as one of R = rest: the sum of R^(-1/(m-1)) to the power 1 - m.

    Examples
    --------
    >>> joined_costs(np.array([[0.0, 3.0], [2.0, 1.0]]), np.array([1.0, 1.0]), np.ones(2), 2.0).round(3)
    array([0.667, 1.25 ])
    """
    step = max(1, _PIECE // len(R))
    costs = []
    for lo in range(0, R.shape[1], step):
        part = R.T[lo : lo + step]
        low, high = np.minimum(part, rest), np.maximum(part, rest)
        ratio = np.divide(low, high, out=np.ones_like(low), where=low < high)
        with np.errstate(under="ignore"):
            costs.append((low * (1 + ratio ** (1 / (m - 1))) ** (1 - m)) @ weight)
    return np.concatenate(costs)
