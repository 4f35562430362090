"""Choosing the number of clusters: fit over K, let every criterion choose, and recommend one choice.

* validity indices of ``soft_clustering.metrics`` on the memberships of each fit;
* BIC and ICL, if the estimator has a likelihood, and BIC of the clusters as Gaussians for all that take features;
* for graphs and documents, how well the clusters predict held-out links and words;
* stability: whether fits to bootstrap samples, or to thinned graphs, agree.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from itertools import pairwise
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils._param_validation import Interval, validate_parameter_constraints
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.random import sample_without_replacement
from sklearn.utils.validation import _num_samples

from .._estimators import Estimator, is_estimator, set_seeds
from .._progress import Bar
from .._types import DataLike
from ..base import labels_from_memberships
from ..inputs.features import check_enough_samples, is_dask, validate_features
from ..metrics import omega_index
from .criteria import CRITERIA, OF_LINKS, OF_PAIRS, Sample, cover_of, default_criteria, memberships_of, scores_of
from .gaussian import gaussian_bic
from .held_out import N_SPLITS, Split, counts_of, link_factors, link_gain, split, word_gain
from .result import NClustersResult

_PARAMETERS: dict[str, list[Any]] = {
    "param_name": [str],
    "n_bootstrap": [Interval(Integral, 2, None, closed="left")],
    "max_samples": [Interval(Integral, 2, None, closed="left"), None],
    "keep_estimators": ["boolean"],
    "random_state": ["random_state"],
    "n_jobs": [None, Integral],
    "verbose": ["verbose"],
    "stop_at_interrupt": ["boolean"],
}


# Reading the arguments ------------------------------------------------------------------------------------------------


def _check_estimator(estimator: Estimator, param_name: str) -> None:
    if not is_estimator(estimator):
        raise TypeError(f"estimator must be an instance of a clusterer with get_params and fit. Got {estimator!r}.")
    names = sorted(estimator.get_params())
    if param_name not in names:
        raise ValueError(
            f"param_name must be a parameter of {type(estimator).__name__}: one of {names}. Got {param_name!r} instead."
        )


def _check_k_range(k_range: object) -> list[int]:
    if not isinstance(k_range, Iterable):
        raise TypeError(f"k_range must be an iterable of ints, such as range(2, 11). Got {k_range!r} instead.")
    values = list(k_range)
    if not values or not all(isinstance(K, Integral) and not isinstance(K, bool) and int(K) >= 1 for K in values):
        raise ValueError(f"k_range must hold ints >= 1. Got {values} instead.")
    if any(later <= earlier for earlier, later in pairwise(values)):
        raise ValueError(f"k_range must be increasing, without repetitions. Got {values} instead.")
    return [int(K) for K in values]


def _check_criteria(criteria: object, estimator: Estimator, modality: str) -> list[str]:
    if isinstance(criteria, str):
        if criteria not in ("default", "all"):
            raise ValueError(f"criteria must be 'default', 'all' or a list of names. Got {criteria!r} instead.")
        if criteria == "all":
            return list(CRITERIA)
        return default_criteria(modality, hasattr(estimator, "bic"))
    if not isinstance(criteria, Iterable):
        raise TypeError(f"criteria must be 'default', 'all' or a list of names. Got {criteria!r} instead.")
    names = list(criteria)
    if not names or len(set(names)) < len(names) or not set(names) <= set(CRITERIA):
        raise ValueError(f"criteria must be different names among {list(CRITERIA)}. Got {names} instead.")
    return names


def _takes_pairs(estimator: Estimator) -> bool:
    """Whether X is a matrix of distances or affinities; not all classes of scikit-learn set its tag for this."""
    return any(isinstance(value, str) and value.startswith("precomputed") for value in estimator.get_params().values())


# The work of one task -------------------------------------------------------------------------------------------------


class Fit(NamedTuple):
    """One fit to all of X; the model is None if the fit failed or the model is not kept."""

    model: Estimator | None
    labels: NDArray[np.intp]  # of the rows that the criteria see; empty if the fit failed
    scores: dict[str, float]
    warnings: list[str]
    error: Exception | None


def _prepare(estimator: Estimator, param_name: str, n_clusters: int, seed: int) -> Estimator:
    """Return a clone with its number of clusters, and with the seed if its random state is None."""
    model: Estimator = clone(estimator).set_params(**{param_name: n_clusters})
    set_seeds(model, seed)
    return model


def _fit(model: Estimator, X: DataLike) -> list[str]:
    """Fit, and return the texts of the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        model.fit(X)
    return [str(warning.message) for warning in caught]


def _text_of(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _first_of(texts: list[str]) -> list[str]:
    """Return one line for all warnings and errors of the bootstrap fits."""
    return [f"{len(texts)} warning(s) or error(s) of bootstrap fits, the first: {texts[0]}"] if texts else []


def _fit_and_score(
    model: Estimator,
    X: DataLike,
    n_clusters: int,
    criteria: list[str],
    features: bool,
    graph: sparse.csr_array | None,
    rows: NDArray[np.intp] | None,
    sample: Sample | None,
    keep: bool,
) -> Fit:
    try:
        complaints = _fit(model, X)
        U = memberships_of(model, X, n_clusters, sample)
        scores = scores_of(model, X, U, n_clusters, criteria, features, graph, rows, sample)
    except Exception as error:
        return Fit(None, np.empty(0, dtype=np.intp), {}, [], error)
    return Fit(model if keep else None, labels_from_memberships(U), scores, complaints, None)


def _held_out_gain(model: Estimator, part: Split, modality: str, n_clusters: int) -> tuple[float, Any]:
    """Return the gain of a fit without the held-out data, and its cover if it is of a graph; nan, None if it failed.

    Its warnings are dropped: they may concern nodes that lost their links only here.
    """
    try:
        _fit(model, part.train)
        U = memberships_of(model, part.train, n_clusters)
        if modality == "documents":
            return word_gain(U, part), None
        cover = cover_of(model, U)
        return link_gain(link_factors(model, cover, part), part), cover
    except Exception:
        return np.nan, None


def _bootstrap_agreement(
    models: list[Estimator], X: DataLike, n_clusters: int, seeds: list[int]
) -> tuple[float, list[str]]:
    """Return the agreement of fits to two bootstrap samples, nan if one failed, and their warnings or error."""
    n = _num_samples(X)
    rows, labels, complaints = [], [], []
    for model, seed in zip(models, seeds, strict=True):
        drawn = np.random.RandomState(seed).randint(n, size=n)
        sample = _safe_indexing(X, drawn)
        try:
            complaints += _fit(model, sample)
            labels.append(labels_from_memberships(memberships_of(model, sample, n_clusters)))
        except Exception as error:
            return np.nan, [_text_of(error)]
        rows.append(drawn)
    _, first, second = np.intersect1d(*rows, return_indices=True)
    return float(adjusted_rand_score(labels[0][first], labels[1][second])), complaints


# All fits ----------------------------------------------------------------------------------------------------------


def choose_n_clusters(
    estimator: Estimator,
    X: DataLike,
    k_range: Iterable[int],
    *,
    criteria: str | Iterable[str] = "default",
    param_name: str = "n_clusters",
    n_bootstrap: int = 20,
    max_samples: int | None = 10_000,
    keep_estimators: bool = True,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    stop_at_interrupt: bool = False,
) -> NClustersResult:
    """Fit over numbers of clusters K, let each criterion choose one, and recommend one of the choices.

    Parameters
    ----------
    estimator : estimator
        A clusterer of this library or of scikit-learn; cloned for each K and not changed. After ``fit`` it has
        ``memberships_``, ``predict_proba`` or at least ``labels_``, which are taken as crisp memberships. Prototypes
        are ``centers_``, ``cluster_centers_`` or ``means_``.
    X : data of the estimator's modality
        Indices that need features take X as it is: scale X before, not in a pipeline. Features may be a Dask array or
        data frame, if the estimator takes one.
    k_range : iterable of int
        Numbers of clusters, increasing, from 1 to n_samples: ``range(2, 11)``.
    criteria : 'default', 'all' or list of str, default='default'
        Names in ``CRITERIA``. The default depends on what the estimator takes. Features: ``gaussian_bic``,
        ``fuzzy_hypervolume``, ``calinski_harabasz``, ``xie_beni`` and ``modified_partition_coefficient``. Graphs:
        ``thinned_links``, ``overlapping_modularity`` and ``coverage``. Documents: ``held_out`` and
        ``modified_partition_coefficient``. If the estimator has a method ``bic``, also ``bic`` and ``icl``.
        ``thinned_links`` takes four more fits per K, ``held_out`` two. ``stability`` must be asked for: it takes
        ``2 * n_bootstrap`` more, for graphs those of ``thinned_links``.
    param_name : str, default='n_clusters'
        The parameter that is K: ``'n_components'`` for scikit-learn's ``GaussianMixture``, ``'fcm__n_clusters'`` in a
        pipeline.
    n_bootstrap : int, default=20
        Pairs of bootstrap samples for ``stability``; for graphs there are two pairs of thinned graphs.
    max_samples : int or None, default=10_000
        Of more rows than this, so many are drawn, the same for every K, on which the silhouettes are computed and from
        which the bootstrap samples of ``stability`` are drawn; ``sampled`` of the result says so. The fits and all
        other criteria take all rows. If X is a Dask collection, these rows are read into memory for all criteria but
        ``bic``, and only the fits and ``bic`` take all rows. None always takes all rows: silhouettes then take O(n^2)
        time.
    keep_estimators : bool, default=True
        Whether the result holds the fitted estimators, with their memberships.
    random_state : int, RandomState or None, default=None
        Draws the rows of ``max_samples``, the bootstrap samples and the held-out data, and seeds the fits of an
        estimator whose own ``random_state`` is None. The result does not depend on ``n_jobs``.
    n_jobs : int, default=None
        Fits at a time, as joblib counts them: None is 1, -1 as many as there are cores. With joblib's Dask backend the
        fits are spread over the cluster. Fits to a Dask collection follow each other, as each takes the whole cluster.
    verbose : int, default=0
        1 shows a bar with the rate and the time left on a terminal or in a notebook, and prints a line per K elsewhere.
    stop_at_interrupt : bool, default=False
        Whether Ctrl-C ends the fits and the result holds the K that are finished, if there are any; otherwise
        KeyboardInterrupt is raised.

    Returns
    -------
    result : NClustersResult
        Prints as a table; ``recommended`` is the K to take and ``reason`` says why, ``best`` has the choice of each
        criterion, ``scores`` its values, ``plot()`` draws them, and ``estimators`` holds the fits.

    Warns
    -----
    FitFailedWarning
        If the fit of some K raised an error; its values are nan. If all fits fail, the first error is raised.
    UserWarning
        If fits warned (the texts are in the result), or no K is recommended.

    Notes
    -----
    The criteria differ in how often they are right, and none always is. ``recommended`` is the choice of
    ``thinned_links``, ``held_out`` or ``gaussian_bic`` if one of them is computed; otherwise that of the criterion
    that finds planted numbers of clusters most often. docs/guide/selection.md has the experiment.

    A criterion that does not apply is nan and chooses None: prototypes are missing, X is not a table of features, rows
    of the memberships do not sum to 1 (partition coefficients, entropy, ICL), or K is 1. A criterion that has the same
    value for every K chooses None, too.

    ``gaussian_bic`` turns the labels of any fit into a Gaussian mixture, with the covariance structure of smallest BIC
    [5]_, [6]_. If a fit misses its best partition, clusters merged from the fits of larger K take its place, so the
    range should go beyond the K that is expected.

    ``held_out`` leaves out each word of a document with probability 0.1, fits the rest, and is the mean logarithm
    of the probability of what was left out under the clusters, over that by chance.

    ``thinned_links`` does the same with the links of a graph: where links are Poisson variables, those left out are
    independent of the others, which the model takes for the whole graph. Their rates are those of the model where
    it has rates (``LinkMixture``, ``BIGCLAM``, ``BayesianNMF``, ``MMSB``, ``NOCD``); otherwise as many links as in
    the fit are expected within and between the communities of the cover. A tenth of a rate is by chance, in
    proportion to the degrees. ``overlapping_modularity`` and ``coverage`` are those of the cover: the first joins
    small communities of large graphs, the second falls with K and says how much of the graph the communities explain.
    ``modularity`` is that of the memberships, each row divided by its sum.

    ``bic`` is what the estimator's method ``bic`` returns: -2 log L + p log n for p parameters, smaller is better.
    ``icl`` [1]_ adds twice the entropy of the memberships, -2 sum_ik u_ik log u_ik: it counts clusters that are set
    apart, while BIC counts components of a density. This is the form of [4]_; the original has the labels in place of
    the first u_ik.

    ``stability`` at K is the mean agreement of two fits to two bootstrap samples of the rows, as in [2]_: the
    adjusted Rand index of the labels of the rows that are in both samples, as in [3]_, so that estimators without
    prediction are treated alike. Labels and not memberships are compared because that takes O(n) and not O(n^2)
    time. All K see the same samples. For a graph it is the omega index of the covers of the two fits of
    ``thinned_links``. Among equally stable K the largest is chosen; K = 1 is always stable, so its value is nan.

    The fuzzifier in the indices is the estimator's ``m_`` or ``m``, and 2 if it has none. There are no sample
    weights, as the indices have none.

    References
    ----------
    .. [1] C. Biernacki, G. Celeux, G. Govaert (2000). Assessing a mixture model for clustering with the integrated
       completed likelihood. IEEE TPAMI 22(7), 719-725.
    .. [2] Y. Fang, J. Wang (2012). Selection of the number of clusters via the bootstrap method. Computational
       Statistics and Data Analysis 56(3), 468-477.
    .. [3] A. Ben-Hur, A. Elisseeff, I. Guyon (2002). A stability based method for discovering structure in clustered
       data. Pacific Symposium on Biocomputing 7, 6-17.
    .. [4] G. McLachlan, D. Peel (2000). Finite Mixture Models. Wiley.
    .. [5] C. Fraley, A. E. Raftery (2002). Model-based clustering, discriminant analysis, and density estimation.
       Journal of the American Statistical Association 97(458), 611-631.
    .. [6] C. Fraley, A. E. Raftery (2007). Bayesian regularization for normal mixture estimation and model-based
       clustering. Journal of Classification 24(2), 155-181.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from soft_clustering import FCM
    >>> from soft_clustering.selection import choose_n_clusters
    >>> X, _ = make_blobs(300, centers=[[0, 0], [6, 0], [0, 6], [6, 6]], random_state=0)
    >>> result = choose_n_clusters(FCM(random_state=0), X, range(2, 7), criteria=["xie_beni", "silhouette"])
    >>> result
    criterion   better      K=2      K=3      K=4      K=5      K=6   choice
    xie_beni    smaller  0.2658   0.1134   0.0494*  0.5190   0.4990        4
    silhouette  larger   0.4244   0.4975   0.6625*  0.5706   0.4894        4
    recommended: K=4: silhouette is largest there; it is preferred to the others.
    >>> result.recommended
    4
    >>> result.best
    {'xie_beni': 4, 'silhouette': 4}
    >>> result.estimators[4].centers_.shape
    (4, 2)
    """
    validate_parameter_constraints(
        _PARAMETERS,
        {
            "param_name": param_name,
            "n_bootstrap": n_bootstrap,
            "max_samples": max_samples,
            "keep_estimators": keep_estimators,
            "random_state": random_state,
            "n_jobs": n_jobs,
            "verbose": verbose,
            "stop_at_interrupt": stop_at_interrupt,
        },
        "choose_n_clusters",
    )
    _check_estimator(estimator, param_name)
    k_values = _check_k_range(k_range)
    modality = "pairs" if _takes_pairs(estimator) else getattr(estimator, "modality", "features")
    names = _check_criteria(criteria, estimator, modality)
    if is_dask(X) and modality != "features":
        raise TypeError("X must be in memory, because it is no table of features. Got a Dask collection: compute it.")

    # The fits take a Dask collection as it is; rows are drawn from an array with known chunks.
    table: Any = validate_features(BaseEstimator(), X, reset=True, accept_sparse=True) if is_dask(X) else X
    has_rows = modality in ("features", "documents")
    if has_rows:
        check_enough_samples(_num_samples(table), k_values[-1])

    rng = check_random_state(random_state)
    n_splits = N_SPLITS.get(modality, 0)
    seed, *seeds = rng.randint(2**31 - 1, size=1 + max(2 * n_bootstrap, n_splits)).tolist()
    n_pairs = n_bootstrap if "stability" in names and has_rows else 0
    rows, sample, sampled = None, None, {}
    if has_rows and max_samples is not None and _num_samples(table) > max_samples:
        rows = np.sort(sample_without_replacement(_num_samples(table), max_samples, random_state=rng))
        on_rows = {"stability", *(OF_PAIRS if modality == "features" else ())}
        if is_dask(X):
            on_rows = set(CRITERIA) - {"bic", "held_out", "thinned_links", *OF_LINKS}
        sampled = {name: len(rows) for name in names if name in on_rows}
    resampled_X = _safe_indexing(X, rows) if rows is not None and n_pairs and not is_dask(X) else X
    if is_dask(X):
        drawn = (table if rows is None else table[rows]).compute()
        if hasattr(X, "columns"):  # with the names that the fits see
            drawn = type(X._meta)(drawn, columns=X.columns)
        sample = Sample(drawn, rows, len(table))
        rows, resampled_X = None, sample.X  # no criterion takes fewer rows than the sample
    of_parts = {"graph": ("thinned_links", "stability"), "documents": ("held_out",)}.get(modality, ())
    counts = None
    if modality in ("graph", "documents") and {*of_parts, *OF_LINKS} & set(names):
        counts = counts_of(estimator, X, modality)
    graph = counts if modality == "graph" else None
    parts = []
    if counts is not None and {*of_parts} & set(names):
        parts = [split(counts, modality, each) for each in seeds[:n_splits]]
    of_one_fit = [name for name in names if name not in ("gaussian_bic", "held_out", "thinned_links", "stability")]

    def arguments(K: int) -> tuple[Any, ...]:
        """What the fit to all of X takes."""
        model = _prepare(estimator, param_name, K, seed)
        return model, X, K, of_one_fit, modality == "features", graph, rows, sample, keep_estimators

    def tasks() -> Iterator[Any]:
        """K by K: the fit to all of X, then those without held-out data and the pairs of bootstrap samples."""
        for K in k_values:
            if sample is None:
                yield delayed(_fit_and_score)(*arguments(K))
            for part in parts:
                yield delayed(_held_out_gain)(_prepare(estimator, param_name, K, seed), part, modality, K)
            for b in range(n_pairs if K > 1 else 0):
                pair = seeds[2 * b : 2 * b + 2]
                models = [_prepare(estimator, param_name, K, each) for each in pair]
                yield delayed(_bootstrap_agreement)(models, resampled_X, K, pair)

    n_tasks = sum(1 + len(parts) + (n_pairs if K > 1 else 0) for K in k_values)
    progress = Bar(n_tasks, "fits" if not n_pairs else "tasks") if verbose else None

    def take(results: Iterator[Any], count: int) -> list[Any]:
        """Wait for the next results, and count them."""
        found = []
        for _ in range(count):
            found.append(next(results))
            if progress is not None:
                progress.step()
        return found

    scores = {name: np.full(len(k_values), np.nan) for name in names}
    agreements = np.full((len(k_values), n_splits // 2 if modality == "graph" else n_bootstrap), np.nan)
    estimators: dict[int, Estimator | None] = {}
    labels: dict[int, NDArray[np.intp]] = {}
    errors: dict[int, Exception] = {}
    complaints: dict[int, list[str]] = {}
    unfinished: list[int] = []
    try:
        results = Parallel(n_jobs=n_jobs, return_as="generator")(tasks())
        # Fits to a Dask array follow each other here: each of them takes the whole cluster, and from a worker of it
        # would wait for that worker itself.
        fits = results if sample is None else (_fit_and_score(*arguments(K)) for K in k_values)
        for i, K in enumerate(k_values):
            fit: Fit = take(fits, 1)[0]
            gains = take(results, len(parts))
            resampled = take(results, n_pairs if K > 1 else 0)
            if fit.error is not None:
                errors[K] = fit.error
            else:
                labels[K] = fit.labels
                for name, value in fit.scores.items():
                    scores[name][i] = value
                if gains and of_parts[0] in names:
                    scores[of_parts[0]][i] = np.mean([gain for gain, _ in gains])
                covers = [cover for _, cover in gains if cover is not None]
                if "stability" in names and len(covers) == n_splits > 0 and K > 1:
                    agreements[i] = [omega_index(*pair) for pair in zip(covers[::2], covers[1::2], strict=True)]
                if resampled:
                    agreements[i] = [agreement for agreement, _ in resampled]
                texts = fit.warnings + _first_of([text for _, texts in resampled for text in texts])
                if texts:
                    complaints[K] = texts
            estimators[K] = fit.model  # the last step: an interrupted K has none
            if progress is not None and not progress.is_shown:
                done = "fitted" if fit.error is None else "failed"
                print(f"[choose_n_clusters] {i + 1} of {len(k_values)}: n_clusters={K} {done}")
    except KeyboardInterrupt:
        if not stop_at_interrupt or not estimators:
            raise
        k_values, unfinished = list(estimators), k_values[len(estimators) :]
        scores = {name: values[: len(k_values)] for name, values in scores.items()}
        agreements = agreements[: len(k_values)]
    finally:
        if progress is not None:
            progress.close()

    if len(errors) == len(k_values):
        raise errors[k_values[0]]
    if errors:
        warnings.warn(
            f"The fit failed for n_clusters={list(errors)}; see result.errors.", FitFailedWarning, stacklevel=2
        )
    if complaints:
        warnings.warn(
            f"The fits of n_clusters={list(complaints)} warned; see result.warnings.", UserWarning, stacklevel=2
        )
    stable = "stability" in names
    if stable:
        scores["stability"] = np.ma.masked_invalid(agreements).mean(axis=1).filled(np.nan)
    merged: set[int] = set()
    if "gaussian_bic" in names and modality == "features":
        found, merged = gaussian_bic(X if sample is None else sample.X, labels)
        scores["gaussian_bic"] = np.array([found.get(K, np.nan) for K in k_values])
    result = NClustersResult(
        np.array(k_values),
        scores,
        agreements if stable else None,
        estimators,
        {K: _text_of(error) for K, error in errors.items()},
        complaints,
        merged,
        sampled,
        unfinished,
    )
    if result.recommended is None:
        warnings.warn(f"No number of clusters is recommended: {result.reason}", UserWarning, stacklevel=2)
    return result
