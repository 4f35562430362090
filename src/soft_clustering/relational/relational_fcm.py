"""Relational fuzzy c-means, which is FANNY, too.

Objects are known by dissimilarities d_ij alone. With R_ij = d_ij^exponent and weights w_i, minimise

    J = sum_k (sum_ij w_i w_j u_ik^m u_jk^m R_ij) / (2 sum_j w_j u_jk^m)

over memberships with sum_k u_ik = 1. Prototype k is the mean with the coefficients c_jk = w_j u_jk^m / sum, in a space
in which R are squared distances, so that an object is

    D_ik = sum_j R_ij c_jk - c_k' R c_k / 2

from it, and J = sum_i w_i sum_k u_ik^m D_ik. Alternating memberships u_ik = D_ik^(-1/(m-1)) / sum_l D_il^(-1/(m-1))
and coefficients never increases J where there is such a space. Squared Euclidean distances give fuzzy c-means
(exponent 2), unsquared ones FANNY (exponent 1).

Where there is no such space, some D_ik are negative. The spread beta then takes the place of the dissimilarities by
R_ij + beta (i != j), which is of the same form with a space if beta is large enough.

References
----------
R. J. Hathaway, J. W. Davenport, J. C. Bezdek (1989). Relational duals of the c-means clustering algorithms. Pattern
Recognition 22(2), 205-212.
R. J. Hathaway, J. C. Bezdek (1994). NERF c-means: Non-Euclidean relational fuzzy clustering. Pattern Recognition
27(3), 429-437.
L. Kaufman, P. J. Rousseeuw (1990). Finding Groups in Data, chapter 4. Wiley.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import StrOptions

from .._types import Array, Seed
from ..engine.alternating import is_drawn
from ..engine.dissimilarities import DissimilarityMetric, KnownMetric
from ..engine.fitting import Fit
from ..engine.loop import Policy, Run, Scale, iterate
from ..inputs.features import validate_matrix
from ..kernels import EMPTY
from .base import RELATIONAL, Found, RelationalClusterer
from .relation import MOST_PAIRS, Relation

_ROUNDING = 1e-13  # part of the terms of a difference up to which it counts as 0


class Prototypes(NamedTuple):
    """Means of the objects."""

    coefficients: Array  # (n, K); columns sum to 1
    memberships: Array | None = None  # (n, K) that they come from; None: they are objects


def membership_change(old: Prototypes, new: Prototypes, history: list[float], scale: Scale) -> float:
    """The largest change of a membership."""
    if old.memberships is None or new.memberships is None:
        return np.inf
    return float(np.abs(new.memberships - old.memberships).max())


class RelationalFCM(RelationalClusterer[Prototypes]):
    """Relational fuzzy c-means and FANNY: degrees of membership from dissimilarities alone.

    The prototypes are means of the objects in a space that is never needed: distances to them follow from the
    dissimilarities of all pairs, under any metric or as they are given.

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
        ``'gower'``: X is a data frame of numbers and categories (columns of type category, object, string or bool), in
        which values may be missing; see Notes.
    exponent : float, default=1.0
        The power of the dissimilarities that is minimised. 1 is FANNY, which far objects pull less; 2 is relational
        fuzzy c-means, with Euclidean distances the result of :class:`FCM`.
    spread : 'auto' or None, default='auto'
        What to do if the powers are no squared distances of any space, so that objects may have a negative distance
        from a prototype. ``'auto'``: as much as prevents it in all passes is added to the powers between different
        objects, the beta of [2]_; memberships become softer. None: negative distances count as 0, and the fit warns.
    noise_distance : float, 'auto' or None, default=None
        Distance of all samples to one more cluster, which takes the outliers: noise clustering [4]_. ``'auto'``: the
        square is ``noise_scale`` times that of the median distance of a sample to its nearest prototype, in a fit
        without noise. None: there is no such cluster.
    noise_scale : float, default=10.0
        For ``noise_distance='auto'``. Small values make more samples noise; below 4 they may take whole clusters.
    init : {'k-means++', 'random'} or array of shape (n_samples, n_clusters), default='k-means++'
        Objects as the first prototypes, drawn by their dissimilarity to those before or at random; or memberships,
        which force one start.
    n_init : int, default=5
        Starts; the one of smallest objective is kept.
    max_iter : int, default=300
        Passes per start.
    tol : float, default=1e-6
        Converged when no membership changes by more than this in a pass.
    random_state : int, RandomState or None, default=None
        Seed of the starts.
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
    coefficients_ : ndarray of shape (n_samples, n_clusters)
        Each prototype as a mean of the training samples; columns sum to 1. With Euclidean distances and exponent 2,
        ``coefficients_.T @ X`` are the centres.
    X_fit_ : ndarray of shape (n_samples, n_features)
        The training samples, which prediction compares with; not set for
        ``metric='precomputed'`` and ``'gower'``.
    n_clusters_ : int
    m_ : float
        The fuzzifier used.
    spread_ : float
        What was added to the powers of the dissimilarities; 0 for Euclidean and city-block distances.
    objective_ : float
        J at the prototypes.
    objective_history_ : ndarray
        J at each set of prototypes visited, the last one included. With a spread it may rise.
    n_iter_ : int
        Passes of the best start.
    converged_ : bool

    See Also
    --------
    soft_clustering.FuzzyCMedoids : objects as prototypes, and linear memory for many samples.
    soft_clustering.EVCLUS : dissimilarities as degrees of conflict, with doubt between clusters.
    soft_clustering.FCM : the same from features, without the matrix of all pairs.

    Notes
    -----
    A pass costs O(n^2 K) time, one product of matrices; memory is 8 n^2 bytes, for precomputed dissimilarities up to
    three times that. More than 20,000 samples are refused. Prediction measures new samples to all training samples:
    ``metric='precomputed'`` takes an (n_new, n) matrix. ``score`` is minus the objective.

    ``metric='gower'`` measures two rows by the mean, over the columns that both have, of the difference of two numbers
    in units of the range of the column in ``fit``, at most 1, and of 1 for two different categories [5]_; rows without
    a common column are 1 apart. In new data a category that was not there in ``fit`` differs from all others. A sample
    without any value has no influence.

    The usual m = 2 is too soft with unsquared distances and more than a few features: all memberships become equal, and
    the fit warns of it. FANNY of other packages has one start; here ``n_init`` of them compete.

    A spread tells a training sample from a new one in the same place, and a sample of weight 2 from two samples:
    ``predict_memberships(X)`` is then not quite ``memberships_``, and ``train_rule`` says so. The spread grows while a
    start runs. As objectives compare at equal spread only, all starts then go on from where they ended, at the largest.

    That convergence is judged by the memberships and not by the objective is ours: a relative change of J by 1e-6
    leaves memberships that still move by up to 0.06.

    References
    ----------
    .. [1] R. J. Hathaway, J. W. Davenport, J. C. Bezdek (1989). Relational duals of the c-means clustering algorithms.
       Pattern Recognition 22(2), 205-212.
    .. [2] R. J. Hathaway, J. C. Bezdek (1994). NERF c-means: Non-Euclidean relational fuzzy clustering. Pattern
       Recognition 27(3), 429-437.
    .. [3] L. Kaufman, P. J. Rousseeuw (1990). Finding Groups in Data, chapter 4. Wiley.
    .. [4] R. N. Dave (1991). Characterization and detection of noise in clustering. Pattern Recognition Letters 12(11),
       657-664.
    .. [5] J. C. Gower (1971). A general coefficient of similarity and some of its properties. Biometrics 27(4),
       857-871.

    Examples
    --------
    >>> import numpy as np
    >>> from soft_clustering import RelationalFCM
    >>> D = np.abs(np.subtract.outer([0.0, 1, 2, 10, 11, 12], [0.0, 1, 2, 10, 11, 12]))
    >>> model = RelationalFCM(n_clusters=2, metric="precomputed", random_state=0).fit(D)
    >>> bool(model.labels_[0] == model.labels_[2] != model.labels_[3])
    True
    >>> model.predict_memberships(D[[1]]).max().round(2)
    np.float64(1.0)

    The result of FANNY on iris:

    >>> from sklearn.datasets import load_iris
    >>> model = RelationalFCM(n_clusters=3, m=2.0, random_state=0).fit(load_iris().data)
    >>> round(model.objective_, 3)
    45.077
    """

    spread_: float
    coefficients_: Array
    X_fit_: NDArray[Any]
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = RELATIONAL | {
        "spread": [StrOptions({"auto"}), None],
        "init": [StrOptions({"k-means++", "random"}), "array-like"],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        m: float | str = "auto",
        metric: DissimilarityMetric = "euclidean",
        exponent: float = 1.0,
        spread: Literal["auto"] | None = "auto",
        noise_distance: Literal["auto"] | float | None = None,
        noise_scale: float = 10.0,
        init: str | ArrayLike = "k-means++",
        n_init: int = 5,
        max_iter: int = 300,
        tol: float = 1e-6,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.m = m
        self.metric = metric
        self.exponent = exponent
        self.spread = spread
        self.noise_distance = noise_distance
        self.noise_scale = noise_scale
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    @property
    def _policy(self) -> Policy:
        return Policy(residual=membership_change, place=None, monotone=self.train_rule == "exact")

    @property
    def train_rule(self) -> Literal["exact", "reinferred"]:  # type: ignore[override]
        """``"reinferred"`` after a fit that needed a spread: it tells an object from a new one in the same place."""
        return "reinferred" if getattr(self, "spread_", 0.0) > 0 else "exact"

    def _relation(self, X: Any, weight: Array | None, metric: KnownMetric) -> Relation:
        n = len(X) if weight is None else np.count_nonzero(weight)
        if n > MOST_PAIRS:
            raise ValueError(
                f"n_samples={n} must be <= {MOST_PAIRS}: the dissimilarities of all pairs of samples would take "
                f"{8e-9 * n * n:.1f} GB. Use a sample, or FuzzyCMedoids with n_candidates."
            )
        return Relation(X, weight, metric, self.exponent, held=True)

    def _runs(self, fit: Fit[Prototypes], relation: Relation, rng: np.random.RandomState) -> None:
        def step(state: Prototypes) -> tuple[Prototypes, float]:
            found = self._rule(self._distances(state, relation))
            return self._update(state, found, relation), float(relation.weight @ found.objective)

        def loop(run: Run[Prototypes], rival: Run[Prototypes] | None) -> None:
            iterate(run, step=step, policy=self._policy, max_iter=self.max_iter, tol=self.tol, report=fit.report)
            self._distances(run.state, relation)  # which may need a larger spread
            ended.append(run.state)

        self._spread, ended = 0.0, list[Prototypes]()
        states: Iterable[Prototypes] = self._starts(relation, rng)
        while True:
            # Objectives compare at equal spread only: if it grew on the way, all starts go on from where they ended.
            before = self._spread
            ended.clear()
            fit.runs.clear()
            fit.run_starts(states, loop)
            if self._spread == before:
                return
            states = ended.copy()

    def _starts(self, relation: Relation, rng: np.random.RandomState) -> Iterator[Prototypes]:
        K = self.n_clusters
        if not is_drawn(self.init):
            U = self._given_memberships(relation)
            C = relation.weight[:, None] * (U / U.max(axis=0)) ** self.m_
            yield Prototypes(C / C.sum(axis=0), U)
            return
        for _ in range(self.n_init):
            drawn = relation.seeds(K, rng, self._most) if self.init == "k-means++" else relation.random(K, rng)
            yield Prototypes((np.arange(len(relation))[:, None] == drawn).astype(np.float64))

    def _given_memberships(self, relation: Relation) -> Array:
        U = validate_matrix("init", self.init, (relation.n_samples, self.n_clusters))
        U = U if relation.kept is None else U[relation.kept]
        if U.min() < 0 or not U.any(axis=1).all() or not U.any(axis=0).all():
            raise ValueError("init must have entries >= 0, not all 0 in any row or column.")
        U /= U.max(axis=1, keepdims=True)
        U /= U.sum(axis=1, keepdims=True)
        return U

    def _update(self, state: Prototypes, found: Found, relation: Relation) -> Prototypes:
        """Means of the objects; a cluster whose weights underflowed moves to the worst object, one a pass."""
        mass = relation.weight @ found.weights
        full = mass >= EMPTY
        C = np.divide(relation.weight[:, None] * found.weights, mass, out=state.coefficients.copy(), where=full)
        if not full.all() and found.objective.any():
            C[:, np.argmin(full)] = np.arange(len(C)) == found.objective.argmax()
        return Prototypes(C, found.memberships)

    def _distances(self, state: Prototypes, relation: Relation) -> Array:
        C = state.coefficients
        A = relation.times(C)
        own, squares = self._constants(C, A)
        D = rounded(A - own / 2, A + own)
        gap = (1 + squares) / 2 - C  # |e_i - c_k|^2 / 2, what a spread of 1 adds
        D += self._spread * gap
        negative = D < 0
        self._negative = False
        if negative.any():
            self._negative = self.spread is None
            if self.spread == "auto":
                more = float(np.max(-D[negative] / gap[negative]))
                self._spread += more
                D += more * gap
            np.maximum(D, 0, out=D)
        return D

    def _complaints(self, run: Run[Prototypes], relation: Relation) -> Iterator[str]:
        yield from super()._complaints(run, relation)
        if self._negative:
            yield (
                "RelationalFCM: negative distances of objects from prototypes counted as 0, as the dissimilarities are "
                "no distances in any space; use spread='auto'"
            )

    def _constants(self, C: Array, A: Array) -> tuple[Array, Array]:
        """c_k' R c_k and |c_k|^2, from A = R C."""
        return np.einsum("ik,ik->k", C, A), np.einsum("ik,ik->k", C, C)

    def _store(self, state: Prototypes, relation: Relation, X: Any) -> None:
        C = state.coefficients
        own, squares = self._constants(C, relation.times(C))
        self._prototypes, self._n_known = (C, own, self._spread * (1 + squares) / 2), len(C)
        self._known = relation.objects.landmarks(slice(None))
        self.coefficients_ = C
        if relation.kept is not None:
            self.coefficients_ = np.zeros((X.shape[0], self.n_clusters))
            self.coefficients_[relation.kept] = C
        self.spread_ = float(np.float64(self._spread) * relation.powers.unit)
        if self.metric not in ("precomputed", "gower"):
            self.X_fit_ = X

    def _all_distances(self, D: Array, relation: Relation, X: Any) -> Array:
        if self.metric == "precomputed" and self._spread == 0:
            return self._measured(X)  # as prediction measures them: the matrix may be symmetric up to rounding only
        return super()._all_distances(D, relation, X)

    def _new_distances(self, R: Array) -> Array:
        C, own, spread = self._prototypes
        A = R @ C
        return np.maximum(rounded(A - own / 2, A + own) + spread, 0)


def rounded(D: Array, terms: Array) -> Array:
    """Differences, 0 where they are rounding of their terms."""
    D[np.abs(D) <= _ROUNDING * terms] = 0
    return D
