"""
Consensus of many
=================

Different seeds, numbers of clusters, features and methods give different partitions, and without a truth none of them
can be called right. This story takes forty partitions of handwritten digits, most of them mediocre, adds ten that are
pure chance, and makes one of them all.
"""

# %%
# Fifty partitions
# ----------------
# Each of forty models sees between 10 and 39 of the 64 pixels, chosen at random, and makes 6 to 14 clusters: half of
# them by fuzzy c-means, which gives memberships, half by k-means, which gives labels. Ten further partitions are random
# labels, as from a script with a mistake. SCSPA gets all fifty, and only these: no pixels. Its consensus with ten
# clusters is better than every member, and as good as k-means with ten starts on all of the pixels.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, confusion_matrix

from soft_clustering import FCM, SCSPA, SHBGF, SMCLA

digits, y = load_digits(return_X_y=True)
X, X_new, y, y_new = digits[:1000], digits[1000:], y[:1000], y[1000:]
rng = np.random.default_rng(0)
pixels = [rng.permutation(64)[: rng.integers(10, 40)] for _ in range(40)]
models = []
for b, own in enumerate(pixels):
    K = rng.integers(6, 15)
    model = KMeans(K, n_init=1, random_state=b) if b % 2 else FCM(K, m=1.2, n_init=1, random_state=b)
    models.append(model.fit(X[:, own]))
members = [getattr(model, "memberships_", model.labels_) for model in models]
chance = [rng.integers(0, 10, len(X)) for _ in range(10)]
consensus = SCSPA(10, random_state=0).fit(members + chance)

labels = [model.labels_ for model in models] + chance
scores = np.array([adjusted_rand_score(y, own) for own in labels])
kinds = np.array(["FCM", "k-means"] * 20 + ["chance"] * 10)
kmeans = KMeans(10, n_init=10, random_state=0).fit(X)

figure, ax = plt.subplots(figsize=(9, 3.8))
place = np.argsort(np.argsort(scores))
for kind, color in (("chance", "black"), ("k-means", "0.8"), ("FCM", "0.5")):
    ax.bar(place[kinds == kind], scores[kinds == kind], color=color, label=kind)
ax.axhline(adjusted_rand_score(y, consensus.labels_), color="black", label="SCSPA of all fifty")
ax.axhline(adjusted_rand_score(y, kmeans.labels_), color="black", linestyle=":", label="k-means on all pixels")
ax.set(title="the members, from poor to good", ylabel="adjusted Rand index", xticks=[], ylim=(-0.02, 0.95))
ax.legend(ncols=2, loc="upper left")

# %%
# Whom to trust, without a truth
# ------------------------------
# A member that agrees with the others is probably good, and chance agrees with nobody. The mean agreement of a member
# with the others needs no truth, and goes well with its agreement with the truth. As ``partition_weights`` it tells a
# consensus whom to believe. SCSPA and SHBGF hardly need this. SMCLA, which sorts the clusters of the members, those of
# chance included, gains.

agreement = np.array([[adjusted_rand_score(a, b) for b in labels] for a in labels])
weights = ((agreement.sum(axis=1) - 1) / (len(labels) - 1)).clip(0)  # without the agreement with itself

figure, axes = plt.subplots(1, 2, figsize=(11, 3.8))
axes[0].scatter(weights[:40], scores[:40], color="0.6", label="models")
axes[0].scatter(weights[40:], scores[40:], color="black", label="chance")
axes[0].set(title="agreement with the others tells", xlabel="with the other members", ylabel="with the digits")
axes[0].legend()
for i, method in enumerate((SCSPA(10, random_state=0), SHBGF(10, random_state=0), SMCLA(10, random_state=0))):
    with warnings.catch_warnings():  # without weights SMCLA warns that it lost a cluster
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = [method.fit(members + chance, partition_weights=given).labels_ for given in (None, weights)]
    bars = axes[1].bar([i - 0.2, i + 0.2], [adjusted_rand_score(y, own) for own in found], 0.4, color=["0.8", "0.3"])
    axes[1].bar_label(bars, fmt="%.2f")
axes[1].set_xticks(range(3), ["SCSPA", "SHBGF", "SMCLA"])
axes[1].set(title="all members alike (light), weighted (dark)", ylabel="adjusted Rand index", ylim=(0, 0.8))

# %%
# Soft members, and digits to leave open
# --------------------------------------
# The consensus is soft: ``consensus_memberships_`` says how sure the members are together. Whoever decides only the
# surest digits makes fewer mistakes; the curves show how many. With many members it matters little whether they are
# soft. With three it does: three label vectors cannot say much about doubt, three matrices of memberships can.

few = [model for model in models if isinstance(model, FCM)][:3]
ensembles = {
    "3 members, labels": ([model.labels_ for model in few], {"color": "0.6", "linestyle": "--"}),
    "3 members, memberships": ([model.memberships_ for model in few], {"color": "0.6"}),
    "all fifty": (members + chance, {"color": "black"}),
}
figure, ax = plt.subplots(figsize=(8, 3.8))
for name, (partitions, style) in ensembles.items():
    model = SCSPA(10, random_state=0).fit(partitions)
    digit = confusion_matrix(y, model.labels_).argmax(axis=0)  # what a cluster mostly holds
    surest = np.argsort(-model.consensus_memberships_.max(axis=1), kind="stable")
    right = (digit[model.labels_] == y)[surest]
    share = np.arange(1, len(y) + 1)
    ax.plot(share[99:] / len(y), np.cumsum(right)[99:] / share[99:], label=name, **style)
ax.set(title="who decides the surest only is right more often", xlabel="share of the digits that are decided")
ax.set_ylabel("share of these that are right")
ax.legend()

# %%
# New digits
# ----------
# A new object needs only what the members say of it. The random partitions say nothing of new digits: they get label
# -1, which means missing.

opinions = [
    model.predict_memberships(X_new[:, own]) if isinstance(model, FCM) else model.predict(X_new[:, own])
    for model, own in zip(models, pixels, strict=True)
]
opinions += [np.full(len(X_new), -1)] * len(chance)
score = adjusted_rand_score(y_new, consensus.predict(opinions))
print(f"adjusted Rand index of {len(X_new)} new digits: {score:.2f}")
