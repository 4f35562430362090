"""Subtractive clustering.

Every sample is a candidate centre; its potential says how many samples are near it. With z the samples scaled to the
unit cube and r the radius:

* P_i = sum_j w_j exp(-4 |z_i - z_j|^2 / r^2); the first centre is the sample of largest potential P*.
* After a centre c of potential P_c: P_i -= P_c exp(-4 |z_i - z_c|^2 / (squash_factor r)^2).
* The sample of largest remaining potential is the next centre if P > accept_ratio P*. If P < reject_ratio P* the search
  ends. Between the two it is a centre if d / r + P / P* >= 1, d its distance to the nearest centre, and is passed over
  for the next largest otherwise.

Potentials and distances to the nearest centre only fall, so that a sample passed over stays so: the next centre is the
largest potential among all samples that the rule accepts.

References
----------
S. L. Chiu (1994). Fuzzy model identification based on cluster estimation. Journal of Intelligent and Fuzzy Systems
2(3), 267-278.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._types import Array, MatrixLike, Seed
from ..base import InductiveSoftClusterer
from ..engine.blocks import Block, Blocks, Frame, make_blocks
from ..engine.fitting import Fit, say
from ..inputs.features import check_enough_samples, refuse_dask, validate_features, validate_weights
from ..kernels import reference
from ..kernels.centers import center_distances, center_memberships, center_rows
from ..kernels.pairs import pair_bumps, pair_median

if TYPE_CHECKING:
    from typing import Self

_GROUP = 256  # reference rows at a time
_PAIRED = 2000  # rows whose pairwise distances give the radius
_RADIUS = 0.7  # of the median pairwise distance
_LEAST, _MOST = 1e-50, 1e50  # radii between which no square leaves the range of a float
_TIE = 1e-12  # potentials that differ by less (relative to the largest) are equal


class SCM(InductiveSoftClusterer):
    """Subtractive clustering: finds dense samples, and with them the number of clusters.

    Parameters
    ----------
    n_clusters : int or None, default=None
        None: the method finds the number of clusters. An int: this many of the highest peaks, without the tests of
        acceptance.
    radius : float or 'auto', default='auto'
        How far a sample's influence reaches, in units of the range of each feature (the data fill a cube of side 1);
        0.5 is customary in few dimensions. ``'auto'``: 0.7 times the median distance between two distinct samples,
        which keeps its meaning in many dimensions.
    squash_factor : float, default=1.5
        Radius of the region that a centre claims, relative to ``radius``.
    accept_ratio : float, default=0.5
        A potential above this part of the first one is a centre.
    reject_ratio : float, default=0.15
        A potential below this part of the first one is not a centre; at most ``accept_ratio``.
    max_clusters : int or None, default=None
        Stop at this many clusters, with a warning.
    max_samples : int, default=10000
        If there are more rows, a random sample of this size gives the potentials. Every row remains a candidate.
    random_state : int, RandomState or None, default=None
        Seed of that sample, and of the rows for ``radius='auto'`` if there are more than 2000.
    verbose : int, default=0
        1 prints a line per centre.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_samples, n_clusters)
        exp(-4 |z - z_k|^2 / radius^2), normalised to rows that sum to 1.
    labels_ : ndarray of shape (n_samples,)
        Cluster of largest membership.
    centers_ : ndarray of shape (n_clusters_, n_features)
        Samples, in the order in which they were found.
    center_indices_ : ndarray of shape (n_clusters_,)
        Their rows in X.
    center_potentials_ : ndarray of shape (n_clusters_,)
        Their potentials when they were found; the first is the largest.
    potentials_ : ndarray of shape (n_samples,)
        The potential of every sample at first.
    radius_ : float
        The radius used.
    sigmas_ : ndarray of shape (n_features,)
        Standard deviations of the Gaussian memberships in input units: radius * range / sqrt(8).
    n_clusters_ : int

    See Also
    --------
    soft_clustering.FCM : for a given number of clusters; takes ``centers_`` as ``init``.

    Notes
    -----
    Potentials cost O(n s d) time, s the smaller of n and ``max_samples``; each centre O(n d). Memory beyond X and
    ``memberships_`` is O(n): no (n, n) matrix is formed. A small radius in many dimensions makes nearly every sample a
    centre; ``max_clusters`` bounds that.

    The median of ``radius='auto'`` is over pairs of distinct samples, each with the product of its weights, so that
    weights count as repetitions and their unit does not matter. If rows are sampled (see ``random_state``), they
    are drawn with probability proportional to their weights, one from each of equal strata along a fixed projection.
    This rule of the radius is ours; the publication leaves the radius to the user.

    No single radius serves many features: one that is small against the clusters leaves every sample alone, one that
    is large moves all peaks to the middle of the data. A rough calculation: let clusters have the standard deviation s
    in each of d features and means D apart, so that two samples of a cluster are about s sqrt(2 d) apart. A centre that
    takes half of the potential of its cluster needs 8 d s^2 / (1.5 radius)^2 <= log 2, and a cluster that adds less
    than half to its neighbour's potential needs 4 D^2 / radius^2 >= log 2. Both hold for some radius only if
    d <= 1.1 (D / s)^2, which is 18 features for D = 4 s; there the best radius has half of the adjusted Rand index of
    k-means.

    On 24 planted mixtures that overlap, the best of 15 radii, chosen with the true classes, has a mean adjusted Rand
    index of 0.76 in 5 and 10 features and 0.31 in 20 and 40, where k-means with the true number of clusters has 0.79
    and 0.68; the rule has 0.66 and 0.21. On nine standardised tables the rule has 0.33 (k-means 0.34), on six tables of
    weak classes 0.05 (k-means 0.12, best radius 0.14). Silhouette, Calinski-Harabasz, Davies-Bouldin and Gaussian
    information criteria, the number of clusters that most radii find, and the partition that agrees best with those of
    other radii chose no better radius on all of these; nor did standardised features or ranks instead of the cube.
    ``benchmarks/quality/best_radius.py`` has the experiments.

    If X has fewer distinct samples than ``n_clusters``, each of them becomes a centre, with a warning. A feature
    that is constant counts with its own unit.

    References
    ----------
    .. [1] S. L. Chiu (1994). Fuzzy model identification based on cluster estimation. Journal of Intelligent and Fuzzy
       Systems 2(3), 267-278.
    .. [2] R. R. Yager, D. P. Filev (1994). Approximate clustering via the mountain method. IEEE Transactions on
       Systems, Man, and Cybernetics 24(8), 1279-1284.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from soft_clustering import SCM
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = SCM().fit(X)
    >>> model.n_clusters_
    3
    >>> bool((model.centers_ == X[model.center_indices_]).all())
    True
    """

    centers_: NDArray[Any]
    center_indices_: NDArray[np.intp]
    center_potentials_: Array
    potentials_: Array
    radius_: float
    sigmas_: Array
    _state: Array
    _frame: Frame
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [None, Interval(Integral, 1, None, closed="left")],
        "radius": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "squash_factor": [Interval(Real, 0, None, closed="neither")],
        "accept_ratio": [Interval(Real, 0, 1, closed="both")],
        "reject_ratio": [Interval(Real, 0, 1, closed="both")],
        "max_clusters": [None, Interval(Integral, 1, None, closed="left")],
        "max_samples": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        radius: float | str = "auto",
        squash_factor: float = 1.5,
        accept_ratio: float = 0.5,
        reject_ratio: float = 0.15,
        max_clusters: int | None = None,
        max_samples: int = 10000,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.radius = radius
        self.squash_factor = squash_factor
        self.accept_ratio = accept_ratio
        self.reject_ratio = reject_ratio
        self.max_clusters = max_clusters
        self.max_samples = max_samples
        self.random_state = random_state
        self.verbose = verbose

    # The protocol ---------------------------------------------------------------------------------------------------

    def fit(self, X: MatrixLike, y: object = None, *, sample_weight: ArrayLike | None = None) -> Self:
        """Find the centres.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            Weight 2 is the same as the row twice, weight 0 the same as no row.

        Returns
        -------
        self : object
        """
        with Fit[Array](self) as fit:
            self._validate_limits()
            X = self._validate_rows(X, reset=True)
            weight = validate_weights(sample_weight, X)
            blocks = make_blocks(X, weight, scaling="minmax")
            check_enough_samples(blocks.n, self.n_clusters or 1)
            frame, rng = blocks.frame, check_random_state(self.random_state)
            everything = blocks if blocks.kept is None else make_blocks(X, None, frame)
            rows = everything.blocks[0]

            self.radius_ = clip_radius(auto_radius(blocks, rng) if self.radius == "auto" else float(self.radius))
            self.potentials_ = self._potentials(rows, weight, blocks, rng)
            self.center_indices_, self.center_potentials_, complaint = self._peaks(rows, weight)

            self._state, self._frame = rows.take(self.center_indices_), frame
            self.centers_ = X[self.center_indices_]
            self.sigmas_ = self.radius_ * (2 / np.full(blocks.d, frame.scale)) / np.sqrt(8)
            self._set_memberships(everything.map_rows(self._memberships))
            if complaint:
                fit.warn(f"SCM {complaint}")
        return self

    def predict_memberships(self, X: MatrixLike) -> NDArray[Any]:
        """Memberships of new data, inside the cube of the training data or outside.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        memberships : ndarray of shape (n_samples, n_clusters)
        """
        check_is_fitted(self, "_state")
        return make_blocks(self._validate_rows(X, reset=False), None, self._frame).map_rows(self._memberships)

    def _validate_rows(self, X: MatrixLike, *, reset: bool) -> Any:
        refuse_dask(self, X)
        return validate_features(self, X, reset=reset, accept_sparse=False)

    def _validate_limits(self) -> None:
        if self.reject_ratio > self.accept_ratio:
            raise ValueError(
                f"reject_ratio must be <= accept_ratio. Got reject_ratio={self.reject_ratio} and "
                f"accept_ratio={self.accept_ratio} instead."
            )
        if self.n_clusters is not None and self.max_clusters is not None and self.n_clusters > self.max_clusters:
            raise ValueError(
                f"n_clusters must be <= max_clusters. Got n_clusters={self.n_clusters} and "
                f"max_clusters={self.max_clusters} instead."
            )

    # The method: the frame is the cube [-1, 1]^d, in which distances are twice those of the unit cube ---------------

    def _memberships(self, block: Block) -> NDArray[Any]:
        """softmax(-4 |z - z_k|^2 / radius^2): never 0 / 0, however far a row is."""
        return center_memberships(block, self._state, "entropy", self.radius_**2, *np.zeros(len(self._state)))

    def _potentials(self, rows: Block, weight: Array | None, blocks: Blocks, rng: np.random.RandomState) -> Array:
        """The potential of all rows, from those of positive weight or a sample of them."""
        if rows.n <= self.max_samples:
            everything = rows.take(slice(None))
            return pair_bumps(everything, self.radius_**-2, np.ones(rows.n) if weight is None else weight)
        sample = blocks.blocks[0]
        weight = np.ones(sample.n) if sample.weight is None else sample.weight
        indices = np.arange(sample.n)
        if sample.n > self.max_samples:
            indices = draw_strata(sample, self.max_samples, rng)
            weight = np.full(sample.n, weight.sum() / self.max_samples)
        potentials = np.zeros(rows.n)
        for lo in range(0, len(indices), _GROUP):
            group = indices[lo : lo + _GROUP]
            potentials += center_rows(rows, sample.take(group), "bumps", self.radius_**-2, *weight[group])
        return potentials

    def _peaks(self, rows: Block, weight: Array | None) -> tuple[NDArray[np.intp], Array, str]:
        """Rows of the centres, their potentials when found, and what to warn of."""
        P = self.potentials_.copy()
        nearest = np.full(rows.n, np.inf)  # squared distance to the nearest centre
        if weight is not None:
            nearest[weight == 0] = 0  # no candidates
        highest = P[nearest > 0].max()
        claim = clip_radius(self.squash_factor * self.radius_)
        copies = rows.d * (4 * np.finfo(rows.X.dtype).eps) ** 2  # two rows within rounding are one
        most = self.n_clusters or self.max_clusters or rows.n
        indices: list[int] = []
        found: list[float] = []
        while True:
            eligible = nearest > copies
            if self.n_clusters is None:
                share = P / highest
                grey = (share >= self.reject_ratio) & (np.sqrt(nearest) / 2 / self.radius_ + share >= 1)
                eligible &= (share > self.accept_ratio) | grey
            if len(indices) == most or not eligible.any():
                break
            left = np.where(eligible, P, -np.inf)
            peak = int(np.argmax(left >= left.max() - _TIE * highest))
            indices.append(peak)
            found.append(float(P[peak]))
            say(self, f"centre {len(indices)}: row {peak}, potential {P[peak] / highest:.4g} of the first")
            distance = center_distances(rows, rows.take([peak]))[:, 0]
            np.minimum(nearest, distance, out=nearest)
            with np.errstate(under="ignore"):
                claimed = np.exp(-distance / claim**2)
            # where more peaks are asked for than there is potential, nothing is left to subtract
            P -= max(found[-1], 0.0) * claimed
        return np.array(indices, dtype=np.intp), np.array(found), self._complaint(len(indices), bool(eligible.any()))

    def _complaint(self, K: int, more: bool) -> str:
        if self.n_clusters is not None:
            if self.n_clusters > K:
                return (
                    f"found {K} distinct samples, fewer than n_clusters={self.n_clusters}: there are duplicate points "
                    "in X; use fewer clusters"
                )
        elif self.max_clusters == K and more:
            return f"stopped at max_clusters={K}, but more samples qualify; increase max_clusters or radius"
        elif K == 1:
            return "found one cluster; decrease radius or accept_ratio if there should be more"
        return ""


def clip_radius(radius: float) -> float:
    """A radius whose square and its inverse are numbers."""
    return float(min(max(radius, _LEAST), _MOST))


def draw_strata(block: Block, size: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """So many rows with probability proportional to weight, one from each of equal strata along a fixed projection."""
    weight = np.ones(block.n) if block.weight is None else block.weight
    return reference.draw(weight, block.order, (np.arange(size) + rng.uniform(size=size)) / size)


def auto_radius(blocks: Blocks, rng: np.random.RandomState) -> float:
    """0.7 times the median distance between two distinct samples in the unit cube; 1 if there is only one.

    A pair has the product of the weights, and copies of a sample do not form pairs: an integer weight is the same as
    repeated rows, and the unit of the weights does not matter.
    """
    block = blocks.blocks[0]
    weight = np.ones(block.n) if block.weight is None else block.weight
    Z = block.take(slice(None) if block.n <= _PAIRED else draw_strata(block, _PAIRED, rng))
    if block.n > _PAIRED or weight.min() == weight.max():
        median = pair_median(Z)
        return 1.0 if np.isnan(median) else _RADIUS / 2 * median
    weight = weight / weight.max()
    distance = pdist(Z) / 2
    i, j = np.triu_indices(len(Z), 1)
    mass = np.where(distance > 0, weight[i] * weight[j], 0)
    order = np.argsort(distance)
    cumulated = np.cumsum(mass[order])
    if not mass.any():
        return 1.0
    # Half of the mass may lie exactly between two distances: then their mean, whichever way the sum was rounded.
    at = np.searchsorted(cumulated, cumulated[-1] / 2 * np.array([1 - _TIE, 1 + _TIE]))
    return _RADIUS * float(distance[order[at]].mean())
