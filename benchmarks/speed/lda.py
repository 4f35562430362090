"""The estimators of documents: LDA against scikit-learn, quality on real corpora, memory.

``python -m benchmarks lda [--repeats 3] [--corpora FOLDER] [--seeds 4] [--parts PART ...]`` measures, with
nothing else running:

* LDA against scikit-learn's, both from the same random start, 10 passes, two threads (scikit-learn with ``n_jobs`` 1
  and 2, of which the faster counts), in turns: ratio of the times, both bounds. On a planted corpus of 20,000 documents
  with 10 and 50 topics and, with FOLDER, on bbc_news;
* with FOLDER, LDA's own start against gensim's two estimators (in an environment of their own) on bbc_news;
* LDA's own default against the bound that scikit-learn reaches: seconds until there;
* memory of a fit of the planted corpus beyond the counts and the memberships;
* with FOLDER, adjusted Rand index and normalised mutual information of every estimator of documents on bbc_news and m10
  (``bbc_news.tsv``, ``m10.tsv``: text, split and class per line), with the number of clusters given if there is such a
  parameter, and the held-out perplexity of LDA and PLSI beside scikit-learn's.

Prints Markdown tables and writes ``benchmarks/results/documents.json``.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, save_npz
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import soft_clustering
from benchmarks.lib.environments import peer
from benchmarks.speed.units import ours
from soft_clustering import LDA
from soft_clustering._registry import REGISTRY
from soft_clustering.benchmarking import environment
from soft_clustering.datasets import make_topic_corpus
from soft_clustering.documents.lda import make_topics
from soft_clustering.engine.blocks import Frame, make_blocks
from soft_clustering.kernels.topics import lda_memberships

RESULTS = Path(__file__).parents[1] / "results"
PASSES = 10
PLANTED = {"vocabulary_size": 5000, "document_length": 100.0, "random_state": 0}


def read(folder: str, name: str) -> tuple[Any, list[str], list[str]]:
    """(Counts, classes, texts) of a corpus."""
    lines = Path(folder, f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    texts, _, labels = map(list, zip(*(line.split("\t") for line in lines), strict=True))
    return CountVectorizer(token_pattern=r"\S+").fit_transform(texts).astype(float), labels, texts


def seconds(action: Any) -> tuple[float, Any]:
    """How long a call takes, and what it returns."""
    start = time.perf_counter()
    answer = action()
    return time.perf_counter() - start, answer


def against_scikit_learn(X: Any, K: int, repeats: int) -> dict[str, Any]:
    """Times of the same passes on both sides, in turns, and of our default until it reaches their bound."""

    def mine() -> Any:
        return LDA(K, init="random", max_iter=PASSES, tol=0.0, random_state=0).fit(X)

    def theirs(n_jobs: int) -> Any:
        return LatentDirichletAllocation(K, max_iter=PASSES, random_state=0, n_jobs=n_jobs).fit(X)

    times: dict[str, list[float]] = {"ours": [], "scikit-learn": [], "scikit-learn, two jobs": []}
    for _ in range(repeats):
        taken, ours_fitted = seconds(mine)
        times["ours"].append(taken)
        taken, theirs_fitted = seconds(lambda: theirs(1))
        times["scikit-learn"].append(taken)
        times["scikit-learn, two jobs"].append(seconds(lambda: theirs(2))[0])
    best = {side: min(found) for side, found in times.items()}
    other = min(best["scikit-learn"], best["scikit-learn, two jobs"])
    ours_bound, bound = ours_fitted.objective_, float(theirs_fitted.score(X))
    own, passes = np.inf, 0
    for passes in range(1, 51):
        own, model = seconds(lambda passes=passes: LDA(K, max_iter=passes, tol=0.0, random_state=0).fit(X))
        if model.objective_ >= bound:
            break
    return {
        "seconds": best,
        "ratio": other / best["ours"],
        "bound": ours_bound,
        "bound_scikit_learn": bound,
        "own_start": {"seconds": own, "passes": passes, "bound": model.objective_, "ratio": other / own},
    }


def against_gensim(X: Any, K: int, repeats: int) -> dict[str, Any]:
    """Ten passes of gensim's two estimators with our priors, in turns with ours, and the bound that each reaches."""
    process = peer("gensim")
    with tempfile.TemporaryDirectory() as folder:
        save_npz(Path(folder, "counts.npz"), X)
        process.run(
            "import scipy.sparse\nfrom gensim.matutils import Sparse2Corpus\n"
            "from gensim.models import LdaModel, LdaMulticore\n"
            f"X = scipy.sparse.load_npz({str(Path(folder, 'counts.npz'))!r})\n"
            "corpus = Sparse2Corpus(X.tocsr(), documents_columns=False)\n"
            f"settings = dict(num_topics={K}, passes={PASSES}, alpha=[1 / {K}] * {K}, eta=1 / {K}, iterations=100, "
            "random_state=0, eval_every=None, id2word={j: str(j) for j in range(X.shape[1])})"
        )
    calls = {"LdaModel": "LdaModel(corpus, **settings)", "LdaMulticore": "LdaMulticore(corpus, workers=2, **settings)"}
    times: dict[str, list[float]] = {"ours": [], **{name: [] for name in calls}}
    bounds: dict[str, float] = {}
    block = make_blocks(csr_array(X), None, Frame(np.zeros(X.shape[1]), 1.0)).joined()
    for _ in range(repeats):
        taken, model = seconds(lambda: LDA(K, max_iter=PASSES, tol=0.0, random_state=0).fit(X))
        times["ours"].append(taken)
        bounds["ours"] = model.objective_
        for name, call in calls.items():
            times[name].append(process.run(f"model = {call}", 600.0)[0])
            _, components = process.run("answer = model.state.get_lambda().tolist()")
            topics = make_topics(np.array(components, dtype=float), np.full(K, 1 / K), 1 / K, None)
            bounds[name] = topics.bound + lda_memberships(block, topics.words, topics.prior, 100, 1e-3)[1]
    process.close()
    return {"seconds": {name: min(found) for name, found in times.items()}, "bounds": bounds}


def extra_memory(K: int) -> float:
    """Megabytes of a fit beyond counts, memberships and topics."""
    process = ours()
    process.run(
        "from soft_clustering import LDA\nfrom soft_clustering.datasets import make_topic_corpus\n"
        f"X = make_topic_corpus(20000, {K}, **{PLANTED}).counts.astype(float)\n"
        f"def fit(X):\n    return LDA({K}, init='random', max_iter=2, tol=0.0, random_state=0).fit(X)\n"
        "fit(X[:500])\nimport gc\ngc.collect()\nreset_peak()\nbefore = peak()\nmodel = fit(X)"
    )
    _, extra = process.run(
        "answer = (peak() - before - model.memberships_.nbytes - 2 * model.components_.nbytes) / 2**20"
    )
    process.close()
    assert isinstance(extra, float)
    return extra


def fitted(cls: Any, X: Any, y: list[str], settings: dict[str, Any]) -> dict[str, Any]:
    """One fit against the classes."""
    taken, model = seconds(lambda: cls(**settings).fit(X))
    scores = {"ari": adjusted_rand_score(y, model.labels_), "nmi": normalized_mutual_info_score(y, model.labels_)}
    return scores | {"n_clusters": model.n_clusters_, "seconds": taken}


def quality(folder: str, seeds: int) -> dict[str, Any]:
    """Every estimator of documents on both corpora."""
    found: dict[str, Any] = {}
    classes = [getattr(soft_clustering, row.name) for row in REGISTRY]
    variants = {cls.__name__: (cls, {}) for cls in classes if cls.modality == "documents"}
    variants["PLSI tempered"] = (soft_clustering.PLSI, {"tempered": True})
    for corpus in ("bbc_news", "m10"):
        X, y, _ = read(folder, corpus)
        for name, (cls, extra) in variants.items():
            known = cls().get_params()
            given = extra | ({"n_clusters": len(set(y))} if known.get("n_clusters") is not None else {})
            draws = [{"random_state": seed} for seed in range(seeds)] if "random_state" in known else [{}]
            runs = found[f"{name}, {corpus}"] = [fitted(cls, X, y, given | draw) for draw in draws]
            ari = [run["ari"] for run in runs]
            print(
                f"| {name} | {corpus} | {np.mean(ari):.3f} ({min(ari):.3f} to {max(ari):.3f}) | "
                f"{np.mean([run['nmi'] for run in runs]):.3f} | {[run['n_clusters'] for run in runs]} | "
                f"{min(run['seconds'] for run in runs):.2f} |",
                flush=True,
            )
    return found


def held_out(folder: str) -> dict[str, float]:
    """Perplexity of the odd documents of bbc_news, learnt on the even ones."""
    X, y, _ = read(folder, "bbc_news")
    K, train, rest = len(set(y)), X[::2], X[1::2]
    found = {"scikit-learn": LatentDirichletAllocation(K, max_iter=50, random_state=0).fit(train).perplexity(rest)}
    for name in ("LDA", "PLSI"):
        found[name] = getattr(soft_clustering, name)(K, random_state=0).fit(train).perplexity(rest)
    return {name: float(value) for name, value in found.items()}


PARTS = ("planted", "corpora", "gensim", "memory", "quality")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--corpora", metavar="FOLDER")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="the figures of the others stay")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    path = RESULTS / "documents.json"
    record: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"speed": {}}
    record["environment"] = environment()

    def keep() -> None:
        RESULTS.mkdir(exist_ok=True)
        path.write_text(json.dumps(record, indent=1) + "\n")

    cases: dict[str, tuple[Any, int]] = {}
    if "planted" in arguments.parts:
        planted = {K: make_topic_corpus(20_000, K, **PLANTED).counts for K in (10, 50)}
        cases |= {f"planted, 20,000 documents, K={K}": (X, K) for K, X in planted.items()}
    if "corpora" in arguments.parts and arguments.corpora:
        X, _, _ = read(arguments.corpora, "bbc_news")
        cases |= {f"bbc_news, K={K}": (X, K) for K in (10, 50)}
    print(
        "| corpus | scikit-learn, s | ours, s | ratio | bounds | own start to that bound, s | ratio |\n"
        + "|---" * 7
        + "|"
    )
    for name, (X, K) in cases.items():
        found = record["speed"][name] = against_scikit_learn(X.astype(float), K, arguments.repeats)
        times, own = found["seconds"], found["own_start"]
        print(
            f"| {name} | {times['scikit-learn']:.2f}, two jobs {times['scikit-learn, two jobs']:.2f} | "
            f"{times['ours']:.3f} | {found['ratio']:.1f} | {found['bound_scikit_learn']:.0f}, {found['bound']:.0f} | "
            f"{own['seconds']:.2f} ({own['passes']} passes) | {own['ratio']:.1f} |",
            flush=True,
        )
        keep()
    if "gensim" in arguments.parts and arguments.corpora:
        found = record["gensim"] = against_gensim(read(arguments.corpora, "bbc_news")[0], 10, arguments.repeats)
        cells = [f"{name} {taken:.2f} s, bound {found['bounds'][name]:.0f}" for name, taken in found["seconds"].items()]
        print(f"\ngensim, bbc_news, K=10, {PASSES} passes, own starts: {'; '.join(cells)}\n", flush=True)
        keep()
    if "memory" in arguments.parts:
        record["extra_mb"] = extra_memory(10)
        print(f"\nmemory beyond counts, memberships and topics, 20,000 documents, K=10: {record['extra_mb']:.1f} MB\n")
        keep()
    if "quality" in arguments.parts and arguments.corpora:
        print("| estimator | corpus | ARI | NMI | clusters | s |\n" + "|---" * 6 + "|")
        record["quality"] = quality(arguments.corpora, arguments.seeds)
        record["held_out_perplexity"] = held_out(arguments.corpora)
        print(f"\nheld-out perplexity, bbc_news: {record['held_out_perplexity']}")
        keep()


if __name__ == "__main__":
    main()
