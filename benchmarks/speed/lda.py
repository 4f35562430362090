"""LDA against scikit-learn and gensim, and its memory.

``python -m benchmarks lda [--repeats 3]`` measures, with nothing else running:

* LDA against scikit-learn's, both from the same random start, 10 passes, two threads (scikit-learn with ``n_jobs`` 1
  and 2, of which the faster counts), in turns: ratio of the times, both bounds. On a planted corpus of 20,000 documents
  and on bbc_news, with 10 and 50 topics;
* LDA's own default against the bound that scikit-learn reaches: seconds until there;
* LDA's own start against gensim's two estimators (in an environment of their own) on bbc_news;
* memory of a fit of the planted corpus beyond the counts and the memberships.

Prints Markdown tables.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, save_npz
from sklearn.decomposition import LatentDirichletAllocation

from benchmarks.lib.corpora import read
from benchmarks.lib.environments import peer
from benchmarks.lib.processes import ours
from benchmarks.lib.records import Record
from benchmarks.lib.timing import timed
from soft_clustering import LDA
from soft_clustering.datasets import make_topic_corpus
from soft_clustering.documents.lda import make_topics
from soft_clustering.engine.blocks import Frame, make_blocks
from soft_clustering.kernels.topics import lda_memberships

PASSES = 10
PLANTED = {"vocabulary_size": 5000, "document_length": 100.0, "random_state": 0}


def against_scikit_learn(X: Any, K: int, repeats: int) -> dict[str, Any]:
    """Times of the same passes on both sides, in turns, and of our default until it reaches their bound."""

    def mine() -> Any:
        return LDA(K, init="random", max_iter=PASSES, tol=0.0, random_state=0).fit(X)

    def theirs(n_jobs: int) -> Any:
        return LatentDirichletAllocation(K, max_iter=PASSES, random_state=0, n_jobs=n_jobs).fit(X)

    times: dict[str, list[float]] = {"ours": [], "scikit-learn": [], "scikit-learn, two jobs": []}
    for _ in range(repeats):
        taken, ours_fitted = timed(mine)
        times["ours"].append(taken)
        taken, theirs_fitted = timed(lambda: theirs(1))
        times["scikit-learn"].append(taken)
        times["scikit-learn, two jobs"].append(timed(lambda: theirs(2))[0])
    best = {side: min(found) for side, found in times.items()}
    other = min(best["scikit-learn"], best["scikit-learn, two jobs"])
    ours_bound, bound = ours_fitted.objective_, float(theirs_fitted.score(X))
    own, passes = np.inf, 0
    for passes in range(1, 51):
        own, model = timed(lambda passes=passes: LDA(K, max_iter=passes, tol=0.0, random_state=0).fit(X))
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
        taken, model = timed(lambda: LDA(K, max_iter=PASSES, tol=0.0, random_state=0).fit(X))
        times["ours"].append(taken)
        bounds["ours"] = model.objective_
        for name, call in calls.items():
            times[name].append(process.run(f"model = {call}", 600.0)[0])
            _, components = process.run("answer = model.state.get_lambda().tolist()")
            topics = make_topics(np.array(components, dtype=float), np.full(K, 1 / K), 1 / K, None, 0)
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    repeats = arguments.repeats
    warnings.simplefilter("ignore")
    record = Record("lda", partial=arguments != parser.parse_args([]))
    record["speed"] = {}
    news = read("bbc_news")[0]
    cases = {f"planted, 20,000 documents, K={K}": (make_topic_corpus(20_000, K, **PLANTED).counts, K) for K in (10, 50)}
    cases |= {f"bbc_news, K={K}": (news, K) for K in (10, 50)}
    print(
        "| corpus | scikit-learn, s | ours, s | ratio | bounds | own start to that bound, s | ratio |\n"
        + "|---" * 7
        + "|"
    )
    for name, (X, K) in cases.items():
        found = record["speed"][name] = against_scikit_learn(X.astype(float), K, repeats)
        times, own = found["seconds"], found["own_start"]
        print(
            f"| {name} | {times['scikit-learn']:.2f}, two jobs {times['scikit-learn, two jobs']:.2f} | "
            f"{times['ours']:.3f} | {found['ratio']:.1f} | {found['bound_scikit_learn']:.0f}, {found['bound']:.0f} | "
            f"{own['seconds']:.2f} ({own['passes']} passes) | {own['ratio']:.1f} |",
            flush=True,
        )
    found = record["gensim"] = against_gensim(news, 10, repeats)
    cells = [f"{name} {taken:.2f} s, bound {found['bounds'][name]:.0f}" for name, taken in found["seconds"].items()]
    print(f"\ngensim, bbc_news, K=10, {PASSES} passes, own starts: {'; '.join(cells)}\n", flush=True)
    record["extra_mb"] = extra_memory(10)
    print(f"\nmemory beyond counts, memberships and topics, 20,000 documents, K=10: {record['extra_mb']:.1f} MB\n")
    record.save()


if __name__ == "__main__":
    main()
