"""Federated fuzzy clustering: four clinics with gaps in their records find common courses, and keep their rows.

Run ``python examples/plot_femi_fuzzy.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from soft_clustering import FCM, FeMIFuzzy
from soft_clustering.federated import client_project

WEEKS = np.arange(1, 7)
COURSES = 5 * np.array([(WEEKS - 1) / 5, (6 - WEEKS) / 5, np.sin(np.pi * (WEEKS - 1) / 5)])
SIZES, MIXES = (150, 80, 60, 200), ((0.6, 0.2, 0.2), (0.2, 0.6, 0.2), (0.2, 0.2, 0.6), (0.4, 0.3, 0.3))
COLORS = np.array([[0.00, 0.45, 0.70], [0.84, 0.37, 0.00], [0.00, 0.62, 0.45]])


def main() -> None:
    rng = np.random.default_rng(0)
    clinics, labels = [], []
    for n, mix in zip(SIZES, MIXES, strict=True):
        y = rng.choice(3, n, p=mix)
        X = COURSES[y] + rng.standard_normal((n, 6))
        X[rng.uniform(size=X.shape) < 0.25] = np.nan
        clinics.append(X)
        labels.append(y)
    model = FeMIFuzzy(projection="sammon", random_state=0).fit(clinics)
    score = adjusted_rand_score(np.concatenate(labels), model.labels_)
    pooled = np.vstack(clinics)
    pooled = np.where(np.isnan(pooled), np.nanmean(pooled, axis=0), pooled)
    rival = adjusted_rand_score(np.concatenate(labels), FCM(3, m=2.0, random_state=0).fit(pooled).labels_)
    print(f"clusters found: {model.n_clusters_}")
    print(f"agreement with the planted courses: {score:.3f}")
    print(f"agreement of fuzzy c-means on pooled rows with means in the gaps: {rival:.3f}")

    # colours by the planted course that a centre is nearest to
    colors = COLORS[[np.linalg.norm(COURSES - v, axis=1).argmin() for v in model.centers_]]
    figure, axes = plt.subplots(1, 3, figsize=(13.5, 4.6), layout="constrained")
    for x in clinics[2][:14]:
        axes[0].plot(WEEKS, x, "-o", color="0.45", linewidth=0.8, markersize=3)
    axes[0].set_title(
        f"What a clinic has: {SIZES[2]} records,\na quarter of the values missing (14 shown)", fontsize=10
    )

    plan, fits = model.messages_["plan"], model.messages_["fits"]
    heaviest = max(fit.mass.max() for fit in fits)
    for fit in fits:
        for center, mass in zip(plan.mean + fit.centers * plan.std, fit.mass, strict=True):
            axes[1].plot(WEEKS, center, color="0.6", linewidth=0.6 + 3 * mass / heaviest)
    for center, color in zip(model.centers_, colors, strict=True):
        axes[1].plot(WEEKS, center, color=color, linewidth=2.6)
    axes[1].plot(WEEKS, COURSES.T, "k:", linewidth=1.4)
    axes[1].plot([], [], color="0.6", linewidth=2, label="sent by a clinic, width: its mass")
    axes[1].plot([], [], color=COLORS[0], linewidth=2.6, label="of all clinics")
    axes[1].plot([], [], "k:", label="planted")
    axes[1].set_ylim(-0.6, 7.4)
    axes[1].legend(fontsize=8, loc="upper center", ncols=3, columnspacing=1, handlelength=1.4)
    told = [value for message in [*model.messages_["summaries"], *fits] for value in message]
    sent = sum(value.size for value in told if isinstance(value, np.ndarray))
    axes[1].set_title(f"What the server sees of {sum(SIZES)} records:\ncentroids, {sent} numbers in all", fontsize=10)
    for axis in axes[:2]:
        axis.set_xlabel("week")

    landmarks = model.embedding_[: model.n_clusters_]
    positions = [client_project(X, plan, model.messages_["aggregate"], landmarks) for X in clinics]
    mixed = model.memberships_ @ colors
    axes[2].scatter(*np.vstack(positions).T, s=9, c=mixed, linewidths=0)
    axes[2].scatter(
        *model.embedding_[model.n_clusters_ :].T, s=40, c="0.75", edgecolors="black", label="sent by clinics"
    )
    axes[2].scatter(*landmarks.T, marker="X", s=130, c=colors, edgecolors="black", label="centres")
    axes[2].legend(fontsize=8)
    axes[2].set_aspect("equal")
    axes[2].set_title(
        "Sammon's map of the centroids; each clinic\nplaces its own rows, coloured by membership", fontsize=10
    )
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
