"""Our methods against those of other packages, in three units: the default fit, the peer's own objective, one pass.

``python -m benchmarks peers [--sizes 200 2000 20000 200000] [--only NAME ...] [--repeats 3]`` fits both sides with the
same number of clusters on the same data. Each side has a process of its own (the peer in an environment of its own); a
first fit pays for imports and compilers, then the two sides take turns and the best time counts. A fit of more than a
second is not repeated, and after one of more than five seconds no pass is measured. A peer goes on to ten times the
rows while ten times its time stays within a minute.

* Default fit: the settings that the packages choose, K given (FCM, ECM, EVCLUS: also the peer's fuzzifier and focal
  sets).
* To the peer's own objective: one criterion, a function in this file, is computed from what either side found. Ours is
  fitted from one start with ``tol=0`` (so that it goes on) and the fewest passes, found by bisection, whose criterion
  is at least as good as the peer's; if one start does not get there, with the default number of starts. A criterion
  that is not reached within the default number of passes is reported as such: there the peer is better.
* One pass: the difference of two fits of 2 and 12 passes that do not test convergence, where the peer lets one say so.

A peer has collapsed if its adjusted Rand index (communities: overlapping NMI) is below 0.02. After the table comes, for
each method and size, the fastest peer that has not collapsed.

Data: Gaussian clusters, d=8, K=5, standard deviation 4 (density methods: 2); planted corpora of ten topics with
1000 held-out documents; planted graphs of ten communities with overlaps of three in ten nodes (DMoN: none; LPANNI and
SLPA: LFR graphs, whose communities do not grow).
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterable
from subprocess import CalledProcessError
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.stats import multivariate_normal
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from benchmarks.lib.environments import Interpreter, peer
from benchmarks.lib.processes import ours
from benchmarks.lib.records import Record
from soft_clustering import ECM
from soft_clustering.datasets import make_lfr_graph, make_overlapping_graph, make_topic_corpus
from soft_clustering.graphs.network import soft_modularity
from soft_clustering.metrics import overlapping_nmi

SIZES = (200, 2000, 20_000, 200_000)
LIMIT = 60.0  # seconds of one fit
PATIENCE = 1.0  # seconds; a slower fit is not repeated
SLOW = 5.0  # seconds; of a slower fit no pass is measured
SHORT, LONG = 2, 12
REST = 0.05  # seconds until the threads of the other side are asleep
SLACK = 1e-9  # relative, for rounding
COLLAPSED = 0.02


class Data(NamedTuple):
    """What both sides get under the name X, and what only the criterion sees."""

    X: Any
    classes: Any = None
    held_out: Any = None


def blobs(n: int) -> Data:
    return Data(*make_blobs(n, 8, centers=5, cluster_std=4.0, random_state=0))


def dense_blobs(n: int) -> Data:
    """Clusters with gaps between them, for methods that look for gaps."""
    return Data(*make_blobs(n, 8, centers=5, cluster_std=2.0, random_state=3))


def corpus(n: int) -> Data:
    """Counts; of the held-out documents the words that occur in the others."""
    counts = make_topic_corpus(n + 1000, 10, vocabulary_size=1000, random_state=0).counts.astype(float)
    known = np.asarray(counts[:n].sum(axis=0)).ravel() > 0
    return Data(counts[:n], held_out=(counts[n:].toarray() * known))


def graph(n: int) -> Data:
    planted = make_overlapping_graph(n, 10, random_state=0)
    return Data(planted.adjacency.astype(float), planted.cover)


def lfr_graph(n: int) -> Data:
    planted = make_lfr_graph(n, random_state=2)
    return Data(planted.adjacency.astype(float), planted.cover)


def disjoint_graph(n: int) -> Data:
    planted = make_overlapping_graph(n, 10, overlap=0.0, random_state=0)
    return Data(planted.adjacency.astype(float), planted.cover.argmax(axis=1))


# Criteria: larger is better -------------------------------------------------------------------------------------------


def fuzzy_objective(data: Data, centers: np.ndarray) -> float:
    """Minus the objective of fuzzy c-means (m=2) at centres, with the best memberships for them."""
    squared = sum(np.subtract.outer(x, v) ** 2 for x, v in zip(data.X.T, centers.T, strict=True))
    return -float((1 / (1 / np.maximum(squared, 1e-300)).sum(axis=1)).sum())


def log_likelihood(data: Data, weights: np.ndarray, means: np.ndarray, covariances: np.ndarray) -> float:
    """The mean log-likelihood of a Gaussian mixture."""
    parts = zip(weights, means, covariances, strict=True)
    return float(
        np.logaddexp.reduce([np.log(w) + multivariate_normal(m, C).logpdf(data.X) for w, m, C in parts]).mean()
    )


def evidential_objective(data: Data, centers: np.ndarray) -> float:
    """Minus the objective of evidential c-means at prototypes: the first one of a run from there."""
    model = ECM(len(centers), focal_sets="full", alpha=1.0, beta=2.0, delta=10.0, init=centers, max_iter=1, tol=0.0)
    return -float(model.fit(data.X).objective_history_[0])


def minus_perplexity(data: Data, topics: np.ndarray) -> float:
    """Minus the perplexity of half of the words of the held-out documents, whose other half gives their topics."""
    topics = topics / topics.sum(axis=1, keepdims=True)
    seen = np.random.default_rng(0).binomial(data.held_out.astype(int), 0.5)
    shares = np.full((len(seen), len(topics)), 1 / len(topics))
    for _ in range(50):
        shares *= (seen / (shares @ topics)) @ topics.T
        shares += 1 / len(topics)
        shares /= shares.sum(axis=1, keepdims=True)
    rest = data.held_out - seen
    return -float(np.exp(-(rest * np.log(shares @ topics)).sum() / rest.sum()))


def affiliation_likelihood(data: Data, F: np.ndarray) -> float:
    """The log-likelihood of BIGCLAM with the background rate 1/n, per node."""
    links = sparse.triu(data.X, 1).tocoo()
    x = (F[links.row] * F[links.col]).sum(axis=1)
    pairs = (np.square(F.sum(axis=0)).sum() - np.square(F).sum()) / 2
    return float((np.log(-np.expm1(-x - 1 / len(F))) + x).sum() - pairs) / len(F)


def minus_dmon_loss(data: Data, C: np.ndarray) -> float:
    """The modularity of soft communities less the penalty of DMoN on their sizes."""
    return soft_modularity(data.X, C) - float(np.sqrt(C.shape[1]) / len(C) * np.linalg.norm(C.sum(axis=0)) - 1)


def onmi(data: Data, cover: np.ndarray) -> float:
    return float(overlapping_nmi(data.classes, cover))


def ari(data: Data, labels: np.ndarray) -> float:
    """Of overlapping communities, the first one of each node counts."""
    classes = data.classes if data.classes.ndim == 1 else data.classes.argmax(axis=1)
    return float(adjusted_rand_score(classes, labels))


class Method(NamedTuple):
    """What we fit, and how both sides are judged."""

    call: str
    data: Callable[[int], Data]
    criterion: Callable[..., float]
    result: tuple[str, ...]  # what the criterion reads
    labels: str | None = "model.labels_"  # for the adjusted Rand index
    passes: str | None = "max_iter"  # the parameter that counts them; None if there are no passes
    endless: dict[str, Any] = {"tol": 0.0}  # noqa: RUF012


# fmt: off
METHODS = {
    "FCM": Method("FCM(5, m=2.0, random_state=0)", blobs, fuzzy_objective, ("model.centers_",)),
    "FCM, classes": Method("FCM(5, random_state=0)", blobs, ari, ("model.labels_",)),
    "GMM": Method(
        "GMM(5, random_state=0)", blobs, log_likelihood, ("model.weights_", "model.centers_", "model.covariances_")
    ),
    "ECM": Method(
        "ECM(5, focal_sets='full', alpha=1.0, beta=2.0, delta=10.0, random_state=0)", blobs, evidential_objective,
        ("model.centers_",),
    ),
    "EVCLUS": Method("EVCLUS(5, random_state=0)", blobs, ari, ("model.labels_",)),
    "SoftDBSCANGM": Method("SoftDBSCANGM()", dense_blobs, ari, ("model.labels_",), passes=None),
    "LDA": Method("LDA(10, random_state=0)", corpus, minus_perplexity, ("model.components_",), None),
    "BIGCLAM": Method(
        "BIGCLAM(10, random_state=0)", graph, affiliation_likelihood, ("model.memberships_",)
    ),
    "BIGCLAM, cover": Method("BIGCLAM(10, random_state=0)", graph, onmi, ("model.get_cover()",), None),
    "SLPA": Method("SLPA(random_state=0)", lfr_graph, onmi, ("model.get_cover()",), None, passes=None),
    "LPANNI": Method("LPANNI()", lfr_graph, onmi, ("model.get_cover()",), None, passes=None),
    "LinkMixture": Method(
        "LinkMixture(10, random_state=0)", graph, onmi, ("model.get_cover()",), None, passes=None
    ),
    "DMoN": Method(
        "DMoN(10, random_state=0)", disjoint_graph, minus_dmon_loss, ("model.memberships_",), passes="max_epochs",
        endless={"tol": None},
    ),
}
# fmt: on


class Peer(NamedTuple):
    """How another package is called; its method is one of ours."""

    environment: str
    title: str
    method: str
    prepare: str  # at each size, once X is there; not timed
    fit: str
    result: tuple[str, ...]
    labels: str | None = None
    passes: str | None = None  # a fit of {passes} passes


_MIXTURE = ("model.weights_", "model.means_", "model.covariances_")
_GRAPH = "import networkx\nG = networkx.from_scipy_sparse_array(X)"
_CDLIB = (
    f"{_GRAPH}\nfrom cdlib import algorithms\n"
    "def cover(found):\n"
    "    C = numpy.zeros((X.shape[0], len(found.communities)), dtype=bool)\n"
    "    for k, nodes in enumerate(found.communities):\n"
    "        C[numpy.array(nodes, dtype=int), k] = True\n"
    "    return C\nimport numpy"
)
_DMON = """
import torch
from torch_geometric.nn import DMoNPooling, GCNConv
from torch_geometric.utils import from_scipy_sparse_matrix
links = from_scipy_sparse_matrix(X)[0]
A = torch.tensor(X.toarray(), dtype=torch.float32)
features = torch.nn.functional.normalize(A)
def fit(epochs):
    torch.manual_seed(0)
    convolution, pooling = GCNConv(len(A), 64), DMoNPooling(64, 10, dropout=0.5)
    parameters = [*convolution.parameters(), *pooling.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=1e-3)
    def forward():
        return pooling(torch.selu(convolution(features, links)), A)
    for _ in range(epochs):
        optimizer.zero_grad()
        _, _, _, spectral, _, collapse = forward()
        (spectral + collapse).backward()
        optimizer.step()
    pooling.eval()
    with torch.no_grad():
        return forward()[0][0].numpy()
"""
_TOMOTOPY = """
import numpy, tomotopy
texts = tomotopy.utils.Corpus()
for i in range(X.shape[0]):
    row = X[i]
    texts.add_doc([str(j) for j in numpy.repeat(row.indices, row.data.astype(int))])
def fit(passes):
    model = tomotopy.LDAModel(k=10, corpus=texts, seed=0)
    model.train(passes)
    return model
def topics(model):
    found = numpy.full((10, X.shape[1]), 1e-12)
    found[:, [int(word) for word in model.used_vocabs]] = [model.get_topic_word_dist(k) for k in range(10)]
    return found
"""
# scikit-fuzzy has no defaults of its own: the settings of its documentation. tomotopy: 100 passes, as there.
# fmt: off
PEERS = [
    Peer(
        "scikit-fuzzy", "cmeans", "FCM", "from skfuzzy import cmeans",
        "found = cmeans(X.T, 5, 2.0, error=0.005, maxiter=1000, seed=0)", ("found[0]",), "found[1].argmax(axis=0)",
        "cmeans(X.T, 5, 2.0, error=-1.0, maxiter={passes}, seed=0)",
    ),
    Peer(
        "fuzzy-c-means", "FCM", "FCM", "from fcmeans import FCM",
        "model = FCM(n_clusters=5, random_state=0)\nmodel.fit(X)", ("model.centers",), "model.u.argmax(axis=1)",
        "FCM(n_clusters=5, random_state=0, error=1e-9, max_iter={passes}).fit(X)",
    ),
    Peer(
        "R", "e1071 cmeans", "FCM", "library(e1071)", "set.seed(0)\nfound <- cmeans(X, 5)", ("found$centers",),
        "found$cluster", "set.seed(0)\ncmeans(X, 5, iter.max = {passes}, control = list(reltol = 1e-300))",
    ),
    Peer(
        "R", "cluster fanny", "FCM, classes", "library(cluster)", "found <- suppressWarnings(fanny(X, 5))",
        ("found$clustering",), "found$clustering",
        "suppressWarnings(fanny(X, 5, maxit = {passes}, tol = 0))",
    ),
    Peer(
        "scikit-learn", "KMeans", "FCM, classes", "from sklearn.cluster import KMeans",
        "model = KMeans(5, random_state=0).fit(X)", ("model.labels_",), "model.labels_",
        "KMeans(5, random_state=0, init=X[:5], n_init=1, tol=0.0, max_iter={passes}).fit(X)",
    ),
    Peer(
        "scikit-learn", "GaussianMixture", "GMM", "from sklearn.mixture import GaussianMixture",
        "model = GaussianMixture(5, random_state=0).fit(X)", _MIXTURE, "model.predict(X)",
        "GaussianMixture(5, random_state=0, tol=0.0, max_iter={passes}).fit(X)",
    ),
    Peer(
        "scikit-learn", "BayesianGaussianMixture", "GMM", "from sklearn.mixture import BayesianGaussianMixture",
        "model = BayesianGaussianMixture(n_components=5, random_state=0).fit(X)", _MIXTURE, "model.predict(X)",
        "BayesianGaussianMixture(n_components=5, random_state=0, tol=0.0, max_iter={passes}).fit(X)",
    ),
    Peer(
        "pomegranate", "GeneralMixtureModel", "GMM",
        "import numpy\nfrom pomegranate.gmm import GeneralMixtureModel\nfrom pomegranate.distributions import Normal\n"
        "X = X.astype(numpy.float32)\n"
        "def fit(**settings):\n"
        "    return GeneralMixtureModel([Normal() for _ in range(5)], random_state=0, **settings).fit(X)",
        "model = fit()",
        (
            "model.priors.detach().numpy()", "[part.means.detach().numpy() for part in model.distributions]",
            "[part.covs.detach().numpy() for part in model.distributions]",
        ),
        "model.predict(X).numpy()", "fit(tol=-1e300, max_iter={passes})",
    ),
    Peer(
        "R", "mclust", "GMM",
        "suppressMessages(library(mclust))\nset.seed(0)\nz <- unmap(kmeans(X, 5)$cluster)",
        "set.seed(0)\nfound <- Mclust(X, G = 5, modelNames = 'VVV', verbose = FALSE)",
        (
            "found$parameters$pro", "t(found$parameters$mean)",
            "aperm(found$parameters$variance$sigma, c(3, 1, 2))",
        ),
        "found$classification",
        "me(X, 'VVV', z, control = emControl(tol = 0, itmax = {passes}))",
    ),
    Peer(
        "evclust", "ecm", "ECM", "from evclust.ecm import ecm", "found = ecm(X, 5, disp=False)", ("found['g']",),
        "found['y_pl']",
    ),
    Peer(
        "evclust", "kevclus", "EVCLUS", "from evclust.kevclus import kevclus", "found = kevclus(X, c=5, disp=False)",
        ("found['y_pl']",), "found['y_pl']", "kevclus(X, c=5, maxit={passes}, epsi=-1.0, disp=False)",
    ),
    Peer(
        "hdbscan", "HDBSCAN, soft", "SoftDBSCANGM", "from hdbscan import HDBSCAN, all_points_membership_vectors",
        "model = HDBSCAN(prediction_data=True).fit(X)\nU = all_points_membership_vectors(model)",
        ("U.argmax(axis=1)",), "U.argmax(axis=1)",
    ),
    Peer(
        "fast_hdbscan", "HDBSCAN", "SoftDBSCANGM", "from fast_hdbscan import HDBSCAN", "model = HDBSCAN().fit(X)",
        ("model.labels_",), "model.labels_",
    ),
    Peer(
        "scikit-learn", "LatentDirichletAllocation", "LDA",
        "from sklearn.decomposition import LatentDirichletAllocation as LDA",
        "model = LDA(10, random_state=0).fit(X)", ("model.components_",), None,
        "LDA(10, max_iter={passes}, random_state=0).fit(X)",
    ),
    Peer(
        "gensim", "LdaModel", "LDA",
        "from gensim.matutils import Sparse2Corpus\nfrom gensim.models import LdaModel\n"
        "texts = Sparse2Corpus(X, documents_columns=False)\nwords = {j: str(j) for j in range(X.shape[1])}",
        "model = LdaModel(texts, 10, words, random_state=0)", ("model.get_topics()",), None,
        "LdaModel(texts, 10, words, passes={passes}, eval_every=None, random_state=0)",
    ),
    Peer("tomotopy", "LDAModel", "LDA", _TOMOTOPY, "model = fit(100)", ("topics(model)",), None, "fit({passes})"),
    Peer(
        "karateclub", "BigClam", "BIGCLAM", f"{_GRAPH}\nfrom karateclub import BigClam",
        "model = BigClam(dimensions=10)\nmodel.fit(G)", ("model._embedding",), "model._embedding.argmax(axis=1)",
        "BigClam(dimensions=10, iterations={passes}).fit(G)",
    ),
    Peer(
        "cdlib", "big_clam", "BIGCLAM, cover", _CDLIB, "found = algorithms.big_clam(G, dimensions=10)",
        ("cover(found)",), None, "algorithms.big_clam(G, dimensions=10, iterations={passes})",
    ),
    Peer("cdlib", "lfm", "BIGCLAM, cover", _CDLIB, "found = algorithms.lfm(G, alpha=1.0)", ("cover(found)",)),
    Peer("cdlib", "slpa", "SLPA", _CDLIB, "found = algorithms.slpa(G)", ("cover(found)",)),
    Peer("cdlib", "lpanni", "LPANNI", _CDLIB, "found = algorithms.lpanni(G, threshold=0.25)", ("cover(found)",)),
    Peer(
        "cdlib", "principled_clustering", "LinkMixture", _CDLIB, "found = algorithms.principled_clustering(G, 10)",
        ("numpy.array([[*found.allocation_matrix[u].values()] for u in range(X.shape[0])]) >= 25",),
    ),
    Peer(
        "torch_geometric", "DMoNPooling", "DMoN", _DMON, "C = fit(1000)", ("C",), "C.argmax(axis=1)", "fit({passes})"
    ),
]
# fmt: on


class Ours:
    """Our side: fits with changed parameters, and their criterion."""

    def __init__(self, method: Method) -> None:
        self.method, self.process = method, ours()
        self.process.run("from soft_clustering import *")

    def code(self, **parameters: Any) -> str:
        """The snippet of a fit."""
        return f"model = {self.method.call}.set_params(**{parameters}).fit(X)"

    def value(self, data: Data, **parameters: Any) -> float:
        """The criterion of a fit."""
        self.process.run(self.code(**parameters), LIMIT)
        return criterion(self.method, data, self.process, self.method.result)

    def default(self, parameter: str) -> Any:
        """A parameter as it is by default; None if there is no such parameter."""
        return self.process.run(f"answer = {self.method.call}.get_params().get({parameter!r})")[1]

    def to_reach(self, data: Data, goal: float) -> dict[str, Any] | None:
        """The parameters of the shortest run whose criterion is at least the goal; None if there is none."""
        method = self.method
        most, starts = self.default(method.passes), self.default("n_init")
        for n_init in dict.fromkeys((1, starts)):
            fixed = method.endless | {"n_init": n_init}
            low, high = 0, 1  # low is known to miss the goal
            while self.value(data, **fixed, **{method.passes: high}) < goal:
                if high == most:
                    break
                low, high = high, min(2 * high, most)
            else:
                while high - low > 1:
                    middle = (low + high) // 2
                    if self.value(data, **fixed, **{method.passes: middle}) < goal:
                        low = middle
                    else:
                        high = middle
                return fixed | {method.passes: high}
        return None


def criterion(method: Method, data: Data, process: Interpreter, result: Iterable[str]) -> float:
    return method.criterion(data, *(process.take(part) for part in result))


def in_turns(repeats: int, **sides: tuple[Interpreter, str]) -> dict[str, float]:
    """The best seconds of each snippet."""
    found: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(repeats):
        for name, (process, code) in sides.items():
            if not found[name] or found[name][0] < PATIENCE:
                time.sleep(REST)
                try:
                    found[name].append(process.run(code, LIMIT)[0])
                except (RuntimeError, TimeoutError) as error:
                    raise RuntimeError(f"{name}: {error}") from error
    return {name: min(seconds) for name, seconds in found.items()}


def compare(other: Peer, side: Ours, process: Interpreter, data: Data, repeats: int, row: dict[str, Any]) -> None:
    """All figures of one comparison at one size, written into ``row`` one after the other."""
    method, both = side.method, {"ours": side.process, "peer": process}
    for each in both.values():
        each.put(X=data.X)
    process.run(other.prepare)
    row["default"] = in_turns(repeats, ours=(side.process, side.code()), peer=(process, other.fit))
    results = {"ours": method.result, "peer": other.result}
    row["criterion"] = {name: criterion(method, data, both[name], result) for name, result in results.items()}
    goal = row["criterion"]["peer"]
    quality = goal if method.criterion is onmi else None
    if method.labels and other.labels:
        labels = {"ours": method.labels, "peer": other.labels}
        row["ari"] = {name: ari(data, both[name].take(expression)) for name, expression in labels.items()}
        quality = row["ari"]["peer"]
    row["collapsed"] = quality is not None and quality < COLLAPSED
    goal -= SLACK * abs(goal)
    if method.passes is None:
        if row["criterion"]["ours"] >= goal:
            row["to_reach"] = row["default"]
    else:
        row["settings"] = settings = side.to_reach(data, goal)
        if settings is not None:
            row["to_reach"] = row["default"] | in_turns(repeats, ours=(side.process, side.code(**settings)))
    if other.passes and method.passes and row["default"]["peer"] < SLOW:
        short, long = (
            in_turns(
                repeats,
                ours=(side.process, side.code(**method.endless, n_init=1, **{method.passes: passes})),
                peer=(process, other.passes.format(passes=passes)),
            )
            for passes in (SHORT, LONG)
        )
        row["pass"] = {name: (long[name] - short[name]) / (LONG - SHORT) for name in both}


def all_sizes(other: Peer, sizes: list[int], repeats: int) -> dict[str, Any]:
    """Size -> figures, as far as the peer gets."""
    method = METHODS[other.method]
    rows: dict[str, Any] = {}
    side, process = Ours(method), peer(other.environment)
    first = method.data(SIZES[0])
    for each, code in ((side.process, side.code()), (process, f"{other.prepare}\n{other.fit}")):
        each.put(X=first.X)
        each.run(code)  # imports, threads, compilers
    for n in sizes:
        row = rows[str(n)] = {}
        try:
            compare(other, side, process, method.data(n), repeats, row)
        except (RuntimeError, TimeoutError) as error:
            row["problem"] = str(error)
        print(f"{other.method} | {other.environment} {other.title} | n={n} | {described(row)}", flush=True)
        if "problem" in row or 10 * row["default"]["peer"] > LIMIT:
            break
    for each in (side.process, process):
        each.close()
    return rows


def ratio(row: dict[str, Any], unit: str) -> float | None:
    """How many times faster ours is; None if a time is missing or below the noise."""
    found = row.get(unit, {"ours": 0.0})
    return found["peer"] / found["ours"] if min(found.values()) > 0 else None


def described(row: dict[str, Any]) -> str:
    """The figures of a comparison in one line."""
    parts = []
    for unit in ("default", "to_reach", "pass"):
        faster = ratio(row, unit)
        if faster is not None:
            times = " / ".join(f"{1e3 * row[unit][name]:.3g}" for name in ("ours", "peer"))
            parts.append(f"{unit} {faster:.2g}x ({times} ms)")
    for key in ("criterion", "ari"):
        if key in row:
            parts.append(f"{key} {row[key]['ours']:.6g} / {row[key]['peer']:.6g}")
    parts += [f"{key}: {row[key]}" for key in ("settings", "collapsed", "problem") if key in row]
    return " | ".join(parts)


def fastest(peers: dict[str, Any]) -> list[dict[str, Any]]:
    """For each method and size the peer of the shortest default fit among those that have not collapsed."""
    found = []
    for method in METHODS:
        for n in map(str, SIZES):
            works = {
                name: other["sizes"][n]["default"]["peer"]
                for name, other in peers.items()
                if other["method"] == method and other["sizes"].get(n, {}).get("collapsed") is False
            }
            if works:
                found.append({"method": method, "n": n, "peer": min(works, key=works.__getitem__)})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [f"{other.environment} {other.title}" for other in PEERS]
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--only", nargs="+", metavar="NAME", help=f"parts of names: {', '.join(names)}")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    record = Record("peers", partial=arguments != parser.parse_args([]))
    peers = record["peers"] = {}
    for name, other in zip(names, PEERS, strict=True):
        if arguments.only is None or any(part in name for part in arguments.only):
            judged_by = METHODS[other.method].criterion.__name__.replace("_", " ")
            peers[name] = {"method": other.method, "criterion": judged_by, "sizes": {}}
            try:
                peers[name]["sizes"] = all_sizes(other, arguments.sizes, arguments.repeats)
            except (OSError, RuntimeError, CalledProcessError) as error:  # not installed, or not on this machine
                print(f"{name}: left out, {error}", flush=True)
    record["fastest"] = fastest(peers)
    for row in record["fastest"]:
        found = described(peers[row["peer"]]["sizes"][row["n"]])
        print(f"{row['method']}, n={row['n']}: the fastest peer that works is {row['peer']}; {found}")
    record.save()


if __name__ == "__main__":
    main()
