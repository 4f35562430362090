"""Fuzzy colour clustering: fuzzy c-means whose prototypes are balls of colours that look the same.

With d_ik = |x_i - v_k|, r the radius of the balls and delta_ik = max(d_ik - r, 0), the distance to the ball:

* a sample outside all balls has u_ik proportional to delta_ik^(-2/(m-1)), the rule of fuzzy c-means;
* one inside a single ball belongs to it wholly;
* one inside several has the rule of fuzzy c-means among these, with d in the place of delta;
* v_k = sum_i w_i u_ik^m x_i / sum_i w_i u_ik^m.

J = sum_i w_i sum_k u_ik^m delta_ik^2 tells how good the result is. The new centres minimise it with d in the place of
delta, so that it may rise. With r = 0 this is fuzzy c-means.

References
----------
D.-W. Kim, K. H. Lee (2002). Fuzzy color model and clustering algorithm for color clustering problem. Proc. 1st Int.
Conf. Information and Management Sciences, Xi'an. arXiv:2407.06782.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags, gen_batches
from sklearn.utils._param_validation import Interval, StrOptions

from .._types import Array, Init, MatrixLike, Memberships, Seed
from ..base import ImageResults
from ..engine.alternating import PARAMETERS, AlternatingClusterer, new_centers
from ..engine.blocks import Block, Blocks, Frame, make_blocks, part_length
from ..engine.collapse import collapse
from ..engine.loop import Policy, Run, array_key
from ..inputs.colors import is_color_image, lab_to_rgb, pixels, rgb_to_lab, validate_rgb
from ..inputs.features import is_dask, validate_features, validate_weights
from ..kernels.centers import CenterStatistics, center_memberships, center_statistics
from .fuzzifier import resolve_fuzzifier, smaller
from .solver import fuzzy_start

if TYPE_CHECKING:
    from typing import Self

_NOTICEABLE = 2.3  # Delta E, the usual just noticeable difference in CIELAB
_SHARE = 0.05  # of the root summed variance of the features: the radius if they are not colours
_FARTHEST = 1e150  # a ball of a larger radius contains everything
_BALLS = Policy(monotone=False, cycle_key=array_key)
_POINTS = Policy(cycle_key=array_key)


class Palette(Blocks):
    """The distinct ones of some rows, with their counts as weights."""

    def __init__(
        self,
        rows: NDArray[Any],
        weight: Array | None = None,
        frame: Frame | None = None,
        image_shape: tuple[int, ...] | None = None,
    ) -> None:
        kept = None
        if weight is not None and not weight.all():
            kept = np.flatnonzero(weight)
            rows, weight = rows[kept], weight[kept]
        unlike, self.place = distinct(rows)  # the place of each row among the distinct ones
        blocks = make_blocks(unlike, np.bincount(self.place, weight).astype(np.float64), frame)
        super().__init__(blocks.blocks, blocks.mean_variance, kept)
        self.n = len(rows)  # copies included
        self.image_shape = image_shape  # height and width, if the rows are the pixels of an image

    def map_rows(self, function: Callable[..., NDArray[Any]], *arguments: object) -> NDArray[Any]:
        """What ``function(block, *arguments)`` says of all rows, copies included."""
        return super().map_rows(function, *arguments)[self.place]

    def row_parts(self, function: Callable[..., Any], *arguments: object) -> Iterator[Any]:
        """What ``function(block, *arguments)`` returns for all rows, copies included, a part of them at a time."""
        for rows in gen_batches(self.n, part_length(self.blocks[0], function, *arguments)):
            unlike, place = np.unique(self.place[rows], return_inverse=True)
            yield function(self.take(unlike), *arguments)[place]


def distinct(rows: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The distinct rows, and the place of each row among them.

    Examples
    --------
    >>> distinct(np.array([[2.0, 1.0], [0.0, 5.0], [2.0, 1.0]]))
    (array([[0., 5.],
           [2., 1.]]), array([1, 0, 1]))
    """
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    new = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
    place = np.empty(len(rows), dtype=np.intp)
    place[order] = np.cumsum(new) - 1
    return ordered[new], place


class FCC(ImageResults, AlternatingClusterer[Array, CenterStatistics]):
    """Fuzzy colour clustering: clusters of colours, or of any features, whose prototypes are balls.

    Colours that are too near to be told apart should not differ in membership: what is inside the ball of a prototype
    belongs to it wholly, and outside the distance to the ball counts.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters K.
    m : float or 'auto', default='auto'
        Fuzzifier, > 1; ``'auto'`` as in :class:`soft_clustering.FCM`, which is 2 for colours.
    radius : float or 'auto', default='auto'
        Radius of the balls, in units of the features (of CIELAB for colours). ``'auto'``: 2.3 for colours, the usual
        just noticeable difference; else 0.05 times the root of the summed variances of the features. 0 is fuzzy
        c-means.
    color_space : {'lab', 'rgb'} or None, default=None
        What the features are. ``'rgb'``: sRGB colours, integers from 0 to 255 or floats from 0 to 1, which are
        clustered in CIELAB (white point D65); ``'lab'``: CIELAB colours; None: any features.
    init : {'k-means++', 'k-means||', 'random'}, array (n_clusters, n_features) or callable, default='k-means++'
        Starting centres, in the coordinates of ``centers_``. A callable gets ``(X, n_clusters, rng)`` with X in these.
        An array forces one start. Of more than 20,000 rows on Dask, ``'k-means++'`` is ``'k-means||'``, and
        ``'random'`` draws from a sample of 20,000.
    n_init : int, default=5
        Starts; the one of smallest objective is kept.
    max_iter : int, default=200
        Passes over the data per start.
    tol : float, default=1e-5
        Converged when the centres move by at most ``tol`` times the root mean variance of the features.
    random_state : int, RandomState or None, default=None
        Seed of the starts.
    verbose : int, default=0
        1 prints a line per start, 2 a line per pass.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Rows sum to 1. Of an image a row per pixel, in row-major order.
    labels_ : ndarray of shape (n_samples,)
        Cluster of largest membership.
    centers_ : ndarray of shape (n_clusters, n_features)
        Of colours in CIELAB.
    centers_rgb_ : ndarray of shape (n_clusters, 3)
        The centres as sRGB colours from 0 to 1; set for ``color_space='rgb'``.
    n_clusters_ : int
    m_ : float
        The fuzzifier used.
    radius_ : float
        The radius used.
    image_shape_ : (int, int)
        Height and width; this and the next two are set if X is an image.
    membership_image_ : ndarray of shape (height, width, n_clusters)
        ``memberships_`` on the grid of the pixels.
    label_image_ : ndarray of shape (height, width)
        ``labels_`` on the grid of the pixels.
    objective_ : float
        J at ``centers_``: the summed u^m times squared distance to the ball.
    objective_history_ : ndarray
        J at each centre set visited, the last one included.
    n_iter_ : int
        Passes of the best start.
    converged_ : bool

    See Also
    --------
    soft_clustering.FCM : the same without balls.
    soft_clustering.SKFCM : for noisy images, where the neighbours of a pixel count.

    Notes
    -----
    The colour ball, the two distances and the fuzzy centroids are those of [1]_ by its abstract; the formulae are our
    reconstruction, and so are the two values of ``radius='auto'``. On features that are not colours the results are
    about those of fuzzy c-means: the balls are made for colours.

    For r > 0 the objective may rise from pass to pass: it chooses between the starts, but is not what a pass minimises.
    That the centres converge is not proven, though they did on all 80 random sets that we tried.

    A pass costs O(n K d) time; memory beyond X and ``memberships_`` is O(K d) per chunk of rows. Equal colours are
    clustered once, with their number as weight, so that the cost of a pass over an image grows with the number of
    its distinct colours. ``score`` is minus the objective.

    References
    ----------
    .. [1] D.-W. Kim, K. H. Lee (2002). Fuzzy color model and clustering algorithm for color clustering problem. Proc.
       1st Int. Conf. Information and Management Sciences, Xi'an. arXiv:2407.06782.

    Examples
    --------
    >>> import numpy as np
    >>> from soft_clustering import FCC
    >>> image = np.zeros((4, 6, 3), dtype=np.uint8)
    >>> image[:, :3] = [200, 30, 30]
    >>> image[:, 3:] = [30, 30, 200]
    >>> image[0] += np.arange(6, dtype=np.uint8)[:, None]  # hardly another colour
    >>> model = FCC(n_clusters=2, color_space="rgb", random_state=0).fit(image)
    >>> model.label_image_.shape, model.membership_image_.max(axis=2).min()
    ((4, 6), np.float64(1.0))
    >>> sorted((255 * model.centers_rgb_).round().astype(int).tolist())
    [[31, 31, 201], [200, 30, 30]]
    """

    m_: float
    radius_: float
    centers_rgb_: NDArray[Any]
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "m": [StrOptions({"auto"}), Interval(Real, 1, None, closed="neither")],
        "radius": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "color_space": [StrOptions({"lab", "rgb"}), None],
        "init": [StrOptions({"k-means++", "k-means||", "random"}), callable, "array-like"],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        m: float | str = "auto",
        radius: float | str = "auto",
        color_space: str | None = None,
        init: Init = "k-means++",
        n_init: int = 5,
        max_iter: int = 200,
        tol: float = 1e-5,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.m = m
        self.radius = radius
        self.color_space = color_space
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    # The protocol ---------------------------------------------------------------------------------------------------

    def fit(self, X: MatrixLike, y: object = None, *, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or array of shape (height, width, 3)
            A feature matrix, with three columns if they are colours, or an image.
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            Weight 2 is the same as the row twice, weight 0 the same as no row. Of an image a weight per pixel, in
            row-major order.

        Returns
        -------
        self : object
        """
        return self._fit(X, sample_weight)

    def predict_memberships(
        self, X: MatrixLike, *, out: NDArray[Any] | None = None, top_k: int | None = None
    ) -> Memberships:
        """Memberships of new data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or array of shape (height, width, 3)
        out, top_k : as in ``FCM.predict_memberships``

        Returns
        -------
        memberships : ndarray of shape (n_samples, n_clusters)
            Of an image a row per pixel. A ``scipy.sparse.csr_array`` with ``top_k``.
        """
        return super().predict_memberships(X, out=out, top_k=top_k)

    def score(self, X: MatrixLike, y: object = None, *, sample_weight: ArrayLike | None = None) -> float:
        """Minus the objective on new data, greater is better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or array of shape (height, width, 3)
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        score : float
        """
        return super().score(X, sample_weight=sample_weight)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags

    # The method -----------------------------------------------------------------------------------------------------

    @property
    def _policy(self) -> Policy:
        return _POINTS if self.radius == 0 else _BALLS

    def _blocks(self, X: MatrixLike, sample_weight: ArrayLike | None = None, frame: Frame | None = None) -> Blocks:
        rows = self._rows(X, reset=frame is None)
        weight = validate_weights(sample_weight, rows)
        is_image = is_color_image(X)
        # Colours come in copies; for other features it is not worth looking for them.
        if self.color_space is None and not is_image:
            return make_blocks(rows, weight, frame)
        return Palette(rows, weight, frame, np.shape(X)[:2] if is_image else None)

    def _rows(self, X: MatrixLike, *, reset: bool) -> Any:
        """Validated rows in the coordinates of the centres: features, or colours in CIELAB."""
        if is_dask(X) and self.color_space is not None:
            raise TypeError("FCC takes colours only in memory, not as a Dask array: pass X.compute().")
        X = pixels(X)
        rows = validate_features(self, X, reset=reset, accept_sparse=False)
        if self.color_space is None:
            return rows
        if rows.shape[1] != 3:
            raise ValueError(
                f"X must have 3 features with color_space={self.color_space!r}. Got {rows.shape[1]} features instead."
            )
        if self.color_space == "lab":
            return rows
        whole = np.asarray(X).dtype.kind in "iu"
        return rgb_to_lab(validate_rgb(rows, whole)).astype(rows.dtype)

    def _resolve(self, blocks: Blocks) -> None:
        self.m_ = resolve_fuzzifier(self.m, blocks.n_counted, blocks.n_features, self.n_clusters)
        unit = float(blocks.frame.scale)
        if not isinstance(self.radius, str):
            self.radius_ = float(self.radius)
        elif self.color_space is None:
            self.radius_ = _SHARE * float(np.sqrt(blocks.mean_variance * blocks.d)) / unit
        else:
            self.radius_ = _NOTICEABLE
        self._radius = min(self.radius_ * unit, _FARTHEST)

    def _starts(self, blocks: Blocks, rng: np.random.RandomState) -> Iterator[Array]:
        for _ in range(self._n_starts()):
            yield fuzzy_start(blocks, self.init, self.n_clusters, rng, self.m_, "fcm", 2.0)

    @property
    def _rule(self) -> tuple[Any, ...]:
        return ("ball", self.m_, self._radius) if self._radius > 0 else ("fcm", self.m_)

    def _statistics(self, block: Block, V: Array) -> CenterStatistics:
        return center_statistics(block, V, *self._rule)

    def _update(self, V: Array, statistics: CenterStatistics, blocks: Blocks) -> Array:
        return new_centers(V, statistics)

    def _memberships(self, block: Block, V: Array) -> NDArray[Any]:
        return center_memberships(block, V, *self._rule)

    def _store(self, V: Array, statistics: CenterStatistics, blocks: Blocks) -> None:
        self.centers_ = blocks.frame.to_input(V).astype(blocks.dtype)
        if self.color_space == "rgb":
            self.centers_rgb_ = lab_to_rgb(self.centers_).astype(blocks.dtype)
        if isinstance(blocks, Palette) and blocks.image_shape is not None:
            self.image_shape_ = blocks.image_shape

    def _complaints(self, run: Run[Array], blocks: Blocks) -> list[str]:
        remedy = f"m={self.m_:g} may be too large for {blocks.d} features, try {smaller('m', self.m)}"
        collapsed = collapse("FCC", run.state, self.memberships_, blocks, remedy, self.tol)
        return super()._complaints(run, blocks) + collapsed
