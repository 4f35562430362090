"""Evidential c-means.

Clusters have prototypes v_k, and so have sets of clusters: vbar_j is the mean of the prototypes of the clusters in the
focal set A_j. With c_j = |A_j| and d_ij = |x_i - vbar_j|, minimise over masses m_ij with row sums 1 and over V

    J = sum_i w_i [ sum_(A_j not empty) c_j^alpha m_ij^beta d_ij^2 + delta^2 m_i(empty)^beta ]

by alternating the two exact minimisations:

* masses: those of fuzzy c-means with fuzzifier beta, for the costs c_j^alpha d_ij^2 of the sets and delta^2 of the
  empty set: m_ij proportional to cost^(-1/(beta-1));
* prototypes: with W_ij = w_i m_ij^beta solve H V = B, where
  H_kl = sum of c_j^(alpha-2) W_ij over the samples and the sets that contain both k and l, and
  B_k = sum of c_j^(alpha-1) W_ij x_i over the samples and the sets that contain k.

A pass costs O(n f d), f the number of sets.

References
----------
M.-H. Masson, T. Denoeux (2008). ECM: An evidential version of the fuzzy c-means algorithm. Pattern Recognition 41(4),
1384-1397.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from .._types import Array, Init, MatrixLike, Seed
from ..base import as_fitted
from ..engine.alternating import PARAMETERS
from ..engine.blocks import Block, Blocks
from ..engine.collapse import collapse
from ..engine.initialisation import starting_centers
from ..engine.loop import Policy, Run, state_shift
from ..engine.streaming import StreamingClusterer
from ..fuzzy.fuzzifier import auto_fuzzifier, smaller
from ..kernels import EMPTY
from ..kernels.centers import center_memberships, center_statistics
from .credal import FOCAL_SETS, CredalMixin, make_focal_sets, pignistic, singletons

_MOST_AUTO = 5  # clusters of which focal_sets='auto' takes all subsets
_LEAST, _MOST = np.finfo(np.float64).tiny, 1e300  # squared distances between which nothing overflows
_ON = 2 * (64 * np.finfo(np.float64).eps) ** 2  # a squared distance below this part of that from the origin is rounding
_RIDGE = 1e-9  # of the diagonal of H
_NOBODY = 1e-6  # a cluster is empty if no sample has a larger mass on it


class Prototypes(NamedTuple):
    """The state: prototypes of the clusters (K, d), and the squared distance of the empty set."""

    centers: Array
    noise: float

    def drift(self, old: Prototypes, unit: float) -> float:
        """Movement of the prototypes, in units of the root mean variance of the features."""
        return float(np.linalg.norm(self.centers - old.centers) / unit)

    def to_vector(self) -> Array:
        """The numbers to mix: the noise distance is fixed."""
        return self.centers.ravel()

    def from_vector(self, vector: Array) -> Prototypes:
        """Other prototypes with the same noise distance."""
        return self._replace(centers=vector.reshape(self.centers.shape))


def centers_of(state: Prototypes) -> Array:
    """The prototypes of the clusters."""
    return state.centers


class SetStatistics(NamedTuple):
    """What a block of rows contributes to new prototypes: H, B (K, d), and the objective."""

    weight: Array  # (K, K), or (d, K, K) if values are missing
    total: Array
    objective: float

    @property
    def mass(self) -> Array:
        """The matrix H of the linear system."""
        return self.weight

    def merge(self, other: SetStatistics) -> SetStatistics:
        """The statistics of both blocks together."""
        return SetStatistics(self.weight + other.weight, self.total + other.total, self.objective + other.objective)


class ECM(CredalMixin, StreamingClusterer[Prototypes, SetStatistics]):
    """Evidential c-means: masses on clusters, on sets of clusters, and on the empty set.

    A sample between two clusters puts its mass on the set of both, a sample far from all on the empty set, where fuzzy
    memberships would be one half each in both cases.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters K.
    focal_sets : {'auto', 'full', 'pairs', 'simple'} or list of sets of indices, default='auto'
        Sets of clusters that may have mass, besides the empty set: all subsets (``'full'``, for K <= 12); single
        clusters, pairs and the set of all (``'pairs'``); single clusters and the set of all (``'simple'``). A list must
        hold the single clusters. ``'auto'``: all subsets for K <= 5, else pairs.
    alpha : float, default=2.0
        Exponent of the size of a set in its cost, from 0 to 50: large values avoid large sets. 1 is usual elsewhere.
    beta : float or 'auto', default='auto'
        Fuzzifier, > 1 and at most 50: near 1 nearly all mass of a sample is on one set. ``'auto'``: the rule of
        :class:`FCM`, the customary 2 for up to about 5 features, falling towards 1 as features are added.
    delta : float or 'auto', default='auto'
        Distance of the empty set, > 0: a sample farther from all prototypes is an outlier. ``np.inf``: there are none.
        ``'auto'``: the root of ``delta_scale`` times the mean squared distance of samples and starting prototypes, of
        the first start for all starts.
    delta_scale : float, default=20.0
        Factor of ``delta='auto'``; a smaller one finds more outliers.
    init : {'kmeans', 'k-means++', 'k-means||'}, array (n_clusters, n_features) or callable, default='kmeans'
        Starting prototypes: of a k-means run, or only its seeds. A callable gets ``(X, n_clusters, rng)``. An array
        forces one start. Of more than 20,000 rows on Dask, ``'k-means++'`` is ``'k-means||'``, and
        ``'kmeans'`` sees a sample of 20,000.
    n_init : int, default=3
        Starts; the one of smallest objective is kept.
    max_iter : int, default=300
        Passes over the data per start.
    tol : float, default=1e-6
        Converged when the prototypes move by at most ``tol`` times the root mean variance of the features.
    accelerate : bool, default=True
        Anderson acceleration: the same optimum in fewer passes.
    random_state : int, RandomState or None, default=None
        Seed of the starts.
    verbose : int, default=0
        1 prints a line per start, 2 a line per pass.

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
        How imprecise the masses are, in [0, 1]; of several numbers of clusters the one of least is best [1]_.
    centers_ : ndarray of shape (n_clusters, n_features)
    focal_centers_ : ndarray of shape (n_sets - 1, n_features)
        Prototypes of the sets that are not empty.
    delta_ : float
        The distance of the empty set used.
    beta_ : float
        The fuzzifier used.
    n_clusters_ : int
    objective_ : float
        J at ``centers_``.
    objective_history_ : ndarray
        J at each set of prototypes visited, the last one included.
    n_iter_ : int
        Passes of the best start.
    converged_ : bool

    See Also
    --------
    soft_clustering.EVCLUS : masses from dissimilarities, without prototypes.
    soft_clustering.FCM : the same with single clusters and no outliers.

    Notes
    -----
    A pass costs O(n f d) time for f sets; memory beyond X, ``masses_`` and ``memberships_`` is O(f d + n).
    ``score`` is minus the objective.

    The prototype of a set may lie on a cluster between two others and take mass from it: that is in the model, and why
    ``'simple'`` sets often agree better with classes. A k-means start may give a far outlier a prototype of its own;
    then it has no mass on the empty set: give clean prototypes as ``init``.

    ``partial_fit`` settles ``delta_`` and ``beta_`` on the first batch, and solves H V = B for the sums over all rows
    seen, each with the masses that it had when it came: the streaming weighted mean of [2]_, for a linear system.

    The rules of ``delta='auto'``, ``beta='auto'`` and the default ``alpha`` are ours. Restricting large frames to pairs
    is, from memory, the publication's own advice.

    References
    ----------
    .. [1] M.-H. Masson, T. Denoeux (2008). ECM: An evidential version of the fuzzy c-means algorithm. Pattern
       Recognition 41(4), 1384-1397.
    .. [2] P. Hore, L. O. Hall, D. B. Goldgof (2007). Single pass fuzzy c means. FUZZ-IEEE.

    Examples
    --------
    >>> import numpy as np
    >>> from soft_clustering import ECM
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0], [5.5]])
    >>> model = ECM(n_clusters=2, alpha=1.0, delta=10.0, random_state=0).fit(X)
    >>> model.focal_sets_[model.hard_credal_[4]]
    array([ True,  True])
    >>> model.predict_masses([[60.0]])[0, 0].round(2)
    np.float64(0.92)
    """

    beta_: float
    delta_: float
    focal_centers_: NDArray[Any]
    _policy = Policy(residual=state_shift, place=centers_of, rows={"masses_": "_masses"}, missing=True)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "focal_sets": [StrOptions(FOCAL_SETS | {"auto"}), list, tuple],
        "alpha": [Interval(Real, 0, 50, closed="both")],  # K^alpha must be a float
        "beta": [StrOptions({"auto"}), Interval(Real, 1, 50, closed="right")],  # f^-beta must not underflow
        "delta": [StrOptions({"auto"}), Interval(Real, 0, None, closed="right")],
        "delta_scale": [Interval(Real, 0, None, closed="neither")],
        "init": [StrOptions({"kmeans", "k-means++", "k-means||"}), callable, "array-like"],
        "accelerate": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        focal_sets: str | Sequence[Iterable[int]] = "auto",
        alpha: float = 2.0,
        beta: float | str = "auto",
        delta: float | str = "auto",
        delta_scale: float = 20.0,
        init: Init = "kmeans",
        n_init: int = 3,
        max_iter: int = 300,
        tol: float = 1e-6,
        accelerate: bool = True,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.focal_sets = focal_sets
        self.alpha = alpha
        self.beta = beta
        self.delta = delta
        self.delta_scale = delta_scale
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.accelerate = accelerate
        self.random_state = random_state
        self.verbose = verbose

    # The method -----------------------------------------------------------------------------------------------------

    def _resolve(self, blocks: Blocks) -> None:
        K, kind = self.n_clusters, self.focal_sets
        F = make_focal_sets(("full" if K <= _MOST_AUTO else "pairs") if kind == "auto" else kind, K)
        if singletons(F).sum() < K:
            raise ValueError(f"focal_sets must hold every single cluster. Got {kind!r} instead.")
        self.focal_sets_, self._sets = F, F[1:].astype(np.float64)
        self._sizes = self._sets.sum(axis=1)
        self._penalty = self._sizes**self.alpha
        if blocks.mean_variance == 0:
            self._penalty[self._sizes > 1] = np.inf  # identical rows do not determine sets: single clusters only
        self.beta_ = auto_fuzzifier(blocks.n_counted, blocks.n_features) if self.beta == "auto" else float(self.beta)

    def _starts(self, blocks: Blocks, rng: np.random.RandomState) -> Iterator[Prototypes]:
        noise = None if self.delta == "auto" else _squared(float(self.delta) * float(blocks.frame.scale))
        for _ in range(self._n_starts()):
            V = starting_centers(blocks, self.init, self.n_clusters, rng)
            if noise is None:
                # The frame is centred: the mean of |x - v|^2 is the summed variance plus |v|^2.
                spread = blocks.mean_variance * blocks.d + np.square(V).sum(axis=1).mean()
                if blocks.has_gaps:
                    moments = blocks.moments(blocks.frame)
                    of_features = moments.square - 2 * V * moments.total + moments.seen * V * V
                    spread = of_features.sum(axis=1).mean() / moments.weight
                noise = _squared(np.sqrt(self.delta_scale) * np.sqrt(spread or 1.0))
            yield Prototypes(V, noise)

    def _rule(self, state: Prototypes, noise: float) -> tuple[Any, ...]:
        """The prototypes of all sets, any for the empty one, and the rule of the kernels that gives the masses."""
        V = np.vstack([np.zeros_like(state.centers[0]), self._sets @ state.centers / self._sizes[:, None]])
        rounding = np.maximum(_ON * np.einsum("ij,ij->i", V, V), _LEAST)
        return V, "sets", self.beta_, noise, 1.0, *self._penalty, *rounding

    def _statistics(self, block: Block, state: Prototypes) -> SetStatistics:
        statistics = center_statistics(block, *self._rule(state, state.noise))
        total, sizes, sets = statistics.total[1:], self._sizes[:, None], self._sets
        weight = statistics.weight[1:, None] if statistics.seen is None else statistics.seen.T[:, 1:, None]
        gram = sets.T @ (sizes ** (self.alpha - 2) * weight * sets)
        return SetStatistics(gram, sets.T @ (sizes ** (self.alpha - 1) * total), statistics.objective)

    def _update(self, state: Prototypes, statistics: SetStatistics, blocks: Blocks) -> Prototypes:
        return self._moved(state, statistics, statistics.weight, blocks)

    def _moved(self, state: Prototypes, statistics: SetStatistics, weight: Array, blocks: Blocks) -> Prototypes:
        # A prototype without mass leaves the weight singular: the ridge holds it where it is, and moves no fixed point,
        # as H V = B still means no step.
        V, K = state.centers, self.n_clusters
        system = weight + np.eye(K) * (_RIDGE * np.diagonal(weight, axis1=-2, axis2=-1)[..., None] + EMPTY)
        if weight.ndim == 2:
            return state._replace(centers=V + np.linalg.solve(system, statistics.total - statistics.weight @ V))
        left = statistics.total.T[:, :, None] - statistics.weight @ V.T[:, :, None]  # a system for each feature
        return state._replace(centers=V + np.linalg.solve(system, left)[:, :, 0].T)

    def _memberships(self, block: Block, state: Prototypes) -> NDArray[Any]:
        masses = center_memberships(block, *self._rule(state, np.inf))[:, 1:]  # those of an outlier are no less exact
        return pignistic(masses.astype(np.float64), self.focal_sets_[1:]).astype(block.X.dtype)

    def _masses(self, block: Block, state: Prototypes) -> NDArray[Any]:
        return center_memberships(block, *self._rule(state, state.noise))

    # The protocol ---------------------------------------------------------------------------------------------------

    @as_fitted
    def predict_masses(self, X: MatrixLike) -> NDArray[Any]:
        """Masses of new data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        masses : ndarray of shape (n_samples, n_sets)
        """
        return self._map_rows("_masses", self._new_blocks(X))

    def _store(self, state: Prototypes, statistics: SetStatistics, blocks: Blocks) -> None:
        V = state.centers
        self.centers_ = blocks.frame.to_input(V).astype(blocks.dtype)
        self.focal_centers_ = blocks.frame.to_input(self._sets @ V / self._sizes[:, None]).astype(blocks.dtype)
        self.delta_ = float(np.sqrt(state.noise) / blocks.frame.scale)

    def _complaints(self, run: Run[Prototypes], blocks: Blocks) -> list[str]:
        remedy = f"beta={self.beta_:g} may be too large for {blocks.d} features, try {smaller('beta', self.beta)}"
        complaints = collapse("ECM", run.state.centers, self.memberships_, blocks, remedy, self.tol)
        empty = int(np.count_nonzero(np.asarray(self.belief_.max(axis=0)) < _NOBODY))
        if not complaints and empty:
            complaints = [
                f"ECM left {empty} of n_clusters={self.n_clusters} clusters without samples; try another init"
            ]
        return super()._complaints(run, blocks) + complaints


def _squared(distance: float) -> float:
    """A square that costs can be compared with."""
    with np.errstate(over="ignore"):
        square = np.square(distance)
    return float(square if square == np.inf else np.clip(square, _LEAST, _MOST))
