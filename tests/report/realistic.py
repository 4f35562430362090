"""Values like those that the steps before a report give: a recommendation, profiles, curves over K, a preparation."""

from __future__ import annotations

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score, calinski_harabasz_score, davies_bouldin_score, silhouette_score

from soft_clustering import FCM
from soft_clustering.benchmarking.records import SCHEMA
from soft_clustering.benchmarking.runner import PlannedRun
from soft_clustering.plotting.data import sample_rows


def finished_runs(folder, found):
    """Runs as a benchmark leaves them: memberships by the name of a model, or the columns of its record."""
    runs = []
    for number, (name, result) in enumerate(found.items()):
        entries = result if isinstance(result, dict) else {"status": "ok", "n_clusters": np.shape(result)[1]}
        path = folder / f"{number}.npy"
        if not isinstance(result, dict):
            np.save(path, np.asarray(result, dtype=np.float32))
        estimator = FCM(3, m=1.5, random_state=0)
        run = PlannedRun(str(number), {}, estimator, None, None, None, (), False, None, None, str(path))
        runs.append((run, {"key": "k", **dict.fromkeys(SCHEMA), "model": name, "repeat": 0, **entries}))
    return runs


def recommendation(found, n, max_points=2000, clear=True):
    """A recommendation of the first model; models are of one group if their labels agree to 0.8 or more."""
    labels = {i: np.argmax(U, axis=1) for i, U in enumerate(found.values()) if not isinstance(U, dict)}
    order = list(labels)
    distances = np.array([[1 - adjusted_rand_score(labels[a], labels[b]) for b in order] for a in order])
    np.fill_diagonal(distances, 0)
    parts = fcluster(linkage(squareform(distances, checks=False), "average"), 0.2, "distance")
    groups = []
    for part in dict.fromkeys(parts):
        own = np.flatnonzero(parts == part)
        agreement = 1 - distances[np.ix_(own, own)].mean()
        members = [order[i] for i in own]
        groups.append({"models": members, "representative": members[0], "agreement": float(agreement)})
    first, second = groups[0]["representative"], groups[min(1, len(groups) - 1)]["representative"]
    apart = labels[first] != labels[second]
    names = list(found)
    reason = (
        f"It stands for {len(groups[0]['models'])} models that say nearly the same, keeps its clusters under "
        "resampling (0.94), and is first or second in three of four indices."
        if clear
        else "The indices contradict each other, no two groups agree, and the clusters change under resampling."
    )
    return {
        "clear": clear,
        "model": first if clear else None,
        "second": second if clear and names[first] != names[second] else None,
        "reason": reason,
        "differ": [i for i, row in enumerate(sample_rows(n, max_points)) if apart[row]] if clear else [],
        "n_differ": int(apart.sum()) if clear else 0,
        "groups": groups,
        "scores": {
            str(i): {"score": 0.9 - 0.02 * i, "agreement": 0.8 - 0.01 * i, "stability": 0.94 - 0.03 * i} for i in order
        },
        "evidence": {
            "agreement": "Mean agreement with the other groups of models.",
            "stability": "Agreement of fits to resampled data.",
        },
    }


def profiles(U, X, names, model, **entries):
    """Profiles of the clusters by weighted means, with a category if there is a text column."""
    labels, shares = U.argmax(axis=1), U / U.sum(axis=1, keepdims=True)
    clusters = []
    for k in range(U.shape[1]):
        w = shares[:, k]
        here, elsewhere = w @ X / w.sum(), (1 - w) @ X / (1 - w).sum()
        difference = (here - elsewhere) / X.std(axis=0)
        error = 2 / np.sqrt(w.sum())
        top = np.argsort(-abs(difference))[:5]
        features = [
            {
                **{"name": names[j], "kind": "number", "mean": float(here[j]), "elsewhere": float(elsewhere[j])},
                **{"difference": float(difference[j]), "low": float(difference[j] - error)},
                "high": float(difference[j] + error),
            }
            for j in top
        ]
        if entries.get("category"):
            features.append(
                {
                    **{"name": "city", "kind": "category", "value": "Paris", "share": 0.6, "elsewhere": 0.2},
                    **{"lift": 3.0, "low": 2.1, "high": 4.2},
                }
            )
        members = np.flatnonzero(labels == k)
        strength = U[members, k]
        words = ", ".join(f"{'high' if difference[j] > 0 else 'low'} {names[j]}" for j in top[:2])
        clusters.append(
            {
                **{"cluster": k, "size": len(members), "share": float(w.sum() / len(w))},
                **{"doubtful": float((strength < 0.6).mean()) if len(members) else 0.0, "features": features},
                "typical": members[np.argsort(-strength)[:5]].tolist(),
                "borderline": members[np.argsort(strength)[:3]].tolist(),
                "sentence": f"Cluster {k} ({w.mean():.0%}): {words}.",
            }
        )
    return {"modality": "features", "model": model, "n_samples": len(U), "clusters": clusters}


def curves(X, ks=range(2, 9)):
    """Measures of fuzzy c-means over K."""
    labels = [FCM(K, random_state=0, n_init=1).fit_predict(X) for K in ks]
    functions = {
        "silhouette": ("Silhouette", "max", silhouette_score),
        "calinski_harabasz": ("Calinski-Harabasz", "max", calinski_harabasz_score),
        "davies_bouldin": ("Davies-Bouldin", "min", davies_bouldin_score),
    }
    criteria = {}
    for name, (title, sense, function) in functions.items():
        values = [float(function(X, found)) for found in labels]
        choice = list(ks)[int(np.argmax(values) if sense == "max" else np.argmin(values))]
        criteria[name] = {"title": title, "sense": sense, "choice": choice, "values": values}
    criteria["gap"] = {"title": "Gap statistic", "sense": "max", "choice": None, "values": [None] * len(ks)}
    criteria["partial"] = {
        "title": "Xie-Beni",
        "sense": "min",
        "choice": 3,
        "values": [None, 0.2, *[0.3] * (len(ks) - 2)],
    }
    reason = "Two of three measures choose it, and the clusters are the most stable."
    return {
        "k": list(ks),
        "criteria": criteria,
        "model": "FCM",
        "recommended": criteria["silhouette"]["choice"],
        "reason": reason,
    }


PREPARATION = {
    "notes": [
        "The spreads of the columns differ by more than 10 times: the numbers are standardised.",
        "3 missing values are replaced by medians.",
    ],
    "columns": [
        {"column": "customer", "kind": "id", "used": False, "detail": "names the samples"},
        {
            "column": "alcohol",
            "kind": "number",
            "used": True,
            "detail": "3 missing values became the median, 12.9; standardised",
        },
        {"column": "city", "kind": "category", "used": True, "detail": "4 categories became 4 columns of 0 and 1"},
        {"column": "remark", "kind": "text", "used": False, "detail": "left out: 171 different texts in 178 rows"},
        {"column": "country", "kind": "constant", "used": False, "detail": "left out: it has one value"},
    ],
}
