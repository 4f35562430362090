"""Tables made from the records of a benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas


def summarize(results: pandas.DataFrame) -> pandas.DataFrame:
    """Summarise results in one row per model: how many runs completed, and the means over those.

    Parameters
    ----------
    results : DataFrame
        From :meth:`ClusteringBenchmark.run` or that of another benchmark, or read from its CSV file.

    Returns
    -------
    summary : DataFrame
        ``algorithm``; ``datasets``, the number of data sets; ``completed``, the number of runs with a partition of at
        least two clusters; ``errors``, the number of runs that failed or exceeded a limit (the other runs were
        degenerate); ``skipped``, the number of runs for which an extra is not installed, if there are any; ``ari``,
        ``nmi`` and ``mean_time_ms``, means over the completed runs, if they were measured. The model with the largest
        ARI comes first; without ARI, the one with the shortest time.

    Examples
    --------
    >>> import pandas
    >>> from soft_clustering.benchmarking import summarize
    >>> results = pandas.DataFrame(
    ...     {
    ...         "model": ["FCM", "FCM", "SCM"],
    ...         "dataset": ["iris", "wine", "iris"],
    ...         "status": ["ok", "timeout", "degenerate"],
    ...         "ari": [0.73, None, 0.0],
    ...         "nmi": [0.75, None, 0.0],
    ...         "fit_time": [0.002, None, 0.001],
    ...     }
    ... )
    >>> summarize(results)
      algorithm  datasets  completed  errors   ari   nmi  mean_time_ms
    0       FCM         2          1       1  0.73  0.75           2.0
    1       SCM         1          0       0   NaN   NaN           NaN
    """
    import pandas

    rows = []
    some_skipped = (results["status"] == "skipped").any()
    for model, runs in results.groupby("model", sort=False):
        completed = runs[runs["status"] == "ok"]
        row = {
            "algorithm": model,
            "datasets": runs["dataset"].nunique(),
            "completed": len(completed),
            "errors": int(runs["status"].isin(["timeout", "memory", "error"]).sum()),
        }
        if some_skipped:
            row["skipped"] = int((runs["status"] == "skipped").sum())
        row |= {name: completed[name].mean() for name in ("ari", "nmi") if name in completed}
        if "fit_time" in completed:
            row["mean_time_ms"] = 1e3 * completed["fit_time"].mean()
        rows.append(row)
    summary = pandas.DataFrame(rows)
    for name, ascending in (("ari", False), ("mean_time_ms", True)):
        if name in summary:
            return summary.sort_values(name, ascending=ascending, kind="stable", ignore_index=True)
    return summary


def scaling_exponents(results: pandas.DataFrame) -> pandas.DataFrame:
    """Return how fast time and memory grow with the number of samples.

    Parameters
    ----------
    results : DataFrame
        From :meth:`ScalabilityBenchmark.run`.

    Returns
    -------
    exponents : DataFrame
        A row per model and data set with ``sizes``, the number of sizes that completed, and for ``fit_time``,
        ``predict_time`` and ``peak_memory`` the exponent.

    Notes
    -----
    The exponent is the slope b of the least squares line log t = a + b log n through the completed runs: 1 for a method
    that is linear in n, 2 for one that compares all pairs. At small sizes fixed costs dominate, so the exponent is too
    small: choose sizes of which the largest takes seconds. It is NaN if fewer than two sizes were measured.

    Examples
    --------
    >>> import pandas
    >>> from soft_clustering.benchmarking import scaling_exponents
    >>> results = pandas.DataFrame(
    ...     {
    ...         "model": "FCM",
    ...         "dataset": "blobs",
    ...         "status": "ok",
    ...         "n_samples": [100, 1000, 10000],
    ...         "fit_time": [0.001, 0.01, 0.1],
    ...         "predict_time": [0.001, 0.01, 0.1],
    ...         "peak_memory": [1e4, 1e6, 1e8],
    ...     }
    ... )
    >>> scaling_exponents(results)
      model dataset  sizes  fit_time  predict_time  peak_memory
    0   FCM   blobs      3       1.0           1.0          2.0
    """
    import pandas

    rows = []
    for (model, dataset), runs in results.groupby(["model", "dataset"], sort=False):
        completed = runs[runs["status"] == "ok"]
        row = {"model": model, "dataset": dataset, "sizes": completed["n_samples"].nunique()}
        for quantity in ("fit_time", "predict_time", "peak_memory"):
            measured = completed[completed[quantity] > 0]
            n = np.log(measured["n_samples"].to_numpy(float))
            t = np.log(measured[quantity].to_numpy(float))
            row[quantity] = float(np.polyfit(n, t, 1)[0]) if len(np.unique(n)) > 1 else np.nan
        rows.append(row)
    return pandas.DataFrame(rows)
