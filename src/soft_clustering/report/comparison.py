"""Fit models to the same data and write the report."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from .._estimators import Estimator
from .._text import one_line
from .._types import DataLike
from ..benchmarking.benchmarks import ProgressBar
from ..benchmarking.quality import modality_of
from ..benchmarking.records import Journal
from ..inputs.features import with_medians
from .html import check_path
from .pipeline import ModelComparison, ReportRequest, Subject, run_comparison
from .summary import Summary


def compare(
    models: Mapping[str, Estimator] | Sequence[Estimator],
    X: DataLike,
    y: ArrayLike | None = None,
    *,
    path: str | os.PathLike[str],
    name: str = "X",
    n_clusters: str | None = "true",
    random_state: int = 0,
    time_limit: float | None = 60.0,
    memory_limit: int | None = None,
    max_points: int = 2000,
    n_jobs: int | None = None,
    verbose: int = 1,
) -> Summary:
    """Fit models to the same data and write an HTML report of what they found.

    Each model is fitted in a process of its own, with limits on its time and memory. The report gives the reason for
    each model that fails.

    Parameters
    ----------
    models : dict of str to estimator, or list of estimators
        scikit-learn clusterers, soft or hard, from this library or others. In a list they are named after their
        classes. They are cloned, never fitted here.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data; the columns of a data frame give the names of the features. Models of graphs take the adjacency
        matrix, which is drawn with its links.
    y : array-like of shape (n_samples,), default=None
        Classes to compare with.
    path : str or path
        The file to write, which ends in .html; an existing file is replaced.
    name : str, default='X'
        What the data are called in the report.
    n_clusters : {'true'} or None, default='true'
        ``'true'`` sets the number of clusters of the models to the number of classes, if there are classes. None
        leaves the models as they are.
    random_state : int, default=0
        Seed of the models whose own ``random_state`` is None.
    time_limit : float or None, default=60.0
        Seconds for each fit and its measures.
    memory_limit : int or None, default=None
        Bytes of resident memory for each fit. Not on Windows.
    max_points : int, default=2000
        The report shows at most this many samples, always the same ones; the models are fitted to all.
    n_jobs : int or None, default=None
        Fits at the same time, through joblib. None means 1; times are comparable only then.
    verbose : int, default=1
        0 shows nothing, 1 shows the progress on standard error.

    Returns
    -------
    summary : dict
        What the report shows, see :func:`summarize_comparison`.

    See Also
    --------
    soft_clustering.benchmarking.ClusteringBenchmark : how the models are run, and what is measured.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from soft_clustering import FCM, report
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     summary = report.compare([FCM(), KMeans()], X, y, path=f"{folder}/report.html", name="iris", verbose=0)
    >>> [(model["name"], model["status"], round(model["ari"], 2)) for model in summary["models"]]
    [('FCM', 'ok', 0.73), ('KMeans', 'ok', 0.72)]
    """
    check_path(path)
    benchmark = ModelComparison(
        models,
        {name: (X, y)},
        n_clusters=n_clusters,
        random_state=random_state,
        time_limit=time_limit,
        memory_limit=memory_limit,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    command = _code(benchmark.models, y is not None, path, name, n_clusters, random_state)
    modalities = {modality_of(model) for model in benchmark.models.values()}
    subject = Subject(
        with_medians(X),
        y,
        name,
        modality=modalities.pop() if len(modalities) == 1 else "features",
        n_clusters=None if y is None or n_clusters is None else len(np.unique(np.asarray(y))),
    )
    request = ReportRequest(path, command, max_points)
    _, summary = run_comparison(
        [benchmark], subject, Journal(None), ProgressBar(verbose), n_jobs=n_jobs, report=request
    )
    return summary


def _code(
    models: Mapping[str, Estimator],
    classes: bool,
    path: str | os.PathLike[str],
    name: str,
    n_clusters: str | None,
    random_state: int,
) -> str:
    """Return a script that makes the same comparison, given the data."""
    lines = {"from soft_clustering import report"}
    for model in models.values():
        parts = [model, *(value for value in model.get_params().values() if hasattr(value, "get_params"))]
        lines |= {f"from {_public(type(part).__module__)} import {type(part).__name__}" for part in parts}
    arguments = f"X, {'y' if classes else 'None'}, path={Path(path).name!r}, name={name!r}"
    arguments += f", n_clusters={n_clusters!r}, random_state={random_state}"
    listed = [f"    {key!r}: {one_line(repr(model))}," for key, model in models.items()]
    return "\n".join([*sorted(lines), "", "models = {", *listed, "}", f"report.compare(models, {arguments})"])


def _public(module: str) -> str:
    """Return the module that users import from.

    That of this library is its top; in other packages, a part that begins with an underscore is private.

    Examples
    --------
    >>> _public("soft_clustering.fuzzy.fcm"), _public("sklearn.cluster._kmeans")
    ('soft_clustering', 'sklearn.cluster')
    """
    first, *rest = module.split(".")
    if first == __name__.partition(".")[0]:
        return first
    public = [first]
    for part in rest:
        if part.startswith("_"):
            break
        public.append(part)
    return ".".join(public)
