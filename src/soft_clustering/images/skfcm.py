"""Kernel fuzzy c-means with a spatial term, for images.

Neighbouring pixels mostly belong together, so each variant adds to the objective of kernel fuzzy c-means a term that
ties a pixel to its neighbours. With D_ik = 1 - exp(-gamma |x_i - v_k|^2), with N_i the pixels of a window around pixel
i except i itself, and with a the weight of the term, minimise over memberships U and centres V

* 'penalty':       J = sum_ik u_ik^m D_ik + a sum_ik u_ik^m mean_{r in N_i} (1 - u_rk)^m;
* 'neighbors':     J = sum_ik u_ik^m D_ik + a sum_ik u_ik^m mean_{r in N_i} D_rk;
* 'mean', 'median': J = sum_ik u_ik^m D_ik + a sum_ik u_ik^m (1 - exp(-gamma |y_i - v_k|^2)), y the filtered image.

In each, u_ik^m multiplies a sum G_ik = D_ik + a S_ik, so the memberships are those of fuzzy c-means with G in the place
of the distances. Under 'penalty' G comes from the previous memberships: all change together, which is not an exact
minimisation, and J may rise. The centres are weighted means as in kernel fuzzy c-means: under 'neighbors' a pixel also
has the weight that it has as a neighbour of others, under 'mean' and 'median' the pixels of the filtered image take
part with the weight a.

References
----------
D.-Q. Zhang, S.-C. Chen (2004). A novel kernelized fuzzy c-means algorithm with application in medical image
segmentation. Artificial Intelligence in Medicine 32(1), 37-50.

S. Chen, D. Zhang (2004). Robust image segmentation using FCM with spatial constraints based on new kernel-induced
distance measure. IEEE Trans. Systems, Man, and Cybernetics B 34(4), 1907-1916.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from numbers import Integral, Real
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from .._types import Array, Init, Memberships, Seed
from ..base import as_fitted
from ..engine.alternating import PARAMETERS
from ..engine.blocks import Block, Blocks, Frame, make_blocks
from ..engine.collapse import collapse
from ..engine.loop import Policy, Run, Scale, center_shift, no_units
from ..fuzzy.fuzzifier import resolve_fuzzifier
from ..fuzzy.solver import fuzzy_start
from ..inputs.images import refuse_shape_as_y, validate_image
from ..kernelized.gamma import frame_gamma, resolve_gamma
from ..kernels import EMPTY
from ..kernels.centers import center_rows, center_statistics
from .segmentation import ImageClusterer, change_of, memberships_at

if TYPE_CHECKING:
    from typing import Self

_BAND = 1 << 20  # entries of the windows that are sorted at a time


class Grid(Block):
    """The pixels of an image as rows, with windows on their grid (H, W). A plane has a number per pixel, (n,)."""

    divisible = False

    def __init__(self, rows: Block, shape: tuple[int, ...], reach: int, smoothing: str | None) -> None:
        super().__init__(rows.X, None, rows.frame)
        self.shape, self.reach = shape, reach
        self.sizes = self.window_sums(np.ones(self.n))  # pixels in the window of each
        self.neighbors = np.maximum(self.sizes - 1, 1)  # for an image of one pixel 1 avoids 0 / 0
        self.filtered: Block | None = None  # in the coordinates of the frame
        if smoothing is not None:
            smooth = self.window_means if smoothing == "mean" else self.window_medians
            channels = [smooth(channel) for channel in self.frame.from_input(self.X).T]
            self.filtered = Block(np.stack(channels, axis=1), None, Frame(np.zeros(self.d), 1.0))

    def window_sums(self, plane: Array) -> Array:
        """The sum over the window of each pixel, as far as it is in the image: along columns, then along rows."""
        sums = plane.reshape(self.shape)
        for _ in self.shape:
            total = sums.copy("K")
            for shift in range(1, min(self.reach, len(sums) - 1) + 1):
                total[shift:] += sums[:-shift]
                total[:-shift] += sums[shift:]
            sums = total.T
        return sums.ravel()

    def window_means(self, plane: Array) -> Array:
        """The mean over the window of each pixel."""
        return self.window_sums(plane) / self.sizes

    def window_medians(self, plane: Array) -> Array:
        """The median over the window of each pixel, as far as it is in the image."""
        reach = [min(self.reach, size - 1) for size in self.shape]
        window = [2 * size + 1 for size in reach]
        padded = np.pad(plane.reshape(self.shape), [(size, size) for size in reach], constant_values=np.inf)
        middle = self.sizes.reshape(*self.shape, 1).astype(np.intp)
        medians = np.empty(self.shape)
        step = max(1, _BAND // (self.shape[1] * window[0] * window[1]))
        for lo in range(0, len(medians), step):
            band = sliding_window_view(padded[lo : lo + step + 2 * reach[0]], window)
            entries = np.sort(band.reshape(*band.shape[:2], -1), axis=2)
            size = middle[lo : lo + step]
            low, high = (np.take_along_axis(entries, at, axis=2)[..., 0] for at in ((size - 1) // 2, size // 2))
            medians[lo : lo + step] = (low + high) / 2
        return medians.ravel()

    def neighbor_means(self, plane: Array) -> Array:
        """The mean over the neighbours of each pixel."""
        means = self.window_sums(plane)
        means -= plane
        means /= self.neighbors
        return means

    def as_neighbors(self, plane: Array) -> Array:
        """The transpose of ``neighbor_means``: the weight of each pixel in the means of others."""
        shares = plane / self.neighbors
        return self.window_sums(shares) - shares


class State(NamedTuple):
    """Centres (K, C), and planes (K, n) on which the next memberships depend; None if these are at rest."""

    centers: Array
    memberships: Array | None = None
    disagreement: Array | None = None  # only under 'penalty'

    def to_vector(self) -> Array:
        """The centres: the memberships follow from them."""
        return self.centers.ravel()

    def from_vector(self, vector: Array) -> State:
        """The state with other centres."""
        return self._replace(centers=vector.reshape(self.centers.shape))

    def at_rest(self) -> State:
        """The state whose memberships follow from the centres alone."""
        return State(self.centers)


class Segmentation(NamedTuple):
    """Sums for new centres, the objective, and the planes of the next state."""

    weight: Array  # (K,)
    total: Array  # (K, C)
    objective: float
    memberships: Array
    disagreement: Array | None


class Pixels(NamedTuple):
    """The user's input: an image, or its pixels and its shape."""

    X: Any
    image_shape: Any


def image_shift(old: State, new: State, history: list[float], scale: Scale) -> float:
    """Movement of the centres in units of the root mean variance, or change of a membership, whichever is larger."""
    if len(history) == 1:
        return np.inf  # the first pass may repeat the memberships of the start, which does not show convergence
    assert old.memberships is not None
    assert new.memberships is not None
    return max(center_shift(old.centers, new.centers, history, scale), change_of(old.memberships, new.memberships))


_DESCENT = Policy(
    residual=image_shift, place=attrgetter("centers"), final=State.at_rest, units=no_units, holds_rows=True
)
_PENALTY = replace(_DESCENT, monotone=False, keeps="best")


class SKFCM(ImageClusterer[State, Segmentation]):
    """Kernel fuzzy c-means for images, with a spatial term that keeps noise out of the segments.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters K.
    m : float, default=2.0
        Fuzzifier, > 1.
    gamma : float, 'scale' or 'median', default='scale'
        Width of the kernel exp(-gamma |x - v|^2) of two pixel values, in inverse squared units of them. ``'scale'`` is
        one over the summed variances of the channels, ``'median'`` one over the median squared distance of two of (at
        most 1000) pixels.
    gamma_scale : float, default=1.0
        Multiplies ``'scale'`` and ``'median'``.
    spatial : {'penalty', 'neighbors', 'mean', 'median'}, default='median'
        The spatial term. ``'penalty'``: a pixel should belong to the clusters of its neighbours [1]_. ``'neighbors'``:
        the neighbours' values count as its own (KFCM_S of [2]_). ``'mean'``, ``'median'``: its value in the filtered
        image counts, too (KFCM_S1, KFCM_S2 of [2]_); these two are the fastest.
    spatial_weight : float or 'auto', default='auto'
        Weight of the term, >= 0. ``'auto'``: 4 for ``'mean'`` and ``'median'``, 1 for the others. With 0 this is
        :class:`KFCM`. Larger values make smoother segments. Under ``'penalty'`` many clusters need a smaller one: the
        disagreement of memberships near 1 / K is large for every cluster, and prototypes coincide.
    window : int, default=3
        Side of the square window around a pixel that holds its neighbours, odd.
    init : {'k-means++', 'random'}, array of shape (n_clusters, n_channels) or callable, default='k-means++'
        Starting centres. A callable gets ``(pixels, n_clusters, rng)``. An array forces one start.
    n_init : int, default=3
        Starts; the one of smallest objective is kept.
    max_iter : int, default=200
        Passes over the image per start.
    tol : float, default=1e-4
        Converged when the centres move by at most ``tol`` times the root mean variance of the channels and no
        membership changes by more than ``tol``.
    random_state : int, RandomState or None, default=None
        Seed of the starts.
    verbose : int, default=0
        1 prints a line per start, 2 a line per pass.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_pixels, n_clusters)
        Rows sum to 1; the pixels in row-major order.
    labels_ : ndarray of shape (n_pixels,)
        Cluster of largest membership.
    image_shape_ : (int, int)
        Height and width.
    membership_image_ : ndarray of shape (height, width, n_clusters)
        ``memberships_`` on the grid of the pixels.
    label_image_ : ndarray of shape (height, width)
        ``labels_`` on the grid of the pixels.
    centers_ : ndarray of shape (n_clusters, n_channels)
    n_clusters_ : int
    gamma_ : float
        The kernel width used.
    spatial_weight_ : float
        The weight used.
    objective_ : float
        J at ``centers_`` and ``memberships_``; it has no unit.
    objective_history_ : ndarray
        J after each change of the memberships, the last one included.
    n_iter_ : int
        Passes of the best start.
    converged_ : bool

    See Also
    --------
    soft_clustering.KFCM : without a spatial term, for feature matrices.

    Notes
    -----
    A pass costs O(n K (C + window)) time for n pixels of C channels; memory is a few (n, K) arrays, and never a matrix
    of pixels by pixels. At the border the neighbours are those inside the image.

    ``memberships_`` are what prediction gives at ``centers_``: the exact minimiser; under ``'penalty'`` the memberships
    of kernel fuzzy c-means, updated until they change by at most ``tol``. Under ``'penalty'`` the objective may rise
    while iterating.

    The texts of [1]_ and [2]_ were not at hand. The updates of ``'penalty'`` agree with public programs written after
    [1]_. The other terms are those that the abstract of [2]_ describes; their centres are derived from the objective.
    It is our choice that windows end at the border and that the filters include the pixel itself, and the defaults are
    ours.

    ``'median'`` and ``'mean'`` are the most robust: their objective falls in each pass, which Anderson's method
    accelerates, and more clusters do not need another weight. ``'median'`` is best against single wrong pixels.

    As in all fuzzy c-means, regions of very different size are not found well: a large noisy background may be split
    before a small region is seen. Under ``'penalty'`` the boundaries creep for many passes, and on
    photographs the fit may not converge.

    References
    ----------
    .. [1] D.-Q. Zhang, S.-C. Chen (2004). A novel kernelized fuzzy c-means algorithm with application in medical image
       segmentation. Artificial Intelligence in Medicine 32(1), 37-50.
    .. [2] S. Chen, D. Zhang (2004). Robust image segmentation using FCM with spatial constraints based on new
       kernel-induced distance measure. IEEE Trans. Systems, Man, and Cybernetics B 34(4), 1907-1916.

    Examples
    --------
    >>> from soft_clustering import SKFCM
    >>> from soft_clustering.datasets import make_phantom
    >>> phantom = make_phantom((60, 80), noise=0.1, bias=0.0, random_state=0)
    >>> model = SKFCM(n_clusters=3, random_state=0).fit(phantom.image)
    >>> model.label_image_.shape, model.membership_image_.shape
    ((60, 80), (60, 80, 3))
    >>> sorted(model.centers_.ravel().round(2).tolist())
    [0.25, 0.6, 0.99]
    """

    gamma_: float
    spatial_weight_: float
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "m": [Interval(Real, 1, None, closed="neither")],
        "gamma": [StrOptions({"scale", "median"}), Interval(Real, 0, None, closed="neither")],
        "gamma_scale": [Interval(Real, 0, None, closed="neither")],
        "spatial": [StrOptions({"penalty", "neighbors", "mean", "median"})],
        "spatial_weight": [StrOptions({"auto"}), Interval(Real, 0, 1e100, closed="both")],
        "window": [Interval(Integral, 3, None, closed="left")],
        "init": [StrOptions({"k-means++", "random"}), callable, "array-like"],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        m: float = 2.0,
        gamma: float | str = "scale",
        gamma_scale: float = 1.0,
        spatial: str = "median",
        spatial_weight: float | str = "auto",
        window: int = 3,
        init: Init = "k-means++",
        n_init: int = 3,
        max_iter: int = 200,
        tol: float = 1e-4,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.m = m
        self.gamma = gamma
        self.gamma_scale = gamma_scale
        self.spatial = spatial
        self.spatial_weight = spatial_weight
        self.window = window
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    # The protocol ---------------------------------------------------------------------------------------------------

    def fit(self, X: ArrayLike, y: object = None, *, image_shape: tuple[int, int] | None = None) -> Self:  # type: ignore[override]
        """Segment an image.

        Parameters
        ----------
        X : array-like of shape (height, width) or (height, width, n_channels)
            With ``image_shape`` the pixels, of shape (n_pixels, n_channels).
        y : ignored
            A 2-tuple is refused, as it is probably the shape of the image, which goes to ``image_shape``.
        image_shape : (int, int), default=None
            Height and width, if X holds the pixels of the image in row-major order.

        Returns
        -------
        self : object
        """
        refuse_shape_as_y(y)
        return self._fit(Pixels(X, image_shape))

    def fit_transform(
        self, X: ArrayLike, y: object = None, *, image_shape: tuple[int, int] | None = None
    ) -> NDArray[Any]:
        """Segment an image and return a copy of ``memberships_``.

        Parameters
        ----------
        X : array-like of shape (height, width) or (height, width, n_channels)
            With ``image_shape`` the pixels, of shape (n_pixels, n_channels).
        y : ignored
        image_shape : (int, int), default=None

        Returns
        -------
        memberships : ndarray of shape (n_pixels, n_clusters)
        """
        return self.fit(X, y, image_shape=image_shape).memberships_.copy()

    @as_fitted
    def predict_memberships(
        self,
        X: ArrayLike,
        *,
        image_shape: tuple[int, int] | None = None,
        out: NDArray[Any] | None = None,
        top_k: int | None = None,
    ) -> Memberships:
        """Memberships of the pixels of another image, of any size and the same channels.

        Parameters
        ----------
        X : array-like of shape (height, width) or (height, width, n_channels)
            With ``image_shape`` the pixels, of shape (n_pixels, n_channels).
        image_shape : (int, int), default=None
        out, top_k : as in ``FCM.predict_memberships``
            The memberships of all pixels are computed at once all the same.

        Returns
        -------
        memberships : ndarray of shape (n_pixels, n_clusters)
            A ``scipy.sparse.csr_array`` with ``top_k``.
        """
        return super().predict_memberships(Pixels(X, image_shape), out=out, top_k=top_k)

    @as_fitted
    def score(self, X: ArrayLike, y: object = None, *, image_shape: tuple[int, int] | None = None) -> float:  # type: ignore[override]
        """Minus the objective on an image.

        Parameters
        ----------
        X : array-like of shape (height, width) or (height, width, n_channels)
            With ``image_shape`` the pixels, of shape (n_pixels, n_channels).
        y : ignored
        image_shape : (int, int), default=None

        Returns
        -------
        score : float
        """
        return super().score(Pixels(X, image_shape))

    # The method -----------------------------------------------------------------------------------------------------

    @property
    def _policy(self) -> Policy:
        return _PENALTY if self.spatial == "penalty" else _DESCENT

    @property
    def accelerate(self) -> bool:  # type: ignore[override]
        """Whether the passes are accelerated: only if each lowers the objective."""
        return self._policy.monotone

    def _blocks(self, X: Pixels, sample_weight: ArrayLike | None = None, frame: Frame | None = None) -> Blocks:
        if self.window % 2 == 0:
            raise ValueError(f"window must be an odd int >= 3. Got {self.window} instead.")
        image = validate_image(self, X.X, image_shape=X.image_shape, reset=frame is None)
        rows = make_blocks(image.pixels, None, frame)
        smoothing = self.spatial if self.spatial in ("mean", "median") else None
        return Blocks([Grid(rows.blocks[0], image.shape, self.window // 2, smoothing)], rows.mean_variance)

    def _resolve(self, blocks: Blocks) -> None:
        resolve_fuzzifier(self.m, blocks.n, blocks.d, self.n_clusters)
        auto = 4.0 if self.spatial in ("mean", "median") else 1.0
        self.spatial_weight_ = auto if self.spatial_weight == "auto" else float(self.spatial_weight)
        self.gamma_ = resolve_gamma(blocks, self.gamma, self.gamma_scale)
        self._gamma = frame_gamma(blocks, self.gamma, self.gamma_scale)

    def _starts(self, blocks: Blocks, rng: np.random.RandomState) -> Iterator[State]:
        for _ in range(self._n_starts()):
            yield self._start(blocks, rng)

    def _start(self, blocks: Blocks, rng: np.random.RandomState) -> State:
        grid: Any = blocks.blocks[0]
        V = fuzzy_start(blocks, self.init, self.n_clusters, rng, self.m, "kernel", 2.0, self._gamma)
        U, _ = memberships_at(self._distances(grid, V), self.m)
        return State(V, U, self._disagreement(grid, U) if self.spatial == "penalty" else None)

    def _statistics(self, grid: Any, state: State) -> Segmentation:
        V = state.centers
        U, W, S = self._segment(grid, state)
        weight, total = np.zeros(len(V)), np.zeros_like(V)
        objective = 0.0 if S is None else self.spatial_weight_ * float(np.vdot(W, S))
        for k, w in enumerate(W):
            for rows, share in self._sources(grid, w):
                # With one prototype the memberships are 1, so that only the given weights and the kernel count.
                part = center_statistics(Block(rows.X, share, rows.frame), V[[k]], "kernel", 2.0, self._gamma)
                weight[k] += part.weight[0]
                total[k] += part.total[0]
                objective += part.objective
        return Segmentation(weight, total, objective, U, S)

    def _update(self, state: State, statistics: Segmentation, blocks: Blocks) -> State:
        V, reached = state.centers.copy(), statistics.weight >= EMPTY  # a centre beyond the reach of all pixels stays
        V[reached] = statistics.total[reached] / statistics.weight[reached, None]
        return State(V, statistics.memberships, statistics.disagreement)

    # Its steps ------------------------------------------------------------------------------------------------------

    def _segment(self, grid: Grid, state: State) -> tuple[Array, Array, Array | None]:
        """Memberships u, u^m, and under 'penalty' the disagreement of the neighbours: planes (K, n)."""
        D = self._distances(grid, state.centers)
        if self.spatial == "penalty":
            U, W = self._at_rest(grid, D) if state.disagreement is None else self._next(D, state.disagreement)
            return U, W, self._disagreement(grid, U)
        if grid.filtered is None:
            term = np.stack([grid.neighbor_means(d) for d in D])
        else:
            term = self._distances(grid.filtered, state.centers)
        return *self._next(D, term), None

    def _next(self, D: Array, term: Array) -> tuple[Array, Array]:
        return memberships_at(D + self.spatial_weight_ * term, self.m)

    def _at_rest(self, grid: Grid, D: Array) -> tuple[Array, Array]:
        """Memberships u, u^m under 'penalty': those of kernel fuzzy c-means, updated until they settle."""
        U, W = memberships_at(D, self.m)
        max_iter, tol = self.max_iter, self.tol
        for _ in range(max_iter):
            before = U
            U, W = self._next(D, self._disagreement(grid, U))
            change = change_of(before, U)
            if change <= tol:
                return U, W
        if max_iter > 1:
            warnings.warn(
                f"SKFCM: at the final centres the memberships did not settle in max_iter={max_iter} passes "
                f"(last change {change:.2g}, tol={tol:.2g}). Increase max_iter or tol, or use a smaller "
                "spatial_weight.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return U, W

    def _disagreement(self, grid: Grid, U: Array) -> Array:
        """How far the neighbours of each pixel are from belonging to each cluster."""
        return np.stack([grid.neighbor_means((1 - u) ** self.m) for u in U])

    def _distances(self, rows: Block, V: Array) -> Array:
        """1 - exp(-gamma |x - v|^2), planes (K, n)."""
        # With one prototype the membership is 1, and the objective of a row is its distance.
        return np.stack([center_rows(rows, v[None], "kernel", 2.0, self._gamma) for v in V])

    def _sources(self, grid: Grid, w: Array) -> Iterator[tuple[Block, Array]]:
        """Pixels with their weights in a centre, without the kernel; w is u^m of the cluster."""
        yield grid, w + self.spatial_weight_ * grid.as_neighbors(w) if self.spatial == "neighbors" else w
        if grid.filtered is not None:
            yield grid.filtered, self.spatial_weight_ * w

    # What is kept ---------------------------------------------------------------------------------------------------

    def _store(self, state: State, statistics: Segmentation, blocks: Blocks) -> None:
        grid: Any = blocks.blocks[0]
        self.image_shape_ = grid.shape
        self.centers_ = blocks.frame.to_input(state.centers).astype(blocks.dtype)

    def _complaints(self, run: Run[State], blocks: Blocks) -> list[str]:
        V = run.state.centers
        remedy = f"m={self.m:g} or gamma={self.gamma_:.3g} may be too large, try smaller ones"
        return super()._complaints(run, blocks) + collapse("SKFCM", V, self.memberships_, blocks, remedy)
