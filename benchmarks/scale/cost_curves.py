"""What a pass costs: curves over rows, features, clusters, chunks and workers, and a model that predicts larger runs.

``python -m benchmarks cost-curves [PART ...]``

Parts, each a section of the record:

* ``rows``: seconds of a pass in memory for n = 10,000 to 10,000,000 rows (float32, d = 16, K = 10; ECM K = 4), one and
  two threads, with the exponent of n;
* ``features``, ``clusters``: the same for d and for K, at 200,000 rows, one thread;
* ``chunks``: FCM and GMM on two worker processes, 2,000,000 rows in chunks of 2000 to 1,000,000;
* ``workers``: all methods on one and on two worker processes, 4,000,000 rows that the workers hold; bytes between
  workers and seconds of a pass over next to no rows, which is what the scheduler costs;
* ``threads``: FCM on two worker processes that offer 1 to 512 threads each, next to no rows for each thread: what the
  scheduler costs as a cluster grows (the workers of a real one would share their part of it);
* ``disk``: all methods on two worker processes, 1,000,000 to 20,000,000 rows in a file, and the peak of each process;
* ``documents``: LDA from 1000 to 64,000 documents; ``links``: BIGCLAM from 10,000 to 2,000,000 links;
* ``model``: what follows. Seconds of a pass = a fixed part + rows * seconds a row, a line through all sizes of ``disk``
  but the largest; how well it predicts the largest; and the prediction for 1,000,000,000 x 32 on 64 nodes with 16
  threads each: the work of a row on one thread, and what the scheduler costs at that many threads (``threads``).
"""

from __future__ import annotations

import argparse
import json
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from benchmarks.lib.memory import peak
from benchmarks.lib.records import Record
from benchmarks.lib.timing import best
from soft_clustering import BIGCLAM, ECM, FCM, GK, GMM, KFCM, LDA, PCM, kernels
from soft_clustering.datasets import make_overlapping_graph, make_topic_corpus
from soft_clustering.engine import dask_blocks

D, K = 16, 10
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
ON_DISK = (1_000_000, 2_000_000, 5_000_000, 20_000_000)
CHUNK = 100_000


# The methods ----------------------------------------------------------------------------------------------------------


def places(d: int, K: int) -> np.ndarray:
    """Centres of the planted clusters."""
    return np.random.default_rng(1).normal(0, 6, (K, d)).astype(np.float32)


def planted(n: int, d: int = D, K: int = K, seed: int = 0) -> np.ndarray:
    """Rows around the centres, float32."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d), dtype=np.float32) + places(d, K)[rng.integers(0, K, n)]


def models(d: int = D, K: int = K) -> dict[str, Any]:
    """Each method near its solution, with all that depends on the data given: a pass is a pass."""
    V = places(d, K).astype(np.float64) + 0.3
    few = min(K, 4)  # ECM has a mass for each of 2^K sets
    given = {"weights_init": np.full(K, 1 / K), "means_init": V, "precisions_init": np.array([np.eye(d)] * K)}
    return {
        "FCM": FCM(K, m=2.0, init=V),
        "GMM": GMM(K, **given),
        "GK": GK(K, init=V),
        "PCM": PCM(K, init=V, bandwidth=np.full(K, float(d))),
        "KFCM": KFCM(K, m=2.0, gamma=1 / d, init=V),
        "ECM": ECM(few, init=V[:few], delta=10.0, beta=2.0),
    }


def a_pass(model: Any, X: Any) -> Callable[[], Any]:
    """One pass of a method over the data, as a function without arguments."""
    blocks = model._blocks(X)
    model._resolve(blocks)
    state = next(iter(model._starts(blocks, np.random.RandomState(0))))
    return lambda: blocks.reduce(model._statistics, state)


# Measuring ------------------------------------------------------------------------------------------------------------


def exponent(x: list[int], y: list[float]) -> float:
    """The slope of log y over log x."""
    return round(float(np.polyfit(np.log(x), np.log(y), 1)[0]), 3)


def workers_of(number: int) -> LocalCluster:
    return LocalCluster(n_workers=number, threads_per_worker=1, processes=True, dashboard_address=None)


def rows() -> dict[str, Any]:
    """Seconds by the number of rows."""
    found: dict[str, Any] = {name: {"one thread": [], "two threads": []} for name in models()}
    X = planted(SIZES[-1])
    for n in SIZES:
        for name, model in models().items():
            step = a_pass(model, X[:n])
            with kernels.one_thread():
                found[name]["one thread"].append(best(step))
            found[name]["two threads"].append(best(step))
    for curve in found.values():
        curve["exponent"] = exponent(SIZES, curve["one thread"])
        curve["exponent, two threads"] = exponent(SIZES, curve["two threads"])
        curve["exponent from 100,000"] = exponent(SIZES[2:], curve["one thread"][2:])
    return {"n": SIZES, "d": D, "K": K, "curves": found}


def features() -> dict[str, Any]:
    """Seconds by the number of features."""
    values = (4, 8, 16, 32, 64)
    return {"d": values, "n": 200_000, "K": K, "curves": _over([(d, K) for d in values], values)}


def clusters() -> dict[str, Any]:
    """Seconds by the number of clusters; ECM has four at most, so its curve is flat from there on."""
    values = (2, 4, 10, 20, 40)
    return {"K": values, "n": 200_000, "d": D, "curves": _over([(D, K) for K in values], values)}


def _over(shapes: list[tuple[int, int]], values: tuple[int, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {name: {"one thread": []} for name in models()}
    for d, K in shapes:
        X = planted(200_000, d, K)
        for name, model in models(d, K).items():
            with kernels.one_thread():
                found[name]["one thread"].append(best(a_pass(model, X)))
    for curve in found.values():
        curve["exponent"] = exponent(list(values[1:]), curve["one thread"][1:])
    return found


def chunks() -> dict[str, Any]:
    """Seconds by the size of the chunks."""
    n, sizes = 2_000_000, (2000, 10_000, 100_000, 500_000, 1_000_000)
    found: dict[str, Any] = {"FCM": [], "GMM": []}
    with workers_of(2) as cluster, Client(cluster):
        for size in sizes:
            data = held(n, size)
            for name in found:
                found[name].append(best(a_pass(models()[name], data)))
            del data
    return {"rows of a chunk": sizes, "n": n, "curves": found}


def held(n: int, size: int = CHUNK) -> Any:
    """Rows in the memory of the workers."""
    parts = [dask.delayed(planted)(min(size, n - start), seed=start) for start in range(0, n, size)]
    arrays = [da.from_delayed(part, (min(size, n - i * size), D), np.float32) for i, part in enumerate(parts)]
    return da.concatenate(arrays).persist()


def workers() -> dict[str, Any]:
    """Seconds on one and on two workers, bytes between them, and what the scheduler costs."""
    n = 4_000_000
    found: dict[str, Any] = {name: {"seconds": [], "scheduler": []} for name in models()}
    for number in (1, 2):
        with workers_of(number) as cluster, Client(cluster) as client:
            data, nothing = held(n), held(200 * number, 100)
            for name, model in models().items():
                step = a_pass(model, data)
                step()
                before = sum(client.run(_received).values())
                step()
                found[name]["bytes between workers"] = sum(client.run(_received).values()) - before
                found[name]["seconds"].append(best(step))
                found[name]["scheduler"].append(best(a_pass(model, nothing), 20))
            del data, nothing
    return {"workers": (1, 2), "n": n, "curves": found}


def threads() -> dict[str, Any]:
    """Seconds of a pass over next to no rows by the number of threads that the scheduler serves."""
    offered, seconds = (1, 8, 32, 128, 512), []
    dask_blocks._SMALLEST_GROUP = dask_blocks._SMALLEST_BLOCK = 1  # a group for each thread, however small
    for number in offered:
        with (
            LocalCluster(n_workers=2, threads_per_worker=number, processes=True, dashboard_address=None) as cluster,
            Client(cluster),
        ):
            seconds.append(best(a_pass(models()["FCM"], held(200 * number, 100)), 5))
    return {"threads": [2 * number for number in offered], "seconds": seconds}


def _received(dask_worker: Any) -> int:
    """Bytes that a worker has received from others."""
    return sum(int(entry["total"]) for entry in dask_worker.transfer_incoming_log)


def disk() -> dict[str, Any]:
    """Seconds and peaks by the number of rows in a file."""
    found: dict[str, Any] = {name: {"seconds": [], "worker MB": [], "client MB": []} for name in models()}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.float32"
        with path.open("wb") as file:
            for start in range(0, ON_DISK[-1], CHUNK):
                planted(CHUNK, seed=start).tofile(file)
        for n in ON_DISK:
            parts = [dask.delayed(_read)(str(path), start) for start in range(0, n, CHUNK)]
            data = da.concatenate([da.from_delayed(part, (CHUNK, D), np.float32) for part in parts])
            for name, model in models().items():
                with workers_of(2) as cluster, Client(cluster) as client:
                    step = a_pass(model, data)
                    found[name]["seconds"].append(best(step, seconds=0))
                    found[name]["worker MB"].append(round(max(client.run(peak).values())))
                found[name]["client MB"].append(round(peak()))
                print(f"disk: {name} {n} {found[name]['seconds'][-1]:.3f} s", flush=True)
    for curve in found.values():
        curve["exponent"] = exponent(ON_DISK, curve["seconds"])
    return {"n": ON_DISK, "d": D, "K": K, "curves": found}


def _read(path: str, start: int) -> np.ndarray:
    """A chunk of a file."""
    return np.fromfile(path, np.float32, CHUNK * D, offset=4 * start * D).reshape(CHUNK, D)


def documents() -> dict[str, Any]:
    """Seconds of a pass of LDA: two fits that differ by ten passes."""
    sizes, seconds = (1000, 4000, 16_000, 64_000, 256_000), []
    for n in sizes:
        X = make_topic_corpus(n, K, vocabulary_size=5000, document_length=100.0, random_state=0).counts
        seconds.append(_pass_by_difference(LDA(K, tol=0, random_state=0), X))
    # An update of the topics costs the same for any number of documents: K numbers for each of 5000 words.
    found = {"documents": sizes, "K": K, "seconds": seconds, "exponent": exponent(sizes, seconds)}
    return found | {"exponent from 16,000": exponent(sizes[2:], seconds[2:])}


def links() -> dict[str, Any]:
    """Seconds of a pass of BIGCLAM: two fits that differ by ten passes."""
    nodes, sizes, seconds = (1000, 10_000, 100_000, 200_000), [], []
    for n in nodes:
        X = make_overlapping_graph(
            n, n // 100, overlap=0.1, degree=18.0, background_degree=2.0, random_state=0
        ).adjacency
        sizes.append(int(X.nnz // 2))
        seconds.append(_pass_by_difference(BIGCLAM(K, tol=0, random_state=0), X))
    return {"links": sizes, "K": K, "seconds": seconds, "exponent": exponent(sizes, seconds)}


def _pass_by_difference(model: Any, X: Any, passes: int = 10) -> float:
    """Seconds of a pass: of a fit with some more passes, less those of one with few."""
    few, many = (best(lambda n=n: model.set_params(max_iter=n).fit(X), 3, 0) for n in (2, 2 + passes))
    return (many - few) / passes


# The model ------------------------------------------------------------------------------------------------------------


def model(record: dict[str, Any]) -> dict[str, Any]:
    """Predictions from what was measured, beside what was measured of them."""
    found: dict[str, Any] = {}
    n, threads, d = 1_000_000_000, 64 * 16, 32
    scheduling = float(np.interp(threads, record["threads"]["threads"], record["threads"]["seconds"]))
    at = record["features"]["d"].index(d)
    for name, curve in record["disk"]["curves"].items():
        known = np.array(ON_DISK[:-1]), np.array(curve["seconds"][:-1])
        # Relative errors count, so that no size rules the line.
        a_row, a_pass = np.polyfit(*known, 1, w=1 / known[1]).tolist()
        predicted = a_pass + ON_DISK[-1] * a_row
        one, two = record["workers"]["curves"][name]["seconds"]
        wide = record["features"]["curves"][name]["one thread"][at] / record["features"]["n"]
        work = n * wide / threads
        found[name] = {
            "predicted": predicted,
            "measured": curve["seconds"][-1],
            "ratio": predicted / curve["seconds"][-1],
            "efficiency of two workers": one / two / 2,
            "1e9 x 32 on 1024 threads": work / (one / two / 2) + scheduling,
            "of it work": work / (one / two / 2),
            "of it scheduling": scheduling,
        }
    return {"methods": found}


PARTS = {f.__name__: f for f in (rows, features, clusters, chunks, workers, threads, disk, documents, links)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="all unless given")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    record = Record("cost_curves", partial=arguments != parser.parse_args([]))
    for part in arguments.parts or PARTS:
        record[part] = PARTS[part]()
        print(part, json.dumps(record[part], default=str)[:2000], flush=True)
    if not arguments.parts:
        record["model"] = model(record)
    record.save()


if __name__ == "__main__":
    main()
