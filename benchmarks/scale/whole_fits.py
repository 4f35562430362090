"""How the default fit of every estimator grows with the data.

``python -m benchmarks whole-fits [--models NAME ...] [--patience 3]``

The number of samples (nodes of a graph, documents, pixels) doubles until a fit takes more than ``--patience`` seconds
or there are 512,000. Each fit has a process of its own, which warms up on a small input first. The exponents are those
of the four largest sizes: 1 if time is linear in the samples, 2 if all pairs are compared. Whole fits need more passes
on some sizes than on others, so exponents of single methods are rough. Memory is the peak of the fit beyond the data.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas
from sklearn.datasets import make_blobs
from sklearn.preprocessing import minmax_scale

import soft_clustering
from benchmarks.lib.records import Record
from soft_clustering._registry import REGISTRY
from soft_clustering.benchmarking import memory
from soft_clustering.datasets import make_overlapping_graph, make_phantom, make_topic_corpus

K = 5
MOST = 512_000
LIMIT = 120.0  # seconds of a fit
SHORT = 1.0  # seconds; shorter fits are made three times, and the best counts

Arguments = dict[str, Any]  # of ``fit``


def features(n: int) -> Arguments:
    return {"X": make_blobs(n, 8, centers=K, cluster_std=4.0, random_state=0)[0]}


def unit_cube(n: int) -> Arguments:
    return {"X": minmax_scale(features(n)["X"], (0.05, 0.95))}


def two_views(n: int) -> Arguments:
    rng = np.random.default_rng(0)
    y = rng.integers(K, size=n)
    return {"X": rng.normal(3.0 * y)[:, None], "X_beta": rng.beta(2.0 + 4 * y, 22.0 - 4 * y)[:, None]}


def answers(n: int) -> Arguments:
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.full(4, 0.5), (K, 12)).cumsum(axis=2)[rng.integers(K, size=n)]
    return {"X": (rng.uniform(size=(n, 12, 1)) > shares).sum(axis=2)}


def mixed_table(n: int) -> Arguments:
    codes = [f"c{j}" for j in range(12)]
    numbers = pandas.DataFrame(features(n)["X"]).add_prefix("x")
    return {"X": numbers.join(pandas.DataFrame(answers(n)["X"], columns=codes).astype("category"))}


def image(n: int) -> Arguments:
    side = round(n**0.5)
    y = np.arange(side)[:, None] * K // side + np.zeros((side, side), dtype=int)
    X = y / K + np.random.default_rng(0).normal(scale=0.05, size=y.shape)
    return {"X": X.reshape(-1, 1), "image_shape": y.shape}


def shaded_image(n: int) -> Arguments:
    side = round(n**0.5)
    levels = np.arange(1, K + 1) / K
    return {"X": make_phantom((side, side), intensities=levels, noise=0.02, bias=0.3, random_state=0).image}


def some_labels(n: int) -> Arguments:
    X, y = make_blobs(n, 8, centers=K, cluster_std=4.0, random_state=0)
    return {"X": X, "y": np.where(np.arange(n) < 100, y, -1)}


def clients(n: int) -> Arguments:
    return {"X": np.array_split(features(n)["X"], 4)}


def partitions(n: int) -> Arguments:
    rng = np.random.default_rng(0)
    y = rng.integers(K, size=n)
    U = np.exp(rng.gumbel(size=(10, n, K)) + 3 * np.eye(K)[y])
    return {"X": [*(U / U.sum(axis=2, keepdims=True))]}


def documents(n: int) -> Arguments:
    return {"X": make_topic_corpus(n, K, vocabulary_size=3000, document_length=120.0, random_state=0).counts}


def graph(n: int) -> Arguments:
    planted = make_overlapping_graph(n, K, overlap=0.0, degree=20.0, background_degree=4.0, random_state=0)
    return {"X": planted.adjacency}


BY_FAMILY: dict[str, Callable[[int], Arguments]] = {"graphs": graph, "documents": documents, "consensus": partitions}
BY_NAME: dict[str, Callable[[int], Arguments]] = {
    "MBMM": unit_cube,
    "BGMM": two_views,
    "LatentClass": answers,
    "FuzzyKPrototypes": mixed_table,
    "SKFCM": image,
    "AFCMAdaptive": shaded_image,
    "SoftKSC": some_labels,
    "SFCMEP": some_labels,
    "FeMIFuzzy": clients,
}


def one_fit(name: str, n: int, answer: Any) -> None:
    """Seconds and bytes of a fit to n samples, after one to a few."""
    warnings.simplefilter("ignore")
    row = next(row for row in REGISTRY if row.name == name)
    make = BY_NAME.get(name) or BY_FAMILY.get(row.family, features)
    model = getattr(soft_clustering, name)()
    given = model.get_params()
    if given.get("n_clusters") is not None:
        model.set_params(n_clusters=K)
    if "random_state" in given:
        model.set_params(random_state=0)
    model.fit(**make(200))
    data = make(n)
    memory.reset_peak()
    before = memory.peak() or 0
    seconds: list[float] = []
    while len(seconds) < 1 or (len(seconds) < 3 and seconds[0] < SHORT):
        began = time.perf_counter()
        model.fit(**data)
        seconds.append(time.perf_counter() - began)
    answer.send((min(seconds), (memory.peak() or 0) - before))


def curve(name: str, patience: float) -> dict[str, Any]:
    """Seconds and megabytes by the number of samples."""
    found: dict[str, Any] = {"n": [], "seconds": [], "MB": []}
    n = 500
    while n <= MOST:
        ours, theirs = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.get_context("spawn").Process(target=one_fit, args=(name, n, theirs))
        process.start()
        theirs.close()
        try:
            seconds, peak = ours.recv() if ours.poll(LIMIT) else (np.inf, 0)
        except EOFError:
            seconds, peak = np.inf, 0
        process.kill()
        process.join()
        if not np.isfinite(seconds):
            found["ended"] = f"a fit of {n} samples failed or took more than {LIMIT:g} s"
            break
        found["n"].append(n)
        found["seconds"].append(round(seconds, 5))
        found["MB"].append(round(peak / 2**20, 1))
        if seconds > patience:
            break
        n *= 2
    last = slice(-4, None)
    if len(found["n"]) > 2:
        logs = np.log(found["n"][last])
        found["exponent"] = round(float(np.polyfit(logs, np.log(found["seconds"][last]), 1)[0]), 2)
        found["memory_exponent"] = round(float(np.polyfit(logs, np.log(np.maximum(found["MB"][last], 0.1)), 1)[0]), 2)
    return found


def main() -> None:
    names = [row.name for row in REGISTRY]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", choices=names, default=names, metavar="NAME")
    parser.add_argument("--patience", type=float, default=3.0)
    arguments = parser.parse_args()
    record = Record("whole_fits", partial=arguments != parser.parse_args([]))
    curves = record["curves"] = {}
    for name in arguments.models:
        curves[name] = found = curve(name, arguments.patience)
        last = found["n"][-1], found["seconds"][-1], found["MB"][-1]
        print(
            f"{name:14} {found.get('exponent', np.nan):5.2f} {last[0]:7d} {last[1]:8.3f} s {last[2]:8.1f} MB",
            flush=True,
        )
    record.save()


if __name__ == "__main__":
    main()
