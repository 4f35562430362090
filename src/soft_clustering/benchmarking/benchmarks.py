"""The benchmarks: which models run on which data sets, and what is measured."""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints
from sklearn.utils.validation import _num_samples

from .._estimators import Estimator, is_estimator, set_seeds
from .._progress import Bar, rate_of
from .._text import one_line
from .._types import DataLike
from ..datasets import dataset_info, get_dataset
from .quality import modality_of
from .records import QUALITY, Journal, Record, require_pandas, to_frame
from .runner import PlannedRun, execute_missing

if TYPE_CHECKING:
    import pandas

#: name, number of samples, X, y, and why the data could not be loaded
_Data = tuple[str, int | None, Any, Any, str | None]

_CONSTRAINTS: dict[str, list[Any]] = {
    "n_clusters": [StrOptions({"true"}), None],
    "n_repeats": [Interval(Integral, 1, None, closed="left")],
    "random_state": [Interval(Integral, 0, 2**31, closed="left")],
    "max_samples": [Interval(Integral, 2, None, closed="left"), None],
    "warm_up": ["boolean"],
    "time_limit": [Interval(Real, 0, None, closed="neither"), None],
    "memory_limit": [Interval(Integral, 1, None, closed="left"), None],
    "results": [str, os.PathLike, None],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
}


class ClusteringBenchmark:
    """Every model on every data set: time, memory and quality.

    Each run, one model on one data set, has a process of its own, with limits on its time and memory. However it ends,
    there is a record of it, with every column.

    Parameters
    ----------
    models : dict of str to estimator, or list of estimators
        scikit-learn clusterers, soft or hard, from this library or others. In a list they are named after their
        classes. They are cloned, never fitted here.
    datasets : list of str, or mapping of str to (X, y)
        Names of :func:`soft_clustering.datasets.available_datasets`, or the data: X is what the models take, y the
        classes, for graphs also a boolean cover of shape (n_nodes, n_communities), or None.
    n_clusters : {'true'} or None, default='true'
        ``'true'`` sets the parameter ``n_clusters`` of every model (``n_components`` if it only has that) to the number
        of classes; in a pipeline, that of its last step. A model whose parameter is None finds the number itself and is
        not changed. None leaves all models as they are.
    n_repeats : int, default=1
        Runs of each model on each data set.
    random_state : int, default=0
        Seed of the subsamples; repeat r seeds the models, and the estimators inside them, with ``random_state + r``. A
        model with a seed of its own keeps it.
    max_samples : int or None, default=None
        A data set of more rows is replaced by this many of them, drawn without replacement. Only for data whose rows
        are the samples.
    warm_up : bool, default=True
        Whether to fit twice in the same process, if time is measured, and to time the second fit: the first one also
        imports modules and starts threads.
    time_limit : float or None, default=60.0
        Seconds for the fit and the measurements after it. The start of the process, its imports and the warm-up (which
        has the same limit again) do not count.
    memory_limit : int or None, default=None
        Bytes of resident memory for the whole process and those it starts. It is checked fifty times a second. Not on
        Windows.
    results : str or path, default=None
        A JSON Lines file. Every finished run is appended to it at once, and a run that is already there is not run
        again. None keeps the records in memory only.
    n_jobs : int or None, default=None
        Runs at the same time, through joblib: None is 1 unless a ``joblib.parallel_config`` sets another number.
        Times are comparable only if it is 1.
    verbose : int, default=1
        0 shows nothing, 1 shows the progress on standard error.

    See Also
    --------
    RuntimeBenchmark, MemoryBenchmark, ClusteringQualityBenchmark : the same with one kind of measurement only.
    ScalabilityBenchmark : growing numbers of samples.
    summarize : a table with a row per model.

    Notes
    -----
    The columns of a record:

    * ``model``, ``dataset``, ``n_samples``, ``n_features``, ``n_classes``, ``repeat``; ``estimator``, its parameters;
    * ``status``: ``ok``; ``degenerate``, fewer than two clusters in the labels; ``timeout``; ``memory``, over the limit
      or a MemoryError; ``error``; ``skipped``, the model needs an extra that is not installed. ``reason`` explains
      every other status than ``ok``; if a limit, a crash or an exception ended ``predict`` or a measure after the fit
      had given its result, it names what was not finished, and the status stays;
    * ``n_clusters``, ``n_iter``, ``converged``, ``warnings``: those of the fitted model, if it has them;
    * ``fit_time``, ``predict_time``: seconds for the training data;
    * ``peak_memory``: the largest resident size during the fit in bytes, beyond what the process held before it; code
      that is read from the files of libraries does not count (Linux);
    * the measures of :func:`soft_clustering.metrics.clustering_metrics` and
      :func:`soft_clustering.metrics.soft_clustering_metrics` (at m = 2), NaN where one does not apply; for graphs and
      documents those of communities and topics too. Of more than 5000 samples, the silhouette and the omega index
      take 2000 random ones.

    What was measured before a run exceeded a limit is kept.

    Two runs are the same, and the second is skipped, if all of this is the same: the model's name, class, version and
    parameters, the content of the data, the repeat, the limits and what is measured. Code that changes without its
    version is not noticed: remove the file after such a change.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from soft_clustering import FCM
    >>> from soft_clustering.benchmarking import ClusteringBenchmark
    >>> results = ClusteringBenchmark([FCM(), KMeans()], ["iris"], verbose=0).run()
    >>> results[["model", "dataset", "status", "ari"]].round(2)
        model dataset status   ari
    0     FCM    iris     ok  0.73
    1  KMeans    iris     ok  0.72
    """

    measurements: ClassVar[tuple[str, ...]] = ("fit_time", "predict_time", "peak_memory", *QUALITY)

    def __init__(
        self,
        models: Mapping[str, Estimator] | Sequence[Estimator],
        datasets: Mapping[str, tuple[Any, Any]] | Sequence[str],
        *,
        n_clusters: str | None = "true",
        n_repeats: int = 1,
        random_state: int = 0,
        max_samples: int | None = None,
        warm_up: bool = True,
        time_limit: float | None = 60.0,
        memory_limit: int | None = None,
        results: str | os.PathLike[str] | None = None,
        n_jobs: int | None = None,
        verbose: int = 1,
    ) -> None:
        self.models = _named(models)
        self.datasets = _data_of(datasets)
        self.n_clusters = n_clusters
        self.n_repeats = n_repeats
        self.random_state = random_state
        self.max_samples = max_samples
        self.warm_up = warm_up
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.results = results
        self.n_jobs = n_jobs
        self.verbose = verbose
        validate_parameter_constraints(
            _CONSTRAINTS, {name: getattr(self, name) for name in _CONSTRAINTS}, caller_name=type(self).__name__
        )
        if memory_limit is not None and sys.platform == "win32":
            raise ValueError("memory_limit must be None on Windows: the resident size of a process is not read there.")

    def run(self) -> pandas.DataFrame:
        """Carry out the runs that have not been run yet.

        Returns
        -------
        results : DataFrame
            A row per model, data set and repeat, in this order. The notes of :class:`ClusteringBenchmark` list the
            columns; measurements that this benchmark does not make are left out.
        """
        require_pandas()  # fail before the work, not after it
        return to_frame(self.carry_out(list(self.plan())), self.measurements)

    def carry_out(self, runs: Sequence[PlannedRun]) -> list[Record]:
        """Carry out the runs of a plan that have not been run yet; for users who change the plan.

        Parameters
        ----------
        runs : list of PlannedRun
            From :meth:`plan`.

        Returns
        -------
        records : list of dict
            One per run, in their order.
        """
        finished, _ = execute_missing(runs, Journal(self.results), self.n_jobs, ProgressBar(self.verbose))
        return [record for _, record in finished]

    def plan(self) -> Iterator[PlannedRun]:
        """List the runs of this benchmark, with their data; for users who change or watch them.

        Yields
        ------
        run : PlannedRun
            One model on one data set, once.
        """
        data = [(*entry, joblib.hash(entry)) for name in self.datasets for entry in self._load(name)]
        limits = (None if self.time_limit is None else float(self.time_limit), self.memory_limit)
        for model, estimator in self.models.items():
            for dataset, n_samples, X, y, failure, fingerprint in data:
                n_classes = None if y is None else _n_classes(y)
                for repeat in range(self.n_repeats):
                    configured = self._configure(estimator, n_classes, self.random_state + repeat)
                    known = {
                        "model": model,
                        "dataset": dataset,
                        **_sizes(configured, X, n_samples),
                        "n_classes": n_classes,
                        "repeat": repeat,
                    }
                    key = _key(configured, known, fingerprint, self.measurements, bool(self.warm_up), limits)
                    known["estimator"] = one_line(repr(configured))
                    yield PlannedRun(
                        key, known, configured, X, y, failure, self.measurements, bool(self.warm_up), *limits
                    )

    def _load(self, name: str) -> Iterator[_Data]:
        X, y, failure = self._read(name)
        if failure:
            yield name, None, None, None, failure
            return
        n = _num_samples(X)
        if self.max_samples is not None and n > self.max_samples:
            n = self.max_samples
            X, y = _take(X, y, np.sort(self._shuffled(_num_samples(X))[:n]))
        yield name, n, X, y, None

    def _read(self, name: str) -> tuple[Any, Any, str | None]:
        """Return X, y, and why they could not be loaded."""
        try:
            pair = self.datasets[name]
            pair = get_dataset(pair) if isinstance(pair, str) else pair
        except Exception as error:  # loading may fail in any way: the runs that need the data record the error
            return None, None, one_line(f"{type(error).__name__} in loading the data: {error}")
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"datasets[{name!r}] must be a pair (X, y). Got {type(pair).__name__} instead.")
        return *pair, None

    def _shuffled(self, n: int) -> NDArray[np.intp]:
        return np.random.RandomState(self.random_state).permutation(n)

    def _configure(self, estimator: Estimator, n_classes: int | None, seed: int) -> Estimator:
        configured: Estimator = clone(estimator)
        if self.n_clusters == "true" and n_classes is not None:
            configured.set_params(**dict.fromkeys(_counts_of(configured), n_classes))
        set_seeds(configured, seed)
        return configured


def _n_classes(y: Any) -> int:
    """Return the number of classes, or of the communities of a cover."""
    shape: tuple[int, ...] = getattr(y, "shape", ())
    return int(shape[1]) if len(shape) == 2 and y.dtype.kind == "b" else len(np.unique(y))


def _sizes(estimator: Estimator, X: Any, n_samples: int | None) -> Record:
    """Return the numbers of samples and of features; the samples of an image are its pixels."""
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if modality_of(estimator) == "image" and len(shape) in (2, 3):
        return {"n_samples": int(shape[0] * shape[1]), "n_features": int(shape[2]) if len(shape) == 3 else 1}
    return {"n_samples": n_samples, "n_features": shape[1] if len(shape) == 2 else None}


def _counts_of(estimator: Estimator) -> list[str]:
    """Return the names of the parameters that are the number of clusters.

    In a pipeline the last step is the clusterer: ``n_components`` of an earlier step means something else. If the
    clusterer itself has no such parameter, those of the estimators inside it are taken.
    """
    parameters = estimator.get_params(deep=True)
    clusterer: Any = estimator
    prefix = ""
    while getattr(clusterer, "steps", None):
        name, clusterer = clusterer.steps[-1]
        prefix += f"{name}__"
    own = next((prefix + name for name in ("n_clusters", "n_components") if prefix + name in parameters), None)
    inner = [name for name in parameters if name.startswith(prefix) and name.endswith("__n_clusters")]

    def needed(name: str) -> bool:
        owner = parameters.get(name.rpartition("__")[0], estimator)
        return parameters[name] is not None or not getattr(owner, "finds_n_clusters", True)

    return [name for name in ([own] if own else inner) if needed(name)]


class RuntimeBenchmark(ClusteringBenchmark):
    """Time to fit and to predict.

    Parameters are those of :class:`ClusteringBenchmark`.

    Examples
    --------
    >>> from soft_clustering import FCM
    >>> from soft_clustering.benchmarking import RuntimeBenchmark
    >>> RuntimeBenchmark([FCM()], ["iris"]).measurements
    ('fit_time', 'predict_time')
    """

    measurements = ("fit_time", "predict_time")


class MemoryBenchmark(ClusteringBenchmark):
    """Peak memory of the fit.

    Parameters are those of :class:`ClusteringBenchmark`.

    Examples
    --------
    >>> from soft_clustering import FCM
    >>> from soft_clustering.benchmarking import MemoryBenchmark
    >>> MemoryBenchmark([FCM()], ["iris"]).measurements
    ('peak_memory',)
    """

    measurements = ("peak_memory",)


class ClusteringQualityBenchmark(ClusteringBenchmark):
    """The measures of quality.

    Parameters are those of :class:`ClusteringBenchmark`.

    Examples
    --------
    >>> from soft_clustering import FCM
    >>> from soft_clustering.benchmarking import ClusteringQualityBenchmark
    >>> ClusteringQualityBenchmark([FCM()], ["iris"]).measurements[:3]
    ('ari', 'nmi', 'overlapping_nmi')
    """

    measurements = QUALITY


class ScalabilityBenchmark(ClusteringBenchmark):
    """Time and memory for growing numbers of samples.

    Parameters
    ----------
    models : dict of str to estimator, or list of estimators
        As in :class:`ClusteringBenchmark`.
    datasets : list of str, mapping of str to (X, y), or None, default=None
        Each is subsampled to every size; a larger subsample contains the smaller ones. None stands for five overlapping
        Gaussian clusters in 8 dimensions.
    sizes : list of int, default=(250, 500, 1000, 2000, 4000)
        Numbers of samples, none larger than the smallest data set.
    **options
        The other parameters of :class:`ClusteringBenchmark`, except ``max_samples``.

    See Also
    --------
    scaling_exponents : how fast the results grow.

    Examples
    --------
    >>> from soft_clustering import FCM
    >>> from soft_clustering.benchmarking import ScalabilityBenchmark
    >>> ScalabilityBenchmark([FCM()], sizes=[1000, 2000, 4000]).measurements
    ('fit_time', 'predict_time', 'peak_memory')
    """

    measurements = ("fit_time", "predict_time", "peak_memory")

    def __init__(
        self,
        models: Mapping[str, Estimator] | Sequence[Estimator],
        datasets: Mapping[str, tuple[Any, Any]] | Sequence[str] | None = None,
        *,
        sizes: Sequence[int] = (250, 500, 1000, 2000, 4000),
        **options: Any,
    ) -> None:
        if "max_samples" in options:
            raise TypeError("ScalabilityBenchmark takes no max_samples: sizes are the numbers of samples.")
        if np.ndim(sizes) != 1 or not len(sizes) or not all(isinstance(n, Integral) and n >= 2 for n in sizes):
            raise ValueError(f"sizes must be a list of ints >= 2. Got {sizes!r} instead.")
        self.sizes = sorted({int(size) for size in sizes})
        if datasets is None:
            datasets = {"blobs": make_blobs(self.sizes[-1], 8, centers=5, cluster_std=4.0, random_state=0)}
        super().__init__(models, datasets, **options)

    def _load(self, name: str) -> Iterator[_Data]:
        X, y, failure = self._read(name)
        n = self.sizes[-1] if failure else _num_samples(X)
        if self.sizes[-1] > n:
            raise ValueError(f"sizes must be at most the {n} samples of data set {name!r}. Got {self.sizes[-1]}.")
        order = self._shuffled(n)
        for size in self.sizes:
            yield (name, size, *((None, None) if failure else _take(X, y, order[:size])), failure)


class ProgressBar:
    """The progress on standard error: a bar on a terminal or in a notebook, one line per run elsewhere.

    Parameters
    ----------
    verbose : int
        0 shows nothing.
    """

    def __init__(self, verbose: int) -> None:
        self._verbose = verbose

    def begin(self, total: int, done: int) -> None:
        """Say how many runs the results already hold, if there are any."""
        self._total, self._done, self._begun, self._start = total, done, done, time.monotonic()
        if self._verbose and done:
            print(f"{done} of {total} runs are already in the results", file=sys.stderr)
        self._bar = Bar(total, "runs", done) if self._verbose else None

    def step(self, record: Record) -> None:
        """Show that one more run has finished, and the time that is left."""
        self._done += 1
        if self._bar is None:
            return
        self._bar.step()
        if not self._bar.is_shown:
            seconds = time.monotonic() - self._start
            rate = rate_of(self._done - self._begun, self._total - self._begun, seconds, "runs")
            how = f"{record['model']}, {record['dataset']}: {record['status']}"
            print(f"{self._done} of {self._total} runs, {rate}: {how}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()


def _named(models: Mapping[str, Estimator] | Sequence[Estimator]) -> dict[str, Estimator]:
    """Return the models by their names."""
    if isinstance(models, Mapping):
        named = dict(models)
    else:
        named = {type(model).__name__: model for model in models}
        if len(named) < len(models):
            names = [type(model).__name__ for model in models]
            raise ValueError(f"models must be a dict if two are of the same class: {sorted(names)} are not distinct.")
    for name, model in named.items():
        if not is_estimator(model):
            raise TypeError(f"models[{name!r}] must be a scikit-learn estimator. Got {model!r} instead.")
    return named


def _data_of(datasets: Mapping[str, tuple[Any, Any]] | Sequence[str]) -> Mapping[str, Any]:
    """Return the data sets by their names; a name instead of data stands for a built-in set."""
    if isinstance(datasets, Mapping):
        return datasets
    if isinstance(datasets, str):
        raise TypeError(f"datasets must be a list of names or a mapping of names to (X, y). Got {datasets!r} instead.")
    for name in datasets:
        dataset_info(name)
    return {name: name for name in datasets}


def _take(X: DataLike, y: ArrayLike | None, rows: NDArray[np.intp]) -> tuple[Any, Any]:
    return _safe_indexing(X, rows), None if y is None else _safe_indexing(y, rows)


def _key(estimator: Estimator, known: Record, *rest: object) -> str:
    """Return a key that identifies a run: the same run has the same key in every process."""
    kind = type(estimator)
    version = getattr(sys.modules.get(kind.__module__.partition(".")[0]), "__version__", None)
    try:
        key: str = joblib.hash(
            [kind.__module__, kind.__qualname__, version, estimator.get_params(deep=False), known, *rest]
        )
    except pickle.PicklingError as error:
        raise TypeError(
            f"models[{known['model']!r}] must have parameters that can be pickled: functions of a module, no lambdas. "
            f"Got {estimator!r}."
        ) from error
    return key
