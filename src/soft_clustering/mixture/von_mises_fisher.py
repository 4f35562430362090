"""Mixture of von Mises-Fisher distributions by expectation maximisation.

Maximise the mean log likelihood of p(x) = sum_k pi_k c_d(kappa_k) exp(kappa_k mu_k.x), for unit vectors x in d
dimensions:

* E: r_ik = pi_k c_d(kappa_k) exp(kappa_k mu_k.x_i) / p(x_i);
* M: N_k = sum_i w_i r_ik, pi_k = N_k / sum_l N_l, s_k = sum_i w_i r_ik x_i, mu_k = s_k / |s_k|, and kappa_k such that
  the mean of mu_k.x is the mean resultant length |s_k| / N_k (tied: sum_k |s_k| / sum_k N_k for all components).

As |x - mu|^2 = 2 - 2 mu.x on the sphere, both steps are one pass of the kernels over squared distances.

References
----------
A. Banerjee, I. S. Dhillon, J. Ghosh, S. Sra (2005). Clustering on the unit hypersphere using von Mises-Fisher
distributions. Journal of Machine Learning Research 6, 1345-1382.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._types import Array, Init, MatrixLike, Seed
from ..engine.alternating import PARAMETERS, new_centers
from ..engine.blocks import Block, Blocks, Frame, Sphere, make_blocks, unit_factors
from ..engine.initialisation import random_rows, starting_centers
from ..engine.loop import center_shift
from ..inputs.features import canonical, is_dask, validate_rows, validate_weights
from ..kernels.centers import CenterStatistics, center_memberships, center_rows, center_statistics
from .base import EMPTY_SHARE, LIKELIHOOD, InformationCriteria, LeastLikely, count_distinct, seeded_change
from .bessel import LEAST, MOST, concentration_of, draw_gaps, log_peak

_TINY = 1e-300  # the least weight of a component, and size of an empty one
_NO_DIRECTION = 1e-12  # a mean resultant length below this is rounding
_SAME = 1e-6  # two unit vectors that differ by less are one
_START_PASSES, _START_TOL = 10, 1e-4  # spherical k-means before the first pass of EM


class Components(NamedTuple):
    """The state."""

    weights: Array  # (K,) sum 1
    centers: Array  # (K, d) unit vectors
    concentrations: Array  # (K,)
    fresh: NDArray[np.bool_]  # (K,) whether a component may still be seeded again if it is empty

    @property
    def rule(self) -> tuple[Any, ...]:
        """The rule of the kernels, with its parameters: log(pi c_d(kappa)) + kappa - D kappa / 2 for D = |x - mu|^2."""
        log_shares = np.log(np.maximum(self.weights, _TINY)) + log_peak(self.centers.shape[1], self.concentrations)
        return "softmax", *(self.concentrations / 2), *log_shares


class VonMisesFisherMixture(InformationCriteria[Components, CenterStatistics]):
    """Mixture of von Mises-Fisher distributions: clusters of directions, for texts, embeddings and profiles.

    Only the direction of a sample counts, not its length: of a text which words it uses, not how many. A component is a
    mean direction and a concentration, which is large if its samples point the same way.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of components K.
    concentration : {'tied', 'free'} or float, default='tied'
        ``'tied'``: all components share one concentration kappa, which is learnt. ``'free'``: each has its own.
        Clusters of unlike spread need that, but in short texts one broad component may then take most samples. A float
        in [1e-8, 1e7] fixes kappa: soft spherical k-means, harder the larger it is.
    max_concentration : float, default=1e6
        Upper bound of the concentrations that are learnt, at most 1e7: the likelihood of equal samples has none.
    init : {'k-means++', 'k-means||', 'random'}, array (n_clusters, n_features) or callable, default='k-means++'
        Starting directions; at most ten passes of spherical k-means follow if they are drawn. A callable gets
        ``(X, n_clusters, rng)``; its rows, like those of an array, may have any length. An array forces one start. Of
        more than 20,000 rows on Dask, ``'k-means++'`` is ``'k-means||'``, and ``'random'`` draws from a sample of
        20,000.
    n_init : int, default=5
        Starts; the one of largest likelihood is kept.
    max_iter : int, default=500
        EM passes per start.
    tol : float, default=1e-9
        Converged when the mean log likelihood changes by at most this.
    random_state : int, RandomState or None, default=None
        Seed of the starts and of ``sample``.
    verbose : int, default=0
        1 prints a line per start, 2 a line per pass.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Posterior probabilities; rows sum to 1. Those of a sample without direction (all features 0) are ``weights_``.
    labels_ : ndarray of shape (n_samples,)
        Component of largest posterior.
    centers_ : ndarray of shape (n_clusters, n_features)
        Mean directions: unit vectors.
    weights_ : ndarray of shape (n_clusters,)
        Mixing weights, sum 1.
    concentrations_ : ndarray of shape (n_clusters,)
        kappa of each component, all the same unless ``concentration='free'``.
    mean_resultant_lengths_ : ndarray of shape (n_clusters,)
        Length of the mean of the unit vectors of each component: 1 if all are equal, near 0 if they point everywhere.
    n_clusters_ : int
    objective_ : float
        Mean log likelihood at the stored parameters: of densities on the unit sphere, so it can be positive.
    objective_history_ : ndarray
        Mean log likelihood at each parameter set visited, the last one included.
    n_iter_ : int
    converged_ : bool

    See Also
    --------
    soft_clustering.ENTROPYFCM : the same memberships for points, which have lengths, too.
    soft_clustering.GMM : elliptic clusters.
    soft_clustering.LDA : texts as mixtures of topics.

    Notes
    -----
    A pass costs O(n K d) time, O(K nnz) for sparse rows; memory beyond X and ``memberships_`` is O(n). Rows are divided
    by their lengths while they are read: there is no copy of X, and sparse rows stay sparse.

    In many features memberships are nearly hard, as the concentrations that fit are of the order of d: a property of
    the model.

    Samples without direction are left out of the fit; their log likelihood is 0, as they say nothing.

    Concentrations solve the likelihood equation to rounding, by Newton's method from the approximation that [1]_ take
    for the solution; [2]_ makes two steps. The tied concentration, its bound and the new seed of an empty component
    (once, at the least likely sample) are ours.

    References
    ----------
    .. [1] A. Banerjee, I. S. Dhillon, J. Ghosh, S. Sra (2005). Clustering on the unit hypersphere using von
       Mises-Fisher distributions. Journal of Machine Learning Research 6, 1345-1382.
    .. [2] S. Sra (2012). A short note on parameter approximation for von Mises-Fisher distributions. Computational
       Statistics 27(1), 177-190.
    .. [3] A. T. A. Wood (1994). Simulation of the von Mises Fisher distribution. Communications in Statistics -
       Simulation and Computation 23(1), 157-164. (``sample``)

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from soft_clustering import VonMisesFisherMixture
    >>> texts = ["goal match team", "team goal cup", "match cup goal", "vote party law", "law vote seat", "seat law"]
    >>> X = TfidfVectorizer().fit_transform(texts)
    >>> model = VonMisesFisherMixture(n_clusters=2, random_state=0).fit(X)
    >>> bool(model.labels_[0] == model.labels_[1] == model.labels_[2] != model.labels_[3])
    True
    >>> model.centers_.shape
    (2, 8)
    """

    _policy = replace(LIKELIHOOD, residual=seeded_change, sparse=True)
    concentrations_: Array
    mean_resultant_lengths_: Array
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "concentration": [StrOptions({"tied", "free"}), Interval(Real, LEAST, MOST, closed="both")],
        "max_concentration": [Interval(Real, LEAST, MOST, closed="both")],
        "init": [StrOptions({"k-means++", "k-means||", "random"}), callable, "array-like"],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        concentration: Literal["tied", "free"] | float = "tied",
        max_concentration: float = 1e6,
        init: Init = "k-means++",
        n_init: int = 5,
        max_iter: int = 500,
        tol: float = 1e-9,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.concentration = concentration
        self.max_concentration = max_concentration
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    # The method -----------------------------------------------------------------------------------------------------

    def _blocks(self, X: MatrixLike, sample_weight: ArrayLike | None = None, frame: Frame | None = None) -> Blocks:
        rows, _ = validate_rows(self, X, reset=frame is None, accept_sparse=True)
        weight = validate_weights(sample_weight, rows)
        if frame is not None:
            return make_blocks(rows, weight, frame)
        d = rows.shape[1]
        if d < 2:
            raise ValueError("X must have at least 2 features: in one, a direction is a mere sign. Got n_features=1.")
        blocks, sphere = make_blocks(rows, directed_weights(rows, weight)), Sphere(np.zeros(d), 1.0)
        return blocks.in_frame(sphere, float(blocks.moments(sphere).variance.mean()))

    def _starts(self, blocks: Blocks, rng: np.random.RandomState) -> Iterator[Components]:
        K = self.n_clusters
        for _ in range(self._n_starts()):
            centers = self._first_centers(blocks, rng)
            nearest = blocks.reduce(center_statistics, centers, "nearest")
            # The mean of 1 - mu.x to the nearest centre, which ties do not change: |x - mu|^2 / 2.
            length = np.full(K, max(1 - nearest.objective / (2 * blocks.total_weight), 0.0))
            concentrations = self._concentrations(length, blocks.d)
            yield Components(np.full(K, 1 / K), centers, concentrations, np.ones(K, dtype=bool))

    def _statistics(self, block: Block, state: Components) -> CenterStatistics:
        statistics = center_statistics(block, state.centers, *state.rule)
        objective = -statistics.objective
        if (
            block.factor is not None and not block.factor.all()
        ):  # new rows may have no direction; their likelihoods are not those of the kernels
            likelihoods = self._log_likelihoods(block, state)
            objective = float(likelihoods.sum() if block.weight is None else block.weight @ likelihoods)
        return statistics._replace(objective=objective)

    def _update(self, state: Components, statistics: CenterStatistics, blocks: Blocks) -> Components:
        sizes, lengths = np.maximum(statistics.weight, _TINY), resultants(statistics)
        mean_lengths = lengths / sizes
        if self.concentration == "tied":
            mean_lengths[:] = lengths.sum() / sizes.sum()
        weights, fresh = sizes / sizes.sum(), state.fresh.copy()
        centers = directions(statistics.total / sizes[:, None], state.centers)
        concentrations = self._concentrations(mean_lengths, blocks.d)
        lost = np.flatnonzero(fresh & (weights < EMPTY_SHARE))[:1]  # one per pass: two would stay together
        if len(lost):
            fresh[lost] = False
            seed = blocks.reduce(self._least_likely, state).row
            if np.linalg.norm(centers - seed, axis=1).min() > _SAME:  # otherwise there are too few directions
                concentrations[lost] = weights @ concentrations
                centers[lost], weights[lost] = seed, 1 / self.n_clusters
        return Components(weights / weights.sum(), centers, concentrations, fresh)

    def _memberships(self, block: Block, state: Components) -> NDArray[Any]:
        memberships = center_memberships(block, state.centers, *state.rule)
        memberships[block.factor == 0] = state.weights
        return memberships

    def _log_likelihoods(self, block: Block, state: Components) -> Array:
        return np.where(block.factor == 0, 0.0, -center_rows(block, state.centers, *state.rule))

    def _store(self, state: Components, statistics: CenterStatistics, blocks: Blocks) -> None:
        self.weights_, self.concentrations_ = state.weights, state.concentrations
        self.centers_ = state.centers.astype(blocks.dtype)
        self.mean_resultant_lengths_ = resultants(statistics) / np.maximum(statistics.weight, _TINY)

    # Its steps ------------------------------------------------------------------------------------------------------

    def _first_centers(self, blocks: Blocks, rng: np.random.RandomState) -> Array:
        """Unit vectors (K, d) to start from: those that are given, or drawn ones after passes of spherical k-means."""
        centers = starting_centers(blocks, self.init, self.n_clusters, rng)
        if not isinstance(self.init, str):
            if np.linalg.norm(centers, axis=1).min() == 0:
                raise ValueError("init must have a direction in each row. Got a row of zeros.")
            return centers
        if np.linalg.norm(centers, axis=1).min() <= _NO_DIRECTION:  # means of rows that cancel out
            centers = directions(centers, random_rows(blocks.local(rng), self.n_clusters, rng))
        centers = directions(centers, centers)
        for _ in range(_START_PASSES):
            before, statistics = centers, blocks.reduce(center_statistics, centers, "nearest")
            centers = directions(new_centers(before, statistics), before)
            if center_shift(before, centers, [], blocks) <= _START_TOL:
                break
        return centers

    def _concentrations(self, mean_lengths: Array, d: int) -> Array:
        if isinstance(self.concentration, str):
            return concentration_of(mean_lengths, d, self.max_concentration)
        return np.full(len(mean_lengths), float(self.concentration))

    def _least_likely(self, block: Block, state: Components) -> LeastLikely:
        likelihoods = self._log_likelihoods(block, state)
        at = int(likelihoods.argmin())
        return LeastLikely(float(likelihoods[at]), block.take([at])[0])

    def _n_distinct(self, state: Components) -> int:
        return count_distinct(np.column_stack([state.centers, np.log(state.concentrations)]))

    def _n_parameters(self) -> int:
        K, d = self.centers_.shape
        learnt = {"tied": 1, "free": K}.get(str(self.concentration), 0)
        return int(K * (d - 1) + K - 1 + learnt)

    def sample(self, n_samples: int = 1) -> tuple[Array, NDArray[np.intp]]:
        """Draw unit vectors from the fitted mixture.

        Parameters
        ----------
        n_samples : int, default=1

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        labels : ndarray of shape (n_samples,)
            The component that each row was drawn from.
        """
        check_is_fitted(self)
        rng, labels = self._draw_components(n_samples, self._state.weights)
        centers = self._state.centers[labels]
        across = rng.standard_normal(centers.shape)
        across -= np.einsum("ij,ij->i", across, centers)[:, None] * centers
        gap = draw_gaps(self._state.concentrations[labels], centers.shape[1], rng)[:, None]
        return (1 - gap) * centers + np.sqrt(gap * (2 - gap)) * directions(across, across), labels


def directed_weights(rows: Any, weight: Any) -> Any:
    """Weights of rows in which those without direction have weight 0; a lazy Dask array for rows of one."""
    if is_dask(rows):
        directed = rows.map_blocks(_has_direction, drop_axis=1, dtype=np.float64, meta=np.empty(0))
        return directed if weight is None else directed * weight
    directed = np.asarray(Block(rows, None, Sphere(np.zeros(rows.shape[1]), 1.0)).factor != 0)
    if directed.all():
        return weight
    weight = directed * (1.0 if weight is None else weight)
    if not weight.any():
        raise ValueError("X has no directions: all rows of positive weight are zero.")
    return weight


def _has_direction(rows: Any) -> Array:
    """1 for rows with a direction, also if they are not finite (the engine refuses them), 0 for others."""
    rows = canonical(rows) if sparse.issparse(rows) else rows
    rows = rows if rows.dtype == np.float32 else rows.astype(np.float64, copy=False)
    directed: Array = (unit_factors(rows) != 0).astype(np.float64)
    return directed


def resultants(statistics: CenterStatistics) -> Array:
    """Lengths (K,) of the weighted sums of unit vectors, at most their weights."""
    lengths: Array = np.minimum(np.linalg.norm(statistics.total, axis=1), statistics.weight)
    return lengths


def directions(vectors: Array, otherwise: Array) -> Array:
    """Unit vectors; of vectors without direction, the rows of ``otherwise``.

    Examples
    --------
    >>> directions(np.array([[3.0, 4.0], [0.0, 0.0]]), np.eye(2))
    array([[0.6, 0.8],
           [0. , 1. ]])
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Array = np.divide(vectors, lengths, out=otherwise.copy(), where=lengths > _NO_DIRECTION)
    return unit
