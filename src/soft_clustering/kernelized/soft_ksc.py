"""Soft kernel spectral clustering.

With the kernel matrix Omega of the training samples, D its row sums on the diagonal and 1 the vector of ones:

* The dual of kernel spectral clustering is D^-1 M Omega alpha = lambda alpha, M = I - 1 1' D^-1 / (1' D^-1 1). The
  K - 1 eigenvectors of largest eigenvalues give the scores e = Omega alpha + b, b = -1' D^-1 Omega alpha / (1' D^-1 1).
  A new sample has the scores e(x) = sum_l alpha_l K(x_l, x) + b.
* The signs of the scores are a code word; the K most frequent ones are the clusters, and every sample belongs to the
  nearest (Hamming). The prototype s_p of a cluster is the mean of its scores.
* d_ip = 1 - cos(e_i, s_p), and u_ip = prod_{j != p} d_ij / sum_q prod_{j != q} d_ij, that is, proportional to 1 / d_ip.

References
----------
R. Langone, R. Mall, J. A. K. Suykens (2013). Soft kernel spectral clustering. IJCNN.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._types import Array, Kernel, MatrixLike, Seed
from ..base import InductiveSoftClusterer
from ..engine.blocks import Frame, make_blocks
from ..engine.collapse import rows_alike
from ..engine.fitting import Fit, say
from ..engine.threads import single_threaded_blas, threads_that_pay
from ..inputs.features import check_enough_samples
from ..inputs.labels import resolve_n_clusters, validate_partial_labels
from ..inputs.pairwise import validate_kernel_rows
from ..kernels.reference import fcm_rule, squared_distances
from .gamma import frame_gamma, resolve_gamma
from .kernel_matrix import FunctionRows, GivenRows, RBFRows, pieces, rbf

if TYPE_CHECKING:
    from typing import Self

_FACTORS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)  # of gamma='scale', among which gamma='auto' chooses
_ALONE = 2 / 3  # own share of the degree from which on a kernel connects too little to be tried
_DENSE = 200  # rows up to which all eigenvectors cost less than a few by Lanczos
_KRYLOV = 30  # dimensions of a Krylov space, at least
_LANCZOS = 20  # restarts, after which all eigenvectors are computed instead
_RESIDUAL = 1e-9  # of an eigenvector; the largest eigenvalue is at most 1
_ZERO = 1e-10  # an eigenvalue, or a score as part of the largest, that is rounding
_SAME = 1e-24  # squared distance of unit vectors that are the same but for rounding
_ROUNDS = 10  # of assignment with partial labels
_STARTS = 10  # of k-means


class SoftKSC(InductiveSoftClusterer):
    """Soft kernel spectral clustering: clusters of any shape, with a rule for new samples.

    Parameters
    ----------
    n_clusters : int or None, default=None
        Number of clusters K. None: the number of classes in y, 3 where y holds no label.
    kernel : {'rbf', 'precomputed'} or callable, default='rbf'
        ``'rbf'``: exp(-gamma |x - y|^2). ``'precomputed'``: X is the symmetric matrix of the kernel. A callable
        ``kernel(X, Y)`` gives the matrix of all pairs, as the functions of ``sklearn.metrics.pairwise`` do. The sums of
        rows of the matrix must not be negative.
    gamma : float or {'auto', 'scale', 'median'}, default='auto'
        Width of the RBF kernel. ``'scale'``: one over the summed variances of the features; ``'median'``: one over the
        median squared distance of two samples. ``'auto'``: among 1/2, 1, 2, ... 64 times ``'scale'`` the one of largest
        (1 - balance) AMS + balance H, with the average membership strength AMS (see ``membership_strength_``) and the
        entropy H of the cluster sizes, divided by log K. Both are judged on the training set, with more than
        2 ``max_samples`` rows on as many others, as the publication does with a validation set. The search ends at a
        width where a training sample has, on average, more than 2/3 of its degree (the sum of its kernel with all of
        them) from itself: there the kernel connects hardly any samples.
    assign_labels : {'sign', 'kmeans'}, default='sign'
        How the first clusters are found: by the signs of the scores, or by k-means on them.
    balance : float, default=0.5
        See ``gamma='auto'``; 0 is the published criterion, which likes tiny clusters.
    max_samples : int, default=1000
        If there are more rows, a random sample of this size is the training set; the other rows are treated as new.
    random_state : int, RandomState or None, default=None
        Seed of the sample and of k-means.
    verbose : int, default=0
        1 prints a line per width tried.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Rows sum to 1.
    labels_ : ndarray of shape (n_samples,)
        Cluster of largest membership; with labels, an index into ``classes_`` while there are classes.
    n_clusters_ : int
    embedding_ : ndarray of shape (n_samples, n_clusters - 1)
        Scores of the samples.
    embedding_centers_ : ndarray of shape (n_clusters, n_clusters - 1)
        Prototypes, in the space of scores.
    eigenvalues_ : ndarray of shape (n_clusters - 1,)
        Near 1 if the clusters hardly overlap.
    membership_strength_ : float
        AMS of the result: the mean over the clusters of the mean membership of the samples in them, over all samples of
        ``fit``. A cluster without samples counts as 0.
    sample_indices_ : ndarray of shape (n_train,)
        Rows of the training set.
    X_fit_ : ndarray of shape (n_train, n_features)
        The training set; not set for ``kernel='precomputed'``.
    dual_coef_ : ndarray of shape (n_train, n_clusters - 1)
        alpha, the eigenvectors.
    intercept_ : ndarray of shape (n_clusters - 1,)
        b.
    gamma_ : float
        The width used; set for ``kernel='rbf'``.
    classes_ : ndarray of shape (n_classes,)
        The classes in y; set where y holds labels. The first columns of ``memberships_`` are theirs, in this order.

    See Also
    --------
    soft_clustering.KFCCL : prototypes in feature space, for clusters that are compact there.

    Notes
    -----
    With s training samples, the kernel costs O(s^2 d) time and its eigenvectors O(s^2 K) per Lanczos step, for each of
    the widths of ``gamma='auto'``, at most eight. Memory is about 8 s^2 bytes (8 MB at 1000), twice that with rows to
    judge by, and three times that where Lanczos fails and all eigenvectors are computed. The scores of all n samples
    cost O(n s (d + K)), in pieces of bounded memory.

    The model and the memberships are those of [1]_ and [2]_, from their abstracts and an independent implementation.
    For two clusters the score is one number, whose cosine is only its sign: there d_ip = abs(e_i - s_p), which may
    differ from the publication. The entropy H is ours (a ratio of the sizes fails with many clusters), and so are the
    use of labels and the memberships of samples without any neighbour (kernel 0 with all training samples), which are
    1/K.

    With labels the prototypes start as class means of the scores; then all samples without a label are assigned to the
    nearest and the means are computed again, at most 10 times. Clusters beyond the classes start at the sample that is
    farthest from all prototypes. The width is chosen without the labels, and the memberships of labelled samples follow
    the rule for new ones. Labels help if the signs fail, and not much otherwise.

    References
    ----------
    .. [1] R. Langone, R. Mall, J. A. K. Suykens (2013). Soft kernel spectral clustering. IJCNN.
    .. [2] C. Alzate, J. A. K. Suykens (2010). Multiway spectral clustering with out-of-sample extensions through
       weighted kernel PCA. IEEE Transactions on Pattern Analysis and Machine Intelligence 32(2), 335-347.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from soft_clustering import SoftKSC
    >>> X, y = make_moons(300, noise=0.05, random_state=0)
    >>> model = SoftKSC(n_clusters=2, random_state=0).fit(X)
    >>> len(set(zip(model.labels_.tolist(), y.tolist())))
    2
    >>> model.predict([[0.0, 1.0], [1.0, -0.5]]).tolist() == model.predict([[-1.0, 0.0], [2.0, 0.5]]).tolist()
    True
    """

    finds_n_clusters: ClassVar[bool] = False
    embedding_: Array
    embedding_centers_: Array
    eigenvalues_: Array
    membership_strength_: float
    sample_indices_: NDArray[np.intp]
    X_fit_: NDArray[Any]
    dual_coef_: Array
    intercept_: Array
    gamma_: float
    classes_: NDArray[Any]
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [None, Interval(Integral, 1, None, closed="left")],
        "kernel": [StrOptions({"rbf", "precomputed"}), callable],
        "gamma": [StrOptions({"auto", "scale", "median"}), Interval(Real, 0, None, closed="neither")],
        "assign_labels": [StrOptions({"sign", "kmeans"})],
        "balance": [Interval(Real, 0, 1, closed="both")],
        "max_samples": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        kernel: Kernel = "rbf",
        gamma: float | str = "auto",
        assign_labels: str = "sign",
        balance: float = 0.5,
        max_samples: int = 1000,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.gamma = gamma
        self.assign_labels = assign_labels
        self.balance = balance
        self.max_samples = max_samples
        self.random_state = random_state
        self.verbose = verbose

    # The protocol ---------------------------------------------------------------------------------------------------

    def fit(self, X: MatrixLike, y: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            With ``kernel='precomputed'`` the kernel matrix (n_samples, n_samples).
        y : array-like of shape (n_samples,), default=None
            Class labels, -1 where a sample has none; at most ``n_clusters`` classes.

        Returns
        -------
        self : object
        """
        with Fit[None](self) as fit:
            X = validate_kernel_rows(self, X, self.kernel, reset=True, accept_sparse=False)
            labels = validate_partial_labels(y, X)
            K = resolve_n_clusters(self.n_clusters, labels)
            check_enough_samples(len(X), K)
            if self.max_samples < K:
                raise ValueError(f"max_samples={self.max_samples} should be >= n_clusters={K}.")
            coded = self._train(X, K, check_random_state(self.random_state))
            self.embedding_, connected = self._scores(X)
            if labels is not None:
                self.classes_ = labels.classes
                self.embedding_centers_ = labelled_centers(self.embedding_[connected], labels.codes[connected], K)
            memberships = soft_memberships(self.embedding_, connected, self.embedding_centers_)
            self.membership_strength_ = strength_and_balance(memberships)[0]
            self._set_memberships(memberships.astype(X.dtype))
            for complaint in self._complaints(coded or labels is not None):
                fit.warn(f"SoftKSC {complaint}")
        return self

    def predict_memberships(self, X: MatrixLike) -> NDArray[Any]:
        """Memberships of new data.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            With ``kernel='precomputed'`` the kernel (n_new, n_samples) with the samples of ``fit``.

        Returns
        -------
        memberships : ndarray of shape (n_new, n_clusters)
        """
        check_is_fitted(self, "memberships_")
        X = validate_kernel_rows(self, X, self.kernel, reset=False, accept_sparse=False)
        with single_threaded_blas():
            return soft_memberships(*self._scores(X), self.embedding_centers_).astype(X.dtype)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    # The method -----------------------------------------------------------------------------------------------------

    def _train(self, X: NDArray[Any], K: int, rng: np.random.RandomState) -> bool:
        """Set scores and prototypes at the best width; whether its clusters were found as ``assign_labels`` says."""
        n, size = len(X), min(len(X), self.max_samples)
        shuffled = rng.permutation(n)
        self.sample_indices_ = np.sort(shuffled[:size])
        train = X if size == n else X[self.sample_indices_]
        judged = X[shuffled[size : 2 * size]] if n > 2 * size else None
        if self.kernel != "precomputed":
            self.X_fit_ = train
        best: Candidate | None = None
        for width, omega, omega_judged in self._kernels(X, train, judged, K):
            if best is not None and own_share(omega) > _ALONE:
                break  # narrower kernels connect even less
            try:
                model = solve(omega, K)
            except np.linalg.LinAlgError:
                continue
            scores, connected = model.scores(omega)
            centers, coded = self._centers(scores[connected], K, rng)
            if omega_judged is not None:
                scores, connected = model.scores(omega_judged)
            strength, balance = strength_and_balance(soft_memberships(scores, connected, centers))
            quality = (1 - self.balance) * strength + self.balance * balance
            shown = "" if width is None else f"gamma {width.gamma:.4g}: "
            say(self, f"{shown}membership strength {strength:.4f}, balance of sizes {balance:.4f}")
            if best is None or (coded, quality) > (best.coded, best.quality):
                best = Candidate(width, model, centers, coded, quality)
        if best is None:
            raise ValueError("The eigenvectors of the kernel of X could not be computed. Try another kernel or gamma.")
        self.dual_coef_, self.intercept_, self.eigenvalues_ = best.model
        self._width, self._model, self.embedding_centers_ = best.width, best.model, best.centers
        if best.width is not None:
            self.gamma_ = best.width.gamma
        return best.coded

    def _kernels(
        self, X: NDArray[Any], train: NDArray[Any], judged: NDArray[Any] | None, K: int
    ) -> Iterator[tuple[Width | None, Array, Array | None]]:
        """For each width, the largest first: the kernel of the training rows, and that of the rows to judge by, if any.

        A kernel is overwritten by the next one: each width is half the one before, and its kernel the square.
        """
        if self.kernel != "rbf":
            rows = self._kernel_rows(None)
            yield None, rows(train), None if judged is None else rows(judged)
            return
        blocks = make_blocks(X)
        if self.gamma != "auto":
            widths = [Width(resolve_gamma(blocks, self.gamma), frame_gamma(blocks, self.gamma), blocks.frame)]
        else:
            # A single cluster is the same at every width.
            widths = [
                Width(resolve_gamma(blocks, "scale", factor), frame_gamma(blocks, "scale", factor), blocks.frame)
                for factor in (_FACTORS if K > 1 else (1.0,))
            ]
        rows = self._kernel_rows(widths[-1])  # in its squared distances, rounding cannot be seen at any width
        matrices = [rbf(rows.squared_distances(Z), widths[0].in_frame) for Z in (train, judged) if Z is not None]
        for number, width in enumerate(widths):
            if number > 0:
                with np.errstate(under="ignore"):
                    for matrix in matrices:
                        np.square(matrix, out=matrix)
            yield width, matrices[0], None if judged is None else matrices[1]

    def _kernel_rows(self, width: Width | None) -> Any:
        """The function that gives the kernel of any rows with the training rows."""
        if width is not None:
            return RBFRows(self.X_fit_, width.frame, width.in_frame)
        if isinstance(self.kernel, str):  # 'precomputed'
            return GivenRows(self.sample_indices_)
        return FunctionRows(self.kernel, self.X_fit_)

    def _scores(self, X: NDArray[Any]) -> tuple[Array, NDArray[np.bool_]]:
        """Scores of validated rows, and which rows are connected with a training row."""
        rows = self._kernel_rows(self._width)
        parts = [self._model.scores(rows(X[part])) for part in pieces(len(X), len(self.sample_indices_))]
        return np.concatenate([scores for scores, _ in parts]), np.concatenate([connected for _, connected in parts])

    def _centers(self, scores: Array, K: int, rng: np.random.RandomState) -> tuple[Array, bool]:
        """Prototypes (K, K - 1) of clusters without labels, and whether they were found as asked for."""
        if K == 1:
            return np.zeros((1, 0)), True
        if self.assign_labels == "sign":
            clusters = sign_clusters(scores, K)
            if clusters is not None:
                return cluster_means(scores, clusters, np.zeros((K, K - 1))), True
        points = comparable(scores, scores)[0]
        with warnings.catch_warnings(), threads_that_pay(points.size * K):
            warnings.simplefilter("ignore", ConvergenceWarning)  # of too few distinct points, _complaints warns
            kmeans = KMeans(K, n_init=_STARTS, random_state=rng).fit(points)
        # The centre of an empty cluster is a copy of another one.
        centers = cluster_means(scores, kmeans.labels_, kmeans.cluster_centers_)
        return centers, self.assign_labels == "kmeans"

    def _complaints(self, coded: bool) -> Iterator[str]:
        K = self.n_clusters_
        if not coded:
            yield (
                f"found fewer than n_clusters={K} different signs of the scores, and took k-means instead; try "
                "assign_labels='kmeans', another gamma or fewer clusters"
            )
        if K == 1:
            return
        centers, others = comparable(self.embedding_centers_, self.embedding_centers_)
        distinct = K - int(np.any(np.tril(squared_distances(centers, others) <= _SAME, -1), axis=1).sum())
        if rows_alike(self.memberships_):
            yield "collapsed: all samples have the same memberships; try another gamma, or remove duplicates from X"
        elif distinct < K:
            yield (
                f"found {distinct} distinct prototypes, fewer than n_clusters={K}: there may be duplicate points in X; "
                "use fewer clusters"
            )


class Width(NamedTuple):
    """A width of the RBF kernel, in input units and in those of a frame."""

    gamma: float
    in_frame: float
    frame: Frame


class Model(NamedTuple):
    """A solution of the dual problem."""

    dual_coef: Array  # (s, K - 1)
    intercept: Array  # (K - 1,)
    eigenvalues: Array  # (K - 1,)

    def scores(self, omega: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Scores (rows, K - 1) from the kernel (rows, s), and which rows have a neighbour among the training rows."""
        return omega @ self.dual_coef + self.intercept, omega.sum(axis=1) > 0


class Candidate(NamedTuple):
    """What came of a width."""

    width: Width | None
    model: Model
    centers: Array
    coded: bool
    quality: float


def solve(omega: Array, K: int) -> Model:
    """The K - 1 leading solutions of D^-1 M Omega alpha = lambda alpha.

    With u = D^1/2 alpha the problem is symmetric: Q S Q u = lambda u, S = D^-1/2 Omega D^-1/2, where Q takes away the
    direction v of D^-1/2 1. Rows without any neighbour (row sum 0) take no part.
    """
    with np.errstate(over="ignore"):
        degree = omega.sum(axis=1)
    if not ((degree >= 0) & np.isfinite(degree)).all():
        raise ValueError(
            "kernel must have rows whose sum over X is a number >= 0, the degree of a sample. Got "
            f"{degree.min():.3g} to {degree.max():.3g} instead."
        )
    linked = degree > 0
    if linked.sum() < K:
        raise ValueError(
            f"kernel must connect at least n_clusters={K} samples of X with each other. Got {linked.sum()} samples "
            "whose kernel is not all 0 instead."
        )
    alpha = np.zeros((len(omega), K - 1))
    root = np.sqrt(degree[linked])
    eigenvalues, u = leading_eigenpairs(omega if linked.all() else omega[np.ix_(linked, linked)], root, K - 1)
    u *= np.sign(u[np.abs(u).argmax(axis=0), np.arange(K - 1)])
    # If the kernel has fewer dimensions, further scores would be rounding: set them to 0.
    alpha[linked] = np.where(np.abs(eigenvalues) > _ZERO, u, 0) / root[:, None]
    weight = degree[linked].min() / degree[linked]
    return Model(alpha, -weight @ (omega @ alpha)[linked] / weight.sum(), eigenvalues)


def own_share(omega: Array) -> float:
    """Which part of the degree of a sample is its kernel with itself, mean over the samples that have a degree."""
    degree = omega.sum(axis=1)
    return float((omega.diagonal() / degree)[degree > 0].mean())


def leading_eigenpairs(omega: Array, root: Array, k: int) -> tuple[Array, Array]:
    """The k largest eigenvalues of Q S Q, S = omega / (root root'), and their eigenvectors; Q as in :func:`solve`.

    No solver is trusted: Lanczos may not converge where eigenvalues are close to each other, and there LAPACK, asked
    for a few of them, was seen to give zero vectors or too few. What does not solve the equation is thrown away.
    """
    n = len(omega)
    if k == 0:
        return np.empty(0), np.empty((n, 0))
    v = root.min() / root
    v /= np.linalg.norm(v)
    scale = 1 / root[:, None]

    def apply(x: Array) -> Array:
        x = x.reshape(n, -1)
        y = scale * (omega @ (scale * (x - np.outer(v, v @ x))))
        y -= np.outer(v, v @ y)
        return y

    def lanczos() -> tuple[Array, Array]:
        start = np.random.RandomState(0).uniform(size=n)
        S = LinearOperator((n, n), matvec=apply, dtype=np.float64)
        size = max(2 * k + 1, _KRYLOV)
        values, vectors = eigsh(S, k, which="LA", v0=start, ncv=size, maxiter=_LANCZOS, tol=_RESIDUAL / 10)
        return values, vectors

    def dense(**how: Any) -> tuple[Array, Array]:
        S = omega * scale
        S *= scale.T
        Sv = S @ v
        half = Sv - v @ Sv / 2 * v  # Q S Q = S - v half' - half v'
        S -= np.outer(v, half)
        S -= np.outer(half, v)
        values, vectors = eigh(S, overwrite_a=True, **how)
        return values, vectors

    solvers: list[Callable[[], tuple[Array, Array]]] = [
        lanczos,
        partial(dense, driver="evr", subset_by_index=(n - k, n - 1)),
        partial(dense, driver="evd"),
    ]
    for solver in solvers if n > max(_DENSE, 4 * k) else solvers[1:]:
        try:
            values, vectors = solver()
        except (ArpackError, np.linalg.LinAlgError):
            continue
        values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
        if vectors.shape != (n, k):
            continue
        off = max(np.abs(apply(vectors) - vectors * values).max(), np.abs(vectors.T @ vectors - np.eye(k)).max())
        if off <= _RESIDUAL:
            return values, vectors
    raise np.linalg.LinAlgError("no solver found the leading eigenvectors")


def sign_clusters(scores: Array, K: int) -> NDArray[np.intp] | None:
    """Clusters by the signs of the scores, None if fewer than K different ones occur.

    The K most frequent code words are the clusters; other samples belong to that of least Hamming distance.

    Examples
    --------
    >>> sign_clusters(np.array([[0.5], [-2.0], [0.1]]), 2)
    array([0, 1, 0])
    """
    largest = np.abs(scores).max(axis=0, initial=0)
    words, place, counts = np.unique(scores >= -_ZERO * largest, axis=0, return_inverse=True, return_counts=True)
    if len(words) < K:
        return None
    signs = 2.0 * words - 1
    book = signs[np.argsort(-counts, kind="stable")[:K]]
    nearest: NDArray[np.intp] = np.argmax(signs @ book.T, axis=1)
    return nearest[place.ravel()]


def cluster_means(scores: Array, clusters: NDArray[np.intp], empty: Array) -> Array:
    """Mean scores of each cluster, (K, K - 1); those of ``empty`` where a cluster has no sample."""
    members = (clusters[:, None] == np.arange(len(empty))).astype(np.float64)
    counts = members.sum(axis=0)
    return np.where(counts[:, None] > 0, members.T @ scores / np.maximum(counts, 1)[:, None], empty)


def comparable(scores: Array, centers: Array) -> tuple[Array, Array]:
    """Scores and prototypes as directions; for two clusters, where these are signs, in units of the prototypes."""
    if centers.shape[1] == 1:
        unit = float(np.abs(centers).max()) or 1.0
        return scores / unit, centers / unit
    return _directions(scores), _directions(centers)


def _directions(vectors: Array) -> Array:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    directions: Array = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return directions


def soft_memberships(scores: Array, connected: NDArray[np.bool_], centers: Array) -> Array:
    """u_ip proportional to 1 / d_ip, d the cosine distance, for two clusters the distance; 1/K without a direction."""
    K = len(centers)
    if K == 1:
        return np.ones((len(scores), 1))
    # Half the squared distance of unit vectors is the cosine distance, exact where that is small.
    D = squared_distances(*comparable(scores, centers))
    D[D <= _SAME] = 0
    U = fcm_rule(D, 3.0 if K == 2 else 2.0)[0]
    U[~connected] = 1 / K
    if K > 2:
        U[np.linalg.norm(scores, axis=1) <= _ZERO * np.linalg.norm(centers, axis=1).max()] = 1 / K
    return U


def strength_and_balance(memberships: Array) -> tuple[float, float]:
    """AMS, the mean over clusters of the mean membership of their samples, and H, the entropy of sizes over log K.

    Examples
    --------
    >>> strength_and_balance(np.array([[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]]))[0]
    0.6875
    """
    n, K = memberships.shape
    if K == 1:
        return 1.0, 1.0
    clusters = memberships.argmax(axis=1)
    sizes = np.bincount(clusters, minlength=K)
    strengths = np.bincount(clusters, memberships.max(axis=1), minlength=K) / np.maximum(sizes, 1)
    shares = sizes[sizes > 0] / n
    return float(strengths.mean()), float(-(shares * np.log(shares)).sum() / np.log(K))


def labelled_centers(scores: Array, codes: NDArray[np.intp], K: int) -> Array:
    """Prototypes (K, K - 1) if some samples have a class; codes are the number of its prototype, -1 without a class."""
    known = np.isin(np.arange(K), codes)
    centers = cluster_means(scores, codes, np.zeros((K, K - 1)))
    for k in np.flatnonzero(~known):
        # The sample farthest from all prototypes; if there are none, farthest from the origin.
        others = centers[known] if known.any() else np.zeros((1, K - 1))
        centers[k] = scores[np.argmax(squared_distances(*comparable(scores, others)).min(axis=1))]
        known[k] = True
    clusters = codes
    for _ in range(_ROUNDS):
        nearest = squared_distances(*comparable(scores, centers)).argmin(axis=1)
        before, clusters = clusters, np.where(codes >= 0, codes, nearest)
        if np.array_equal(before, clusters):
            break
        centers = cluster_means(scores, clusters, centers)
    return centers
