"""Entropy c-means.

Two aims: the compactness f1 = sum_i w_i sum_k u_ik D_ik with D_ik = |x_i - v_k|^2, to be small, and the entropy of the
memberships f2 = -sum_i w_i sum_k u_ik log u_ik, to be large. Minimise J = f1 - lambda f2 over memberships with
sum_k u_ik = 1 and over centres V, by alternating the two exact minimisations:

* u_ik = exp(-D_ik / lambda) / sum_l exp(-D_il / lambda);
* v_k = sum_i w_i u_ik x_i / sum_i w_i u_ik.

As a function of V alone J = -lambda sum_i w_i log sum_k exp(-D_ik / lambda). At lambda = 2 (largest eigenvalue of the
covariance) all centres fall together; towards 0 the method becomes k-means. A minimum of J is a point on the Pareto
front of (f1, f2), so the front can be followed by varying lambda.

At a fixed lambda both aims are functions of V alone, and have a front of their own: what the authors' evolutionary
search looks for.

References
----------
A. Gupta, S. Datta, S. Das (2021). Fuzzy clustering to identify clusters at different levels of fuzziness: an
evolutionary multiobjective optimization approach. IEEE Transactions on Cybernetics 51(5), 2601-2611.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from numbers import Integral, Real
from operator import attrgetter
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigsh
from scipy.spatial.distance import pdist
from scipy.special import entr, logsumexp
from sklearn.utils._param_validation import Interval, StrOptions

from .._types import Array, Init, Seed
from ..engine.alternating import PARAMETERS, is_drawn, new_centers
from ..engine.blocks import Block, Blocks, Sums, extent
from ..engine.collapse import collapse
from ..engine.fitting import Fit, not_converged, say
from ..engine.initialisation import starting_centers
from ..engine.loop import Policy, Run, no_units, squared_units, state_shift
from ..engine.noise import NOISE, NoiseClusterer
from ..engine.streaming import StreamingClusterer, moved_centers
from ..kernels import EMPTY
from ..kernels.centers import (
    CenterStatistics,
    center_distances,
    center_memberships,
    center_rows,
    center_scatter,
    center_statistics,
    memberships_and_noise,
)
from .nsga2 import nsga2

# Bounds of the entropy weight in the frame, in which the data have about unit size: beyond them nothing changes.
_LEAST, _MOST = 1e-100, 1e100
_PATH = 1e-3  # the path starts at this part of the critical weight
_SLICE = 1 << 20  # memberships in memory at a time, while fitting


class Prototypes(NamedTuple):
    """The state: centres, the weights of the clusters if they are learnt, and the entropy weight of the run."""

    centers: Array  # (K, d)
    log_weights: Array | None  # (K,); None: the clusters have equal weights
    entropy_weight: float
    noise: float = 0.0  # squared distance of a cluster of noise; 0: there is none

    @property
    def rule(self) -> tuple[Any, ...]:
        """The membership rule of the kernels, with its parameters."""
        K, noisy = len(self.centers), self.noise > 0
        if self.log_weights is None:
            return "entropy", self.entropy_weight, *np.zeros(K + noisy)
        return "entropy", self.entropy_weight, *self.log_weights, *[-math.log(K)] * noisy  # that of equal clusters

    def moved(self, centers: Array, size: Array) -> Prototypes:
        """Other centres, and the weights of clusters of these sizes (K,) if they are learnt."""
        if self.log_weights is None:
            return self._replace(centers=centers)
        # A cluster that is seeded again gets an equal share; beside noise all may be empty.
        size = np.where(size < EMPTY, max(size.mean(), EMPTY), size)
        return self._replace(centers=centers, log_weights=np.log(size / size.sum()))

    def drift(self, old: Prototypes, unit: float) -> float:
        """Movement of the centres, or of the weights, whichever is larger."""
        shift = float(np.linalg.norm(self.centers - old.centers)) / unit
        if self.log_weights is None or old.log_weights is None:
            return shift
        return max(shift, float(np.linalg.norm(np.exp(self.log_weights) - np.exp(old.log_weights))))

    def to_vector(self) -> Array:
        """The centres, and the weights if they are learnt."""
        return self.centers.ravel() if self.log_weights is None else np.append(self.centers, self.log_weights)

    def from_vector(self, vector: Array) -> Prototypes:
        """The state of a vector; its weights sum to 1."""
        size = self.centers.size
        state = self._replace(centers=vector[:size].reshape(self.centers.shape))
        if self.log_weights is None:
            return state
        return state._replace(log_weights=vector[size:] - logsumexp(vector[size:]))


class Point(NamedTuple):
    """A solution, and what it is judged by."""

    run: Run[Prototypes]
    compactness: float
    entropy: float
    wu_li: float


class ENTROPYFCM(NoiseClusterer[Prototypes, CenterStatistics], StreamingClusterer[Prototypes, CenterStatistics]):
    """Entropy c-means: fuzzy clusters whose softness is one temperature.

    Memberships are a softmax of the squared distances, so that far clusters have exponentially small ones: unlike those
    of fuzzy c-means, which fall only as a power, they do not draw the centres of many features together.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters K.
    entropy_weight : float or 'auto', default='auto'
        lambda > 0, in squared units of the data that the method works on (see ``scaling``). ``'auto'``: a quarter of
        the mean variance of their features; with ``solver='nsga2'`` the published 2 s^2, s the standard deviation of
        the squared distances to the mean (a quarter of the mean variance if all are equally far).
    solver : {'alternating', 'path', 'nsga2'}, default='alternating'
        ``'alternating'``: one entropy weight, J minimised. The others search a front of the two aims, keep its point of
        smallest Wu-Li index [5]_, and store the front in ``pareto_front_``; they need ``learn_weights=False``.
        ``'path'``: minima of J for ``n_path_steps`` weights from a thousandth of the critical one up to it, each
        started from the one before. The path chooses the weight itself: leave ``entropy_weight`` at 'auto'.
        ``'nsga2'``: the evolutionary search of [1]_ at one entropy weight, over centres within the range of the data.
        Slow, and for comparison: each of its ``population_size * n_generations`` candidates costs what a pass of the
        others does.
    scaling : {'minmax', None}, default='minmax'
        ``'minmax'`` maps each feature to [-1, 1] first, as the authors of [1]_ do. None takes the data as they are.
    learn_weights : bool, default=False
        Learn weights of the clusters, too: u_ik proportional to weight_k exp(-D_ik / lambda), weight_k the mean
        membership. This is a mixture of balls of the fixed variance lambda / 2.
    noise_distance : float, 'auto' or None, default=None
        Distance of all samples to one more cluster, which takes the outliers: noise clustering [8]_, in the units that
        the method works in (see ``scaling``). ``'auto'``: the square is ``noise_scale`` times the median squared
        distance of a sample to its nearest centre, in a fit without noise. None: there is no such cluster. It needs
        ``solver='alternating'``.
    noise_scale : float, default=10.0
        For ``noise_distance='auto'``. Small values make more samples noise; below 4 they may take whole clusters.
    n_path_steps : int, default=12
        Entropy weights on the path.
    population_size : int, default=40
        Candidates in a generation of ``'nsga2'``, at least 4. Half of the first ones are drawn by ``init``, the others
        uniformly from the range of the data.
    n_generations : int, default=200
        Generations of ``'nsga2'``.
    init : {'k-means++', 'k-means||', 'random'}, array (n_clusters, n_features) or callable, default='k-means++'
        Starting centres, in input units. A callable gets ``(X, n_clusters, rng)``. An array forces one start; it is
        no population, so ``'nsga2'`` takes none. Of more than 20,000 rows on Dask,
        ``'k-means++'`` is ``'k-means||'``, and ``'random'`` draws from a sample of 20,000.
    n_init : int, default=5
        Starts; the one of smallest objective is kept. On a path, the starts of its first step. ``'nsga2'`` has no use
        for it, nor for ``tol`` and ``accelerate``.
    max_iter : int, default=300
        Passes over the data per start, and per step of a path. ``'nsga2'`` reads the data once a generation, and stops
        after this many, with a warning, if ``n_generations`` is larger.
    tol : float, default=1e-5
        Converged when the centres move by at most ``tol`` times the root mean variance of the features (and the
        learnt weights by at most ``tol``).
    accelerate : bool, default=True
        Anderson acceleration: the same optimum in fewer passes.
    random_state : int, RandomState or None, default=None
        Seed of the starts, and of the evolutionary search.
    verbose : int, default=0
        1 prints a line per start and one for a front, 2 a line per pass.

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
    centers_ : ndarray of shape (n_clusters, n_features)
        In input units.
    n_clusters_ : int
    entropy_weight_ : float
        The lambda used.
    compactness_, entropy_ : float
        f1 and f2 at ``centers_``, the noise included; without learnt weights ``objective_`` = f1 - lambda f2.
    weights_ : ndarray of shape (n_clusters,)
        The learnt weights, sum 1; only with ``learn_weights=True``.
    pareto_front_ : ndarray of shape (n_points, 2)
        Compactness and entropy of the solutions of the path, or of the last generation, but for those that another one
        beats in both aims; not with ``solver='alternating'``, as the next two.
    pareto_centers_ : ndarray of shape (n_points, n_clusters, n_features)
        In input units.
    pareto_weights_ : ndarray of shape (n_points,)
        The entropy weights; all the same with ``solver='nsga2'``.
    objective_ : float
        J at ``centers_``; with learnt weights sum_i w_i [sum_k u_ik D_ik + lambda sum_k u_ik log(u_ik / weight_k)].
    objective_history_ : ndarray
        J at each state visited, the last one included. With ``solver='nsga2'`` the least J of each generation, from
        the first population on, and last J at ``centers_``, which need not be the least.
    n_iter_ : int
        Passes of the best start (of the chosen step of a path), or generations.
    converged_ : bool
        With ``solver='nsga2'`` no more than that all generations were run.

    See Also
    --------
    soft_clustering.FCM : memberships by a power of the distance.
    soft_clustering.GMM : elliptic clusters.

    Notes
    -----
    Distances, and with them ``entropy_weight_``, ``compactness_`` and the objective, are those of the coordinates that
    the method works in: of the scaled data with ``scaling='minmax'``, in squared input units with ``scaling=None``.
    Sparse rows are scaled but not shifted, which changes no distance.

    A pass costs O(n K d) time; memory beyond X and ``memberships_`` is O(n). ``score`` is minus the objective.

    ``partial_fit`` takes ``solver='alternating'`` only. It settles ``entropy_weight_``, ``noise_distance_`` and the
    scaling of the features on the first batch, and moves the centres by a streaming weighted mean [7]_: what they were
    computed from so far keeps its full weight. Learnt weights are the mean memberships of all rows seen.

    The scalar form is that of [2]_ and [3]_, the critical weight that of [4]_. The search of [1]_ is NSGA-II [6]_ (a
    second optimiser of theirs, MOEA/D, is not offered): tournaments of two, simulated binary crossover and polynomial
    mutation with index 10, the first for 95 % of the pairs, the second for one of K d coordinates on average. Its two
    functions to be minimised are f1 and sum u log u, that is, entropy is maximised, as the paper says and the authors'
    MATLAB program does; their Python program has the opposite sign. That the solution of smallest Wu-Li index is to be
    chosen is not confirmed: their program computes that index on the whole front, and we take its minimum, with
    memberships u_ik proportional to 1 / D_ik, on a path with those of the method. The published lambda = 2 s^2 is the
    square of a squared distance: it is meant for data in [-1, 1], and does not suit many features, where memberships
    become almost equal.

    References
    ----------
    .. [1] A. Gupta, S. Datta, S. Das (2021). Fuzzy clustering to identify clusters at different levels of fuzziness: an
       evolutionary multiobjective optimization approach. IEEE Transactions on Cybernetics 51(5), 2601-2611.
    .. [2] R.-P. Li, M. Mukaidono (1995). A maximum-entropy approach to fuzzy clustering. FUZZ-IEEE.
    .. [3] S. Miyamoto, M. Mukaidono (1997). Fuzzy c-means as a regularization and maximum entropy approach. IFSA.
    .. [4] K. Rose, E. Gurewitz, G. C. Fox (1990). Statistical mechanics and phase transitions in clustering. Physical
       Review Letters 65(8), 945-948.
    .. [5] C.-H. Wu, C.-S. Ouyang, L.-W. Chen, L.-W. Lu (2015). A new fuzzy clustering validity index with a median
       factor for centroid-based clustering. IEEE Transactions on Fuzzy Systems 23(3), 701-718.
    .. [6] K. Deb, A. Pratap, S. Agarwal, T. Meyarivan (2002). A fast and elitist multiobjective genetic algorithm:
       NSGA-II. IEEE Transactions on Evolutionary Computation 6(2), 182-197.
    .. [7] P. Hore, L. O. Hall, D. B. Goldgof (2007). Single pass fuzzy c means. FUZZ-IEEE.
    .. [8] R. N. Dave (1991). Characterization and detection of noise in clustering. Pattern Recognition Letters 12(11),
       657-664.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from soft_clustering import ENTROPYFCM
    >>> X, _ = load_wine(return_X_y=True)
    >>> model = ENTROPYFCM(n_clusters=3, random_state=0).fit(X)
    >>> model.memberships_.shape
    (178, 3)
    >>> bool(abs(model.compactness_ - model.entropy_weight_ * model.entropy_ - model.objective_) < 1e-9)
    True
    >>> path = ENTROPYFCM(n_clusters=3, solver="path", random_state=0).fit(X)
    >>> compactness, entropy = path.pareto_front_.T
    >>> bool((compactness[1:] > compactness[:-1]).all() and (entropy[1:] > entropy[:-1]).all())
    True
    >>> search = ENTROPYFCM(n_clusters=3, solver="nsga2", n_generations=20, random_state=0).fit(X)
    >>> search.pareto_centers_.shape[1:]
    (3, 13)
    """

    entropy_weight_: float
    compactness_: float
    entropy_: float
    weights_: Array
    pareto_front_: Array
    pareto_centers_: NDArray[Any]
    pareto_weights_: Array
    _of_rows = (*StreamingClusterer._of_rows, "compactness_", "entropy_")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "entropy_weight": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "solver": [StrOptions({"alternating", "path", "nsga2"})],
        "scaling": [StrOptions({"minmax"}), None],
        "learn_weights": ["boolean"],
        **NOISE,
        "n_path_steps": [Interval(Integral, 2, None, closed="left")],
        "population_size": [Interval(Integral, 4, None, closed="left")],
        "n_generations": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"k-means++", "k-means||", "random"}), callable, "array-like"],
        "accelerate": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        entropy_weight: float | str = "auto",
        solver: str = "alternating",
        scaling: str | None = "minmax",
        learn_weights: bool = False,
        noise_distance: Literal["auto"] | float | None = None,
        noise_scale: float = 10.0,
        n_path_steps: int = 12,
        population_size: int = 40,
        n_generations: int = 200,
        init: Init = "k-means++",
        n_init: int = 5,
        max_iter: int = 300,
        tol: float = 1e-5,
        accelerate: bool = True,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.entropy_weight = entropy_weight
        self.solver = solver
        self.scaling = scaling
        self.learn_weights = learn_weights
        self.noise_distance = noise_distance
        self.noise_scale = noise_scale
        self.n_path_steps = n_path_steps
        self.population_size = population_size
        self.n_generations = n_generations
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.accelerate = accelerate
        self.random_state = random_state
        self.verbose = verbose

    # The method -----------------------------------------------------------------------------------------------------

    @property
    def _policy(self) -> Policy:
        # With learnt weights the centres alone do not determine where a run converges.
        return Policy(
            monotone=self.solver != "nsga2",
            residual=state_shift,
            place=None if self.learn_weights else attrgetter("centers"),
            units=no_units if self.scaling else squared_units,
            sparse=True,
            missing=self.solver != "nsga2",
            scaling="minmax" if self.scaling else None,
        )

    def _resolve(self, blocks: Blocks) -> None:
        if self.solver == "path" and (self.entropy_weight != "auto" or self.learn_weights):
            raise ValueError(
                "solver='path' chooses the entropy weight itself, for clusters of equal weight: it needs "
                f"entropy_weight='auto' and learn_weights=False. Got entropy_weight={self.entropy_weight!r} and "
                f"learn_weights={self.learn_weights!r} instead."
            )
        if self.solver == "nsga2" and (self.learn_weights or not is_drawn(self.init)):
            raise ValueError(
                "solver='nsga2' draws a population, for clusters of equal weight: it needs learn_weights=False and an "
                f"init of 'k-means++', 'random' or a callable. Got learn_weights={self.learn_weights!r} and an init of "
                f"type {type(self.init).__name__} instead."
            )

        if self.solver != "alternating" and self.noise_distance is not None:
            raise ValueError(
                "noise_distance needs solver='alternating': a front is judged by an index without noise. "
                f"Got {self.solver!r} instead."
            )

    def _squared_units(self, squared: Any, blocks: Blocks) -> Any:
        return self._policy.units(squared, blocks)

    def _weight(self, blocks: Blocks) -> float:
        """The entropy weight, in the coordinates of the frame."""
        unit = 1.0 if self.scaling else float(blocks.frame.unit)
        weight = 0.25 * (blocks.mean_variance or 1.0)
        if not isinstance(self.entropy_weight, str):
            weight = float(self.entropy_weight) * unit * unit
        elif self.solver == "nsga2":
            # The square of a squared distance: the unit counts, and without scaling that is the unit of the input.
            weight = 2 * variance_of_squares(blocks) / unit / unit or weight
        return min(max(weight, _LEAST), _MOST)

    def _starts(self, blocks: Blocks, rng: np.random.RandomState) -> Iterator[Prototypes]:
        K, weight = self.n_clusters, self._weight(blocks)
        equal = np.full(K, -np.log(K)) if self.learn_weights else None
        for _ in range(self._n_starts()):
            yield Prototypes(starting_centers(blocks, self.init, K, rng, self._most), equal, weight, self._noise)

    def _statistics(self, block: Block, state: Prototypes) -> CenterStatistics:
        return center_statistics(block, state.centers, *state.rule, noise=state.noise)

    def _update(self, state: Prototypes, statistics: CenterStatistics, blocks: Blocks) -> Prototypes:
        return state.moved(new_centers(state.centers, statistics), statistics.weight)

    def _moved(self, state: Prototypes, statistics: CenterStatistics, weight: Array, blocks: Blocks) -> Prototypes:
        return state.moved(moved_centers(state.centers, statistics, weight), weight.mean(axis=1))

    def _check_stream(self, blocks: Blocks) -> None:
        if self.solver != "alternating":
            raise ValueError(
                f"partial_fit needs solver='alternating', as a front is one of all rows. Got {self.solver!r} instead."
            )

    def _memberships(self, block: Block, state: Prototypes) -> NDArray[Any]:
        return center_memberships(block, state.centers, *state.rule, noise=state.noise)

    def _noise_masses(self, block: Block, state: Prototypes) -> NDArray[Any]:
        masses = memberships_and_noise(block, state.centers, *state.rule, noise=state.noise)[1]
        return masses.astype(block.X.dtype)

    def _nearest(self, block: Block, state: Prototypes) -> Array:
        return center_rows(block, state.centers, "nearest")

    def _store(self, state: Prototypes, statistics: CenterStatistics, blocks: Blocks) -> None:
        units = self._policy.units
        self.centers_ = blocks.frame.to_input(state.centers).astype(blocks.dtype)
        self.entropy_weight_ = units(state.entropy_weight, blocks)
        if state.log_weights is not None:
            self.weights_ = np.exp(state.log_weights)

    def _store_fit(self, statistics: CenterStatistics, blocks: Blocks) -> None:
        super()._store_fit(statistics, blocks)
        (compactness, self.entropy_), *_ = blocks.reduce(self._aims, [self._state]).values.tolist()
        self.compactness_ = self._policy.units(compactness, blocks)

    def _complaints(self, run: Run[Prototypes], blocks: Blocks) -> list[str]:
        V, remedy = run.state.centers, "use a smaller entropy weight"
        complaints = collapse("ENTROPYFCM", V, self.memberships_, blocks, remedy, self.tol)
        if complaints:  # only now: the critical weight takes a few passes
            critical = self._policy.units(critical_weight(blocks), blocks)
            complaints[0] += (
                f" (entropy weight {self.entropy_weight_:.4g}; from {critical:.4g} on the prototypes of least "
                "objective coincide)"
            )
        if self.solver == "nsga2":
            return not_converged(self, run, passes="generations", remedy="decrease n_generations") + complaints
        return super()._complaints(run, blocks) + complaints

    # Its steps ------------------------------------------------------------------------------------------------------

    def _aims(self, block: Block, states: Sequence[Prototypes]) -> Sums:
        """Compactness and entropy (P, 2) at each of P states, the noise included."""
        values = np.zeros((len(states), 2))
        for rows, weight in slices(block, self.n_clusters):
            for p, state in enumerate(states):
                noise = state.noise
                U, masses = memberships_and_noise(rows, state.centers, *state.rule, noise=noise)
                scatter = center_scatter(rows, state.centers, *state.rule, noise=noise).scatter
                compactness = scatter.sum() + noise * (weight @ masses)
                values[p] += compactness, weight @ (entr(U.astype(np.float64, copy=False)).sum(axis=1) + entr(masses))
        return Sums(values)

    def _points(self, blocks: Blocks, runs: list[Run[Prototypes]], rule: str, *parameters: float) -> list[Point]:
        """Solutions with their aims, and with their index under a membership rule."""
        states = [run.state for run in runs]
        aims = blocks.reduce(self._aims, states).values.tolist()
        scatter = blocks.reduce(scatter_within, [state.centers for state in states], rule, *parameters).values
        return [
            Point(run, compactness, entropy, wu_li_index(run.state.centers, size, squared))
            for run, (compactness, entropy), (size, squared) in zip(runs, aims, scatter, strict=True)
        ]

    def _runs(self, fit: Fit[Prototypes], blocks: Blocks, rng: np.random.RandomState) -> None:
        if self.solver == "alternating":
            super()._runs(fit, blocks, rng)
            return
        front = (self._follow_path if self.solver == "path" else self._evolve)(fit, blocks, rng)
        chosen = min(front, key=lambda point: point.wu_li)
        fit.runs[:] = [chosen.run]
        frame, units, states = blocks.frame, self._policy.units, [point.run.state for point in front]
        self.pareto_front_ = np.array([(units(point.compactness, blocks), point.entropy) for point in front])
        self.pareto_centers_ = np.array([frame.to_input(state.centers).astype(blocks.dtype) for state in states])
        self.pareto_weights_ = np.array([units(state.entropy_weight, blocks) for state in states])
        objective = units(chosen.run.history[-1], blocks)
        say(self, f"front of {len(front)} points: Wu-Li index {chosen.wu_li:.4g} at objective {objective:.8g}")

    def _follow_path(self, fit: Fit[Prototypes], blocks: Blocks, rng: np.random.RandomState) -> list[Point]:
        critical = critical_weight(blocks) or 1.0
        first, *others = np.maximum(critical * np.geomspace(_PATH, 1, self.n_path_steps), _LEAST).tolist()
        loop = self._loop(fit, blocks, self.n_clusters)
        starts = (state._replace(entropy_weight=first) for state in self._starts(blocks, rng))
        run = fit.run_starts(starts, loop)
        points = self._points(blocks, [run], *run.state.rule)
        for weight in others:
            # An interruption keeps the solution that the step starts from: it counts as begun.
            run = Run(run.state._replace(entropy_weight=weight), n_iter=1)
            fit.runs[:] = [run]
            loop(run)
            points += self._points(blocks, [run], *run.state.rule)
        return not_dominated(points)

    def _evolve(self, fit: Fit[Prototypes], blocks: Blocks, rng: np.random.RandomState) -> list[Point]:
        K, weight = self.n_clusters, self._weight(blocks)
        low, high = (np.tile(blocks.frame.from_input(end), K) for end in blocks.reduce(extent))
        seeds = [starting_centers(blocks, self.init, K, rng).ravel() for _ in range(self.population_size // 2)]
        others = rng.uniform(low, high, (self.population_size - len(seeds), K * blocks.d))
        genes = np.concatenate([np.clip(seeds, low, high), others])

        def states(genes: Array) -> list[Prototypes]:
            return [Prototypes(V, None, weight) for V in genes.reshape(-1, K, blocks.d)]

        def objectives(genes: Array) -> Array:
            aims = blocks.reduce(self._aims, states(genes)).values / blocks.total_weight
            return leading_digits(aims * (1, -1))

        generations = min(self.n_generations, self.max_iter)
        search = nsga2(objectives, genes, low, high, rng)
        run = Run(states(genes)[0])
        fit.runs.append(run)
        for generation, population in enumerate(islice(search, generations + 1)):
            J = blocks.total_weight * (population.objectives @ (1, weight))
            least = int(J.argmin())  # what an interruption keeps
            run.state, run.n_iter = states(population.genes[least])[0], generation
            run.history.append(float(J[least]))
            shown, size = self._policy.units(J[least], blocks), int((population.rank == 0).sum())
            say(self, f"generation {generation}: objective {shown:.8g}, {size} in the front", level=2)
        run.converged = generations == self.n_generations
        first = population.rank == 0
        _, distinct = np.unique(population.objectives[first], axis=0, return_index=True)
        members = states(population.genes[first][distinct])
        return self._points(blocks, [replace(run, state=state) for state in members], "fcm", 2.0)


def not_dominated(points: list[Point]) -> list[Point]:
    """The points to which no other is preferable: more compact, beyond rounding, and no less entropy.

    A step of the path may end in a poor local minimum, and a later one leave it.
    """
    return [
        point
        for point in points
        if not any(
            other.compactness < point.compactness * (1 - 1e-9) and other.entropy >= point.entropy for other in points
        )
    ]


def leading_digits(values: Array) -> Array:
    """Values rounded to ten digits, so that the order of a sum does not decide which of two is smaller."""
    fraction, exponent = np.frexp(values)
    rounded: Array = np.ldexp(np.rint(np.ldexp(fraction, 33)), exponent - 33)
    return rounded


def slices(block: Block, width: int) -> Iterator[tuple[Block, Array]]:
    """A block in parts of which a matrix (rows, width) is small, and their weights."""
    step = max(1, _SLICE // width)
    for lo in range(0, block.n, step):
        part = block
        if step < block.n:
            weight = None if block.weight is None else block.weight[lo : lo + step]
            part = Block(block.X[lo : lo + step], weight, block.frame)
        yield part, np.ones(part.n) if part.weight is None else part.weight


def scatter_within(block: Block, states: Sequence[Array], rule: str, *parameters: float) -> Sums:
    """Summed u and u^2 D per cluster, (P, 2, K), for the centres of each of P states and a membership rule."""
    values = np.zeros((len(states), 2, len(states[0])))
    for rows, weight in slices(block, len(states[0])):
        for p, V in enumerate(states):
            U = center_memberships(rows, V, rule, *parameters).astype(np.float64, copy=False)
            D = center_distances(rows, V)
            squared = [weight @ (u * u * d) for u, d in zip(U.T, D.T, strict=True)]
            values[p] += weight @ U, squared
    return Sums(values)


def wu_li_index(V: Array, size: Array, squared: Array) -> float:
    """Fuzzy scatter within the clusters over minimum plus median of the squared distances between them."""
    within = squared / np.maximum(size, EMPTY)
    between = pdist(V, "sqeuclidean") if len(V) > 1 else np.ones(1)
    separation = between.min() + np.median(between)
    return float(within.sum() / separation) if separation > 1e-12 * within.sum() else np.inf


def mean_row(blocks: Blocks) -> Array:
    """Mean (d,) of the rows."""
    moments = blocks.reduce(center_statistics, np.zeros((1, blocks.d)), "entropy", 1.0, 0.0)
    mean: Array = moments.total[0] / moments.mass[0]
    return mean


def variance_of_squares(blocks: Blocks) -> float:
    """Variance of the squared distances of the rows to their mean; 0 if they differ by rounding only."""
    mean, level = mean_row(blocks), blocks.mean_variance * blocks.d
    variance = float(blocks.reduce(_deviations, mean, level).values) / blocks.total_weight
    return variance if variance > 1e-12 * level * level else 0.0


def _deviations(block: Block, mean: Array, level: float) -> Sums:
    D = ((center_distances(rows, mean[None])[:, 0], weight) for rows, weight in slices(block, 1))
    return Sums(np.array(sum(weight @ (d - level) ** 2 for d, weight in D)))


class _Product(NamedTuple):
    """Sums over rows r_i = w_i (z_i - mean)^T v: of r_i, and of r_i z_i."""

    total: float
    rows: Array

    def merge(self, other: _Product) -> _Product:
        return _Product(self.total + other.total, self.rows + other.rows)


def _product(block: Block, mean: Array, direction: Array) -> _Product:
    answer = _Product(0.0, np.zeros(block.d))
    for _, Z, w in block.pieces():
        if block.frame.gaps:  # a missing value does not deviate from the mean
            E = np.nan_to_num(Z - mean)
            answer = answer.merge(_Product(0.0, E.T @ (w * (E @ direction))))
            continue
        r = w * (Z @ direction - mean @ direction)
        answer = answer.merge(_Product(float(r.sum()), Z.T @ r))
    return answer


def critical_weight(blocks: Blocks) -> float:
    """Twice the largest eigenvalue of the covariance: with this entropy weight or a larger one all centres coincide.

    By the Lanczos method, a pass over the rows per step; no (d, d) matrix is formed. If values are missing, each
    feature is measured by the rows that have it.
    """
    if not blocks.mean_variance > 0:
        return 0.0
    mean, root = mean_row(blocks), np.sqrt(blocks.seen / blocks.total_weight)  # 1 without missing values

    def covariance_times(direction: Array) -> Array:
        product = blocks.reduce(_product, mean, direction.ravel() / root)
        return (product.rows - product.total * mean) / blocks.total_weight / root

    if blocks.d == 1:
        return 2 * float(covariance_times(np.ones(1))[0])
    operator = LinearOperator((blocks.d, blocks.d), matvec=covariance_times, dtype=np.float64)
    # a fixed start, so that the result is reproducible
    largest = eigsh(operator, 1, which="LA", v0=np.cos(np.arange(1, blocks.d + 1)), return_eigenvectors=False)
    return 2 * float(largest[0])
