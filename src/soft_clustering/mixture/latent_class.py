"""Latent class analysis: a mixture of products of categorical distributions.

Maximise the mean log likelihood of what is there of each row, the columns O,

    p(x_O) = sum_k pi_k prod_{j in O} theta_kj[x_j]

with a normal density N(x_j | mu_kj, s2_kj) for a column of numbers: given the class, the columns are independent.

* E: r_ik = pi_k prod_{j in O_i} theta_kj[x_ij] / p(x_i,O);
* M: pi_k, and the share of each category among the rows of the class that have the column; means and variances of
  numbers, also over the rows that have them.

Equal rows are counted once and weighted by their number: a questionnaire has few different rows.

References
----------
P. F. Lazarsfeld, N. W. Henry (1968). Latent Structure Analysis. Houghton Mifflin.
L. A. Goodman (1974). Exploratory latent structure analysis using both identifiable and unidentifiable models.
Biometrika 61(2), 215-231.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from math import prod
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._types import Array, Seed
from ..engine.alternating import PARAMETERS
from ..engine.blocks import Block, Blocks, Frame, fit_frame, make_blocks, rows_to_keep
from ..engine.loop import Policy, Run
from ..inputs.categories import Coding, coding_of, equal_rows, validate_table, values_of
from ..inputs.features import check_enough_samples, is_dask, validate_weights
from ..inputs.values import Levels
from ..kernels import EMPTY
from ..kernels.categories import CategoryStatistics, Densities, category_memberships, category_statistics
from .base import LIKELIHOOD, InformationCriteria, count_distinct
from .derived import derived_blocks

_TINY = 1e-300  # the least probability of a category, and the least weight of a class

_MIXTURE = replace(LIKELIHOOD, missing=True, needs_rows=False)  # equal rows are one: fit counts the rows itself
_SMOOTHED = replace(_MIXTURE, monotone=False)  # the prior counts, too, and may outweigh the likelihood


class Classes(NamedTuple):
    """The parameters; means and variances are in the coordinates of the frame."""

    weights: Array  # (K,)
    probabilities: Array  # (categories, K), those of a column below each other
    edges: NDArray[np.int64]  # where the categories of each column begin, and at last their number
    means: Array  # (K, p)
    variances: Array  # (K, p)

    def to_vector(self) -> Array:
        """Square roots of the weights and probabilities, means and logarithms of the variances."""
        parts = np.sqrt(self.weights), np.sqrt(self.probabilities), self.means, np.log(self.variances)
        return np.concatenate([part.ravel() for part in parts])

    def from_vector(self, vector: Array) -> Classes:
        """Classes like these, from a vector."""
        parts = np.split(vector, np.cumsum([self.weights.size, self.probabilities.size, self.means.size]))
        weights = parts[0] ** 2
        probabilities = shares_of(parts[1].reshape(self.probabilities.shape) ** 2, self.edges)
        # A proposal may lie anywhere: clip it to the range in which the exponential is finite.
        variances = np.exp(np.clip(parts[3], -600, 600)).reshape(self.means.shape)
        means = parts[2].reshape(self.means.shape)
        return Classes(weights / weights.sum(), probabilities, self.edges, means, variances)


def shares_of(counts: Array, edges: NDArray[np.int64], others: Array | float = 0.0) -> Array:
    """The shares (categories, K) of the counts in the sums of their columns; ``others`` where a sum is 0.

    Examples
    --------
    >>> shares_of(np.array([[1.0], [3.0], [0.0]]), np.array([0, 2, 3]), 0.5)
    array([[0.25],
           [0.75],
           [0.5 ]])
    """
    sums = np.add.reduceat(counts, edges[:-1], axis=0) if len(counts) else counts
    sums = np.repeat(sums, np.diff(edges), axis=0)
    return np.where(sums >= EMPTY, counts / np.maximum(sums, EMPTY), others)


class LatentClass(InformationCriteria[Classes, CategoryStatistics]):
    """Latent class analysis: clusters of rows of categories, also beside numbers and with missing values.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of classes K.
    numeric_features : 'auto', None or array-like, default='auto'
        The columns of X that are numbers and not categories: their indices, a mask, or the names of columns of a data
        frame. None takes all columns as categories; then a column of more than 50 values that are not all whole is an
        error. ``'auto'`` takes columns of texts as categories, and those of numbers if they look like codes: at most 50
        different whole numbers between -999 and 999.
    smoothing : float, default=0.0
        Rows that are added to each class and column, with the shares of the categories in all rows. With 0 the
        likelihood is maximal, and a category that a class has not got has probability 0 there.
    reg_covar : float, default=1e-6
        Added to the variances of the numbers, in squared units of the data.
    init : {'random'} or array of shape (n_samples, n_clusters), default='random'
        Starting memberships: drawn uniformly for each different row, or an array whose rows sum to 1, which forces one
        start.
    n_init : int, default=10
        Starts; the one of largest likelihood is kept.
    max_iter : int, default=1000
        EM passes per start.
    tol : float, default=1e-8
        Converged when the mean log likelihood changes by at most this.
    accelerate : bool, default=True
        Anderson acceleration.
    random_state : int, RandomState or None, default=None
        Seed of the starts and of ``sample``.
    verbose : int, default=0
        1 prints a line per start, 2 a line per pass.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Posterior probabilities; rows sum to 1. Those of a row without any value are the weights.
    labels_ : ndarray of shape (n_samples,)
        Class of largest posterior.
    weights_ : ndarray of shape (n_clusters,)
        Shares of the classes, sum 1.
    categories_ : list of ndarray
        The categories of each column that has categories, sorted, in the order of the columns; numbers as floats.
    probabilities_ : list of ndarray of shape (n_clusters, n_categories)
        Their probabilities in each class, in the same order; rows sum to 1.
    numeric_features_ : ndarray of shape (n_features,)
        Which columns are numbers.
    numeric_means_, numeric_variances_ : ndarray of shape (n_clusters, n_numeric_features)
        Means and variances of the numbers.
    centers_ : ndarray of shape (n_clusters, n_features)
        Means of all columns, only if no column holds texts: of numbers, and of the codes of categories (for codes 0 and
        1 the probability of 1).
    n_parameters_ : int
        Number of free parameters.
    n_clusters_ : int
    objective_ : float
        Mean log likelihood at the stored parameters.
    objective_history_ : ndarray
        Mean log likelihood at each parameter set visited, the last one included.
    n_iter_ : int
    converged_ : bool

    See Also
    --------
    soft_clustering.GMM : numbers only, correlated ones.

    Notes
    -----
    X may be a data frame, an array of numbers or texts, or a list of rows; NaN, None and ``pandas.NA`` are missing, and
    are absent at random given what is there. Integers and booleans are names of categories, so that an order of them
    does not matter; 1 and 1.0 are the same category, and '1' is another one. New data must not have categories that
    were not there in ``fit``. A Dask array must hold numbers.

    A category of probability 0 in every class (only possible for a combination of categories) leaves the posterior to
    the other columns, and takes about 690 from the log likelihood of the row; ``smoothing=1`` avoids it. A column of
    which a class has no value gets the shares of all rows there. With more free parameters than different answers a
    model is not identifiable: its likelihood is right, but other parameters have the same, and a warning says so.

    A pass costs O(n K d) time for n different rows, however many categories there are; memory beyond X and
    ``memberships_`` is a copy of the different rows. The start for each different row, the columns without values and
    the acceleration are ours.

    References
    ----------
    .. [1] P. F. Lazarsfeld, N. W. Henry (1968). Latent Structure Analysis. Houghton Mifflin.
    .. [2] L. A. Goodman (1974). Exploratory latent structure analysis using both identifiable and unidentifiable
       models. Biometrika 61(2), 215-231.

    Examples
    --------
    >>> import numpy as np
    >>> from soft_clustering import LatentClass
    >>> rows = [["tea", "milk", 5], ["tea", "none", 4], ["coffee", "sugar", 8], [None, "sugar", 8], ["tea", "milk", 5]]
    >>> model = LatentClass(n_clusters=2, random_state=0).fit(rows * 20)
    >>> model.categories_[0]
    array(['coffee', 'tea'], dtype=object)
    >>> model.predict([["tea", None, None]]) == model.labels_[0]
    array([ True])
    """

    weights_: Array
    categories_: list[Levels]
    probabilities_: list[Array]
    numeric_features_: NDArray[np.bool_]
    numeric_means_: NDArray[Any]
    numeric_variances_: NDArray[Any]
    n_parameters_: int
    _coding: Coding
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "numeric_features": [StrOptions({"auto"}), None, "array-like"],
        "smoothing": [Interval(Real, 0, None, closed="left")],
        "reg_covar": [Interval(Real, 0, None, closed="left")],
        "init": [StrOptions({"random"}), "array-like"],
        "accelerate": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        numeric_features: str | ArrayLike | None = "auto",
        smoothing: float = 0.0,
        reg_covar: float = 1e-6,
        init: str | ArrayLike = "random",
        n_init: int = 10,
        max_iter: int = 1000,
        tol: float = 1e-8,
        accelerate: bool = True,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.numeric_features = numeric_features
        self.smoothing = smoothing
        self.reg_covar = reg_covar
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.accelerate = accelerate
        self.random_state = random_state
        self.verbose = verbose

    @property
    def _policy(self) -> Policy:  # type: ignore[override]
        return _SMOOTHED if self.smoothing else _MIXTURE

    # The rows: numbers as they are, categories as what stands for them ------------------------------------------------

    def _blocks(self, X: Any, sample_weight: ArrayLike | None = None, frame: Frame | None = None) -> Blocks:
        rows, gaps, texts = validate_table(self, X, None if frame is None else self._coding.texts)
        weight = validate_weights(sample_weight, rows)
        if frame is not None:
            return make_blocks(rows, weight, frame, gaps=gaps)
        blocks = make_blocks(rows, weight, gaps=gaps) if is_dask(rows) else self._distinct_rows(rows, weight, gaps)
        every = values = blocks.reduce(values_of)
        if weight is not None:
            every = make_blocks(rows, None, Frame(np.zeros(blocks.d), 1.0), gaps=gaps).reduce(values_of)
        self._coding = coding_of(self, self.numeric_features, texts, values, every)
        return blocks.in_frame(self._frame_of_numbers(blocks), blocks.mean_variance)

    def _frame_of_numbers(self, blocks: Blocks) -> Frame:
        """A frame with the numbers in units of their standard deviations, and the categories as they are."""
        scaled, _ = fit_frame(blocks, "standard")
        numeric = self._coding.numeric
        return Frame(np.where(numeric, scaled.shift, 0.0), np.where(numeric, scaled.scale, 1.0), scaled.gaps)

    def _distinct_rows(self, rows: Array, weight: Array | None, gaps: bool) -> Blocks:
        """Each different row once, with the weight of all rows that are equal to it; all rows if a start names them."""
        keep = rows_to_keep(rows, weight, gaps)
        kept = np.arange(len(rows)) if keep is None else np.flatnonzero(keep)
        check_enough_samples(len(kept), self.n_clusters)
        if not isinstance(self.init, str):
            return make_blocks(rows, weight, gaps=gaps)
        first, member = equal_rows(rows[kept])
        numbers = np.bincount(member, None if weight is None else weight[kept]).astype(np.float64)
        blocks = make_blocks(rows[kept[first]], numbers, gaps=gaps)
        blocks.kept = kept[first]
        return blocks

    # The method -----------------------------------------------------------------------------------------------------

    def _starting_memberships(self, blocks: Blocks, rng: np.random.RandomState, start: int) -> Array:
        if isinstance(self.init, str):
            drawn: Array = rng.dirichlet(np.ones(self.n_clusters), size=blocks.n)
            return drawn
        return super()._starting_memberships(blocks, rng, start)

    def _from_memberships(self, blocks: Blocks, memberships: Array) -> Classes:
        K, p, edges = self.n_clusters, int(self._coding.numeric.sum()), self._coding.edges
        origin = Classes(np.full(K, 1 / K), np.zeros((edges[-1], K)), edges, np.zeros((K, p)), np.ones((K, p)))
        parts = (
            category_statistics(rows, self._densities(origin), np.ascontiguousarray(own[here]))
            for block, own in zip(blocks.blocks, blocks.split(memberships), strict=True)
            for here, rows in derived_blocks(block, self._coding.columns)
        )
        state = self._update(origin, reduce(CategoryStatistics.merge, parts), blocks)
        return state._replace(weights=origin.weights) if isinstance(self.init, str) else state

    def _statistics(self, block: Block, state: Classes) -> CategoryStatistics:
        densities = self._densities(state)
        parts = (category_statistics(rows, densities) for _, rows in derived_blocks(block, self._coding.columns))
        return reduce(CategoryStatistics.merge, parts)

    def _update(self, state: Classes, statistics: CategoryStatistics, blocks: Blocks) -> Classes:
        weight, counts, edges = statistics.weight, statistics.counts, state.edges
        marginal = shares_of(counts.sum(axis=1, keepdims=True), edges)
        probabilities = shares_of(counts + self.smoothing * marginal, edges, marginal)
        numbers = self._numbers(state, statistics, blocks) if state.means.size else (state.means, state.variances)
        return Classes(weight / weight.sum(), probabilities, edges, *numbers)

    def _numbers(self, state: Classes, statistics: CategoryStatistics, blocks: Blocks) -> tuple[Array, Array]:
        """Means and variances of the numbers; those of which a class has no value stay."""
        mass = statistics.weight[:, None] if statistics.seen is None else statistics.seen
        there, mass = mass >= EMPTY, np.maximum(mass, EMPTY)
        step = np.where(there, statistics.first / mass, 0.0)
        scatter = np.maximum(statistics.second / mass - step * step, 0)
        variances = np.where(there, scatter + self._ridge(blocks.frame), state.variances)
        if not variances.min() > _TINY:
            k, j = np.argwhere(~(variances > _TINY))[0].tolist()
            name = self._coding.names[np.flatnonzero(self._coding.numeric)[j]]
            raise ValueError(
                f"The variance of column {name} is 0 in class {k}: it holds too few distinct values of X. Increase "
                f"reg_covar (got {self.reg_covar:g}), decrease n_clusters (got {self.n_clusters}), or scale X."
            )
        return state.means + step, variances

    def _ridge(self, frame: Frame) -> Array:
        """What is added to the variances, in the coordinates of the frame."""
        numeric = self._coding.numeric
        unit = np.broadcast_to(frame.scale, numeric.shape)[numeric]
        with np.errstate(over="ignore", under="ignore"):
            ridge: Array = np.minimum(self.reg_covar * unit * unit, 1e200)
        return ridge

    def _densities(self, state: Classes) -> Densities:
        """The classes as the kernels read them."""
        factors = 1 / np.sqrt(state.variances)
        constants = np.log(np.maximum(state.weights, _TINY)) + np.log(factors / np.sqrt(2 * np.pi)).sum(axis=1)
        return Densities(state.means, factors, constants, np.log(np.maximum(state.probabilities, _TINY)), state.edges)

    def _posteriors(self, block: Block, state: Classes) -> tuple[NDArray[Any], Array]:
        U, likelihoods = np.empty((block.n, len(state.weights)), dtype=block.X.dtype), np.empty(block.n)
        for here, rows in derived_blocks(block, self._coding.columns):
            U[here], likelihoods[here] = category_memberships(rows, self._densities(state))
        return U, likelihoods

    def _store(self, state: Classes, statistics: CategoryStatistics, blocks: Blocks) -> None:
        coding, K = self._coding, self.n_clusters
        self.weights_, self.categories_ = state.weights, coding.categories
        self.numeric_features_ = numeric = coding.numeric
        shares = np.split(state.probabilities, state.edges[1:-1]) if self.categories_ else []
        self.probabilities_ = [part.T.copy() for part in shares]
        centers, scale = np.zeros((K, blocks.d)), np.broadcast_to(blocks.frame.scale, numeric.shape)[numeric]
        centers[:, numeric] = state.means
        for j, codes, own in zip(np.flatnonzero(~numeric), coding.entries, self.probabilities_, strict=True):
            centers[:, j] = own @ codes
        centers = blocks.frame.to_input(centers).astype(blocks.dtype)
        self.numeric_means_ = centers[:, numeric]
        with np.errstate(over="ignore"):  # the squares of data beyond 1e154 overflow
            self.numeric_variances_ = state.variances / scale / scale
        if all(known is None for known in coding.texts):
            self.centers_ = centers
        self._n_answers = [int((own.max(axis=0) > 0).sum()) for own in self.probabilities_]
        self.n_parameters_ = K - 1 + K * (sum(self._n_answers) - len(self._n_answers) + 2 * int(numeric.sum()))

    def _complaints(self, run: Run[Classes], blocks: Blocks) -> list[str]:
        complaints, rows = super()._complaints(run, blocks), prod(self._n_answers)
        if not self.numeric_features_.any() and self.n_parameters_ > rows - 1:
            complaints.append(
                f"LatentClass is not identifiable: it has {self.n_parameters_} free parameters, but the shares of the "
                f"{rows} possible rows have only {rows - 1}; use fewer clusters or more features"
            )
        return complaints

    def _n_distinct(self, state: Classes) -> int:
        parts = state.probabilities.T, state.means, np.log(state.variances)
        return count_distinct(np.hstack(parts))

    def _n_parameters(self) -> int:
        return self.n_parameters_

    def sample(self, n_samples: int = 1) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """Draw from the fitted mixture.

        Parameters
        ----------
        n_samples : int, default=1

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Of objects if a column holds texts.
        labels : ndarray of shape (n_samples,)
            The class that each row was drawn from.
        """
        check_is_fitted(self)
        rng, labels = self._draw_components(n_samples, self.weights_)
        X = np.empty((n_samples, self.n_features_in_), dtype=float if hasattr(self, "centers_") else object)
        noise = rng.standard_normal((n_samples, int(self.numeric_features_.sum())))
        X[:, self.numeric_features_] = self.numeric_means_[labels] + np.sqrt(self.numeric_variances_[labels]) * noise
        columns = zip(np.flatnonzero(~self.numeric_features_), self.categories_, self.probabilities_, strict=True)
        for j, categories, shares in columns:
            below = shares.cumsum(axis=1)[labels, :-1]
            X[:, j] = categories[(rng.uniform(size=(n_samples, 1)) > below).sum(axis=1)]
        return X, labels

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags
