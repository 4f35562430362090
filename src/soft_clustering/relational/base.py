"""What methods on dissimilarities share: data in, the noise, starts, memberships, prediction.

The membership of an object is a function of its D_k, how far it is from each prototype, as in fuzzy c-means:
u_k = D_k^(-1/(m-1)) / sum_l D_l^(-1/(m-1)). A method says what its prototypes are.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._types import Array, MatrixLike, Seed
from ..base import as_fitted
from ..engine.alternating import PARAMETERS
from ..engine.collapse import columns_alike, rows_alike
from ..engine.dissimilarities import (
    DissimilarityMetric,
    KnownMetric,
    Landmarks,
    tag_metric,
    validate_objects,
    weight_of_known,
)
from ..engine.fitting import Fit, not_converged
from ..engine.loop import Policy, Run
from ..engine.noise import NOISE, NoiseOption, middle
from ..engine.threads import single_threaded_blas
from ..fuzzy.fuzzifier import resolve_fuzzifier, smaller
from ..inputs.features import check_enough_samples, validate_weights
from ..kernels.reference import beside_noise, fcm_rule
from .relation import Powers, Relation

if TYPE_CHECKING:
    from typing import Self

S = TypeVar("S")
_CHUNK = 1 << 22  # numbers of a temporary array
_NO_FEATURES = 1.1  # m='auto' if X has no features that its rule could count: benchmarks/quality/dissimilarities.py

RELATIONAL: dict[str, list[Any]] = PARAMETERS | {
    "m": [StrOptions({"auto"}), Interval(Real, 1, None, closed="neither")],
    "metric": [str, callable],
    "exponent": [Interval(Real, 0, np.inf, closed="neither")],
    **NOISE,
}


class Found(NamedTuple):
    """What follows from the distances of some objects to the prototypes."""

    memberships: Array  # (n, K)
    noise: Array  # (n,)
    weights: Array  # (n, K), memberships to the power m
    objective: Array  # (n,)


class RelationalClusterer(NoiseOption, Generic[S]):
    """Base of the methods whose memberships come from dissimilarities; ``S`` is what a run changes."""

    m_: float
    objective_: float
    objective_history_: Array
    n_iter_: int
    converged_: bool
    n_clusters: int
    m: float | str
    metric: DissimilarityMetric
    exponent: float
    random_state: Seed
    _sparse: ClassVar[bool] = False
    _known: Landmarks  # what new objects are compared with
    _powers: Powers

    # The method -----------------------------------------------------------------------------------------------------

    @property
    def _policy(self) -> Policy:
        """How the runs go."""
        return Policy()

    @abstractmethod
    def _relation(self, X: Any, weight: Array | None, metric: KnownMetric) -> Relation:
        """The dissimilarities among the training objects."""

    @abstractmethod
    def _runs(self, fit: Fit[S], relation: Relation, rng: np.random.RandomState) -> None:
        """The runs of a fit, at a noise distance."""

    @abstractmethod
    def _distances(self, state: S, relation: Relation) -> Array:
        """D (n, K) of the training objects."""

    @abstractmethod
    def _store(self, state: S, relation: Relation, X: Any) -> None:
        """Set the method's own fitted attributes, and what prediction needs."""

    @abstractmethod
    def _new_distances(self, R: Array) -> Array:
        """D (n_new, K) of new objects, from the powers of their dissimilarities to ``_known``."""

    # The protocol ---------------------------------------------------------------------------------------------------

    def fit(self, X: MatrixLike, y: object = None, *, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_samples) if ``metric='precomputed'``
            A sparse matrix of features, too, if the class accepts one; a data frame for ``metric='gower'``.
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            Weight 2 is the same as the row twice, weight 0 the same as no row.

        Returns
        -------
        self : object
        """
        with Fit[S](self) as fit:
            X, metric = validate_objects(self, X, self.metric, reset=True, accept_sparse=self._sparse)
            weight = weight_of_known(X, validate_weights(sample_weight, X), metric)
            n = X.shape[0] if weight is None else int(np.count_nonzero(weight))
            check_enough_samples(n, self.n_clusters)
            relation, rng = self._relation(X, weight, metric), check_random_state(self.random_state)
            counted = max(float(len(relation)), relation.weight.sum())
            no_rule = self.metric == "precomputed" and self.m == "auto"
            self.m_ = resolve_fuzzifier(_NO_FEATURES if no_rule else self.m, counted, X.shape[1], self.n_clusters)
            fit.stores(partial(self._finish, relation=relation, X=X), lambda J: J * relation.powers.unit)

            def median() -> float:
                self._runs(fit, relation, rng)
                assert fit.best is not None
                return middle(self._distances(fit.best.state, relation).min(axis=1), relation.weight)

            self._fix_noise(median, relation.powers.length, self.exponent)
            fit.runs.clear()
            self._runs(fit, relation, rng)
        return self

    @as_fitted
    def predict_memberships(self, X: MatrixLike) -> NDArray[Any]:
        """Memberships of new data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_training_samples) if ``metric='precomputed'``

        Returns
        -------
        memberships : ndarray of shape (n_samples, n_clusters)
        """
        X = self._new_objects(X)
        return self._rule(self._measured(X)).memberships.astype(X.dtype)

    @as_fitted
    def score(self, X: MatrixLike, y: object = None, *, sample_weight: ArrayLike | None = None) -> float:
        """Minus the objective on new data.

        Parameters
        ----------
        X : as for ``predict_memberships``
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        score : float
        """
        X = self._new_objects(X)
        weight, J = validate_weights(sample_weight, X), self._rule(self._measured(X)).objective
        with np.errstate(over="ignore"):
            return -float(np.float64(J.sum() if weight is None else weight @ J) * self._powers.unit)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tag_metric(tags, self.metric)
        tags.input_tags.sparse = self._sparse and self.metric not in ("precomputed", "gower")
        return tags

    # What follows from it -------------------------------------------------------------------------------------------

    def _rule(self, D: Array) -> Found:
        """Memberships in the clusters and the noise, from D (n, K)."""
        K = D.shape[1]
        U, W, J = fcm_rule(beside_noise(D, self._noise), self.m_)
        return Found(U[:, :K], U[:, K] if self._noise > 0 else np.zeros(len(D)), W[:, :K], J)

    def _new_objects(self, X: MatrixLike) -> Any:
        """Validated new objects."""
        check_is_fitted(self, "memberships_")
        return validate_objects(self, X, self._known.metric.name, reset=False, accept_sparse=self._sparse)[0]

    def _predict_noise(self, X: MatrixLike) -> NDArray[Any]:
        X = self._new_objects(X)
        return self._rule(self._measured(X)).noise.astype(X.dtype)

    def _measured(self, X: Any) -> Array:
        """D (n_new, K) of validated new objects."""
        step = max(1, _CHUNK // max(self._n_known, X.shape[1]))
        with single_threaded_blas():
            parts = (self._known.measure(X[lo : lo + step]) for lo in range(0, X.shape[0], step))
            return np.concatenate([self._new_distances(self._powers(part)) for part in parts])

    def _finish(self, run: Run[S], relation: Relation, X: Any) -> Iterator[str]:
        """Store a run: memberships, objective and prototypes agree."""
        self._powers = relation.powers
        D = self._distances(run.state, relation)
        run.history.append(float(relation.weight @ self._rule(D).objective))
        self._store(run.state, relation, X)
        found = self._rule(self._all_distances(D, relation, X))
        noise = found.noise.astype(X.dtype) if self.membership_kind == "subpartition" else None
        self._set_memberships(found.memberships.astype(X.dtype), noise)
        return self._complaints(run, relation)

    def _all_distances(self, D: Array, relation: Relation, X: Any) -> Array:
        """D of all samples, from D of those of positive weight; the others are like new ones."""
        if relation.kept is None:
            return D
        samples = self._measured(X)
        samples[relation.kept] = D
        return samples

    def _complaints(self, run: Run[S], relation: Relation) -> Iterator[str]:
        """What to warn of after a fit."""
        name, K, U = type(self).__name__, self.n_clusters, self.memberships_
        yield from not_converged(self, run, remedy="tol" if hasattr(self, "tol") else "")
        if self._noise > 0:
            mass = self.noise_mass_ if relation.kept is None else self.noise_mass_[relation.kept]
            yield from self._too_noisy(float(relation.weight @ mass / relation.weight.sum()))
        if K == 1:
            return
        distinct = relation.objects.n_distinct(K)
        twins = sum(any(columns_alike(U, k, other) for other in range(k)) for k in range(1, K))
        if rows_alike(U):
            remedy = f"m={self.m_:g} may be too large, try {smaller('m', self.m)}"
            finding = "collapsed: all samples have the same memberships"
        elif twins or distinct < K:
            remedy = "try fewer clusters"
            finding = f"found {K - twins} distinct prototypes, fewer than n_clusters={K}, which may be too many"
        else:
            return
        if distinct < K:
            remedy = f"X has duplicates and only {distinct} distinct samples: use fewer clusters"
        yield f"{name} {finding}; {remedy}"
