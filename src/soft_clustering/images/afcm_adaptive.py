"""Adaptive fuzzy c-means: segmentation of an image of uneven brightness.

This is fuzzy c-means with centres that a smooth positive gain field g makes brighter or darker from place to place.
With y_p the value of pixel p and D_r the difference of neighbours along axis r, minimise

    J = sum_p sum_k u_pk^m (y_p - g_p v_k)^2 + a sum_p sum_r (D_r g)_p^2 + b sum_p sum_rs (D_r D_s g)_p^2

over memberships with sum_k u_pk = 1, centres v and the gain with mean 1, by alternating

* u: the memberships of fuzzy c-means, with (y_p - g_p v_k)^2 for the distances;
* v_k = sum_p u_pk^m g_p y_p / sum_p u_pk^m g_p^2;
* g: minimise g^T [diag(w) + a H + b H^2] g - 2 z^T g among the gains of mean 1, where w_p = sum_k u_pk^m v_k^2,
  z_p = y_p sum_k u_pk^m v_k, and H is minus the Laplacian of the grid with reflecting borders.

Without the constraint the penalties would drive g to 0 and v to infinity. The constraint is part of the gain's step,
so that no step raises J: dividing the gain by its mean afterwards might raise it.

The unknown is d = g - 1, which has mean 0 and the same penalties as g. The cosine transform C diagonalises H, with
eigenvalues h. With P = mean(w) + a h + b h^2, which is the system for a constant w, the conjugate gradients work on
x = P^(1/2) C d:

    [1 + P^(-1/2) C diag(w - mean(w)) C^T P^(-1/2)] x = P^(-1/2) C (z - w),

projected to the plane of those x whose d has mean 0. Its condition number is at most that of diag(w), whatever the
weights. The gain is smooth, so the few modes that the penalties leave free are enough.

References
----------
D. L. Pham, J. L. Prince (1999). An adaptive fuzzy C-means algorithm for image segmentation in the presence of intensity
inhomogeneities. Pattern Recognition Letters 20(1), 57-68.

D. L. Pham, J. L. Prince (1999). Adaptive fuzzy segmentation of magnetic resonance images. IEEE Trans. Medical Imaging
18(9), 737-752.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import reduce
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.fft import dct, idct
from sklearn.utils._param_validation import Interval, StrOptions

from .._types import Array, Memberships, Seed
from ..base import as_fitted
from ..engine.alternating import PARAMETERS
from ..engine.blocks import Block, Blocks, Frame, make_blocks
from ..engine.collapse import collapse
from ..engine.loop import Policy, Run, Scale
from ..fuzzy.fuzzifier import resolve_fuzzifier
from ..fuzzy.solver import solve_fcm
from ..inputs.images import ScalarImage, validate_scalar_image
from ..kernels import EMPTY
from .segmentation import ImageClusterer, change_of, memberships_at

if TYPE_CHECKING:
    from typing import Self

_BINS = 256  # bins of the histogram from which the starting centres come
_LEAST_GAIN = 1e-3
# The conjugate gradients stop at these parts of their first residual and of the right-hand side. Each of their steps
# lowers J, and they start from the previous gain, so that the system is solved at the end of the fit.
_REDUCTION, _ACCURACY, _MOST_STEPS = 0.1, 1e-7, 200
_FREE = 1e6  # a mode that costs more than this times mean(w) would change the gain by less than a millionth
_FEW_MODES = 64  # along an axis
_LARGEST = 1e100  # beyond this a weight or a length leaves no mode free but the constant one


class Picture(Block):
    """An image as a block of pixels, and which of them take part."""

    divisible = False

    def __init__(self, image: ScalarImage, frame: Frame) -> None:
        super().__init__(image.values.reshape(-1, 1), None, frame)
        self.shape = image.values.shape
        self.inside = slice(None) if image.mask is None else image.mask.ravel()
        self.outside = None if image.mask is None else ~image.mask.ravel()
        self.taking_part = np.ones(self.shape) if image.mask is None else image.mask.astype(np.float64)
        self.y = frame.from_input(self.X)[:, 0]


class Segmentation(NamedTuple):
    """Memberships u and u^m (K, n), and the objective."""

    memberships: Array
    weights: Array
    objective: float


def cosines(n: int, size: int) -> Array | None:
    """The first n cosine modes (n, size) of a line, if they are few; transforms are faster with many."""
    if n > _FEW_MODES:
        return None
    modes = np.cos(np.pi / size * np.outer(np.arange(n), np.arange(size) + 0.5)) * math.sqrt(2 / size)
    modes[0] = math.sqrt(1 / size)
    return modes


class Modes:
    """The cosine modes of a grid, except those that the penalty forbids; the constant one is always there.

    They are eigenvectors of H; ``penalty`` is a h + b h^2 for the eigenvalue h. Modes of a penalty above ``limit``
    along one axis are left out.
    """

    def __init__(self, taking_part: Array, a: float, b: float, limit: float) -> None:
        eigenvalues = [2 - 2 * np.cos(np.pi / size * np.arange(size)) for size in taking_part.shape]
        free = [h[: max(1, int((a * h + b * h * h <= limit).sum()))] for h in eigenvalues]
        h = reduce(np.add.outer, free)
        self.shape, self.weights, self.penalty = taking_part.shape, (a, b), a * h + b * h * h
        self._cosines = [cosines(len(h), size) for h, size in zip(free, self.shape, strict=True)]
        self._turned = (*range(1, h.ndim), 0)  # the first axis last
        self.inside = self.coefficients(taking_part)  # the mean of the gain is the product with these

    def coefficients(self, plane: Array) -> Array:
        """Coefficients of the modes in a function on the grid."""
        for size, modes in zip(self.penalty.shape, self._cosines, strict=True):
            plane = plane.transpose(self._turned)
            plane = dct(plane, norm="ortho")[..., :size] if modes is None else plane @ modes.T
        return plane

    def on_grid(self, coefficients: Array) -> Array:
        """The function on the grid that has these coefficients."""
        for size, modes in zip(self.shape, self._cosines, strict=True):
            turned = coefficients.transpose(self._turned)
            coefficients = idct(turned, n=size, norm="ortho") if modes is None else turned @ modes
        return coefficients

    def solve(self, w: Array, r: Array, start: Array) -> Array:
        """Minimise d^T [diag(w) + a H + b H^2] d - 2 r^T d over the modes with inside^T d = 0.

        The guess ``start`` and the result are coefficients.
        """
        mean = w.mean()
        uneven, root = w - mean, np.sqrt(mean + self.penalty)
        normal = self.inside / root
        normal /= np.linalg.norm(normal)

        def within(x: Array) -> Array:
            inside: Array = x - np.vdot(normal, x) * normal
            return inside

        def apply(x: Array) -> Array:
            return within(x + self.coefficients(uneven * self.on_grid(x / root)) / root)

        x = within(start * root)
        goal = self.coefficients(r) / root
        residual = within(goal) - apply(x)
        direction, square = residual.copy(), float(np.vdot(residual, residual))
        enough = max(_ACCURACY**2 * float(np.vdot(goal, goal)), _REDUCTION**2 * square)
        for _ in range(_MOST_STEPS):
            if square <= enough:
                break
            image = apply(direction)
            length = square / float(np.vdot(direction, image))
            x += length * direction
            residual -= length * image
            before, square = square, float(np.vdot(residual, residual))
            direction *= square / before
            direction += residual
        solution: Array = x / root
        return solution


class State(NamedTuple):
    """Centres, the gain, and the previous memberships, with which the next are compared."""

    centers: Array  # (K,)
    excess: Array  # the gain minus 1, on the grid
    coefficients: Array  # of the modes in it
    modes: Modes
    clipped: bool = False  # whether the gain would have fallen below the least one somewhere
    memberships: Array | None = None  # (K, n)

    def to_vector(self) -> Array:
        """Centres and coefficients; their lengths are comparable, as a centre is weighted by the number of pixels."""
        size = math.sqrt(self.excess.size)
        return np.concatenate([size * self.centers, self.coefficients.ravel()])

    def from_vector(self, vector: Array) -> State:
        """The state of a vector, or this one if the gain would not be positive there."""
        K, size = len(self.centers), math.sqrt(self.excess.size)
        coefficients = vector[K:].reshape(self.coefficients.shape)
        excess = self.modes.on_grid(coefficients)
        if excess.min() <= _LEAST_GAIN - 1:
            return self
        return self._replace(centers=vector[:K] / size, excess=excess, coefficients=coefficients)

    def in_order(self) -> State:
        """The state with sorted centres, which is kept after the fit."""
        return self._replace(centers=np.sort(self.centers), memberships=None)


def levels(y: Array) -> tuple[Array, Array]:
    """Values of a histogram, the mean of each bin that is not empty, and how many there are of each."""
    low, spread = float(y.min()), float(np.ptp(y))
    bins = np.rint((y - low) * ((_BINS - 1) / spread)).astype(np.intp) if spread > 0 else np.zeros(len(y), np.intp)
    count = np.bincount(bins)
    full = count > 0
    return np.bincount(bins, y)[full] / count[full], count[full].astype(np.float64)


class Exposure(NamedTuple):
    """The user's input: an image, and which of its pixels take part."""

    X: Any
    mask: Any


def membership_change(old: State, new: State, history: list[float], scale: Scale) -> float:
    """The largest change of a membership."""
    if old.memberships is None:
        return np.inf
    assert new.memberships is not None
    return change_of(old.memberships, new.memberships)


class AFCMAdaptive(ImageClusterer[State, Segmentation]):
    """Adaptive fuzzy c-means for images of uneven brightness: segments them and estimates the shading.

    This is fuzzy c-means of the pixel values, in which a smooth gain field multiplies the centres. It is for grey
    images and volumes of uneven brightness, such as a magnetic resonance scan or a photograph under a lamp.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters K.
    m : float, default=2.0
        Fuzzifier, > 1.
    gradient_weight : float or 'auto', default='auto'
        Weight a >= 0 of the squared first differences of the gain, in squared units of the image. ``'auto'``:
        0.03 w L^2, with L from ``bias_scale`` and w the mean over the pixels of sum_k u^m v_k^2 at the start.
    curvature_weight : float or 'auto', default='auto'
        Weight b >= 0 of its squared second differences. ``'auto'``: 0.3 w L^4. With large weights this is
        :class:`FCM`. At least one of the two weights is positive.
    bias_scale : float, default=0.15
        For ``'auto'``: the length L over which the gain may vary, as a part of the longest side of the image. Smaller
        values follow stronger shading, but also mistake more of the image's content for shading.
    max_iter : int, default=100
        Passes over the image.
    tol : float, default=1e-5
        Converged when no membership changes by more than this.
    random_state : int, RandomState or None, default=None
        Seed of the starting centres.
    verbose : int, default=0
        1 prints a line per fit, 2 a line per pass.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_pixels, n_clusters)
        Rows sum to 1; the pixels in row-major order. Equal for pixels outside the mask.
    labels_ : ndarray of shape (n_pixels,)
        Cluster of largest membership; 0 outside the mask.
    image_shape_ : tuple of int
        (height, width) or (depth, height, width).
    membership_image_ : ndarray of shape image_shape_ + (n_clusters,)
        ``memberships_`` on the grid of the pixels.
    label_image_ : ndarray of shape image_shape_
        ``labels_`` on the grid of the pixels.
    centers_ : ndarray of shape (n_clusters, 1)
        In ascending order, in units of ``corrected_image_``.
    gain_ : ndarray of shape image_shape_
        The gain g, positive; its mean over the pixels that take part is 1.
    corrected_image_ : ndarray of shape image_shape_
        The image divided by the gain.
    gradient_weight_, curvature_weight_ : float
        The weights used.
    n_clusters_ : int
    objective_ : float
        J at ``centers_``, ``gain_`` and ``memberships_``, minimised; in squared units of the image.
    objective_history_ : ndarray
        J after each change of the memberships, the last one included.
    n_iter_ : int
        Passes.
    converged_ : bool

    See Also
    --------
    soft_clustering.FCM : the same without a gain, on ``image.reshape(-1, 1)``.
    soft_clustering.SKFCM : for noise instead of shading.

    Notes
    -----
    The method follows [1]_ and, for volumes, [2]_. Their multigrid solver is replaced by conjugate gradients
    preconditioned by the cosine transform. The automatic weights are ours, the constraint that the gain has mean 1, and
    the squared Laplacian with reflecting borders in the place of the squared second differences, which is the same
    except at the border. The passes are accelerated by Anderson's method if this lowers the objective.

    The start is the gain 1 and the centres of fuzzy c-means on a histogram of the values. A pass costs O(n K) and about
    ten cosine transforms of the n pixels, O(n log n); memory is a few (n, K) arrays.

    No step raises the objective. The fit ends in a local minimum that depends on the start: if the shading is so strong
    that fuzzy c-means on the image is mostly wrong, try a smaller ``bias_scale``. A step of the gain ends before it
    would fall below 0.001, with a warning if this happens in the last step. Noise is not smoothed. Pixels near 0 do not
    determine the gain, which then follows their neighbourhood. Regions larger than L are partly taken for shading, and
    at the border the gain is flatter than it should be.

    New images must have the shape of the fitted one: they are divided by its gain.

    References
    ----------
    .. [1] D. L. Pham, J. L. Prince (1999). An adaptive fuzzy C-means algorithm for image segmentation in the presence
       of intensity inhomogeneities. Pattern Recognition Letters 20(1), 57-68.
    .. [2] D. L. Pham, J. L. Prince (1999). Adaptive fuzzy segmentation of magnetic resonance images. IEEE Trans.
       Medical Imaging 18(9), 737-752.

    Examples
    --------
    >>> import numpy as np
    >>> from soft_clustering import AFCMAdaptive
    >>> from soft_clustering.datasets import make_phantom
    >>> phantom = make_phantom((60, 80), bias=0.4, random_state=0)
    >>> model = AFCMAdaptive(n_clusters=3, random_state=0).fit(phantom.image)
    >>> bool((model.label_image_ == phantom.labels).mean() > 0.99)
    True
    >>> bool(np.corrcoef(model.gain_.ravel(), phantom.bias.ravel())[0, 1] > 0.99)
    True
    """

    _policy = Policy(residual=membership_change, place=None, final=State.in_order, holds_rows=True)
    takes_color: ClassVar[bool] = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: PARAMETERS[name] for name in ("n_clusters", "max_iter", "tol", "random_state", "verbose")},
        "m": [Interval(Real, 1, None, closed="neither")],
        "gradient_weight": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "curvature_weight": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "bias_scale": [Interval(Real, 0, None, closed="neither")],
    }
    accelerate = True
    gain_: NDArray[Any]
    corrected_image_: NDArray[Any]
    gradient_weight_: float
    curvature_weight_: float

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        m: float = 2.0,
        gradient_weight: float | str = "auto",
        curvature_weight: float | str = "auto",
        bias_scale: float = 0.15,
        max_iter: int = 100,
        tol: float = 1e-5,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.m = m
        self.gradient_weight = gradient_weight
        self.curvature_weight = curvature_weight
        self.bias_scale = bias_scale
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    # The protocol ---------------------------------------------------------------------------------------------------

    def fit(self, X: ArrayLike, y: object = None, *, mask: ArrayLike | None = None) -> Self:  # type: ignore[override]
        """Segment an image and estimate its gain.

        Parameters
        ----------
        X : array-like of shape (height, width) or (depth, height, width)
            A number per pixel.
        y : ignored
        mask : array-like of bool, of the shape of X, default=None
            True where a pixel takes part, such as ``X > 0`` if a background of zeros shall not be a cluster. By default
            all do. The gain is continued smoothly to the others, whose memberships are equal.

        Returns
        -------
        self : object
        """
        return self._fit(Exposure(X, mask))

    def fit_transform(self, X: ArrayLike, y: object = None, *, mask: ArrayLike | None = None) -> NDArray[Any]:
        """Segment an image and return a copy of ``memberships_``.

        Parameters
        ----------
        X : array-like of shape (height, width) or (depth, height, width)
        y : ignored
        mask : array-like of bool, of the shape of X, default=None

        Returns
        -------
        memberships : ndarray of shape (n_pixels, n_clusters)
        """
        return self.fit(X, y, mask=mask).memberships_.copy()

    @as_fitted
    def predict_memberships(
        self,
        X: ArrayLike,
        *,
        mask: ArrayLike | None = None,
        out: NDArray[Any] | None = None,
        top_k: int | None = None,
    ) -> Memberships:
        """Memberships of the pixels of another image under the same gain.

        Parameters
        ----------
        X : array-like of shape ``image_shape_``
        mask : array-like of bool, of the shape of X, default=None
            True where a pixel takes part; the memberships of the others are equal.
        out, top_k : as in ``FCM.predict_memberships``
            The memberships of all pixels are computed at once all the same.

        Returns
        -------
        memberships : ndarray of shape (n_pixels, n_clusters)
            A ``scipy.sparse.csr_array`` with ``top_k``.
        """
        return super().predict_memberships(Exposure(X, mask), out=out, top_k=top_k)

    @as_fitted
    def score(self, X: ArrayLike, y: object = None, *, mask: ArrayLike | None = None) -> float:  # type: ignore[override]
        """Minus the objective on an image under the same gain.

        Parameters
        ----------
        X : array-like of shape ``image_shape_``
        y : ignored
        mask : array-like of bool, of the shape of X, default=None

        Returns
        -------
        score : float
        """
        return super().score(Exposure(X, mask))

    # The method -----------------------------------------------------------------------------------------------------

    def _blocks(self, X: Exposure, sample_weight: ArrayLike | None = None, frame: Frame | None = None) -> Blocks:
        if self.gradient_weight == 0 and self.curvature_weight == 0:
            raise ValueError(
                "gradient_weight and curvature_weight must not both be 0: the gain alone would fit any image. Make one "
                "of them positive or 'auto'."
            )
        image = validate_scalar_image(self, X.X, mask=X.mask, reset=frame is None)
        if frame is not None:
            return Blocks([Picture(image, frame)])
        if X.mask is not None and image.n_inside < self.n_clusters:
            raise ValueError(
                f"mask must be True for at least n_clusters={self.n_clusters} pixels. Got {image.n_inside} instead."
            )
        most = float(np.abs(image.values if image.mask is None else image.values[image.mask]).max())
        # The unit is a power of two near the largest value. There is no shift, as the gain is a factor.
        scale = 2.0 ** min(max(-math.frexp(most)[1], -1000), 1000) if most > 0 else 1.0
        picture = Picture(image, Frame(np.zeros(1), scale))
        y = picture.y[picture.inside]
        return Blocks([picture], float((y - y[0]).var()))  # exactly 0 for an even image

    def _resolve(self, blocks: Blocks) -> None:
        resolve_fuzzifier(self.m, blocks.n, 1, self.n_clusters)

    def _starts(self, blocks: Blocks, rng: np.random.RandomState) -> Iterator[State]:
        picture: Any = blocks.blocks[0]
        V, even = self._first_centers(picture.y[picture.inside], rng), np.zeros(picture.shape)
        _, W, _ = self._membership_planes(picture, V, even)
        modes = self._modes(picture, float((V**2 @ W)[picture.inside].mean()))
        yield State(V, even, np.zeros_like(modes.penalty), modes)

    def _first_centers(self, y: Array, rng: np.random.RandomState) -> Array:
        """Centres of fuzzy c-means."""
        values, count = levels(y)
        if len(values) < self.n_clusters:  # outliers leave the others too few bins: take every value
            values, count = y, np.ones(len(y))
        rows = make_blocks(values[:, None], count)
        centers: Array = rows.frame.to_input(solve_fcm(rows, self.n_clusters, self.m, rng))[:, 0]
        return centers

    def _modes(self, picture: Picture, w: float) -> Modes:
        """The modes of the gain, with the weights of the penalty in the coordinates of the frame."""
        length = min(self.bias_scale * max(picture.shape), _LARGEST**0.2)
        unit = float(picture.frame.scale)

        def weight(given: float | str, auto: float) -> float:
            return auto if isinstance(given, str) else min(float(given) * unit * unit, _LARGEST)

        a = weight(self.gradient_weight, 0.03 * w * length**2)
        b = weight(self.curvature_weight, 0.3 * w * length**4)
        return Modes(picture.taking_part, a, b, _FREE * w)

    def _membership_planes(self, picture: Picture, V: Array, excess: Array) -> tuple[Array, Array, Array]:
        """Memberships u, u^m, and squared distances: (K, n)."""
        D = picture.y - V[:, None]
        D -= np.multiply.outer(V, excess.ravel())
        D *= D
        U, W = memberships_at(D, self.m)
        if picture.outside is not None:
            U[:, picture.outside] = 1 / len(U)
            W[:, picture.outside] = 0
        return U, W, D

    def _segment(self, image: Picture, state: State) -> tuple[Array, Array, Array]:
        return self._membership_planes(image, state.centers, state.excess)

    def _statistics(self, picture: Any, state: State) -> Segmentation:
        U, W, D = self._segment(picture, state)
        return Segmentation(
            U, W, float(np.vdot(W, D) + np.vdot(state.modes.penalty * state.coefficients, state.coefficients))
        )

    def _update(self, state: State, statistics: Segmentation, blocks: Blocks) -> State:
        if blocks.mean_variance == 0:  # rounding would separate equal centres
            return state._replace(memberships=statistics.memberships)
        picture: Any = blocks.blocks[0]
        y, g, W = picture.y, 1 + state.excess.ravel(), statistics.weights
        mass = W @ (g * g)
        V = np.where(mass >= EMPTY, W @ (g * y) / np.maximum(mass, EMPTY), state.centers)
        w = V**2 @ W
        if not w.any():  # centres of 0 do not determine the gain
            return state._replace(centers=V, clipped=False, memberships=statistics.memberships)
        r = V @ (W * (y - V[:, None]))
        w, r = w.reshape(picture.shape), r.reshape(picture.shape)
        coefficients = state.modes.solve(w, r, state.coefficients)
        step = state.modes.on_grid(coefficients) - state.excess
        # J falls all the way to the solution: if the gain would not be positive, a part of the step lowers J, too.
        room = state.excess - (_LEAST_GAIN - 1)
        short = -step > room
        length = max(0.0, float((room[short] / -step[short]).min())) if short.any() else 1.0
        coefficients = state.coefficients + length * (coefficients - state.coefficients)
        return State(V, state.excess + length * step, coefficients, state.modes, length < 1, statistics.memberships)

    # What is kept ---------------------------------------------------------------------------------------------------

    def _store(self, state: State, statistics: Segmentation, blocks: Blocks) -> None:
        picture: Any = blocks.blocks[0]
        self.image_shape_, unit = picture.shape, float(blocks.frame.scale)
        a, b = (weight / unit / unit for weight in state.modes.weights)
        self.gradient_weight_ = a if self.gradient_weight == "auto" else float(self.gradient_weight)
        self.curvature_weight_ = b if self.curvature_weight == "auto" else float(self.curvature_weight)
        self.centers_ = blocks.frame.to_input(state.centers[:, None]).astype(blocks.dtype)
        self.gain_ = (1 + state.excess).astype(blocks.dtype)
        with np.errstate(over="ignore"):  # the largest floats overflow if the gain is below 1
            self.corrected_image_ = picture.X.reshape(self.image_shape_) / self.gain_

    def _complaints(self, run: Run[State], blocks: Blocks) -> list[str]:
        V, remedy = run.state.centers[:, None], f"the image may be constant, or m={self.m:g} too large"
        complaints = super()._complaints(run, blocks) + collapse("AFCMAdaptive", V, self.memberships_, blocks, remedy)
        if run.state.clipped:
            complaints.append(
                f"AFCMAdaptive: the gain would not be positive everywhere, so it was held at {_LEAST_GAIN:g} or more. "
                "Use a mask, a larger bias_scale or larger weights."
            )
        return complaints
