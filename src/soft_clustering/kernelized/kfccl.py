"""Kernel fuzzy competitive learning.

With the cosine kernel Khat(x, y) = K(x, y) / sqrt(K(x, x) K(y, y)), the feature vectors phi of the samples and the
prototypes v_k are unit vectors, and p_ik = <v_k, phi(x_i)>. The objective is

    J = sum_ik u_ik (1 - p_ik) + entropy_weight sum_ik u_ik log u_ik,

which for given prototypes is least at u_i = softmax(p_i / entropy_weight), and for given memberships at
v_k = sum_i u_ik phi(x_i), scaled to length 1. The prototypes learn from one batch B of samples after the other:

* v_k <- v_k + eta sum_{b in B} u_bk phi(x_b), scaled back to length 1;
* eta = learning_rate / (1 + learning_decay t) in epoch t = 0, 1, ...

Learning at a falling rate comes near a minimum of J in a few epochs but reaches it only in hundreds. So the best start
goes on with the two steps above over all samples in turn, each of which lowers J, until they change nothing.

A prototype is a sum of coefficients times feature vectors, so that all of it needs only Khat.

References
----------
K. Mizutani, S. Miyamoto (2005). Kernel-based fuzzy competitive learning clustering. FUZZ-IEEE.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigvalsh
from scipy.sparse.linalg import norm as sparse_norm
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._types import Array, Indices, Kernel, Matrix, MatrixLike, Seed
from ..base import InductiveSoftClusterer, as_fitted
from ..engine.alternating import PARAMETERS
from ..engine.blocks import make_blocks
from ..engine.collapse import rows_alike
from ..engine.fitting import Fit, not_converged
from ..engine.initialisation import greedy_seeds
from ..engine.loop import Policy, Run
from ..engine.threads import single_threaded_blas
from ..inputs.features import check_enough_samples
from ..inputs.pairwise import validate_kernel_rows
from . import kernel_matrix
from .gamma import frame_gamma, resolve_gamma
from .kernel_matrix import FunctionRows, RBFRows, pieces

if TYPE_CHECKING:
    from typing import Self

_VANISHED = 1e-12  # squared length of a prototype that opposite samples have cancelled
_SMALL = 1e-100  # a common factor below this is multiplied out
_ABOVE_ONE = 1e-3  # by which a cosine may exceed 1 through rounding
_SAME = 1e-9  # squared distance of two prototypes that are one
_ROWS, _PART = 300, 1 / 8  # entropy_weight='auto': rows that it looks at, and its part of the critical weight
_LEAST_WEIGHT = 1e-6  # its least value, which applies if there are fewer distinct rows than clusters
_CONSTANT = 1e-6  # part of the largest by which the lengths of precomputed feature vectors may differ and be one


class KFCCL(InductiveSoftClusterer):
    """Kernel fuzzy competitive learning: unit prototypes in the feature space of a kernel, learnt batch by batch.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters K.
    kernel : {'rbf', 'linear', 'precomputed'} or callable, default='rbf'
        ``'rbf'``: exp(-gamma |x - y|^2). ``'linear'``: the scalar product, so that similarities are cosines of the
        samples themselves. ``'precomputed'``: X is the symmetric matrix of the kernel. A callable ``kernel(X, Y)``
        gives the matrix of all pairs, as the functions of ``sklearn.metrics.pairwise`` do. Kernels are to be positive
        semi-definite with K(x, x) > 0.
    gamma : float or {'auto', 'scale', 'median'}, default='auto'
        Width of the RBF kernel. ``'scale'``: one over the summed variances of the features; ``'median'``: one over the
        median squared distance of two samples. ``'auto'``: the width at which two samples of a Gaussian cloud with the
        effective number of features of X have the mean similarity 1/9, which is 4 times ``'scale'`` for up to two
        features and less for more, as distances are then alike and a narrow kernel makes all samples dissimilar.
        All three times ``gamma_scale``.
    gamma_scale : float, default=1.0
        See ``gamma``.
    entropy_weight : float or 'auto', default='auto'
        Weight of the entropy: near 0 the memberships are hard, large values make them equal. ``'auto'``: 1/8 of the
        critical weight from which on fewer than K prototypes stay apart, by the (K - 1)-th eigenvalue of the feature
        vectors of at most 300 samples.
    learning_rate : float, default=0.3
        Step of the first epoch, at most 1e6.
    learning_decay : float, default=1.0
        How fast the step falls with the epochs; 0 keeps it.
    batch_size : int, default=64
        Samples that move the prototypes together; 1 is learning sample by sample.
    n_epochs : int, default=3
        Epochs of learning; with ``n_epochs=max_iter`` there is nothing else.
    n_init : int, default=10
        Starts; the one of smallest objective after the epochs is kept. They share the batches, so that more of them
        cost little.
    max_iter : int, default=300
        Epochs and passes over all samples after them, at most.
    tol : float, default=1e-4
        Converged when no similarity p_ik changes by more than this in a pass.
    random_state : int, RandomState or None, default=None
        Seed of the starts and of the batches.
    verbose : int, default=0
        1 prints a line per start, 2 a line per epoch and pass.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Rows sum to 1.
    labels_ : ndarray of shape (n_samples,)
        Cluster of largest membership.
    dual_coef_ : ndarray of shape (n_samples, n_clusters)
        The prototypes: v_k = sum_l dual_coef_[l, k] phi(x_l), phi of unit length.
    X_fit_ : array or sparse matrix of shape (n_samples, n_features)
        The training samples, which prediction compares with; not set for ``kernel='precomputed'``.
    gamma_ : float
        The width used; set for ``kernel='rbf'``.
    entropy_weight_ : float
        The weight of the entropy used.
    n_clusters_ : int
    objective_ : float
        J at the prototypes.
    objective_history_ : ndarray of shape (n_iter_,)
        J after each epoch and pass; it falls in every pass but need not in an epoch.
    n_iter_ : int
        Epochs and passes of the best start.
    converged_ : bool

    See Also
    --------
    soft_clustering.SoftKSC : spectral clustering with a kernel, for clusters of any shape.
    soft_clustering.ENTROPYFCM : the same memberships around centres in input space.

    Notes
    -----
    The text of [1]_ was not available to us: the model is a reconstruction from its title and from abstracts of the
    same group [2]_ (competitive learning, kernels, cosine correlation). The entropy, the batches, the passes after the
    epochs and both ``'auto'`` rules are ours.

    An epoch or a pass costs O(n^2 K) time, the kernel O(n^2 d). Its matrix of 8 n^2 bytes is held up to 256 MB (5792
    samples); above that the rows of a batch are computed anew every time, which takes longer but no memory. Of a
    precomputed matrix a normalised copy is made. The linear kernel needs no matrix: an epoch costs O(n K d). Otherwise
    prediction compares with all training samples: O(n (d + K)) for each new one.

    With wide kernels the method approaches k-means, with narrow ones dense clusters are divided before small ones are
    found: prototypes have length 1 however far the samples of a cluster spread.

    A precomputed kernel does not tell K(x, x) of new samples: prediction then needs a kernel with a constant diagonal,
    such as a normalised one. ``score`` is minus the objective.

    References
    ----------
    .. [1] K. Mizutani, S. Miyamoto (2005). Kernel-based fuzzy competitive learning clustering. FUZZ-IEEE.
    .. [2] K. Mizutani, R. Inokuchi, S. Miyamoto (2008). Algorithms of nonlinear document clustering based on fuzzy
       multiset model. International Journal of Intelligent Systems 23, 176-198.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from soft_clustering import KFCCL
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = KFCCL(n_clusters=3, random_state=0).fit(X)
    >>> model.memberships_.shape, model.dual_coef_.shape
    ((150, 3), (150, 3))
    >>> model.predict(X[:2]).tolist() == model.labels_[:2].tolist()
    True
    """

    dual_coef_: Array
    X_fit_: Any
    gamma_: float
    entropy_weight_: float
    objective_: float
    objective_history_: Array
    n_iter_: int
    converged_: bool
    _policy = Policy(monotone=False, place=None)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "kernel": [StrOptions({"rbf", "linear", "precomputed"}), callable],
        "gamma": [StrOptions({"auto", "scale", "median"}), Interval(Real, 0, None, closed="neither")],
        "gamma_scale": [Interval(Real, 0, None, closed="neither")],
        "entropy_weight": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "learning_rate": [Interval(Real, 0, 1e6, closed="right")],
        "learning_decay": [Interval(Real, 0, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "n_epochs": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        kernel: Kernel = "rbf",
        gamma: float | str = "auto",
        gamma_scale: float = 1.0,
        entropy_weight: float | str = "auto",
        learning_rate: float = 0.3,
        learning_decay: float = 1.0,
        batch_size: int = 64,
        n_epochs: int = 3,
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.gamma = gamma
        self.gamma_scale = gamma_scale
        self.entropy_weight = entropy_weight
        self.learning_rate = learning_rate
        self.learning_decay = learning_decay
        self.batch_size = batch_size
        self.n_epochs = n_epochs
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    # The protocol ---------------------------------------------------------------------------------------------------

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Learn the prototypes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            With ``kernel='precomputed'`` the kernel matrix (n_samples, n_samples). Sparse for ``'rbf'`` and
            ``'linear'``.
        y : ignored

        Returns
        -------
        self : object
        """
        with Fit[Array](self) as fit:
            X = self._validate_rows(X, reset=True)
            n = X.shape[0]
            check_enough_samples(n, self.n_clusters)
            rng = check_random_state(self.random_state)
            space = self._feature_space(X)
            self.entropy_weight_ = (
                automatic_entropy_weight(space, n, self.n_clusters)
                if isinstance(self.entropy_weight, str)
                else float(self.entropy_weight)
            )

            def store(run: Run[Array]) -> Iterator[str]:
                self.dual_coef_ = np.ascontiguousarray(run.state.T)
                # Computed anew, as prediction does it: the rounding of the steps has not added up there.
                V = space.vectors(self.dual_coef_)
                if self.kernel == "linear":
                    self._directions = V
                P = space.products(V, slice(None)).T
                memberships, objective = softmax(P, self.entropy_weight_)
                run.history[-1] = float(objective.sum())
                self._set_memberships(memberships.astype(X.dtype))
                return self._complaints(run, P)

            fit.stores(store)
            seeds = [kernel_seeds(space, n, self.n_clusters, rng) for _ in range(self.n_init)]
            self._learn(Prototypes(space, np.concatenate(seeds), n), fit, n, rng)
        return self

    @as_fitted
    def predict_memberships(self, X: MatrixLike) -> NDArray[Any]:
        """Memberships of new data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_features)
            With ``kernel='precomputed'`` the kernel (n_new, n_samples) with the training samples.

        Returns
        -------
        memberships : ndarray of shape (n_new, n_clusters)
        """
        X = self._validate_new_rows(X)
        return softmax(self._similarities(X), self.entropy_weight_)[0].astype(X.dtype)

    @as_fitted
    def score(self, X: MatrixLike, y: object = None) -> float:
        """Minus the objective on new data.

        Parameters
        ----------
        X : as for ``predict_memberships``
        y : ignored

        Returns
        -------
        score : float
        """
        return -float(softmax(self._similarities(self._validate_new_rows(X)), self.entropy_weight_)[1].sum())

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel in ("rbf", "linear")
        return tags

    def _validate_rows(self, X: MatrixLike, *, reset: bool) -> Any:
        return validate_kernel_rows(self, X, self.kernel, reset=reset, accept_sparse=self.kernel in ("rbf", "linear"))

    def _validate_new_rows(self, X: MatrixLike) -> Any:
        check_is_fitted(self, "dual_coef_")
        return self._validate_rows(X, reset=False)

    # The feature space ----------------------------------------------------------------------------------------------

    def _feature_space(self, X: Matrix) -> Space:
        """The feature vectors of the training rows, and what prediction needs for those of new ones."""
        if self.kernel == "precomputed":
            lengths, self._length = feature_lengths(np.diagonal(X)), None
            if np.ptp(lengths) <= _CONSTANT * lengths.max():
                self._length = lengths[:] = lengths.mean()
            return KernelSpace(np.asarray, cosines(X, lengths, lengths))
        self.X_fit_ = X
        if self.kernel == "linear":
            return LinearSpace(unit_rows(X))
        if self.kernel == "rbf":
            blocks = make_blocks(X)
            self.gamma_ = resolve_gamma(blocks, self.gamma, self.gamma_scale)
            self._gamma, self._frame = frame_gamma(blocks, self.gamma, self.gamma_scale), blocks.frame
        n, cosine_rows = X.shape[0], self._cosine_rows()
        if 8 * n * n > kernel_matrix.HELD:
            return KernelSpace(cosine_rows, X)
        held = np.empty((n, n))
        for part in pieces(n, n):
            held[part] = cosine_rows(X[part])
        return KernelSpace(np.asarray, held)

    def _cosine_rows(self) -> Callable[[Any], Array]:
        """The function that gives Khat of any rows with the training rows."""
        if self.kernel == "rbf":
            return RBFRows(self.X_fit_, self._frame, self._gamma)
        if not isinstance(self.kernel, str):
            return CosineRows(FunctionRows(self.kernel, self.X_fit_), self.X_fit_)
        if self._length is None:
            raise ValueError(
                "kernel='precomputed' predicts only if K(x, x) is the same for all samples of X, as it is not known "
                "for new ones. Fit and predict with K(x, y) / sqrt(K(x, x) K(y, y)) instead."
            )
        return lambda X: cosines(X, np.full(len(X), self._length), np.full(X.shape[1], self._length))

    def _similarities(self, X: Matrix) -> Array:
        """<v_k, phi(x_i)> of validated new rows, (n_new, K)."""
        with single_threaded_blas():
            if self.kernel == "linear":
                return np.asarray(unit_rows(X) @ self._directions.T)
            rows = self._cosine_rows()
            parts = pieces(X.shape[0], len(self.dual_coef_))
            return np.concatenate([rows(X[part]) @ self.dual_coef_ for part in parts])

    # The method -----------------------------------------------------------------------------------------------------

    def _learn(self, prototypes: Prototypes, fit: Fit[Array], n: int, rng: np.random.RandomState) -> None:
        """The epochs of all starts at once, on the same batches, then passes of the best."""
        K, T = self.n_clusters, self.entropy_weight_
        runs = [Run(A, [objective]) for A, objective, _ in self._standing(prototypes, prototypes.similarities())]
        fit.runs = runs
        for epoch in range(min(self.n_epochs, self.max_iter)):
            before = prototypes.similarities()
            eta = self.learning_rate / (1 + self.learning_decay * epoch)
            order = rng.permutation(n)
            for lo in range(0, n, self.batch_size):
                batch = order[lo : lo + self.batch_size]
                P = prototypes.similarities(batch)
                U = softmax(P.reshape(-1, K, len(batch)), T, axis=1)[0].reshape(P.shape)
                prototypes.learn(batch, eta * U, P)
            self._record(prototypes, fit, before)
        best = min(range(len(runs)), key=lambda i: runs[i].history[-1])
        prototypes.keep(slice(best * K, (best + 1) * K))
        run = runs[best]
        fit.runs = [run]
        for _ in range(self.n_epochs, self.max_iter):
            before = prototypes.similarities()
            prototypes.settle(softmax(before, T, axis=0)[0])
            self._record(prototypes, fit, before)
            run.converged = run.residual <= self.tol
            if run.converged:
                break
        for number, run in enumerate(runs, 1):
            fit.report_start(number, run)

    def _standing(self, prototypes: Prototypes, before: Array) -> Iterator[tuple[Array, float, float]]:
        """Coefficients, objective and the largest change of the similarities from those before, start by start."""
        P = prototypes.similarities()
        each = (-1, self.n_clusters, P.shape[1])
        objective = softmax(P.reshape(each), self.entropy_weight_, axis=1)[1].sum(axis=1)
        change = np.abs(P - before).reshape(each).max(axis=(1, 2))
        coefficients = np.split(prototypes.coefficients(), len(objective))
        return zip(coefficients, objective.tolist(), change.tolist(), strict=True)

    def _record(self, prototypes: Prototypes, fit: Fit[Array], before: Array) -> None:
        """Bring the runs up to date after a pass; the first objective takes the place of that of the start."""
        for run, (A, objective, change) in zip(fit.runs, self._standing(prototypes, before), strict=True):
            run.history[run.n_iter :] = [objective]
            run.state, run.residual = A, change
            run.n_iter += 1
            fit.report(run)

    def _complaints(self, run: Run[Array], P: Array) -> Iterator[str]:
        K = self.n_clusters
        if self.max_iter != self.n_epochs:
            yield from not_converged(self, run, passes="epochs and passes")
        if K == 1:
            return
        products = self.dual_coef_.T @ P  # of two prototypes
        distinct = K - int(np.any(np.tril(2 - products - products.T <= _SAME, -1), axis=1).sum())
        if rows_alike(self.memberships_):
            yield (
                "KFCCL collapsed: all samples have the same memberships; try a smaller entropy_weight or a larger gamma"
            )
        elif distinct < K:
            yield (
                f"KFCCL found {distinct} distinct prototypes, fewer than n_clusters={K}: there may be duplicate points "
                "in X; use fewer clusters or a smaller entropy_weight"
            )


class KernelSpace:
    """Feature vectors phi(x_i) of length 1, known by their products with all of them: rows of Khat."""

    def __init__(self, cosine_rows: Callable[[Any], Array], X: Matrix) -> None:
        self._cosine_rows, self._X = cosine_rows, X

    def rows(self, indices: Indices) -> Array:
        """Some feature vectors: their products with all, (rows, n)."""
        return self._cosine_rows(self._X[indices])

    def vectors(self, coefficients: Array) -> Array:
        """Vectors with coefficients (n, K), given like ``rows``."""
        n = self._X.shape[0]
        return np.concatenate([self.rows(part) @ coefficients for part in pieces(n, n)]).T

    def products(self, V: Array, indices: Indices) -> Array:
        """Products of vectors with some feature vectors."""
        return V[:, indices]


class LinearSpace:
    """Feature vectors that are rows of length 1, dense or CSR."""

    def __init__(self, Z: Matrix) -> None:
        self._Z = Z

    def rows(self, indices: Indices) -> Array:
        """Some feature vectors, (rows, d)."""
        Z: Any = self._Z[indices]
        return np.asarray(Z.toarray() if sparse.issparse(Z) else Z)

    def vectors(self, coefficients: Array) -> Array:
        """Vectors with coefficients (n, K)."""
        return np.asarray((self._Z.T @ coefficients).T)

    def products(self, V: Array, indices: Indices) -> Array:
        """Products of vectors with some feature vectors."""
        return np.asarray((self._Z[indices] @ V.T).T)


Space: TypeAlias = "KernelSpace | LinearSpace"


class Prototypes:
    """Unit vectors in a feature space, and their coefficients (prototypes, n) of the training rows.

    Both are kept up to one factor per prototype: to scale a prototype back to length 1 is then to scale its factor.
    """

    def __init__(self, space: Space, seeds: NDArray[np.intp], n: int) -> None:
        self._space = space
        self._V = space.rows(seeds)
        self._A = np.zeros((len(seeds), n))
        self._A[np.arange(len(seeds)), seeds] = 1
        self._factor = np.ones(len(seeds))

    def coefficients(self) -> Array:
        """A copy of the coefficients."""
        return self._A * self._factor[:, None]

    def similarities(self, indices: Indices = slice(None)) -> Array:
        """Products with some training rows, (prototypes, rows)."""
        return self._space.products(self._V, indices) * self._factor[:, None]

    def learn(self, batch: NDArray[np.intp], G: Array, P: Array) -> None:
        """v_k <- (v_k + sum_b G_kb phi(x_b)) / its length; P are the similarities of the batch."""
        rows = self._space.rows(batch)
        square = 1 + 2 * np.einsum("kb,kb->k", G, P) + np.einsum("kb,kb->k", G @ self._space.products(rows, batch), G)
        stays = square <= _VANISHED  # opposite samples have cancelled it
        G[stays], square[stays] = 0, 1
        G /= self._factor[:, None]
        self._V += G @ rows
        self._A[:, batch] += G
        self._factor /= np.sqrt(square)
        if self._factor.min() < _SMALL:
            self.keep(slice(None))

    def settle(self, U: Array) -> None:
        """v_k <- sum_i U_ki phi(x_i) / its length, with memberships (prototypes, n)."""
        V = self._space.vectors(U.T)
        square = np.einsum("kn,kn->k", U, self._space.products(V, slice(None)))
        moves = square > _VANISHED * np.square(U.sum(axis=1))  # else opposite samples have cancelled it
        self._V[moves], self._A[moves], self._factor[moves] = V[moves], U[moves], 1 / np.sqrt(square[moves])

    def keep(self, which: Indices) -> None:
        """Drop all others, and multiply the factors out."""
        factor = self._factor[which, None]
        self._V, self._A = self._V[which] * factor, self._A[which] * factor
        self._factor = np.ones(len(factor))


def softmax(P: Array, entropy_weight: float, axis: int = -1) -> tuple[Array, Array]:
    """Memberships, proportional to exp(p / T), T the entropy weight, and the objective 1 - T log sum exp(p / T).

    Examples
    --------
    >>> memberships, objective = softmax(np.array([[0.5, 0.5]]), 1.0)
    >>> memberships
    array([[0.5, 0.5]])
    >>> bool(objective[0] == 0.5 - np.log(2))
    True
    """
    top = P.max(axis=axis, keepdims=True)
    with np.errstate(over="ignore", under="ignore"):
        U = np.exp((P - top) / entropy_weight)
        total = U.sum(axis=axis, keepdims=True)
        U /= total
        return U, (1 - top - entropy_weight * np.log(total)).squeeze(axis)


def automatic_entropy_weight(space: Space, n: int, K: int) -> float:
    """A part of the weight from which on fewer than K prototypes stay apart, by some evenly spaced rows.

    With equal memberships all prototypes are m / |m|, m the mean of the feature vectors. A small difference w between
    them, orthogonal to m, becomes mean_i(phi_i phi_i') w / (T |m|) in a pass with the entropy weight T, so that it
    grows where T is below the eigenvalue of w over |m|. K prototypes need K - 1 such directions.
    """
    rows = np.unique(np.linspace(0, n - 1, _ROWS).astype(np.intp))
    G = space.products(space.rows(rows), rows)
    to_mean = G.mean(axis=0)
    square = float(to_mean.mean())
    if square <= _VANISHED:
        return _LEAST_WEIGHT
    eigenvalues = eigvalsh(G - np.outer(to_mean, to_mean) / square)[::-1] / len(rows)
    critical = float(eigenvalues[min(max(K - 2, 0), len(rows) - 1)]) / np.sqrt(square)
    return float(max(_PART * critical, _LEAST_WEIGHT))


def kernel_seeds(space: Space, n: int, K: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Rows drawn by greedy k-means++ in feature space, where squared distances are 2 (1 - Khat)."""

    def distances(indices: Indices) -> Array:
        return np.maximum(1 - space.products(space.rows(indices), slice(None)), 0).T

    uniforms = rng.uniform(size=(K, 2 + int(np.log(K))))
    return greedy_seeds(distances, np.ones(n), np.arange(n), [uniforms[0, :1], *uniforms[1:]])


class CosineRows:
    """K(x, y) / sqrt(K(x, x) K(y, y)) of any rows x with fixed rows y."""

    def __init__(self, kernel: FunctionRows, Y: Matrix) -> None:
        self._kernel, self._lengths = kernel, feature_lengths(kernel.diagonal(Y))

    def __call__(self, X: Matrix) -> Array:
        """The cosines (rows, n)."""
        return cosines(self._kernel(X), feature_lengths(self._kernel.diagonal(X)), self._lengths)


def feature_lengths(diagonal: Array) -> Array:
    """Lengths sqrt(K(x, x)) of feature vectors, which must be positive."""
    if not (diagonal > 0).all():
        raise ValueError(
            f"kernel must have K(x, x) > 0 for every sample of X. Got {diagonal.min():.3g} for sample "
            f"{int(diagonal.argmin())} instead."
        )
    return np.sqrt(diagonal, dtype=np.float64)


def cosines(K: NDArray[Any], lengths: Array, fixed_lengths: Array) -> Array:
    """K(x_i, y_j) / (|phi(x_i)| |phi(y_j)|)."""
    C: Array = K / lengths[:, None]
    C /= fixed_lengths
    largest = max(float(C.max()), -float(C.min()))
    if largest > 1 + _ABOVE_ONE:
        raise ValueError(
            "kernel must be positive semi-definite, so that |K(x, y)| <= sqrt(K(x, x) K(y, y)). Got a pair of samples "
            f"of X that exceeds it by a factor of {largest:.3g} instead."
        )
    return C


def unit_rows(X: Any) -> Any:
    """Rows of length 1 in float64, dense or CSR."""
    is_sparse = sparse.issparse(X)
    X = X.astype(np.float64)
    # In units of the largest entry of a row, as squares of very small or large entries underflow or overflow.
    for norm in (np.inf, 2):
        lengths = sparse_norm(X, norm, axis=1) if is_sparse else np.linalg.norm(X, norm, axis=1)
        if not lengths.all():
            raise ValueError(
                f"kernel='linear' must have K(x, x) > 0 for every sample of X. Got 0 for sample "
                f"{int(lengths.argmin())} instead."
            )
        if is_sparse:
            X.data /= np.repeat(lengths, np.diff(X.indptr))
        else:
            X /= lengths[:, None]
    return X
