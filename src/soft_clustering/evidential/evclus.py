"""EVCLUS: masses whose conflict mimics dissimilarity.

Objects i and j that are dissimilar should be in conflict: their masses should be on sets of clusters that have nothing
in common. With Xi_AB = 1 where A and B are disjoint (the empty set is disjoint from all, itself included), the degree
of conflict is kappa_ij = m_i' Xi m_j, and the target for a dissimilarity d_ij is

    delta_ij = 1 - 0.05^((d_ij^2 - near^2) / (d0^2 - near^2)), 0 up to near, so that delta = 0.95 at d0.

The publications have near = 0. But in many features all dissimilarities are alike, so that all targets would be, and
mass on the empty set, which is in conflict with everything, would explain them.

Minimise over masses M, each row on the simplex,

    J = sum_ij (kappa_ij - delta_ij)^2 / C,  C = sum_ij delta_ij^2,

over all ordered pairs i != j or over sampled ones. The publications' solver takes a quadratic programme per object in
turn; here all rows move together by accelerated projected gradients, on the same criterion.

Over all pairs, with S = M' M, q_i = kappa_ii, P = Delta M:

* C J = tr(Xi S Xi S) - sum_i q_i^2 - 2 <P, M Xi> + C;
* C grad J / 4 = ((M Xi) S - P - diag(q) M) Xi;

so that a step costs one product with the (n, n) matrix Delta and nothing else of that size; P is linear in M, so that
the extrapolated point needs none.

References
----------
T. Denoeux, M.-H. Masson (2004). EVCLUS: Evidential clustering of proximity data. IEEE Trans. Systems, Man, and
Cybernetics B 34(1), 95-109.
T. Denoeux, S. Sriboonchitta, O. Kanjanatarakul (2016). Evidential clustering of large dissimilarity data.
Knowledge-Based Systems 106, 179-195.
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist, squareform
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._types import Array
from ..base import InductiveSoftClusterer
from ..engine.alternating import PARAMETERS, Run
from ..engine.blocks import make_blocks
from ..engine.initialisation import starting_centers
from ..engine.simplex import least_squares_on_simplex
from ..engine.threads import single_threaded_blas
from ..inputs.features import check_enough_samples, refuse_dask, validate_features
from ..inputs.pairwise import check_dissimilarities
from ..kernels import reference
from ..kernels.centers import center_memberships
from .credal import FOCAL_SETS, CredalMixin, make_focal_sets, pignistic
from .stress import SLACK, AllPairs, SampledPairs, conflict_matrix, descend, targets

_ALL_PAIRS = 5000  # objects up to which n_dissimilarities='auto' takes all pairs
_SAMPLED = 200  # and others that it compares an object with above
_MOST_PAIRS = 20_000  # objects up to which all pairs can be asked for: 3.2 GB
_ALIKE = 1 - 1e-6  # part of d0 from which on dissimilarities are all the same
_TOGETHER = 20  # objects that share their sampled partners
_MEDOID_STEPS = 100
_LABEL_MASS = 0.7  # of the set of its label, where a start comes from labels
_RIDGE = 1e-6  # of the mean diagonal, in the programme of a new object
_CHUNK = 1 << 22  # numbers of a temporary array
# Metrics of differences alone: they see the data in the coordinates of a frame, which costs no digits.
_OF_DIFFERENCES = {
    "euclidean": "euclidean",
    "l2": "euclidean",
    "minkowski": "euclidean",
    "cityblock": "cityblock",
    "manhattan": "cityblock",
    "l1": "cityblock",
    "chebyshev": "chebyshev",
}
_FITTED_SCALE = ("seuclidean", "mahalanobis")  # scaled by the data at hand: another metric for new data


class EVCLUS(CredalMixin, InductiveSoftClusterer):
    """EVCLUS: masses on sets of clusters whose conflict mimics dissimilarity.

    Works from features or from any dissimilarities between objects, which need not be distances.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters K.
    metric : str, default='euclidean'
        How dissimilar two rows are: a metric of :func:`sklearn.metrics.pairwise_distances` that needs no parameters
        from the data, or ``'precomputed'``: X is an (n, n) matrix of dissimilarities.
    focal_sets : {'full', 'pairs', 'simple'} or list of sets of indices, default='simple'
        Sets of clusters that may have mass, besides the empty set: all subsets (``'full'``, for K <= 12); single
        clusters, pairs and the set of all (``'pairs'``); single clusters and the set of all (``'simple'``).
    d0 : float or 'auto', default='auto'
        Objects of this dissimilarity should have the degree of conflict 0.95. ``'auto'``: the ``quantile`` of the
        dissimilarities.
    quantile : float or 'auto', default='auto'
        Quantile of ``d0='auto'``, > 0 and at most 1; 0.9 is usual elsewhere. ``'auto'``: (1 + 1/K) / 2, and objects
        that are nearer than the quantile 1 / (2 K) should have no conflict. With K clusters of equal size whose
        dissimilarities are smaller inside than between, these are the medians of those between and inside.
    n_dissimilarities : int or 'auto', default='auto'
        How many others each object is compared with, drawn at random; all where there are not more. ``'auto'``: all
        for up to 5000 objects, 200 above.
    init : {'auto', 'kmeans', 'random'}, default='auto'
        Where the starts come from: k-means labels (k-medoids for dissimilarities), random masses, or one of the former
        and ``n_init - 1`` of the latter (``'auto'``).
    n_init : int, default=4
        Starts; the one of smallest objective is kept.
    max_iter : int, default=300
        Steps per start.
    tol : float, default=1e-5
        Converged when five steps in a row change the objective by at most ``tol`` times its value.
    random_state : int, RandomState or None, default=None
        Seed of the starts and of the sampled pairs.
    verbose : int, default=0
        1 prints a line per start.

    Attributes
    ----------
    masses_ : ndarray of shape (n_samples, n_sets)
        Masses of the focal sets; rows sum to 1.
    focal_sets_ : ndarray of shape (n_sets, n_clusters), bool
        Which clusters are in which set; the first is empty, then come the single clusters.
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Pignistic probabilities: the mass of a set is shared by its clusters. Rows sum to 1.
    labels_ : ndarray of shape (n_samples,)
        Cluster of largest membership.
    belief_, plausibility_ : ndarray of shape (n_samples, n_clusters)
        Mass of each single cluster, and of all sets that contain it; both without dividing by 1 - m(empty).
    outlier_mass_, ignorance_ : ndarray of shape (n_samples,)
        Mass of the empty set, and of the set of all clusters.
    hard_credal_ : ndarray of shape (n_samples,)
        Row of ``focal_sets_`` of largest mass.
    lower_approximation_, upper_approximation_ : ndarray of shape (n_samples, n_clusters), bool
        Whether that set is the cluster alone, and whether it contains the cluster. ``get_cover()`` is the latter.
    nonspecificity_ : float
        How imprecise the masses are, in [0, 1].
    d0_ : float
        The dissimilarity of conflict 0.95 used.
    near_ : float
        The dissimilarity up to which no conflict is wanted; 0 but for ``quantile='auto'``.
    n_dissimilarities_ : int
        How many others each object was compared with.
    n_clusters_ : int
    objective_ : float
        J, the stress: the summed squared difference of conflicts and targets over the summed squared targets.
    objective_history_ : ndarray
        J at the start and after each step that was taken.
    n_iter_ : int
        Steps of the best start.
    converged_ : bool

    See Also
    --------
    soft_clustering.ECM : masses from features, with prototypes; faster for many rows.

    Notes
    -----
    A step costs O(n^2 f) time for f sets over all pairs, O(n k f) with k = ``n_dissimilarities``. Memory is 8 n^2 bytes
    (up to twice that before the first step), or 8 n k bytes. All pairs of more than 20,000 objects are refused.

    A new object gets the masses that fit its dissimilarities to the training objects (with sampled pairs: to k of
    them) best, these staying as they are: a quadratic programme per row, solved exactly. Where several masses fit
    equally well, a ridge of 1e-6 takes the most even one. ``metric='precomputed'``: pass an (n_new, n) matrix. Training
    rows are treated like new ones, so that ``predict_memberships(X)`` is not quite ``memberships_``.

    The criterion is that of 2016 [2]_; the stress of 2004 [1]_, which also fits an affine map of the conflicts, is not
    offered. Ours are the solver (projected gradients instead of a quadratic programme per object in turn), the
    two scales of ``quantile='auto'``, the k-means start, and that sampled partners are shared by groups of 20 objects,
    which makes the work matrix products.

    In 40 features and more the dissimilarities of overlapping clusters say little: each is mostly the noise of its two
    objects, which centres average out and pairs do not. There ECM and k-means find more.

    References
    ----------
    .. [1] T. Denoeux, M.-H. Masson (2004). EVCLUS: Evidential clustering of proximity data. IEEE Trans. Systems, Man,
       and Cybernetics B 34(1), 95-109.
    .. [2] T. Denoeux, S. Sriboonchitta, O. Kanjanatarakul (2016). Evidential clustering of large dissimilarity data.
       Knowledge-Based Systems 106, 179-195.

    Examples
    --------
    >>> import numpy as np
    >>> from soft_clustering import EVCLUS
    >>> D = np.abs(np.subtract.outer([0.0, 1, 2, 10, 11, 12], [0.0, 1, 2, 10, 11, 12]))
    >>> model = EVCLUS(n_clusters=2, metric="precomputed", random_state=0).fit(D)
    >>> bool(model.labels_[0] == model.labels_[2] != model.labels_[3])
    True
    >>> model.predict(D[[1]])[0] == model.labels_[1]
    np.True_
    """

    train_rule: ClassVar[Literal["exact", "reinferred"]] = "reinferred"
    _objective_sense: ClassVar[Literal["min", "max"]] = "min"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "metric": [str],
        "focal_sets": [StrOptions(FOCAL_SETS), list, tuple],
        "d0": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "quantile": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="right")],
        "n_dissimilarities": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"auto", "kmeans", "random"})],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        metric: str = "euclidean",
        focal_sets: Any = "simple",
        d0: float | str = "auto",
        quantile: float | str = "auto",
        n_dissimilarities: int | str = "auto",
        init: str = "auto",
        n_init: int = 4,
        max_iter: int = 300,
        tol: float = 1e-5,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.focal_sets = focal_sets
        self.d0 = d0
        self.quantile = quantile
        self.n_dissimilarities = n_dissimilarities
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    # The protocol ---------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> EVCLUS:
        """Fit the masses.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_samples) if ``metric='precomputed'``
        y : ignored

        Returns
        -------
        self : object
        """
        self._validate_params()
        X = self._validate_objects(X, reset=True)
        self._forget("_known", "masses_", "memberships_", "labels_")  # a failed fit is no fit
        check_enough_samples(len(X), self.n_clusters)
        self.focal_sets_ = make_focal_sets(self.focal_sets, self.n_clusters)
        rng = check_random_state(self.random_state)
        with single_threaded_blas():
            objects = self._fit_objects(X)
            labels = self._start_labels(X, objects, rng)
            n_distinct = self._n_distinct(objects)
            pairs, chosen = self._make_pairs(objects, rng)
            known = self._pick(objects, chosen)
            runs: list[Run] = []
            try:
                self._run(pairs, labels, len(X), rng, runs)
            except KeyboardInterrupt:
                if any(run.history for run in runs):
                    self._finish(runs, known, chosen, X.dtype)
                raise
            best = self._finish(runs, known, chosen, X.dtype)
        for complaint in self._complaints(best, n_distinct):
            warnings.warn(complaint, ConvergenceWarning, stacklevel=2)
        return self

    def predict_masses(self, X: Any) -> NDArray[Any]:
        """Masses of new data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_training_samples) if ``metric='precomputed'``

        Returns
        -------
        masses : ndarray of shape (n_samples, n_sets)
        """
        check_is_fitted(self, "_known")
        X = self._validate_objects(X, reset=False)
        A = self._known_masses @ conflict_matrix(self.focal_sets_)
        masses = np.empty((len(X), A.shape[1]), dtype=X.dtype)
        with single_threaded_blas():
            H = A.T @ A / len(A)
            H += _RIDGE * H.trace() / len(H) * np.eye(len(H))
            step = max(1, _CHUNK // max(len(A), X.shape[1], 16 * len(H)))
            for lo in range(0, len(X), step):
                delta = self._targets(self._measure(self._as_objects(X[lo : lo + step]), self._known))
                masses[lo : lo + step] = least_squares_on_simplex(H, delta @ A / len(A))
        return masses

    def predict_memberships(self, X: Any) -> NDArray[Any]:
        """Memberships of new data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_training_samples) if ``metric='precomputed'``

        Returns
        -------
        memberships : ndarray of shape (n_samples, n_clusters)
        """
        masses = self.predict_masses(X)
        return pignistic(masses[:, 1:], self.focal_sets_[1:]).astype(masses.dtype)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    # Objects: rows of features or of dissimilarities, in units in which nothing overflows ----------------------------

    def _validate_objects(self, X: Any, *, reset: bool) -> NDArray[Any]:
        refuse_dask(self, X)
        X = validate_features(self, X, reset=reset, accept_sparse=False)
        if self.metric == "precomputed":
            check_dissimilarities(X, square=reset)
        elif self.metric in _FITTED_SCALE:
            raise ValueError(
                f"metric must not be scaled by the data at hand, or it would be another one for new data. Got "
                f"{self.metric!r} instead: scale X and use 'euclidean'."
            )
        elif reset and self.metric not in _OF_DIFFERENCES:
            with np.errstate(all="ignore"):
                pairwise_distances(X[:1], metric=self.metric)  # refuses a name that it does not know
        return X

    def _fit_objects(self, X: NDArray[Any]) -> Array:
        """The training objects, and their unit: an input dissimilarity is ``_unit`` times one of the objects."""
        self._frame, self._unit = None, 1.0
        if self.metric == "precomputed":
            self._unit = float(X.max()) or 1.0
            objects = self._as_objects(X)
            objects = (objects + objects.T) / 2
            np.fill_diagonal(objects, 0)
            return objects
        if self.metric in _OF_DIFFERENCES:
            self._frame = make_blocks(X).frame
            self._unit = 1 / float(self._frame.scale)
        return self._as_objects(X)

    def _as_objects(self, X: NDArray[Any]) -> Array:
        if self.metric == "precomputed":
            with np.errstate(over="ignore"):  # an infinite dissimilarity is as good as a large one
                return np.divide(X, self._unit, dtype=np.float64)
        return X.astype(np.float64) if self._frame is None else self._frame.from_input(X)

    def _pick(self, objects: Array, indices: Any) -> Any:
        """Some training objects, to measure to: rows of features, or indices of columns of dissimilarities."""
        return indices if self.metric == "precomputed" else objects[indices]

    def _measure(self, objects: Array, others: Any) -> Array:
        """Dissimilarities of objects to others that were picked."""
        if self.metric == "precomputed":
            return objects[:, others]
        if self._frame is not None:
            return cdist(objects, others, _OF_DIFFERENCES[self.metric])
        with np.errstate(all="ignore"):
            D: Array = pairwise_distances(objects, others, metric=self.metric)
        if not np.isfinite(D).all():
            raise ValueError(f"metric={self.metric!r} is not defined, or not finite, between some rows of X.")
        return np.maximum(D, 0)

    def _n_distinct(self, objects: Array) -> int:
        """Distinct objects, counted up to K: each is the farthest from those before."""
        nearest = np.full(len(objects), np.inf)
        for count in range(self.n_clusters):
            farthest = int(nearest.argmax())
            if nearest[farthest] == 0:
                return count
            np.minimum(nearest, self._measure(objects, self._pick(objects, [farthest]))[:, 0], out=nearest)
        return self.n_clusters

    # The method -----------------------------------------------------------------------------------------------------

    def _make_pairs(
        self, objects: Array, rng: np.random.RandomState
    ) -> tuple[AllPairs | SampledPairs | None, NDArray[np.intp]]:
        """The criterion, None where all objects are alike, and the objects that new ones are compared with.

        Precomputed dissimilarities are overwritten.
        """
        n, k, Xi = len(objects), self.n_dissimilarities, conflict_matrix(self.focal_sets_)
        if isinstance(k, str):
            k = n if n <= _ALL_PAIRS else _SAMPLED
        self.n_dissimilarities_ = min(k, n - 1)
        pairs: AllPairs | SampledPairs
        if k < n - 1:
            order, partners, D = self._sample(objects, k, rng)
            self._settle_d0(D.reshape(-1, k)[:n].flatten())
            pairs, chosen = SampledPairs(order, partners, self._targets(D), Xi), order[:k]
        elif n <= _MOST_PAIRS:
            D = self._measure(objects, self._pick(objects, slice(None)))
            np.fill_diagonal(D, 0)
            self._settle_d0(squareform(D, checks=False))
            pairs, chosen = AllPairs(self._targets(D), Xi), np.arange(n)
        else:
            raise ValueError(
                f"n_dissimilarities must be < n_samples - 1 where n_samples > {_MOST_PAIRS}: all pairs of "
                f"n_samples={n} take {8e-9 * n * n:.1f} GB. Got n_dissimilarities={k} instead."
            )
        return pairs if pairs.total > SLACK * n * min(k, n) else None, chosen

    def _sample(
        self, objects: Array, k: int, rng: np.random.RandomState
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
        """See :class:`SampledPairs`; dissimilarities instead of targets."""
        n = len(objects)
        size = min(_TOGETHER, n - k)
        groups = -(-n // size)
        order = rng.permutation(n)
        partners = distinct_draws(rng, groups, n - size, k)
        partners[partners >= size * np.arange(groups)[:, None]] += size  # not of the group itself
        D = np.zeros((groups, size, k))
        for group in range(groups):
            members = order[group * size : (group + 1) * size]
            D[group, : len(members)] = self._measure(objects[members], self._pick(objects, order[partners[group]]))
        return order, partners, D

    def _settle_d0(self, D: Array) -> None:
        """The two scales in units of the objects and of the input, from dissimilarities whose order is not kept."""
        self._near = 0.0
        if not isinstance(self.d0, str):
            self._d0 = min(max(float(self.d0) / self._unit, 1e-300), 1e300)
        elif len(D) == 0:
            self._d0 = 0.0
        elif isinstance(self.quantile, str):
            K = self.n_clusters
            self._near, self._d0 = map(float, np.quantile(D, [1 / (2 * K), (1 + 1 / K) / 2], overwrite_input=True))
        else:
            self._d0 = float(np.quantile(D, self.quantile, overwrite_input=True))
        if self._d0 == 0:
            self._d0 = float(D[D > 0].min()) if D.any() else 1.0
        if self._near >= _ALIKE * self._d0:  # hardly any difference that conflict could mimic
            self._near = 0.0
        self.d0_, self.near_ = self._d0 * self._unit, self._near * self._unit

    def _targets(self, D: Array) -> Array:
        return targets(D, self._d0, self._near)

    def _start_labels(self, X: NDArray[Any], objects: Array, rng: np.random.RandomState) -> list[Any]:
        """Labels of the starts that come from labels."""
        n_starts = {"auto": 1, "kmeans": self.n_init, "random": 0}[self.init]
        if self.metric == "precomputed":
            return [medoid_labels(objects, self.n_clusters, rng) for _ in range(n_starts)]
        blocks = make_blocks(X)
        centers = [starting_centers(blocks, "kmeans", self.n_clusters, rng) for _ in range(n_starts)]
        return [center_memberships(blocks.blocks[0], V, "nearest").argmax(axis=1) for V in centers]

    def _start(self, labels: NDArray[np.intp] | None, n: int, rng: np.random.RandomState) -> Array:
        """Masses to start from: mostly on the smallest set of the label, or random."""
        f = len(self.focal_sets_)
        if labels is None:
            M = rng.uniform(size=(n, f))
            return M / M.sum(axis=1, keepdims=True)
        M = np.full((n, f), (1 - _LABEL_MASS) / (f - 1))
        M[np.arange(n), self.focal_sets_.argmax(axis=0)[labels]] = _LABEL_MASS
        return M

    def _run(
        self,
        pairs: AllPairs | SampledPairs | None,
        labels: list[Any],
        n: int,
        rng: np.random.RandomState,
        runs: list[Run],
    ) -> None:
        """Fill ``runs``, an unfinished one included."""
        if pairs is None:
            sizes = self.focal_sets_.sum(axis=1)
            largest = (sizes == sizes.max()) / (sizes == sizes.max()).sum()
            runs.append(Run(np.tile(largest, (n, 1)), [0.0], 1, True))
            return
        starts = labels + [None] * (self.n_init - len(labels))
        runs += [Run(self._start(start, n, rng)) for start in starts]
        active = [(number, descend(pairs, run, self.max_iter, self.tol)) for number, run in enumerate(runs)]
        asked = [next(steps) for _, steps in active]
        while active:
            going = []
            for (number, steps), P in zip(active, pairs.products(asked), strict=True):
                try:
                    going.append(((number, steps), steps.send(P)))
                except StopIteration:
                    self._report(number, runs[number])
            active, asked = [start for start, _ in going], [M for _, M in going]

    def _report(self, start: int, run: Run) -> None:
        if self.verbose:
            ending = "converged" if run.converged else "not converged"
            numbers = f"objective {run.history[-1]:.8g}, {run.n_iter} steps, {ending}"
            print(f"EVCLUS start {start + 1}/{self.n_init}: {numbers}")

    def _finish(self, runs: list[Run], known: Any, chosen: NDArray[np.intp], dtype: Any) -> Run:
        """Store the best run."""
        best = min(runs, key=lambda run: run.history[-1] if run.history else np.inf)
        self.objective_history_ = np.array(best.history)
        self.objective_ = float(best.history[-1])
        self.n_iter_ = best.n_iter
        self.converged_ = best.converged
        self.masses_ = best.state.astype(dtype)
        self._known, self._known_masses = known, best.state[chosen]
        self._set_memberships(pignistic(best.state[:, 1:], self.focal_sets_[1:]).astype(dtype))
        return best

    def _complaints(self, run: Run, n_distinct: int) -> list[str]:
        """What to warn of after a fit. A single step that was asked for is no failure to converge."""
        complaints, K = [], self.n_clusters
        if not run.converged and self.max_iter > 1:
            complaints.append(
                f"EVCLUS did not converge in max_iter={self.max_iter} steps (last change {run.residual:.2g}, "
                f"tol={self.tol:.2g}). Increase max_iter or tol."
            )
        found = len(np.unique(self.labels_))
        if n_distinct < K:
            complaints.append(
                f"EVCLUS found {n_distinct} distinct objects, fewer than n_clusters={K}: use fewer clusters"
            )
        elif found < K:
            complaints.append(
                f"EVCLUS left {K - found} of n_clusters={K} clusters without objects; try fewer clusters, a smaller "
                "quantile or more starts"
            )
        return complaints


def distinct_draws(rng: np.random.RandomState, rows: int, size: int, k: int) -> NDArray[np.intp]:
    """In each of some rows k different integers below ``size`` >= k, drawn alike and independently of other rows.

    Repetitions are drawn anew; where they would be many, random keys are sorted instead, of a bounded number of rows at
    once.
    """
    if 2 * k > size:
        step = max(1, _CHUNK // size)
        parts = [
            np.argpartition(rng.uniform(size=(min(step, rows - lo), size)), k - 1, axis=1)[:, :k]
            for lo in range(0, rows, step)
        ]
        return np.concatenate(parts)
    draws = np.sort(rng.randint(size, size=(rows, k)), axis=1)
    while True:
        again = np.zeros(draws.shape, dtype=bool)
        again[:, 1:] = draws[:, 1:] == draws[:, :-1]
        if not again.any():
            return draws.astype(np.intp)
        draws[again] = rng.randint(size, size=int(again.sum()))
        draws.sort(axis=1)


def medoid_labels(D: Array, n_clusters: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Labels (n,) of k-medoids by alternation, from seeds drawn as in k-means++."""
    n = len(D)
    medoids = np.empty(n_clusters, dtype=np.intp)
    nearest = np.ones(n)
    for k in range(n_clusters):
        medoids[k] = reference.draw(np.square(nearest), np.arange(n), rng.uniform(size=1))[0]
        nearest = np.minimum(nearest, D[medoids[k]]) if k else D[medoids[k]]
    for _ in range(_MEDOID_STEPS):
        labels = D[:, medoids].argmin(axis=1)
        own = labels[:, None] == np.arange(n_clusters)
        cost = np.where(own, D @ own.astype(np.float64), np.inf)
        better = np.where(own.any(axis=0), cost.argmin(axis=0), medoids)
        if np.array_equal(better, medoids):
            break
        medoids = better
    return labels
