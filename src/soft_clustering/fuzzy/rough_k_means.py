"""Rough k-means: clusters as interval sets, of samples that surely belong and of samples that possibly belong.

With d_ik = |x_i - v_k|, h the nearest centre of x_i and a threshold, the clusters that x_i may belong to are

* T_i = {k : d_ik <= threshold d_ih} by the ratio of the distances (threshold >= 1), or
* T_i = {k : d_ik - d_ih <= threshold} by their difference (threshold >= 0).

Where T_i holds h alone, x_i is in the lower approximation of h, the sure members, and in its upper one, the possible
members. Otherwise x_i is in the upper approximation of every cluster of T_i and in no lower one: it is in their
boundaries. A centre is the mean of its two parts, or of the one that is not empty,

    v_k = lower_weight mean(lower_k) + (1 - lower_weight) mean(boundary_k).

The publication does not treat a cluster without members: here it starts again, one cluster a pass, from the sample
farthest from its nearest centre.

This is a rule, not a descent: nothing is minimised. Of several starts the one of smallest sum_i w_i min_k d_ik^2 is
kept. The passes may go round in a cycle: a pass depends on the centres alone, so centres that come again repeat all
that followed them, and the member of the cycle with the smallest sum is the result.

References
----------
P. Lingras, C. West (2004). Interval set clustering of web users with rough k-means. Journal of Intelligent Information
Systems 23(1), 5-16.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from .._types import Array, Init, MatrixLike, Seed
from ..base import as_fitted
from ..engine.alternating import PARAMETERS, AlternatingClusterer
from ..engine.blocks import Block, Blocks
from ..engine.collapse import collapse
from ..engine.initialisation import starting_centers
from ..engine.loop import Policy, Run, array_key
from ..kernels import EMPTY
from ..kernels.centers import CenterStatistics, center_memberships, center_statistics

# Distances that differ by less (relatively) are equal: a tie does not depend on the rounding. By the bytes of a number.
_TIE = {8: 1e-12, 4: 1e-6}


class RoughKMeans(AlternatingClusterer[Array, CenterStatistics]):
    """Rough k-means: sure and possible members of each cluster.

    A sample that is clearly nearest to one centre is in the lower approximation of that cluster. A sample about as near
    to several is in the upper approximation of each of them and in no lower one.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters K.
    boundary_threshold : float, default=1.2
        How much farther than the nearest centre another one may be for the sample to be in the boundary. A ratio of
        distances, >= 1, or a difference in the units of X, >= 0 (see ``boundary_rule``). With the ratio 1 or the
        difference 0 this is k-means, but for samples at exactly the same distance of two centres.
    boundary_rule : {'ratio', 'difference'}, default='ratio'
        ``'difference'`` is the rule of 2004 [1]_ as we recall it, ``'ratio'`` the usual one since [2]_: it does not
        depend on the units of X.
    lower_weight : float, default=0.7
        Weight in [0, 1] of the lower approximation in the centre; the rest is that of the boundary.
    boundary_memberships : {'distance', 'uniform'}, default='distance'
        Memberships of a sample in the boundary of some clusters: proportional to 1 / d^2 among them, or equal. Of equal
        ones ``labels_`` takes the first, whichever centre is nearest. The publication gives no degrees; both are ours.
    init : {'k-means++', 'k-means||', 'random'}, array (n_clusters, n_features) or callable, default='k-means++'
        Starting centres. A callable gets ``(X, n_clusters, rng)``. An array forces one start. Of more than 20,000
        rows on Dask, ``'k-means++'`` is ``'k-means||'``, and ``'random'`` draws from a sample of 20,000.
    n_init : int, default=10
        Starts; the one of smallest ``objective_`` is kept.
    max_iter : int, default=100
        Passes over the data per start.
    tol : float, default=1e-4
        Converged when the centres move by at most ``tol`` times the root mean variance of the features.
    random_state : int, RandomState or None, default=None
        Seed of the starts.
    verbose : int, default=0
        1 prints a line per start, 2 a line per pass.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Rows sum to 1: one-hot for sure members, shared among the possible clusters otherwise.
    labels_ : ndarray of shape (n_samples,)
        Cluster of largest membership.
    lower_approximation_ : ndarray of shape (n_samples, n_clusters), bool
        Sure members: at most one cluster of each sample.
    upper_approximation_ : ndarray of shape (n_samples, n_clusters), bool
        Possible members: the lower approximation, and at least two clusters of every other sample. This is also what
        ``get_cover()`` returns.
    centers_ : ndarray of shape (n_clusters, n_features)
    n_clusters_ : int
    objective_ : float
        Sum of the squared distances to the nearest centre, which chooses between the starts (our choice: the method
        itself minimises nothing). It may rise from pass to pass.
    objective_history_ : ndarray
        The same at each centre set visited, the last one included.
    n_iter_ : int
        Passes of the best start.
    converged_ : bool
        False, with a warning, if ``max_iter`` ended the fit or the passes form a cycle. The state of smallest objective
        in the cycle is kept; there is no warning if the memberships of a row differ by at most 0.01 on average over
        the cycle.

    See Also
    --------
    soft_clustering.FCM : degrees for every sample and cluster, with an objective that falls.

    Notes
    -----
    A pass costs O(n K d) time; memory beyond X and the results per sample is O(K) per row of a small piece. ``score``
    is minus the objective.

    Cycles are common near the default threshold, where some samples fall on either side of the limit in turn. If
    distances are all alike, as in many features, boundaries are large and the centres near each other: a smaller
    ``boundary_threshold`` helps. Different starts end in different places; the objective need not choose the best.

    Distances that differ by less than 1e-12 (relatively; 1e-6 in float32) count as equal, so that a sample at exactly
    the limit is in the boundary however its distance is rounded.

    References
    ----------
    .. [1] P. Lingras, C. West (2004). Interval set clustering of web users with rough k-means. Journal of Intelligent
       Information Systems 23(1), 5-16.
    .. [2] P. Lingras, G. Peters (2011). Rough clustering. WIREs Data Mining and Knowledge Discovery 1(1), 64-72.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from soft_clustering import RoughKMeans
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = RoughKMeans(n_clusters=3, random_state=0).fit(X)
    >>> sorted(model.lower_approximation_.sum(axis=0).tolist())
    [38, 50, 51]
    >>> in_doubt = model.upper_approximation_.sum(axis=1) > 1
    >>> int(in_doubt.sum())
    11
    >>> lower, upper = model.predict_approximations([[6.3, 2.8, 5.0, 1.7]])
    >>> int(lower.sum()), int(upper.sum())
    (0, 2)
    """

    lower_approximation_: NDArray[np.bool_]
    upper_approximation_: NDArray[np.bool_]
    _policy = Policy(
        monotone=False,
        cycle_key=array_key,
        missing=True,
        rows={"lower_approximation_": "_lower", "upper_approximation_": "_upper"},
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "boundary_threshold": [Interval(Real, 0, None, closed="left")],
        "boundary_rule": [StrOptions({"ratio", "difference"})],
        "lower_weight": [Interval(Real, 0, 1, closed="both")],
        "boundary_memberships": [StrOptions({"distance", "uniform"})],
        "init": [StrOptions({"k-means++", "k-means||", "random"}), callable, "array-like"],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        boundary_threshold: float = 1.2,
        boundary_rule: str = "ratio",
        lower_weight: float = 0.7,
        boundary_memberships: str = "distance",
        init: Init = "k-means++",
        n_init: int = 10,
        max_iter: int = 100,
        tol: float = 1e-4,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.boundary_threshold = boundary_threshold
        self.boundary_rule = boundary_rule
        self.lower_weight = lower_weight
        self.boundary_memberships = boundary_memberships
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _resolve(self, blocks: Blocks) -> None:
        if self.boundary_rule == "ratio" and self.boundary_threshold < 1:
            raise ValueError(
                f"boundary_threshold must be >= 1 with boundary_rule='ratio'. Got {self.boundary_threshold!r} instead."
            )

    def _starts(self, blocks: Blocks, rng: np.random.RandomState) -> Iterator[Array]:
        for _ in range(self._n_starts()):
            yield starting_centers(blocks, self.init, self.n_clusters, rng)

    def _rule(self, block: Block, memberships: str) -> tuple[Any, ...]:
        """The rule of the kernels, and its parameters."""
        threshold = float(self.boundary_threshold)
        limit = (threshold, 0.0) if self.boundary_rule == "ratio" else (1.0, threshold * float(block.frame.scale))
        return "rough", *limit, 1 - _TIE[block.X.itemsize], float(memberships == "uniform")

    def _statistics(self, block: Block, V: Array) -> CenterStatistics:
        """Those of the lower approximations, then those of the boundaries."""
        return center_statistics(block, np.concatenate([V, V]), *self._rule(block, "uniform"))

    def _update(self, V: Array, statistics: CenterStatistics, blocks: Blocks) -> Array:
        weight, total = statistics.mass.reshape(2, len(V), -1), statistics.total.reshape(2, *V.shape)
        full = weight >= EMPTY
        share = np.array([self.lower_weight, 1 - self.lower_weight])[:, None, None]
        share = np.where(full.all(axis=0), share, full)  # a cluster with one part has the mean of that part
        centers: Array = (share * total / np.where(full, weight, 1)).sum(axis=0)
        centers = np.where(full.any(axis=0), centers, V)
        empty = (statistics.weight.reshape(2, -1) < EMPTY).all(axis=0)
        if empty.any() and statistics.worst > 0:
            centers[np.argmax(empty)] = statistics.worst_row
        return centers

    def _memberships(self, block: Block, V: Array) -> NDArray[Any]:
        return center_memberships(block, V, *self._rule(block, self.boundary_memberships))

    def _upper(self, block: Block, V: Array) -> NDArray[np.bool_]:
        possible: NDArray[np.bool_] = center_memberships(block, V, *self._rule(block, "uniform")) > 0
        return possible

    def _lower(self, block: Block, V: Array) -> NDArray[np.bool_]:
        upper = self._upper(block, V)
        sure: NDArray[np.bool_] = upper.sum(axis=1, keepdims=True) == 1
        return upper & sure

    @as_fitted
    def predict_approximations(self, X: MatrixLike) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Lower and upper approximations of new data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        lower : ndarray of shape (n_samples, n_clusters), bool
            Which cluster each sample surely belongs to, if any.
        upper : ndarray of shape (n_samples, n_clusters), bool
            Which clusters it may belong to.
        """
        blocks = self._new_blocks(X)
        return self._map_rows("_lower", blocks), self._map_rows("_upper", blocks)

    def _default_cover(self) -> NDArray[np.bool_]:
        return self.upper_approximation_

    def _store(self, V: Array, statistics: CenterStatistics, blocks: Blocks) -> None:
        self.centers_ = blocks.frame.to_input(V).astype(blocks.dtype)

    def _complaints(self, run: Run[Array], blocks: Blocks) -> list[str]:
        remedy = "try a smaller boundary_threshold or fewer clusters"
        complaints = collapse("RoughKMeans", run.state, self.memberships_, blocks, remedy, self.tol)
        empty = self.n_clusters - int(np.count_nonzero(np.asarray(self.memberships_.max(axis=0))))
        if empty and not complaints:
            complaints = [f"RoughKMeans left {empty} of {self.n_clusters} clusters empty; use fewer clusters"]
        return super()._complaints(run, blocks) + complaints
