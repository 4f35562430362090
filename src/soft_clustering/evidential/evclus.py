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

from collections.abc import Callable, Iterable, Iterator, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import squareform
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._types import Array, Indices, MatrixLike, Seed
from ..base import InductiveSoftClusterer
from ..engine.alternating import PARAMETERS
from ..engine.blocks import make_blocks
from ..engine.dissimilarities import (
    Dissimilarities,
    distinct_draws,
    medoid_labels,
    quantile,
    tag_metric,
    validate_objects,
)
from ..engine.fitting import Fit, not_converged
from ..engine.initialisation import starting_centers
from ..engine.loop import Policy, Run, finished
from ..engine.simplex import least_squares_on_simplex
from ..engine.threads import single_threaded_blas
from ..inputs.features import check_enough_samples
from ..kernels.centers import center_memberships
from .credal import FOCAL_SETS, CredalMixin, make_focal_sets, pignistic
from .stress import SLACK, AllPairs, SampledPairs, conflict_matrix, descend, targets

if TYPE_CHECKING:
    from typing import Self

_ALL_PAIRS = 5000  # objects up to which n_dissimilarities='auto' takes all pairs
_SAMPLED = 200  # and others that it compares an object with above
_MOST_PAIRS = 20_000  # objects up to which all pairs can be asked for: 3.2 GB
_ALIKE = 1 - 1e-6  # part of d0 from which on dissimilarities are all the same
_EASY, _FEW = 1000, 500  # of more objects than the first number, the starts compete on so many
_SAME = 1e-3  # relative difference of the objectives of two starts that came to the same place
_TOGETHER = 20  # objects that share their sampled partners
_LABEL_MASS = 0.7  # of the set of its label, if a start comes from labels
_RIDGE = 1e-6  # of the mean diagonal, in the programme of a new object
_CHUNK = 1 << 22  # numbers of a temporary array


class EVCLUS(CredalMixin, InductiveSoftClusterer):
    """EVCLUS: masses on sets of clusters whose conflict mimics dissimilarity.

    Works from features or from any dissimilarities between objects, which need not be distances.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters K.
    metric : str, default='euclidean'
        How dissimilar two rows are: a metric of :func:`sklearn.metrics.pairwise_distances` that needs no parameters
        from the data, or ``'precomputed'``: X is an (n, n) matrix of dissimilarities. ``'gower'``: X is a data frame of
        numbers and categories, in which values may be missing, as for :class:`RelationalFCM`; a start from labels then
        needs O(n^2) memory.
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
        How many others each object is compared with, drawn at random; all if there are not more. ``'auto'``: all
        for up to 5000 objects, 200 above.
    init : {'auto', 'kmeans', 'random'}, default='auto'
        Where the starts come from: k-means labels (k-medoids for dissimilarities), random masses, or one of the former
        and ``n_init - 1`` of the latter (``'auto'``).
    n_init : int, default=4
        Starts; the one of smallest objective is kept. If there are more than 1000 objects, several starts first run on
        500 of them, drawn at random; those that end at different objectives go on with all objects.
    max_iter : int, default=300
        Steps per start, and of those that go on with all objects.
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
    d0_: float
    near_: float
    n_dissimilarities_: int
    objective_: float
    objective_history_: Array
    n_iter_: int
    converged_: bool
    _policy = Policy(place=None)
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
        focal_sets: str | Sequence[Iterable[int]] = "simple",
        d0: float | str = "auto",
        quantile: float | str = "auto",
        n_dissimilarities: int | str = "auto",
        init: str = "auto",
        n_init: int = 4,
        max_iter: int = 300,
        tol: float = 1e-5,
        random_state: Seed = None,
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

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Fit the masses.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_samples) if ``metric='precomputed'``
        y : ignored

        Returns
        -------
        self : object
        """
        with Fit[Array](self) as fit:
            X, metric = validate_objects(self, X, self.metric, reset=True)
            n = len(X)
            check_enough_samples(n, self.n_clusters)
            self.focal_sets_ = make_focal_sets(self.focal_sets, self.n_clusters)
            rng = check_random_state(self.random_state)
            objects = Dissimilarities(X, metric)
            labels = self._start_labels(X, objects, rng)
            n_distinct = objects.n_distinct(self.n_clusters)
            pairs, chosen = self._make_pairs(objects, rng)
            known = objects.landmarks(chosen)

            def store(run: Run[Array]) -> Iterator[str]:
                self.masses_ = run.state.astype(X.dtype)
                self._known, self._known_masses = known, run.state[chosen]
                self._set_memberships(pignistic(run.state[:, 1:], self.focal_sets_[1:]).astype(X.dtype))
                return self._complaints(run, n_distinct)

            fit.unit = "step"
            fit.stores(store)
            if pairs is None:
                sizes = self.focal_sets_.sum(axis=1)
                largest = (sizes == sizes.max()) / (sizes == sizes.max()).sum()
                fit.runs.append(finished(np.tile(largest, (n, 1))))
                return self
            starts = labels + [None] * (self.n_init - len(labels))
            if len(starts) == 1 or n <= _EASY:
                fit.runs += [Run(self._start(start, n, rng)) for start in starts]
            else:
                some = np.sort(rng.permutation(n)[:_FEW])

                def to_some(part: Indices) -> Array:
                    """The targets of a part of the objects, to some of them."""
                    if isinstance(pairs, AllPairs):
                        return pairs.delta[part][:, some]
                    return self._targets(objects.between(part, some))

                few = AllPairs(to_some(some), pairs.Xi)
                np.fill_diagonal(few.delta, 0)
                tried = [Run(self._start(None if start is None else start[some], _FEW, rng)) for start in starts]
                self._descend(few, tried, fit)
                fit.runs += [Run(self._fitting_masses(run.state, to_some, X.shape)) for run in different(tried)]
            self._descend(pairs, fit.runs, fit)
        return self

    def predict_masses(self, X: MatrixLike) -> NDArray[Any]:
        """Masses of new data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_training_samples) if ``metric='precomputed'``

        Returns
        -------
        masses : ndarray of shape (n_samples, n_sets)
        """
        check_is_fitted(self, "masses_")
        X, _ = validate_objects(self, X, self._known.metric.name, reset=False)
        with single_threaded_blas():
            masses = self._fitting_masses(
                self._known_masses, lambda part: self._targets(self._known.measure(X[part])), X.shape
            )
        return masses.astype(X.dtype)

    def predict_memberships(self, X: MatrixLike) -> NDArray[Any]:
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
        tag_metric(tags, self.metric)
        return tags

    # The method -----------------------------------------------------------------------------------------------------

    def _make_pairs(
        self, objects: Dissimilarities, rng: np.random.RandomState
    ) -> tuple[AllPairs | SampledPairs | None, NDArray[np.intp]]:
        """The criterion, None if all objects are alike, and the objects that new ones are compared with.

        Precomputed dissimilarities are overwritten.
        """
        n, k, Xi = len(objects), self.n_dissimilarities, conflict_matrix(self.focal_sets_)
        if isinstance(k, str):
            k = n if n <= _ALL_PAIRS else _SAMPLED
        self.n_dissimilarities_ = min(k, n - 1)
        pairs: AllPairs | SampledPairs
        if k < n - 1:
            order, partners, D = sample_partners(objects, k, rng)
            self._settle_d0(D.reshape(-1, k)[:n].ravel(), objects.metric.unit)
            pairs, chosen = SampledPairs(order, partners, self._targets(D), Xi), order[:k]
        elif n <= _MOST_PAIRS:
            D = objects.between(slice(None), slice(None))
            np.fill_diagonal(D, 0)
            self._settle_d0(squareform(D, checks=False), objects.metric.unit)
            pairs, chosen = AllPairs(self._targets(D), Xi), np.arange(n)
        else:
            raise ValueError(
                f"n_dissimilarities must be < n_samples - 1 if n_samples > {_MOST_PAIRS}: all pairs of "
                f"n_samples={n} take {8e-9 * n * n:.1f} GB. Got n_dissimilarities={k} instead."
            )
        return pairs if pairs.total > SLACK * n * min(k, n) else None, chosen

    def _settle_d0(self, D: Array, unit: float) -> None:
        """Set the two scales, measured and in input units."""
        self._near = 0.0
        if not isinstance(self.d0, str):
            self._d0 = min(max(float(self.d0) / unit, 1e-300), 1e300)
        elif len(D) == 0:
            self._d0 = 0.0
        elif isinstance(self.quantile, str):
            K = self.n_clusters
            self._near, self._d0 = quantile(D, 1 / (2 * K)), quantile(D, (1 + 1 / K) / 2)
        else:
            self._d0 = quantile(D, self.quantile)
        if self._d0 == 0:
            self._d0 = float(D[D > 0].min()) if D.any() else 1.0
        if self._near >= _ALIKE * self._d0:  # there is hardly any difference that conflict could mimic
            self._near = 0.0
        self.d0_, self.near_ = self._d0 * unit, self._near * unit

    def _targets(self, D: Array) -> Array:
        return targets(D, self._d0, self._near)

    def _start_labels(self, X: NDArray[Any], objects: Dissimilarities, rng: np.random.RandomState) -> list[Any]:
        """Labels of the starts that come from labels."""
        n_starts = {"auto": 1, "kmeans": self.n_init, "random": 0}[self.init]
        if self.metric in ("precomputed", "gower"):
            D = objects.between(slice(None), slice(None))
            return [medoid_labels(D, self.n_clusters, rng) for _ in range(n_starts)]
        blocks = make_blocks(X)
        centers = [starting_centers(blocks, "kmeans", self.n_clusters, rng) for _ in range(n_starts)]
        return [center_memberships(blocks.blocks[0], V, "nearest").argmax(axis=1) for V in centers]

    def _start(self, labels: NDArray[np.intp] | None, n: int, rng: np.random.RandomState) -> Array:
        """Masses to start from: mostly on the smallest set of the label, or random."""
        f = len(self.focal_sets_)
        if labels is None:
            M: Array = rng.uniform(size=(n, f))
            M /= M.sum(axis=1, keepdims=True)
            return M
        M = np.full((n, f), (1 - _LABEL_MASS) / (f - 1))
        M[np.arange(n), self.focal_sets_.argmax(axis=0)[labels]] = _LABEL_MASS
        return M

    def _descend(self, pairs: AllPairs | SampledPairs, runs: list[Run[Array]], fit: Fit[Array]) -> None:
        """Runs in step, so that they share products with the targets."""
        active = [(number, descend(pairs, run, self.max_iter, self.tol)) for number, run in enumerate(runs)]
        asked = [next(steps) for _, steps in active]
        while active:
            going = []
            for (number, steps), P in zip(active, pairs.products(asked), strict=True):
                try:
                    going.append(((number, steps), steps.send(P)))
                except StopIteration:
                    fit.report_start(number + 1, runs[number])
            active, asked = [start for start, _ in going], [M for _, M in going]

    def _fitting_masses(self, known: Array, to_known: Callable[[slice], Array], shape: tuple[int, int]) -> Array:
        """The masses of objects, given by an array of some shape, that fit their targets to objects of known masses."""
        A = known @ conflict_matrix(self.focal_sets_)
        H = A.T @ A / len(A)
        H += _RIDGE * H.trace() / len(H) * np.eye(len(H))
        step = max(1, _CHUNK // max(len(A), shape[1], 16 * len(H)))
        parts = (to_known(slice(lo, lo + step)) for lo in range(0, shape[0], step))
        return np.concatenate([least_squares_on_simplex(H, delta @ A / len(A)) for delta in parts])

    def _complaints(self, run: Run[Array], n_distinct: int) -> Iterator[str]:
        """What to warn of after a fit."""
        yield from not_converged(self, run, passes="steps")
        K, found = self.n_clusters, len(np.unique(self.labels_))
        if n_distinct < K:
            yield f"EVCLUS found {n_distinct} distinct objects, fewer than n_clusters={K}: use fewer clusters"
        elif found < K:
            yield (
                f"EVCLUS left {K - found} of n_clusters={K} clusters without objects; try fewer clusters, a smaller "
                "quantile or more starts"
            )


def different(runs: list[Run[Array]]) -> list[Run[Array]]:
    """The runs, the best first, without those that came to the objective of a better one."""
    ordered = sorted(runs, key=lambda run: run.history[-1])
    J = np.array([run.history[-1] for run in ordered])
    return [ordered[i] for i in np.flatnonzero(np.diff(J, prepend=-np.inf) > _SAME * J)]


def sample_partners(
    objects: Dissimilarities, k: int, rng: np.random.RandomState
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
        D[group, : len(members)] = objects.between(members, order[partners[group]])
    return order, partners, D
