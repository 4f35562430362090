"""The estimators of large graphs: growth of the seconds per pass with the links, and memory.

``python -m benchmarks graphs [--repeats 3] [--models NAME ...]`` fits the estimators of graphs to planted
overlapping graphs of 10,000 nodes and 100,000 links and of 100,000 nodes and 1,000,000 links, K=50, with nothing else
running:

* seconds per pass (sweep, epoch), by the difference of two runs of 2 and 6 passes at tol=0 from one given start (if
  the estimator takes one), and how they grow with the links;
* peak memory beyond the graph and the fitted attributes;
* seconds of whole fits of the methods that find the number of communities, to graphs of as many links and a hundred
  nodes per community, with what they find and the overlapping NMI;
* seconds of the default starts: neighbourhoods of low conductance (BIGCLAM), a spectral embedding (MMSB);
* BIGCLAM against the older package of our name and karateclub, each in an environment of its own, with default settings
  on planted graphs of 1000 nodes: seconds in turns, best of the repeats, and the log-likelihood that they reach.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np

from benchmarks.lib.environments import Interpreter, older, peer
from benchmarks.lib.processes import ours
from benchmarks.lib.records import Record
from soft_clustering.datasets import make_overlapping_graph

K = 50
SIZES = (10_000, 100_000)  # nodes, ten links each
SHORT, LONG = 2, 6
FITS = {
    "BIGCLAM": "BIGCLAM(K, init=start, max_iter={passes}, tol=0.0, random_state=0)",
    "BayesianNMF": "BayesianNMF(K, n_init=1, max_iter={passes}, tol=0.0, random_state=0)",
    "MMSB": "MMSB(K, init=start, max_iter={passes}, tol=0.0, random_state=0)",
    "CDCGS": "CDCGS(K, n_init=1, max_epochs={passes}, tol=None, random_state=0)",
    "NOCD": "NOCD(K, max_epochs={passes}, n_iter_no_change=None, random_state=0)",
    "DMoN": "DMoN(K, max_epochs={passes}, random_state=0)",
}
# Fits that are measured as a whole, to a hundred nodes per community.
WHOLE = {
    "LPANNI": "LPANNI()",
    "LinkMixture": "LinkMixture()",
    "SLPA": "SLPA(random_state=0)",
    "EgoSplitting": "EgoSplitting(random_state=0)",
    "EgoSplitting, propagation": "EgoSplitting(ego_clusters='propagation', random_state=0)",
}
STARTS = {
    "BIGCLAM": "from soft_clustering.graphs.bigclam import neighbourhood_seeds\nfound = neighbourhood_seeds(A, 5)",
    "MMSB": "from soft_clustering.engine.threads import single_threaded_blas\n"
    "from soft_clustering.graphs.spectral import spectral_labels\n"
    "with single_threaded_blas():\n    found = spectral_labels(A, K, numpy.random.RandomState(0))",
}


def measure(name: str, n: int, repeats: int) -> dict[str, Any]:
    """One estimator at one size, in a process of its own."""
    process = ours()
    process.run(
        f"import gc, numpy, warnings\nfrom soft_clustering import {name}\n"
        "from soft_clustering.datasets import make_overlapping_graph\nwarnings.simplefilter('ignore')\n"
        f"K = {K}\nA = make_overlapping_graph({n}, K, degree=14.6, random_state=0).adjacency\n"
        f"start = 0.1 + numpy.random.RandomState(0).dirichlet(numpy.ones(K), {n})"
    )
    fits = {passes: f"model = {FITS[name].format(passes=passes)}.fit(A)" for passes in (SHORT, LONG)}
    process.run(fits[SHORT])
    process.run("del model\ngc.collect()\nreset_peak()\nbefore = peak()")
    process.run(fits[SHORT])
    _, extra = process.run("after = peak()\ndel model\ngc.collect()\nanswer = (after - before) / 2**20")
    best = {passes: min(process.run(fit)[0] for _ in range(repeats)) for passes, fit in fits.items()}
    found: dict[str, Any] = {
        "n_nodes": n,
        "n_links": process.run("answer = A.nnz // 2")[1],
        "seconds_per_pass": (best[LONG] - best[SHORT]) / (LONG - SHORT),
        "peak_mb_beyond_graph": extra,
        "graph_mb": process.run("answer = (A.data.nbytes + A.indices.nbytes + A.indptr.nbytes) / 2**20")[1],
        "memberships_mb": 8 * n * K / 2**20,
    }
    if name in STARTS:
        found["seconds_of_default_start"] = process.run(STARTS[name])[0]
    process.close()
    return found


def measure_whole(name: str, n: int, repeats: int) -> dict[str, Any]:
    """A whole fit, in a process of its own."""
    process = ours()
    process.run(
        f"import gc, warnings\nfrom soft_clustering import {name.split(',')[0]}\n"
        "from soft_clustering.datasets import make_overlapping_graph\n"
        "from soft_clustering.metrics import overlapping_nmi\nwarnings.simplefilter('ignore')\n"
        f"graph = make_overlapping_graph({n}, {n // 100}, random_state=0)\nA = graph.adjacency"
    )
    fit = f"model = {WHOLE[name]}.fit(A)"
    process.run(fit)
    process.run("del model\ngc.collect()\nreset_peak()\nbefore = peak()")
    process.run(fit)
    found: dict[str, Any] = {
        "n_nodes": n,
        "n_links": process.run("answer = A.nnz // 2")[1],
        "n_communities": n // 100,
        "peak_mb_beyond_graph": process.run("answer = (peak() - before) / 2**20")[1],
        "seconds": min(process.run(fit)[0] for _ in range(repeats)),
        "n_found": process.run("answer = model.n_clusters_")[1],
        "passes": process.run("answer = getattr(model, 'n_iter_', None)")[1],
        "onmi": process.run("answer = 100 * overlapping_nmi(graph.cover, model.get_cover())")[1],
    }
    process.close()
    return found


# How BIGCLAM is called in each package.
BIGCLAMS = {
    "ours": "BIGCLAM(n_clusters=K, random_state=0).fit(A).memberships_",
    "soft-clustering 0.2.0": "BIGCLAM(n_nodes=len(A), n_communities=K).fit(A).memberships_",
    "karateclub": "embedding(G)",
}


def karateclub() -> Interpreter:
    """A process with karateclub."""
    process = peer("karateclub")
    process.run(
        "import networkx\nfrom karateclub import BigClam\n"
        "def embedding(G):\n    model = BigClam(dimensions=K)\n    model.fit(G)\n    return model._embedding"
    )
    return process


def likelihood(A: Any, F: Any) -> float:
    """Log-likelihood of affiliations with the background rate 1/n."""
    upper = np.transpose(np.triu(A).nonzero())
    x = (F[upper[:, 0]] * F[upper[:, 1]]).sum(axis=1)
    pairs = (np.square(F.sum(axis=0)).sum() - np.square(F).sum()) / 2
    return float((np.log(-np.expm1(-x - 1 / len(A))) + x).sum() - pairs)


def race(overlap: float, repeats: int) -> dict[str, Any]:
    """BIGCLAM of each package on a planted graph."""
    k = 5
    graph = make_overlapping_graph(1000, k, overlap=overlap, degree=20.0, background_degree=4.0, random_state=0)
    A = graph.adjacency.toarray()
    processes = {"ours": ours(), "soft-clustering 0.2.0": older(), "karateclub": karateclub()}
    for name, process in processes.items():
        process.run(f"import numpy\nK = {k}\nA = numpy.array({A.tolist()})")
        process.run(
            "G = networkx.from_numpy_array(A)" if name == "karateclub" else "from soft_clustering import BIGCLAM"
        )
        process.run(f"F = {BIGCLAMS[name]}")
    seconds: dict[str, list[float]] = {name: [] for name in processes}
    for _ in range(repeats):
        for name, process in processes.items():
            seconds[name].append(process.run(f"F = {BIGCLAMS[name]}")[0])
    found = {}
    for name, process in processes.items():
        F = np.array(process.run("answer = numpy.asarray(F).tolist()")[1])
        found[name] = {"seconds": min(seconds[name]), "log_likelihood": likelihood(A, F)}
        process.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--models", nargs="+", choices=[*FITS, *WHOLE], default=[*FITS, *WHOLE], metavar="NAME")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    record = Record("graphs", partial=arguments != parser.parse_args([]))
    print(
        "| estimator | nodes | links | s per pass | peak MB beyond the graph | default start, s |\n" + "|---" * 6 + "|"
    )
    for name in (name for name in arguments.models if name in FITS):
        rows = record[name] = [measure(name, n, arguments.repeats) for n in SIZES]
        for row in rows:
            start = row.get("seconds_of_default_start")
            print(
                f"| {name} | {row['n_nodes']} | {row['n_links']} | {row['seconds_per_pass']:.3f} | "
                f"{row['peak_mb_beyond_graph']:.0f} | {'-' if start is None else f'{start:.2f}'} |",
                flush=True,
            )
    print("\n| whole fit | nodes | links | s | peak MB beyond the graph | communities | ONMI |\n" + "|---" * 7 + "|")
    whole = record["whole fits"] = {}
    for name in (name for name in arguments.models if name in WHOLE):
        whole[name] = [measure_whole(name, n, arguments.repeats) for n in SIZES]
        for row in whole[name]:
            print(
                f"| {name} | {row['n_nodes']} | {row['n_links']} | {row['seconds']:.2f} | "
                f"{row['peak_mb_beyond_graph']:.0f} | {row['n_found']} of {row['n_communities']} | {row['onmi']:.1f} |",
                flush=True,
            )
    if "BIGCLAM" in arguments.models:
        print("\n| BIGCLAM, n=1000 | s | log-likelihood |\n" + "|---" * 3 + "|")
    for overlap in (0.0, 0.3) if "BIGCLAM" in arguments.models else ():
        row = record[f"BIGCLAM of others, overlap {overlap}"] = race(overlap, arguments.repeats)
        for name, found in row.items():
            print(f"| overlap {overlap}, {name} | {found['seconds']:.3f} | {found['log_likelihood']:.0f} |", flush=True)
    record.save()


if __name__ == "__main__":
    main()
