"""Fuzzy k-prototypes: fuzzy c-means for numbers and categories.

A prototype has a mean for each column of numbers, and for each column t of categories the shares p_kt of its values.
With the indicators z_it of the value of a row, the weight g of a column of categories and

    D_ik = s_i (sum_numbers (x_if - v_kf)^2 + (g / 2) sum_categories |z_it - p_kt|^2),

minimise J = sum_ik w_i u_ik^m D_ik over memberships with sum_k u_ik = 1 and over prototypes, by turns, exactly:

* u_ik = D_ik^(-1/(m-1)) / sum_l D_il^(-1/(m-1));
* v_kf and p_kt are the means of x_if and z_it over the rows that have the column, with weights w_i s_i u_ik^m.

A missing value is left out, and s_i makes up for it: the number of all columns by that of those that the row has, where
a column of categories counts as much as it adds to the squared distances, beside one of numbers. Without columns of
numbers this is fuzzy k-modes with shares as prototypes; modes as prototypes, one value of each column, are an option.

Indicators are never written out: |z - p|^2 depends on the value of the row and the prototype only, so that a pass looks
up a number for each value of a row, however many categories there are.

References
----------
Z. Huang, M. K. Ng (1999). A fuzzy k-modes algorithm for clustering categorical data. IEEE Trans. Fuzzy Systems 7(4),
446-452.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions

from .._types import Array, Indices, MatrixLike, Seed
from ..engine.alternating import PARAMETERS, new_centers
from ..engine.blocks import Block, Blocks, Frame, Scaling, make_blocks
from ..engine.collapse import coinciding, duplicates
from ..engine.initialisation import greedy_seeds
from ..engine.loop import Policy, Run, no_units, squared_units
from ..engine.noise import NOISE, NoiseClusterer
from ..inputs.features import is_dask, validate_matrix, validate_weights
from ..inputs.mixed import validate_prototypes, validate_table
from ..kernels import EMPTY
from ..kernels.centers import CenterStatistics
from ..kernels.reference import beside_noise, fcm_rule
from .fuzzifier import resolve_fuzzifier, smaller
from .mixed_rows import MixedSpace, Part, mixed_blocks


class FuzzyKPrototypes(NoiseClusterer[Array, CenterStatistics]):
    """Fuzzy k-prototypes: fuzzy c-means for tables of numbers and categories; of categories only, fuzzy k-modes.

    Each sample belongs to every cluster to a degree that falls with its distance to the cluster's prototype: the means
    of the numbers, and the shares of the categories of each column.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters K.
    m : float or 'auto', default='auto'
        Fuzzifier, > 1. ``'auto'`` is the rule of ``FCM``, in which a column of L categories counts as L - 1 features: 2
        for up to about 5, falling towards 1 as more are added. With 2 and some columns of categories all memberships
        become equal.
    categorical_features : 'from_dtype', None or array-like, default='from_dtype'
        The columns of categories: names of columns of a data frame, indices, or a mask. ``'from_dtype'`` takes the
        columns of a data frame of type category, object, string or bool, and no column of an array. None: all columns
        are numbers. Integers are numbers unless their column is named.
    categorical_weight : float or 'auto', default='auto'
        Weight g of a column of categories: what two samples with different categories there are apart, squared.
        ``'auto'`` makes both kinds of columns count alike: g / 2 times the mean probability that two samples have
        different categories is the mean variance of the columns of numbers, which is 1 if they are scaled. Columns
        without variation are left out of these means. Without numbers g is 1, as it is only the unit then.
    centroid : {'frequency', 'mode'}, default='frequency'
        What stands for the categories in a cluster: the shares of the categories, or in each column the most frequent
        one [1]_ (the first of several in the order of ``categories_``).
    scaling : {'standard', None}, default='standard'
        ``'standard'`` scales each column of numbers to variance 1.
    noise_distance : float, 'auto' or None, default=None
        Distance of all samples to one more cluster, which takes the outliers: noise clustering [4]_, in the units that
        the method works in (see ``scaling``). ``'auto'``: the square is ``noise_scale`` times the median squared
        distance of a sample to its nearest prototype, in a fit without noise. None: there is no such cluster.
    noise_scale : float, default=10.0
        For ``noise_distance='auto'``. Small values make more samples noise; below 4 they may take whole clusters.
    init : 'k-means++', array or data frame of shape (n_clusters, n_features), default='k-means++'
        Starting prototypes: drawn samples, or complete rows with the columns of X, which force one start.
    n_init : int, default=5
        Starts; the one of smallest objective is kept.
    max_iter : int, default=300
        Passes over the data per start.
    tol : float, default=1e-6
        Converged when the prototypes move by at most ``tol`` times the root mean variance of the columns.
    accelerate : bool, default=True
        Anderson acceleration: the same optimum in fewer passes.
    random_state : int, RandomState or None, default=None
        Seed of the starts.
    verbose : int, default=0
        1 prints a line per start, 2 a line per pass.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Rows sum to 1; with noise to 1 - ``noise_mass_``.
    labels_ : ndarray of shape (n_samples,)
        Cluster of largest membership; -1 for noise.
    noise_mass_ : ndarray of shape (n_samples,)
        Membership in the noise, if there is a ``noise_distance``.
    noise_distance_ : float
        The distance used.
    centers_ : ndarray of shape (n_clusters, n_numbers)
        The means of the columns of numbers, in input units.
    frequencies_ : list of ndarray of shape (n_clusters, n_categories)
        For each column of categories the shares of these among the weighted samples of a cluster; rows sum to 1.
    modes_ : ndarray of shape (n_clusters, n_categorical)
        The most frequent category of each column.
    categories_ : list of ndarray
        For each column of categories the sorted values that it has in X.
    is_categorical_ : ndarray of shape (n_features,)
        Which columns have categories.
    categorical_weight_ : float
        The weight g used.
    n_clusters_ : int
    m_ : float
        The fuzzifier used.
    objective_ : float
        J at the prototypes; see Notes.
    objective_history_ : ndarray
        J at each set of prototypes visited, the last one included.
    n_iter_ : int
        Passes of the best start.
    converged_ : bool

    See Also
    --------
    soft_clustering.FCM : numbers only; the same on features that ``prepare`` makes of a table.

    Notes
    -----
    With means v and shares p of the prototypes, and indicators z of the categories of a sample, J is the sum of
    w u^m D over samples and clusters, where

        D = s (sum_numbers (x - v)^2 + (g / 2) sum_categories |z - p|^2).

    No pass raises it. With ``centroid='mode'`` p has a 1 at the mode and else zeros, so that a column counts g if the
    categories differ. ``score`` is minus the objective.

    Missing values (NaN, None, ``pandas.NA``) are left out, and s makes up for them: with the automatic weight it is the
    number of columns by that of the columns that the sample has; otherwise each kind of column counts in it by what it
    adds to the squared distances. Values are taken to be absent at random given what is there. A sample without any
    value belongs to all clusters equally; in ``fit`` it has no influence, and a warning says so. A cluster none of
    whose samples has a column gets the shares of all samples there.

    In new data a category that was not there in ``fit`` is one that no cluster has, and not a missing value. A column
    whose values are all of another type than in ``fit`` is refused, and so are other columns, or the same ones in
    another order. A Dask array must hold numbers only.

    [2]_ uses shares, too, but measures by 1 - p at the category of the sample. Of this distance the modes are the
    minimisers and not the shares, so that updates by shares do not lower the objective; the squared distance of
    indicators makes shares the exact minimisers. The automatic weight g, the factor s and the start are ours.

    A pass costs O(n K d) time, however many categories there are; memory beyond X and ``memberships_`` is a matrix of
    the codes of X, a sparse one of its indicators, and the distances of 32,768 rows to the prototypes.

    References
    ----------
    .. [1] Z. Huang, M. K. Ng (1999). A fuzzy k-modes algorithm for clustering categorical data. IEEE Trans. Fuzzy
       Systems 7(4), 446-452.
    .. [2] D.-W. Kim, K. H. Lee, D. Lee (2004). Fuzzy clustering of categorical data using fuzzy centroids. Pattern
       Recognition Letters 25(11), 1263-1271.
    .. [3] J. Ji, W. Pang, C. Zhou, X. Han, Z. Wang (2012). A fuzzy k-prototype clustering algorithm for mixed numeric
       and categorical data. Knowledge-Based Systems 30, 129-135.
    .. [4] R. N. Dave (1991). Characterization and detection of noise in clustering. Pattern Recognition Letters 12(11),
       657-664.

    Examples
    --------
    >>> import pandas
    >>> from soft_clustering import FuzzyKPrototypes
    >>> df = pandas.DataFrame({
    ...     "age": [23, 31, 27, 25, 64, 70, None, 58],
    ...     "phone": ["new", "new", "new", "old", "old", "old", "old", None],
    ...     "pays": ["card", "card", "app", "card", "cash", "cash", "cash", "card"],
    ... })
    >>> model = FuzzyKPrototypes(2, m=1.5, random_state=0).fit(df)
    >>> order = model.centers_[:, 0].argsort()
    >>> model.centers_[order].round()
    array([[33.],
           [66.]])
    >>> model.modes_[order]
    array([['new', 'card'],
           ['old', 'cash']], dtype=object)
    >>> visitor = pandas.DataFrame({"age": [45], "phone": ["old"], "pays": ["cheque"]})
    >>> model.predict_memberships(visitor)[:, order].round(1)
    array([[0.4, 0.6]])
    """

    frequencies_: list[NDArray[Any]]
    modes_: NDArray[Any]
    categories_: list[NDArray[Any]]
    is_categorical_: NDArray[np.bool_]
    categorical_weight_: float
    m_: float
    _space: MixedSpace
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "m": [StrOptions({"auto"}), Interval(Real, 1, None, closed="neither")],
        "categorical_features": [StrOptions({"from_dtype"}), None, "array-like"],
        "categorical_weight": [StrOptions({"auto"}), Interval(Real, 0, np.inf, closed="neither")],
        "centroid": [StrOptions({"frequency", "mode"})],
        "scaling": [StrOptions({"standard"}), None],
        **NOISE,
        "init": [StrOptions({"k-means++"}), "array-like"],
        "accelerate": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        m: float | str = "auto",
        categorical_features: str | ArrayLike | None = "from_dtype",
        categorical_weight: float | str = "auto",
        centroid: str = "frequency",
        scaling: str | None = "standard",
        noise_distance: Literal["auto"] | float | None = None,
        noise_scale: float = 10.0,
        init: str | ArrayLike = "k-means++",
        n_init: int = 5,
        max_iter: int = 300,
        tol: float = 1e-6,
        accelerate: bool = True,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.m = m
        self.categorical_features = categorical_features
        self.categorical_weight = categorical_weight
        self.centroid = centroid
        self.scaling = scaling
        self.noise_distance = noise_distance
        self.noise_scale = noise_scale
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.accelerate = accelerate
        self.random_state = random_state
        self.verbose = verbose

    @property
    def _policy(self) -> Policy:
        return Policy(units=no_units if self.scaling else squared_units, missing=True)

    def _squared_units(self, squared: Any, blocks: Blocks) -> Any:
        return self._policy.units(squared, blocks)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        return tags

    # The method -----------------------------------------------------------------------------------------------------

    def _blocks(self, X: MatrixLike, sample_weight: ArrayLike | None = None, frame: Frame | None = None) -> Blocks:
        known = None if frame is None else self._space.columns
        matrix, gaps, columns = validate_table(self, X, self.categorical_features, known)
        weight = validate_weights(sample_weight, matrix)
        if frame is not None:
            return make_blocks(matrix, weight, frame, gaps=gaps)
        scaling: Scaling | None = "standard" if self.scaling == "standard" else None
        blocks = make_blocks(matrix, weight, None, None if columns.categories else scaling, gaps)
        by_mode = self.centroid == "mode"
        blocks, self._space = mixed_blocks(blocks, columns, scaling, self.categorical_weight, by_mode)
        self._n_empty = int(np.isnan(matrix).all(axis=1).sum()) if gaps and not is_dask(matrix) else 0
        return blocks

    def _resolve(self, blocks: Blocks) -> None:
        self.m_ = resolve_fuzzifier(self.m, blocks.n_counted, self._space.n_dimensions, self.n_clusters)

    def _starts(self, blocks: Blocks, rng: np.random.RandomState) -> Iterator[Array]:
        block = blocks.local(rng).joined()
        for _ in range(self._n_starts()):
            V = self._seeds(block, rng) if isinstance(self.init, str) else self._given(blocks.frame)
            if self.m_ > 3 and isinstance(self.init, str):
                # A prototype on a row has u = 1 there, which for a large m outweighs all other rows: step off it.
                V = new_centers(V, self._sums(block, V, 2.0))
            yield V

    def _given(self, frame: Frame) -> Array:
        """The starting prototypes that ``init`` gives."""
        columns = self._space.columns
        shape = self.n_clusters, len(columns.is_categorical)
        if not columns.categories:
            return frame.from_input(validate_matrix("init", self.init, shape))
        names = [*self.feature_names_in_] if hasattr(self, "feature_names_in_") else None
        return self._space.points(validate_prototypes("init", self.init, shape, columns, names), frame)

    def _seeds(self, block: Block, rng: np.random.RandomState) -> Array:
        """Rows drawn by greedy k-means++."""

        def points(rows: Indices) -> Array:
            return self._space.points(block.X[rows], block.frame)

        weight = np.ones(block.n) if block.weight is None else block.weight
        uniforms = rng.uniform(size=(self.n_clusters, 2 + int(np.log(self.n_clusters))))
        draws = [uniforms[0, :1], *uniforms[1:]]
        return points(
            greedy_seeds(lambda rows: self._distances(block, points(rows)), weight, block.order, draws, self._most)
        )

    def _distances(self, block: Block, V: Array) -> Array:
        """Squared distances (n, K)."""
        return np.concatenate([self._space.distances(part, V) for part in self._space.parts(block)])

    def _rule(self, part: Part, V: Array, m: float) -> tuple[Array, Array, Array]:
        """Memberships and weights, those in the noise last, and the objective of each row."""
        return fcm_rule(beside_noise(self._space.distances(part, V), self._noise), m)

    def _sums(self, block: Block, V: Array, m: float) -> CenterStatistics:
        """The statistics of a block for a fuzzifier."""
        found = []
        for part in self._space.parts(block):
            _, W, J = self._rule(part, V, m)
            w = np.ones(len(W)) if part.weight is None else part.weight
            W = W[:, : len(V)] * (w if part.factor is None else w * part.factor)[:, None]
            weight, worst = W.sum(axis=0), int(J.argmax())
            total, seen = self._space.totals(part, W)
            at = None
            if weight.min() < EMPTY:
                at = self._space.points(block.X[[part.start + worst]], block.frame)[0]
            found.append(CenterStatistics(weight, total, float(w @ J), float(J[worst]), at, seen))
        return reduce(CenterStatistics.merge, found)

    def _statistics(self, block: Block, V: Array) -> CenterStatistics:
        return self._sums(block, V, self.m_)

    def _update(self, V: Array, statistics: CenterStatistics, blocks: Blocks) -> Array:
        V = new_centers(V, statistics)
        if statistics.seen is not None:  # a cluster none of whose rows has a column gets the shares of all rows
            numbers, shares = self._space.split(V)
            unseen = statistics.seen[:, numbers.shape[1] :] < EMPTY
            V = self._space.join(
                numbers, np.where(unseen & (statistics.weight >= EMPTY)[:, None], self._space.shares, shares)
            )
        return V

    def _memberships(self, block: Block, V: Array) -> NDArray[Any]:
        parts = [self._rule(part, V, self.m_)[0][:, : len(V)] for part in self._space.parts(block)]
        return np.concatenate(parts).astype(block.X.dtype)

    def _noise_masses(self, block: Block, V: Array) -> NDArray[Any]:
        parts = [self._rule(part, V, self.m_)[0][:, -1] for part in self._space.parts(block)]
        return np.concatenate(parts).astype(block.X.dtype)

    def _nearest(self, block: Block, V: Array) -> Array:
        nearest: Array = self._distances(block, V).min(axis=1)
        return nearest

    def _store(self, V: Array, statistics: CenterStatistics, blocks: Blocks) -> None:
        columns, (numbers, shares) = self._space.columns, self._space.split(V)
        self.is_categorical_, self.categories_ = columns.is_categorical, columns.categories
        self.centers_ = self._space.numbers_frame(blocks.frame).to_input(numbers).astype(blocks.dtype)
        self.frequencies_ = np.split(shares, self._space.edges[1:-1], axis=1) if columns.categories else []
        self.modes_ = np.empty((len(V), len(columns.categories)), dtype=object)
        for t, (values, frequencies) in enumerate(zip(self.categories_, self.frequencies_, strict=True)):
            self.modes_[:, t] = values[frequencies.argmax(axis=1)]
        weight = self._squared_units(self._space.weight, blocks) if columns.categories else 1.0
        self.categorical_weight_ = float(weight)

    def _complaints(self, run: Run[Array], blocks: Blocks) -> list[str]:
        remedy = duplicates(blocks, self.n_clusters) or (
            f"m={self.m_:g} may be too large for {blocks.d} columns, try {smaller('m', self.m)}"
        )
        spread = blocks.mean_variance * blocks.d
        complaints = coinciding(type(self).__name__, run.state, self.memberships_, spread, remedy, self.tol)
        if self._n_empty:
            complaints.append(f"X has {self._n_empty} rows without any value: they belong to all clusters equally")
        return super()._complaints(run, blocks) + complaints
