"""One epoch of ``partial_fit`` beside the fit of all rows.

python benchmarks/streaming.py [--seeds 3]

Rows are shuffled and come in batches of 1000, each once. Objectives are those of all rows: of ``fit``, and of the model
after the last batch, by ``score``. The ratio is their quotient, the one above which worse is (for the least of several
seeds of the shuffle and the starts, the worst is printed); for GMM of the mean log likelihoods, for LDA of the bounds.

A bandwidth or width that is estimated changes the objective itself, so the first table gives the stream the ones that
the fit of all rows settled, where there is a parameter for it (PFCM has none: its centres are judged with the
bandwidths of the fit). The second table leaves everything to the first batch.
"""

from __future__ import annotations

import argparse
import warnings
from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits, load_sample_image, make_blobs
from sklearn.exceptions import ConvergenceWarning

from soft_clustering import ECM, ENTROPYFCM, FCM, GMM, KFCM, LDA, PCM, PFCM
from soft_clustering.datasets import make_topic_corpus

BATCH = 1000
K = 5
# The models, and the parameters that their fits settle.
MODELS = {
    "FCM": (FCM(K), {"m": "m_"}),
    "PCM": (PCM(K), {"bandwidth": "bandwidth_"}),
    "PFCM": (PFCM(K), {"m": "m_"}),
    "ENTROPYFCM": (ENTROPYFCM(K, scaling=None), {"entropy_weight": "entropy_weight_"}),
    "KFCM": (KFCM(K), {"m": "m_", "gamma": "gamma_"}),
    "ECM": (ECM(K), {"beta": "beta_", "delta": "delta_"}),
    **{f"GMM {kind}": (GMM(K, covariance_type=kind, n_init=3), {}) for kind in ("full", "tied", "diag", "spherical")},
}


def blobs() -> np.ndarray:
    """Clusters that overlap."""
    return make_blobs(20_000, 8, centers=K, cluster_std=5.0, random_state=0)[0]


def unequal() -> np.ndarray:
    """Clusters of 40, 30, 15, 10 and 5 % of the rows, each with a covariance of its own."""
    rng = np.random.RandomState(0)
    parts = []
    for share in (0.40, 0.30, 0.15, 0.10, 0.05):
        spread = rng.normal(size=(6, 6)) * rng.uniform(0.5, 1.5)
        parts.append(rng.uniform(-8, 8, 6) + rng.normal(size=(int(20_000 * share), 6)) @ spread)
    return np.concatenate(parts)


def photograph() -> np.ndarray:
    """The colours of 20,000 pixels of a photograph, in parts of the full brightness."""
    pixels = load_sample_image("china.jpg").reshape(-1, 3) / 255
    return pixels[np.random.RandomState(0).choice(len(pixels), 20_000, replace=False)]


def digits() -> np.ndarray:
    """Handwritten digits, standardised; two batches only."""
    X = load_digits().data
    return (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)


def corpora() -> dict[str, np.ndarray]:
    """Counts for LDA: drawn from its model, with many topics in a document, and the ink of the digits."""
    return {
        "one topic": make_topic_corpus(20_000, K, random_state=0).counts.astype(float),
        "many topics": make_topic_corpus(20_000, K, alpha=1.0, beta=0.1, random_state=0).counts.astype(float),
        "digits": load_digits().data,
    }


def stream(model: Any, X: np.ndarray, seed: int) -> Any:
    """The model after one epoch of shuffled batches."""
    order = np.random.RandomState(seed).permutation(X.shape[0])
    for lo in range(0, X.shape[0], BATCH):
        model.partial_fit(X[order[lo : lo + BATCH]])
    return model


def objective(model: Any, X: np.ndarray) -> float:
    """The objective of all rows, in its published sign."""
    return -model._policy.sign * float(model.score(X))


def with_centers_of(fitted: Any, other: Any) -> Any:
    """A fitted PFCM with other centres."""
    model = deepcopy(fitted)
    model._state = model._state._replace(centers=model._frame.from_input(other.centers_))
    return model


def row(name: str, data: str, fitted: Any, streams: list[Any], X: np.ndarray) -> None:
    """Print a line: the worst of the streams."""
    sign = fitted._policy.sign
    worst = max((objective(model, X) for model in streams), key=lambda value: sign * value)
    excess = sign * (worst - fitted.objective_) / abs(fitted.objective_)
    verdict = "" if excess <= 0.02 else "  MISSED"
    print(
        f"{name:15} {data:12} {fitted.objective_:14.6g} {worst:14.6g} {worst / fitted.objective_:9.5f}{verdict}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    seeds = range(parser.parse_args().seeds)
    warnings.simplefilter("ignore", ConvergenceWarning)
    sets = {"blobs": blobs(), "unequal": unequal(), "photograph": photograph(), "digits": digits()}
    fits = {
        (name, data): clone(MODELS[name][0]).set_params(random_state=0).fit(X)
        for data, X in sets.items()
        for name in MODELS
    }
    header = f"{'method':15} {'data':12} {'all rows':>14} {'one epoch':>14} {'ratio':>9}"
    print(f"Parameters of the fit of all rows\n{header}")
    for (name, data), fitted in fits.items():
        settled = {parameter: getattr(fitted, attribute) for parameter, attribute in MODELS[name][1].items()}
        streams = [
            stream(clone(MODELS[name][0]).set_params(random_state=seed, **settled), sets[data], seed) for seed in seeds
        ]
        if name == "PFCM":
            streams = [with_centers_of(fitted, model) for model in streams]
        row(name, data, fitted, streams, sets[data])
    for data, X in corpora().items():
        model = LDA(K, batch_size=BATCH, total_samples=X.shape[0], max_iter=200)
        fitted = clone(model).set_params(random_state=0).fit(X)
        row("LDA", data, fitted, [stream(clone(model).set_params(random_state=seed), X, seed) for seed in seeds], X)
    print(f"\nParameters of the first batch\n{header}")
    for (name, data), fitted in fits.items():
        if MODELS[name][1]:
            streams = [stream(clone(MODELS[name][0]).set_params(random_state=seed), sets[data], seed) for seed in seeds]
            row(name, data, fitted, streams, sets[data])


if __name__ == "__main__":
    main()
