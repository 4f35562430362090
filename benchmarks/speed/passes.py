"""Speed and memory of FCM and GMM against scikit-fuzzy, scikit-learn and the older package of our name.

``python -m benchmarks passes [--repeats 5] [--only NAME ...]`` runs A and B in turns in one process (the older
package in a process of its own environment), takes the best of the repeats, and prints ratios with the objectives
reached. Nothing else should run on the machine.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.cluster._k_means_lloyd import lloyd_iter_chunked_dense
from sklearn.datasets import load_iris, make_blobs
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

from benchmarks.lib.environments import older
from benchmarks.lib.records import Record
from benchmarks.lib.timing import in_turns
from soft_clustering import FCM, GMM, kernels
from soft_clustering.engine.blocks import make_blocks
from soft_clustering.kernels.centers import center_statistics


def start_from_memberships(X: np.ndarray, U: np.ndarray, m: float) -> np.ndarray:
    W = U**m
    return (W.T @ X) / W.sum(axis=0)[:, None]


def fcm_convergence(repeats: int) -> dict:
    """FCM to convergence against skfuzzy.cmeans: same start, same objective, overlapping clusters."""
    import skfuzzy

    X, _ = make_blobs(100_000, 16, centers=10, cluster_std=6.0, random_state=0)
    # skfuzzy starts from memberships, we from the centres that they imply: the same point of the iteration.
    U0 = np.random.default_rng(0).dirichlet(np.ones(10), len(X))
    V0 = start_from_memberships(X, U0, 1.5)
    out: dict[str, float] = {}

    def ours() -> None:
        out["ours_J"] = FCM(10, m=1.5, init=V0, tol=1e-5).fit(X).objective_

    def theirs() -> None:
        history = skfuzzy.cmeans(X.T, 10, 1.5, error=1e-4, maxiter=300, init=U0.T)[4]
        out["skfuzzy_J"] = history[-1]

    return {**in_turns(repeats, ours=ours, skfuzzy=theirs), **out}


def fcm_pass(n: int, d: int, K: int) -> Callable[[int], dict]:
    def measure(repeats: int) -> dict:
        """One FCM pass (m=2, and m=1.7) against one Lloyd iteration of scikit-learn's KMeans, 2 threads."""
        X = np.random.default_rng(0).normal(size=(n, d))
        V = X[:K].copy()
        block = make_blocks(X).blocks[0]
        Vz = block.frame.from_input(V)
        ones, new, sizes = np.ones(n), np.zeros_like(V), np.zeros(K)
        labels, shift = np.zeros(n, np.int32), np.zeros(K)

        def lloyd() -> None:
            with threadpool_limits(1, user_api="blas"):
                lloyd_iter_chunked_dense(X, ones, V, new, sizes, labels, shift, 2)

        times = in_turns(
            repeats,
            lloyd=lloyd,
            fcm_m2=lambda: center_statistics(block, Vz, "fcm", 2.0),
            fcm_m17=lambda: center_statistics(block, Vz, "fcm", 1.7),
        )
        # subtract, multiply-add for the distances; multiply-add for the sums
        flops, bytes_read = 5.0 * n * d * K, 8.0 * n * d
        return {
            **times,
            "fcm_m2_Gflops": flops / times["fcm_m2"] / 1e9,
            "peak_Gflops": peak_flops() / 1e9,
            "fcm_m2_GB_per_s": bytes_read / times["fcm_m2"] / 1e9,
            "copy_GB_per_s": bandwidth() / 1e9,
        }

    return measure


def peak_flops() -> float:
    """The speed that BLAS reaches in a large matrix product."""
    A = np.random.default_rng(0).normal(size=(2000, 2000))
    best = in_turns(3, dot=lambda: A @ A)["dot"]
    return 2 * 2000**3 / best


def bandwidth() -> float:
    """Bytes read per second by a sum over a large array (one thread), times the threads in use."""
    A = np.ones(30_000_000)
    return 8 * len(A) / in_turns(3, read=lambda: A.sum())["read"] * kernels.compiled.max_threads()


def gmm_full(repeats: int) -> dict:
    """GMM (full) against scikit-learn: same start and stop, same likelihood; EM loop alone and whole fit."""
    X, _ = make_blobs(100_000, 16, centers=10, cluster_std=12.0, random_state=0)
    out: dict[str, float] = {}

    def ours(max_iter: int) -> Callable[[], None]:
        def run() -> None:
            model = GMM(10, random_state=0, max_iter=max_iter, tol=1e-3).fit(X)
            out["ours_likelihood"], out["ours_n_iter"] = model.objective_, model.n_iter_

        return run

    def theirs(max_iter: int) -> Callable[[], None]:
        def run() -> None:
            model = GaussianMixture(10, random_state=0, max_iter=max_iter, tol=1e-3).fit(X)
            out["sklearn_likelihood"], out["sklearn_n_iter"] = model.score(X), model.n_iter_

        return run

    times = in_turns(repeats, ours_one=ours(1), sklearn_one=theirs(1), ours_fit=ours(200), sklearn_fit=theirs(200))
    passes = out["ours_n_iter"] - 1
    out["ours_ms_per_pass"] = 1e3 * (times["ours_fit"] - times["ours_one"]) / passes
    out["sklearn_ms_per_pass"] = 1e3 * (times["sklearn_fit"] - times["sklearn_one"]) / passes
    return {**times, **out}


def fcm_iris(repeats: int) -> dict:
    """An iris-sized fit against skfuzzy.cmeans: same start and tolerance, validation included."""
    import skfuzzy

    X = load_iris().data
    U0 = np.random.default_rng(0).dirichlet(np.ones(3), len(X))
    V0 = start_from_memberships(X, U0, 2.0)
    out: dict[str, float] = {}

    def ours() -> None:
        for _ in range(20):
            out["ours_J"] = FCM(3, m=2.0, init=V0, tol=1e-5).fit(X).objective_

    def theirs() -> None:
        for _ in range(20):
            out["skfuzzy_J"] = skfuzzy.cmeans(X.T, 3, 2.0, error=1e-5, maxiter=300, init=U0.T)[4][-1]

    return {**in_turns(repeats, ours=ours, skfuzzy=theirs), **out}


def fcm_default(repeats: int) -> dict:
    """The default fit (5 starts) at n=1000, d=8 against the older package's default (1 start): mean over 10 seeds."""
    peer = older()
    out: dict[str, float] = {}
    for std in (1.0, 4.0, 8.0):
        make = f"make_blobs(1000, 8, centers=4, cluster_std={std}, random_state=0)"
        X, _ = make_blobs(1000, 8, centers=4, cluster_std=std, random_state=0)
        peer.run(f"from sklearn.datasets import make_blobs\nfrom soft_clustering import FCM\nX, _ = {make}")
        theirs = "for seed in range(10):\n    FCM(n_clusters=4, random_state=seed).fit(X)"
        times: dict[str, list[float]] = {"ours": [], "older": []}
        for _ in range(2 * repeats):
            start = time.perf_counter()
            for seed in range(10):
                FCM(n_clusters=4, random_state=seed).fit(X)
            times["ours"].append(time.perf_counter() - start)
            times["older"].append(peer.run(theirs)[0])
        for side, values in times.items():
            out[f"{side}_std{std:g}"] = min(values) / 10
    peer.close()
    return out


_MEMORY = """
import numpy as np
from soft_clustering import FCM


def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024


X = np.random.default_rng(0).normal(size=(1_000_000, 16))
X[:500_000] += 3
FCM(2, random_state=0, max_iter=2).fit(X[:1000])
with open("/proc/self/clear_refs", "w") as reset:
    reset.write("5")
before = peak()
model = FCM(10, m=1.5, random_state=0, n_init=2, max_iter=20).fit(X)
print(peak() - before - model.memberships_.nbytes / 2**20)
"""


def fcm_memory(repeats: int) -> dict:
    """Peak resident memory of a fit at n=1M, d=16, K=10, beyond X and memberships_."""
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", _MEMORY], capture_output=True, text=True, check=True)
    return {"beyond_MB": float(run.stdout)}


def import_time(repeats: int) -> dict:
    """Time of ``import soft_clustering`` beyond ``import numpy``, in fresh processes."""
    code = "import numpy, time; s = time.perf_counter(); import soft_clustering; print(time.perf_counter() - s)"
    times = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout) for _ in range(5)
    ]
    return {"seconds": min(times)}


MEASURES: dict[str, Callable[[int], dict]] = {
    "fcm_convergence": fcm_convergence,
    "fcm_pass_1M_16_10": fcm_pass(1_000_000, 16, 10),
    "fcm_pass_200k_64_26": fcm_pass(200_000, 64, 26),
    "fcm_pass_1M_2_5": fcm_pass(1_000_000, 2, 5),
    "gmm_full": gmm_full,
    "fcm_iris": fcm_iris,
    "fcm_default": fcm_default,
    "fcm_memory": fcm_memory,
    "import_time": import_time,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", nargs="*", choices=MEASURES, default=list(MEASURES))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    record = Record("passes", partial=arguments != parser.parse_args([]))
    for name in arguments.only:
        record[name] = MEASURES[name](arguments.repeats)
        print(name, json.dumps(record[name], indent=2), flush=True)
    record.save()


if __name__ == "__main__":
    main()
