"""Whether other packages, from the same start and with the same settings, find the same as ours.

``python -m benchmarks packages`` runs both to convergence (or for the same number of passes) on overlapping Gaussian
clusters, a planted corpus and planted graphs, and records the largest differences: absolute ones of memberships,
centres, weights and covariances after matching the clusters, relative ones of objectives. A difference of more than
1e-9 is marked, and a remark says why the two do not compute the same.

* FCM: scikit-fuzzy from the same memberships, R's e1071 from the same centres. R's ``fanny`` with squared Euclidean
  distances minimises the same function without centres; with its default, plain distances, only the clusters compare.
* RelationalFCM: R's ``fanny``, plain distances.
* GMM: scikit-learn and R's mclust from the same parameters, the same number of passes.
* LatentClass: StepMix and R's flexmix, run to convergence from the same memberships.
* ECM: evclust from the same prototypes. The objective that it prints counts the empty set for the first rows only, so
  its value is not compared.
* LDA: scikit-learn from the same seed.
* DMoN: the loss of torch_geometric's layer at our memberships.
* Overlapping NMI and the omega index: CDlib on two covers; scores of the communities of one, where CDlib has the same.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from benchmarks.lib.environments import Interpreter, peer
from benchmarks.lib.records import Record
from soft_clustering import ECM, FCM, GMM, LDA, DMoN, LatentClass, RelationalFCM
from soft_clustering.datasets import load_graph, make_lfr_graph, make_overlapping_graph, make_topic_corpus
from soft_clustering.metrics import cover_table, omega_index, overlapping_modularity, overlapping_nmi

AGREES = 1e-9
PASSES, FEW = 500, 20
Differences = dict[str, float]
X, y = make_blobs(600, 8, centers=3, cluster_std=4.0, random_state=0)
V0 = np.array([X[y == k][:10].mean(axis=0) for k in range(3)])


def order_of(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Their clusters in our order, by the memberships."""
    order: np.ndarray = linear_sum_assignment(-ours.T @ theirs)[1]
    return order


def largest(ours: Any, theirs: Any) -> float:
    return float(np.abs(np.asarray(ours) - theirs).max())


def relative(ours: float, theirs: float) -> float:
    return abs(ours / theirs - 1)


def fcm_scikit_fuzzy(process: Interpreter) -> Differences:
    U0 = np.random.default_rng(0).dirichlet(np.ones(3), len(X))
    process.put(X=X, U0=U0)
    process.run(
        "from skfuzzy import cmeans\n"
        f"V, U, _, _, J, _, _ = cmeans(X.T, 3, 2.0, error=1e-14, maxiter={PASSES}, init=U0.T)"
    )
    start = (U0**2).T @ X / (U0**2).sum(axis=0)[:, None]
    model = FCM(3, m=2.0, init=start, tol=1e-14, max_iter=PASSES).fit(X)
    return fuzzy(model, process.take("U.T"), process.take("V"), float(process.take("J[-1]")))


def fcm_e1071(process: Interpreter) -> Differences:
    process.put(X=X, V=V0)
    # Both make a number of passes: a test of the objective ends the loop while the centres still move by 1e-8.
    process.run(
        f"library(e1071)\nset.seed(0)\nfound <- cmeans(X, V, iter.max = {FEW}, control = list(reltol = 1e-300))"
    )
    model = FCM(3, m=2.0, init=V0, tol=0.0, max_iter=FEW, accelerate=False).fit(X)
    objective = float(process.take("found$withinerror")[0]) * len(X)  # theirs is a mean
    return fuzzy(model, process.take("found$membership"), process.take("found$centers"), objective)


def fuzzy(model: Any, U: np.ndarray, V: np.ndarray, objective: float) -> Differences:
    order = order_of(model.memberships_, U)
    return {
        "memberships": largest(model.memberships_, U[:, order]),
        "centres": largest(model.centers_, V[order]),
        "objective, relative": relative(model.objective_, objective),
    }


def fcm_fanny(process: Interpreter) -> Differences:
    process.put(X=X)
    process.run(
        "library(cluster)\nfound <- fanny(X, 3, memb.exp = 2, metric = 'SqEuclidean', maxit = 10000, tol = 1e-16)"
    )
    model = FCM(3, m=2.0, init=V0, tol=1e-14, max_iter=PASSES).fit(X)
    U = process.take("found$membership")
    return {
        "memberships": largest(model.memberships_, U[:, order_of(model.memberships_, U)]),
        "objective, relative": relative(model.objective_, float(process.take("found$objective['objective']")[0])),
    }


def fanny_clusters(process: Interpreter) -> Differences:
    process.put(X=X)
    process.run("library(cluster)\nfound <- fanny(X, 3, memb.exp = 1.5)")
    labels = FCM(3, m=1.5, random_state=0).fit(X).labels_
    return {"1 - adjusted Rand index": 1 - adjusted_rand_score(labels, process.take("found$clustering"))}


def relational_fanny(process: Interpreter) -> Differences:
    process.put(X=X)
    process.run("library(cluster)\nfound <- fanny(X, 3, memb.exp = 1.2, maxit = 10000, tol = 1e-16)")
    model = RelationalFCM(3, m=1.2, tol=1e-13, max_iter=5000, random_state=0).fit(X)
    U = process.take("found$membership")
    return {
        "memberships": largest(model.memberships_, U[:, order_of(model.memberships_, U)]),
        "objective, relative": relative(model.objective_, float(process.take("found$objective['objective']")[0])),
    }


def mixture(model: Any, weights: Any, means: Any, covariances: Any, U: Any, log_likelihood: float) -> Differences:
    return {
        "memberships": largest(model.memberships_, U),
        "weights": largest(model.weights_, weights),
        "centres": largest(model.centers_, means),
        "covariances": largest(model.covariances_, covariances),
        "log-likelihood, relative": relative(model.score(X), log_likelihood),
    }


def gmm_scikit_learn(process: Interpreter) -> Differences:
    start = {"weights_init": np.full(3, 1 / 3), "means_init": V0, "precisions_init": np.repeat(np.eye(8)[None], 3, 0)}
    process.put(X=X, **start)
    process.run(
        "from sklearn.mixture import GaussianMixture\n"
        "model = GaussianMixture(3, weights_init=weights_init, means_init=means_init, precisions_init=precisions_init, "
        f"tol=0.0, max_iter={FEW}).fit(X)"
    )
    model = GMM(3, **start, tol=0.0, max_iter=FEW).fit(X)
    parts = (process.take(f"model.{name}") for name in ("weights_", "means_", "covariances_", "predict_proba(X)"))
    return mixture(model, *parts, float(process.take("model.score(X)")))


def gmm_mclust(process: Interpreter) -> Differences:
    process.put(X=X, V=V0)
    process.run(
        "suppressMessages(library(mclust))\n"
        "unit <- array(diag(8), c(8, 8, 3))\n"
        "variance <- list(modelName = 'VVV', d = 8, G = 3, sigma = unit, cholsigma = unit)\n"
        "start <- list(pro = rep(1 / 3, 3), mean = t(V), variance = variance)\n"
        f"found <- em(X, 'VVV', start, control = emControl(tol = 0, itmax = {FEW}))\n"
        "at <- estep(X, 'VVV', found$parameters)"  # theirs are the memberships before the last step
    )
    unit = np.repeat(np.eye(8)[None], 3, 0)
    settings = {"weights_init": np.full(3, 1 / 3), "means_init": V0, "precisions_init": unit, "reg_covar": 0.0}
    model = GMM(3, **settings, tol=0.0, max_iter=FEW).fit(X)
    return mixture(
        model,
        process.take("found$parameters$pro"),
        process.take("t(found$parameters$mean)"),
        process.take("aperm(found$parameters$variance$sigma, c(3, 1, 2))"),
        process.take("at$z"),
        float(process.take("at$loglik")[0]) / len(X),
    )


def latent_class(U: Any, weights: Any, log_likelihood: float, codes: np.ndarray, model: Any) -> Differences:
    order = order_of(model.memberships_, U)
    return {
        "memberships": largest(model.memberships_, U[:, order]),
        "weights": largest(model.weights_, np.ravel(weights)[order]),
        "log-likelihood, relative": relative(model.score(codes), log_likelihood / len(codes)),
    }


def latent_class_stepmix(process: Interpreter) -> Differences:
    """Ours goes on from their memberships: StepMix takes no start."""
    codes = np.digitize(X, np.quantile(X, [0.25, 0.5, 0.75]))
    process.put(X=codes)
    process.run(
        "from stepmix.stepmix import StepMix\n"
        "model = StepMix(3, measurement='categorical', abs_tol=1e-13, rel_tol=1e-15, max_iter=10000, random_state=0, "
        "progress_bar=0, verbose=0).fit(X)\n"
        "U = model.predict_proba(X)"
    )
    U = process.take("U")
    model = LatentClass(3, init=U / U.sum(axis=1, keepdims=True), tol=1e-14, max_iter=PASSES).fit(codes)
    return latent_class(U, process.take("model.weights_"), float(process.take("model.score(X)")) * len(X), codes, model)


def latent_class_flexmix(process: Interpreter) -> Differences:
    codes = (np.median(X, axis=0) < X).astype(int)
    U0 = np.random.default_rng(0).dirichlet(np.ones(3), len(X))
    process.put(X=codes, U=U0)
    process.run(
        "suppressMessages(library(flexmix))\n"
        "found <- flexmix(X ~ 1, k = 3, cluster = U, model = FLXMCmvbinary(), "
        "control = list(minprior = 0, tol = 1e-16, iter = 10000))"
    )
    model = LatentClass(3, init=U0, tol=1e-14, max_iter=10_000, accelerate=False).fit(codes)
    likelihood = float(process.take("as.numeric(logLik(found))")[0])
    return latent_class(process.take("posterior(found)"), process.take("prior(found)"), likelihood, codes, model)


def ecm_evclust(process: Interpreter) -> Differences:
    process.put(X=X, V0=V0)
    process.run(
        "from evclust.ecm import ecm\n"
        "found = ecm(X, 3, g0=V0, type='full', alpha=1, beta=2, delta=10, epsi=1e-10, disp=False)"
    )
    model = ECM(3, focal_sets="full", alpha=1.0, beta=2.0, delta=10.0, init=V0, tol=1e-12, max_iter=1000).fit(X)
    focal = process.take("found['F']").astype(bool)
    order = [int(np.flatnonzero((focal == row).all(axis=1))[0]) for row in model.focal_sets_]
    return {
        "masses": largest(model.masses_, process.take("found['mass']")[:, order]),
        "centres": largest(model.centers_, process.take("found['g']")),
    }


def lda_scikit_learn(process: Interpreter) -> Differences:
    counts = make_topic_corpus(500, 3, random_state=0).counts.astype(float)
    process.put(X=counts)
    process.run(
        "from sklearn.decomposition import LatentDirichletAllocation\n"
        "model = LatentDirichletAllocation(3, max_iter=10, random_state=0).fit(X)"
    )
    model = LDA(3, init="random", max_iter=10, tol=0.0, random_state=0).fit(counts)
    topics = process.take("model.components_")
    return {
        "memberships": largest(model.memberships_, process.take("model.transform(X)")),
        "word probabilities": largest(model.topic_word_, topics / topics.sum(axis=1, keepdims=True)),
        "bound, relative": relative(model.objective_, float(process.take("model.score(X)"))),
    }


def dmon_torch_geometric(process: Interpreter) -> Differences:
    A = make_overlapping_graph(300, 4, overlap=0.0, random_state=0).adjacency.astype(float)
    model = DMoN(4, max_epochs=100, tol=None, random_state=0).fit(A)
    process.put(A=A.toarray(), C=model.memberships_)
    process.run(
        "import torch\nfrom torch_geometric.nn import DMoNPooling\n"
        "layer = DMoNPooling(4, 4).double().eval()\n"
        "weight, bias = layer.mlp.parameters()\n"
        "weight.data, bias.data = torch.eye(4).double(), torch.zeros(4).double()\n"  # the softmax of log C is C
        "_, _, _, spectral, _, collapse = layer(torch.tensor(numpy.log(C)), torch.tensor(A))\n"
        "loss = (spectral + collapse).item()"
    )
    return {"loss, relative": relative(model.objective_, float(process.take("loss")))}


def covers_cdlib(process: Interpreter) -> Differences:
    planted = make_overlapping_graph(300, 6, random_state=0).cover.astype(bool)
    other = planted ^ (np.random.default_rng(0).random(planted.shape) < 0.03)
    other[~other.any(axis=1), 0] = True
    process.put(planted=planted, other=other)
    process.run(
        "import networkx, numpy\nfrom cdlib import NodeClustering, evaluation\n"
        "def clustering(C):\n"
        "    nodes = [numpy.flatnonzero(column).tolist() for column in C.T]\n"
        "    return NodeClustering(nodes, networkx.empty_graph(len(C)), overlap=True)\n"
        "pair = clustering(planted), clustering(other)\n"
        "nmi = evaluation.overlapping_normalized_mutual_information_MGH(*pair).score\n"
        "omega = evaluation.omega(*pair).score"
    )
    return {
        "overlapping NMI": largest(overlapping_nmi(planted, other), process.take("nmi")),
        "omega index": largest(omega_index(planted, other), process.take("omega")),
    }


def scores_of_covers_cdlib(process: Interpreter) -> Differences:
    """Scores of each community of three covers changed at random; their cover has one community each time.

    Their conductance divides by the volume also if that is more than half of all, their normalised cut adds the cut to
    the links outside, and their mean out degree is a number of links: compared are the values that ours give by these
    rules. Weights count only in two of their modularities.
    """
    karate, differences = load_graph("karate"), {}
    planted = [make_lfr_graph(300, mixing=0.3, overlap=0.3, random_state=seed) for seed in range(2)]
    rng = np.random.default_rng(0)
    for graph, share in ((karate, 0.2), (planted[0], 0.01), (planted[1], 0.01)):
        cover = graph.cover ^ (rng.random(graph.cover.shape) < share)
        A = (graph.adjacency.toarray() > 0) * 1.0
        weights = rng.uniform(0.2, 3, A.shape)
        weighted = A * weights * weights.T
        labels = np.argmax(cover, axis=1)
        process.put(A=A, W=weighted, C=cover, P=labels[:, None] == np.unique(labels))
        process.run(
            "import networkx, numpy\nfrom cdlib import NodeClustering, evaluation\n"
            "graph, weighted = networkx.from_numpy_array(A), networkx.from_numpy_array(W)\n"
            "def lists(C):\n"
            "    return [numpy.flatnonzero(column).tolist() for column in C.T]\n"
            "def clustering(communities):\n"
            "    return NodeClustering(communities, graph, overlap=True)\n"
            "def scores(name):\n"
            "    score = getattr(evaluation, name)\n"
            "    return [score(graph, clustering([members])).score for members in lists(C)]\n"
            "lazar = evaluation.modularity_overlap(graph, clustering(lists(C))).score\n"
            "lazar_of_weights = evaluation.modularity_overlap(weighted, clustering(lists(C)), weight='weight').score\n"
            "newman = evaluation.newman_girvan_modularity(weighted, clustering(lists(P))).score"
        )
        table = cover_table(A, cover)
        cut = table["expansion"] * table["size"]
        volume = cut + table["average_internal_degree"] * table["size"]
        for theirs, ours in {
            "cut_ratio": table["cut_ratio"],
            "expansion": table["expansion"],
            "average_internal_degree": table["average_internal_degree"],
            "internal_edge_density": table["internal_density"],
            "triangle_participation_ratio": table["triangle_participation"],
            "flake_odf": table["flake_odf"],
            "conductance": cut / volume,
            "normalized_cut": cut / volume + cut / (A.sum() - volume + 2 * cut),
            "avg_odf": table["expansion"],
        }.items():
            found = largest(ours, process.take(f"scores({theirs!r})"))
            differences[theirs] = max(found, differences.get(theirs, 0.0))
        for theirs, value in {
            "lazar": overlapping_modularity(A, cover, kind="lazar"),
            "lazar_of_weights": overlapping_modularity(weighted, cover, kind="lazar"),
            "newman": overlapping_modularity(weighted, labels),
        }.items():
            name = f"modularity, {theirs.replace('_', ' ')}"
            differences[name] = max(largest(value, process.take(theirs)), differences.get(name, 0.0))
    return differences


# Title -> (environment, the comparison, why a difference may be larger than rounding)
CASES: dict[str, tuple[str, Callable[[Interpreter], Differences], str]] = {
    "FCM, scikit-fuzzy": ("scikit-fuzzy", fcm_scikit_fuzzy, ""),
    "FCM, e1071": ("R", fcm_e1071, ""),
    "FCM, fanny of squared distances": ("R", fcm_fanny, ""),
    "FCM, fanny": ("R", fanny_clusters, "another objective: the clusters are compared"),
    "RelationalFCM, fanny": ("R", relational_fanny, ""),
    "GMM, scikit-learn": ("scikit-learn", gmm_scikit_learn, ""),
    "GMM, mclust": ("R", gmm_mclust, ""),
    "LatentClass, StepMix": (
        "stepmix",
        latent_class_stepmix,
        "both end where the likelihood no longer changes, which settles memberships to the root of its rounding error",
    ),
    "LatentClass, flexmix": (
        "R",
        latent_class_flexmix,
        "both end where the likelihood no longer changes, which settles memberships to the root of its rounding error",
    ),
    "ECM, evclust": ("evclust", ecm_evclust, ""),
    "LDA, scikit-learn": (
        "scikit-learn",
        lda_scikit_learn,
        "the digamma series of scikit-learn ends early; with it our equations give its digits (tests/documents)",
    ),
    "DMoN, torch_geometric": ("torch_geometric", dmon_torch_geometric, ""),
    "Covers, CDlib": ("cdlib", covers_cdlib, ""),
    "Scores of covers, CDlib": ("cdlib", scores_of_covers_cdlib, ""),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES), metavar="NAME")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    record = Record("packages", partial=arguments != parser.parse_args([]))
    for title in arguments.only:
        environment, case, remark = CASES[title]
        process = peer(environment)
        found = case(process)
        process.close()
        record[title] = {"differences": found, "remark": remark}
        for quantity, difference in found.items():
            mark = "" if difference <= AGREES else f"  more than {AGREES:g}: {remark or 'unexplained'}"
            print(f"{title:32} {quantity:26} {difference:8.1e}{mark}", flush=True)
    record.save()


if __name__ == "__main__":
    main()
