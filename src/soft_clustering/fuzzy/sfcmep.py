"""Semi-supervised fuzzy c-means with entropy and prior memberships.

The entropy c-means of :mod:`soft_clustering.fuzzy.afcm_simple` whose rows may have prior memberships p_i. Minimise,
with D_ik = |x_i - v_k|^2, n the summed weights and d features,

    J = sum_i w_i sum_k u_ik (D_ik / lambda + log(u_ik / (K p_ik))) + (n d / 2) log lambda

over memberships with sum_k u_ik = 1, centres V and the entropy weight lambda > 0. A row that nothing is known of has
p_ik = 1 / K, so that K p_ik = 1; one of class c has p_ik = rho [k = c] + (1 - rho) / K with the confidence rho. By
turns, exactly:

* u_ik = p_ik exp(-D_ik / lambda) / sum_l p_il exp(-D_il / lambda), 0 where p_ik is;
* v_k = sum_i w_i u_ik x_i / sum_i w_i u_ik;
* lambda = 2 sum_ik w_i u_ik |x_i - v_k|^2 / (n d).

With a given lambda the last term is a constant: it is left out, and J is multiplied by lambda.

References
----------
Hong et al. (2025). Semi-supervised fuzzy clustering based on prior membership. Mathematics 13(16), 2559.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from .._types import Array, MatrixLike, Seed
from ..engine.alternating import PARAMETERS
from ..engine.blocks import Block, Blocks, Frame, M, make_blocks
from ..engine.fitting import Fit
from ..engine.initialisation import further_rows, starting_centers
from ..engine.loop import Policy, squared_units
from ..inputs.features import check_enough_samples, is_dask, validate_rows, validate_weights
from ..inputs.labels import (
    PartialLabels,
    resolve_n_clusters,
    validate_partial_labels,
    validate_prior_memberships,
)
from ..kernels import EMPTY
from ..kernels.centers import CenterStatistics, Scatter
from ..kernels.reference import posteriors, squared_distances
from .afcm_simple import Adaptive, AFCMSimple, adaptive_start

if TYPE_CHECKING:
    from typing import Self

_LEAST, _MOST = 1e-100, 1e100  # of a given entropy weight, in the coordinates of the frame
_LEARNT = replace(AFCMSimple._policy, needs_rows=False)
_GIVEN = replace(_LEARNT, units=squared_units)


class Priors(NamedTuple):
    """What is known of some rows before the fit."""

    rows: NDArray[np.intp]  # (k,), ascending
    clusters: NDArray[np.intp]  # (k,), the most likely cluster of each, -1 if several are
    log_prior: Array  # (k, K), log(K p)


class Supervised(NamedTuple):
    """The data of ``fit``, as the user gave them."""

    X: Any
    y: Any
    prior_memberships: Any


class Known(Block):
    """Rows with prior memberships."""

    def __init__(self, rows: Block, clusters: NDArray[np.intp], log_prior: Array) -> None:
        super().__init__(rows.X, rows.weight, rows.frame)
        self.clusters, self.log_prior = clusters, log_prior

    def inferred(self, state: Adaptive) -> Iterator[tuple[int, Any, Array, Array, Array, Array]]:
        """(first row, rows, weights, D, memberships, -log sum_k K p_ik exp(-D_ik / lambda)), piece by piece."""
        for lo, Z, w in self.pieces(width=len(state.centers)):
            D = squared_distances(Z, state.centers)
            U, likelihood = posteriors(self.log_prior[lo : lo + Z.shape[0]] - D / state.weight)
            yield lo, Z, w, D, U, -likelihood

    def sums(self, state: Adaptive) -> CenterStatistics:
        """The statistics of the entropy rule with priors."""
        weight, total = np.zeros(len(state.centers)), np.zeros_like(state.centers)
        seen = np.zeros_like(state.centers) if self.frame.gaps else None
        objective, worst, at = 0.0, -np.inf, 0
        for lo, Z, w, _, U, J in self.inferred(state):
            W = U * w[:, None]
            weight += W.sum(axis=0)
            if seen is not None:
                seen += W.T @ ~np.isnan(Z)
                Z = np.nan_to_num(Z)
            total += (Z.T @ W).T
            objective += float(w @ J)
            if J.max() > worst:
                worst, at = float(J.max()), lo + int(J.argmax())
        row = self.take([at])[0] if weight.min() < EMPTY else None
        return CenterStatistics(weight, total, state.weight * objective, state.weight * worst, row, seen)

    def scatter(self, state: Adaptive) -> Scatter:
        """Summed memberships, and summed memberships times squared distances."""
        answer = Scatter(np.zeros(len(state.centers)), np.zeros(len(state.centers)))
        for _, _, w, D, U, _ in self.inferred(state):
            answer = answer.merge(Scatter(w @ U, w @ (U * D)))
        return answer

    def cluster_means(self, K: int) -> tuple[Array, NDArray[np.bool_]]:
        """Means (K, d) of the rows of each cluster, and which clusters have any; 0 if no row has a feature."""
        size, total = np.zeros((K, self.d if self.frame.gaps else 1)), np.zeros((K, self.d))
        for lo, Z, w in self.pieces():
            members = (self.clusters[lo : lo + Z.shape[0], None] == np.arange(K)) * w[:, None]
            size += members.T @ ~np.isnan(Z) if self.frame.gaps else members.sum(axis=0)[:, None]
            total += ((np.nan_to_num(Z) if self.frame.gaps else Z).T @ members).T
        return total / np.where(size > 0, size, 1), size.max(axis=1) > 0


class PartlyKnown(Blocks):
    """All rows in memory, of which some have a prior: these and the others are summed up apart."""

    def __init__(self, rows: Blocks, priors: Priors) -> None:
        super().__init__(rows.blocks, rows.mean_variance, rows.kept, n_input=rows.n_input)
        places = np.arange(rows.n) if rows.kept is None else rows.kept
        there = np.isin(priors.rows, places)
        self.places = np.searchsorted(places, priors.rows[there])
        self.known = Known(self.take(self.places), priors.clusters[there], priors.log_prior[there])
        self.other = self.take(np.setdiff1d(np.arange(rows.n), self.places))

    def reduce(self, function: Callable[..., M], *arguments: object) -> M:
        """Merge what ``function(block, *arguments)`` says of both kinds of rows."""
        parts: Any = [function(block, *arguments) for block in (self.other, self.known) if block.n]
        merged: M = parts[0] if len(parts) == 1 else parts[0].merge(parts[1])
        return merged

    def map_rows(self, function: Callable[..., NDArray[Any]], *arguments: object) -> NDArray[Any]:
        """What ``function(block, *arguments)`` says of the rows, in their order."""
        answer = super().map_rows(function, *arguments)
        if self.known.n:
            answer[self.places] = function(self.known, *arguments)
        return answer


class SFCMEP(AFCMSimple):
    """Semi-supervised fuzzy c-means: labels or prior memberships of some samples steer the clusters of all.

    :class:`soft_clustering.AFCMSimple` with a prior for each sample of which something is known; how soft the
    memberships are is learnt from the data.

    Parameters
    ----------
    n_clusters : int or None, default=None
        Number of clusters K. None: the number of classes in y, or the columns of ``prior_memberships``; 3 where there
        is neither. Clusters beyond the classes are found among the samples without a label.
    label_confidence : float, default=1.0
        How sure the labels in y are, between 0 and 1: the prior of a labelled sample is this for its class plus equal
        shares of the rest for all clusters. With 1 a labelled sample keeps its class; lower it for doubtful labels.
    label_weight : float or 'auto', default='auto'
        Weight of each sample with a label or a prior, besides ``sample_weight``. ``'auto'`` gives these samples as much
        weight in all as the others have, and each at least 1.
    entropy_weight : float or 'auto', default='auto'
        lambda, in squared units of the data: the larger, the softer. ``'auto'`` learns it.
    n_init : int, default=5
        Starts; the one of smallest objective is kept. One start where every cluster has samples of its own.
    max_iter : int, default=300
        Passes over the data per start.
    tol : float, default=1e-6
        Converged when the centres move by at most ``tol`` times the root mean variance of the features, and the
        entropy weight changes by at most this part of itself.
    random_state : int, RandomState or None, default=None
        Seed of the starts.
    verbose : int, default=0
        1 prints a line per start, 2 a line per pass.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Rows sum to 1. The first columns belong to the classes, in the order of ``classes_``.
    labels_ : ndarray of shape (n_samples,)
        Cluster of largest membership, an index into ``classes_`` while there are classes.
    centers_ : ndarray of shape (n_clusters, n_features)
    n_clusters_ : int
    classes_ : ndarray of shape (n_classes,)
        The classes in y; set where y holds labels.
    label_weight_ : float
        The weight used for samples with a label or a prior.
    entropy_weight_ : float
        lambda, in squared units of the data.
    objective_ : float
        J, minimised; see Notes.
    objective_history_ : ndarray
        J at each state visited, the last one included.
    n_iter_ : int
        Passes of the best start.
    converged_ : bool

    See Also
    --------
    soft_clustering.AFCMSimple : the same without labels.
    soft_clustering.SoftKSC : clusters of any shape, with partial labels.
    sklearn.semi_supervised.LabelSpreading : better where only the classes of the unlabelled samples matter.

    Notes
    -----
    With D the squared distances to the centres, K p = 1 for a sample that nothing is known of, and n the summed
    weights,

        J = sum_i w_i sum_k u_ik (D_ik / lambda + log(u_ik / (K p_ik))) + (n d / 2) log lambda,

    and with a given lambda J = sum_i w_i sum_k u_ik (D_ik + lambda log(u_ik / (K p_ik))). No pass raises it. A new
    sample has no prior, so prediction gives a labelled sample of the training data what its place says, not
    ``memberships_``. ``score`` is minus the objective of samples without priors.

    Of [1]_ only abstract and introduction were at hand: an entropy that compares memberships with priors, for samples
    that have one, is added to the objective of fuzzy c-means. Its form is our reconstruction, and so is the weight of
    the labels, after the balance of labelled and unlabelled samples that is usual since [2]_ (cited from memory). Class
    means are the starting centres; those of clusters without a label are drawn as in k-means++, given the others.

    Where only the labels of the other samples matter, use a classifier: with 5 % of the labels of nine data sets,
    spreading them over a graph of neighbours agreed better with the classes of the rest (a mean adjusted Rand index of
    0.46 against 0.41, on standardised features 0.47 against 0.43), and the nearest class mean was as good (0.41, 0.42).
    This method is for clusters with centres and degrees of membership that respect what is known. As there is one round
    cluster per class, labels cannot bend it.

    A pass costs O(n K d) time; memory beyond X and ``memberships_`` is a copy of the samples if some have a prior.
    The entropy weight that is learnt is at least 1e-12 of the total variance.

    References
    ----------
    .. [1] Hong et al. (2025). Semi-supervised fuzzy clustering based on prior membership. Mathematics 13(16), 2559.
    .. [2] W. Pedrycz, J. Waletzky (1997). Fuzzy clustering with partial supervision. IEEE Trans. Systems, Man, and
       Cybernetics B 27(5), 787-795.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from soft_clustering import SFCMEP
    >>> X, species = load_iris(return_X_y=True)
    >>> y = np.full(150, -1)
    >>> y[::15] = species[::15]
    >>> model = SFCMEP().fit(X, y)
    >>> model.memberships_.shape, model.classes_.tolist()
    ((150, 3), [0, 1, 2])
    >>> bool((model.labels_[::15] == species[::15]).all())
    True
    >>> round(float((model.labels_ == species).mean()), 2)
    0.89
    """

    finds_n_clusters: ClassVar[bool] = False
    train_rule: ClassVar[Literal["exact", "reinferred"]] = "reinferred"
    init, accelerate = "k-means++", True  # as in AFCMSimple by default; no parameters here
    classes_: NDArray[Any]
    label_weight_: float
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "n_clusters": [None, Interval(Integral, 1, None, closed="left")],
        "label_confidence": [Interval(Real, 0, 1, closed="both")],
        "label_weight": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "entropy_weight": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        label_confidence: float = 1.0,
        label_weight: float | str = "auto",
        entropy_weight: float | str = "auto",
        n_init: int = 5,
        max_iter: int = 300,
        tol: float = 1e-6,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters  # type: ignore[assignment]
        self.label_confidence = label_confidence
        self.label_weight = label_weight
        self.entropy_weight = entropy_weight
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike | None = None,
        *,
        prior_memberships: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            A Dask array only without labels and priors.
        y : array-like of shape (n_samples,), default=None
            Class labels, -1, NaN or None where a sample has none; at most ``n_clusters`` classes.
        prior_memberships : array-like of shape (n_samples, n_clusters), default=None
            Prior memberships, up to a factor per row; a row of NaN where nothing is known. A membership of 0 stays 0. A
            sample has a label or a prior, not both; with labels, the first columns are those of the classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight 2 is the same as the row twice, weight 0 the same as no row.

        Returns
        -------
        self : object
        """
        return self._fit(Supervised(X, y, prior_memberships), sample_weight)

    # What is known of the rows --------------------------------------------------------------------------------------

    def _blocks(self, X: MatrixLike, sample_weight: ArrayLike | None = None, frame: Frame | None = None) -> Blocks:
        if not isinstance(X, Supervised):
            return super()._blocks(X, sample_weight, frame)
        rows, gaps = validate_rows(self, X.X, reset=frame is None, accept_sparse=True, accept_missing=True)
        n = rows.shape[0]
        labels = validate_partial_labels(X.y, rows)
        prior = None if X.prior_memberships is None else validate_prior_memberships(X.prior_memberships, n)
        width = self.n_clusters if self.n_clusters is not None or prior is None else prior.shape[1]
        K = resolve_n_clusters(width, labels)
        priors = self._priors(labels, prior, n, K)
        if priors is not None and is_dask(rows):
            raise TypeError(
                "SFCMEP takes labels and priors only of rows in memory, not of a Dask array: pass X.compute()."
            )
        weight = None
        if frame is None:  # what is learnt of the data
            self.n_clusters_ = K
            if labels is not None:
                self.classes_ = labels.classes
            weight = self._weights(validate_weights(sample_weight, rows), priors, n)
        blocks = make_blocks(rows, weight, frame, gaps=gaps)
        check_enough_samples(blocks.n, K)
        return blocks if priors is None else PartlyKnown(blocks, priors)

    def _priors(self, labels: PartialLabels | None, prior: Array | None, n: int, K: int) -> Priors | None:
        """The priors of the rows with a label or prior memberships, None if there are none."""
        clusters = np.full(n, -1, dtype=np.intp) if labels is None else labels.codes
        labelled, given = clusters >= 0, np.zeros(n, dtype=bool)
        if prior is not None:
            if prior.shape[1] != K:
                raise ValueError(
                    f"prior_memberships must have n_clusters={K} columns. Got an array of shape {prior.shape} instead."
                )
            given = ~np.isnan(prior[:, 0])
            if (given & labelled).any():
                raise ValueError(
                    "prior_memberships must be NaN in the rows that have a label in y. Got both for row "
                    f"{np.argmax(given & labelled)}."
                )
            single = (prior == prior.max(axis=1, keepdims=True)).sum(axis=1) == 1
            clusters = np.where(given & single, prior.argmax(axis=1), clusters)
        rows = np.flatnonzero(labelled | given)
        if len(rows) == 0:
            return None
        rho = float(self.label_confidence)
        p = rho * (clusters[rows, None] == np.arange(K)) + (1 - rho) / K
        if prior is not None:
            p[given[rows]] = prior[given]
        with np.errstate(divide="ignore"):
            return Priors(rows, clusters[rows], np.log(K * p))

    def _weights(self, weight: Array | None, priors: Priors | None, n: int) -> Array | None:
        """The weights of the rows, those with a prior times ``label_weight``."""
        self.label_weight_ = 1.0 if isinstance(self.label_weight, str) else float(self.label_weight)
        if priors is None:
            return weight
        weight = np.ones(n) if weight is None else weight.copy()
        known = weight[priors.rows].sum()
        if isinstance(self.label_weight, str) and known > 0:
            self.label_weight_ = max(1.0, float((weight.sum() - known) / known))
        weight[priors.rows] *= self.label_weight_
        if not 1e-100 < weight.max() < 1e100:
            raise ValueError(
                f"label_weight={self.label_weight_:.3g} times sample_weight must have its largest entry between 1e-100 "
                f"and 1e100. Got {weight.max():.3g} instead."
            )
        return weight

    # The method -----------------------------------------------------------------------------------------------------

    @property
    def _policy(self) -> Policy:  # type: ignore[override]
        return _LEARNT if self.entropy_weight == "auto" else _GIVEN

    @property
    def _remedy(self) -> str:  # type: ignore[override]
        return "use fewer clusters" if self.entropy_weight == "auto" else "use a smaller entropy_weight"

    def _run(self, fit: Fit[Adaptive], blocks: Blocks, rng: np.random.RandomState) -> None:
        fit.run_starts(self._starts(blocks, rng), self._loop(fit, blocks, self.n_clusters_))

    def _starts(self, blocks: Blocks, rng: np.random.RandomState) -> Iterator[Adaptive]:
        K = self.n_clusters_
        means, labelled = np.zeros((K, blocks.d)), np.zeros(K, dtype=bool)
        if isinstance(blocks, PartlyKnown) and blocks.known.n:
            means, labelled = blocks.known.cluster_means(K)
        for _ in range(1 if labelled.all() else self.n_init):
            if labelled.any():
                V = means.copy()
                V[~labelled] = further_rows(blocks.joined(), V[labelled], int((~labelled).sum()), rng)
            else:
                V = starting_centers(blocks, self.init, K, rng)
            start = adaptive_start(blocks, V)
            if not isinstance(self.entropy_weight, str):
                given = math.log(self.entropy_weight) + 2 * math.log(blocks.frame.unit)
                given = min(max(given, math.log(_LEAST)), math.log(_MOST))
                start = start._replace(log_weight=given, bounds=(given, given))
            yield start

    def _sums(self, block: Block, state: Adaptive) -> CenterStatistics:
        return block.sums(state) if isinstance(block, Known) else super()._sums(block, state)

    def _scatter(self, block: Block, state: Adaptive) -> Scatter:
        return block.scatter(state) if isinstance(block, Known) else super()._scatter(block, state)

    def _memberships(self, block: Block, state: Adaptive) -> NDArray[Any]:
        if not isinstance(block, Known):
            return super()._memberships(block, state)
        return np.concatenate([U for _, _, _, _, U, _ in block.inferred(state)]).astype(block.X.dtype)
