"""
FeMIFuzzy: common clusters of rows that stay where they are
===========================================================

Several clients have tables of the same features, may not share their rows, and miss some of the values. FeMIFuzzy lets
each client fill the gaps several times and run fuzzy c-means on its own rows; a server sees only centroids and their
weights, and groups them. Take it if the rows cannot be pooled.
"""

# %%
# Four clinics
# ------------
# Each clinic has recorded six weekly measurements of its patients, who get worse, get better or relapse; a quarter of
# the values is missing. The clinics differ in size and in the mix of courses. The bars compare the clusters with the
# courses behind the data, by the adjusted Rand index: first those that a clinic finds alone, by the same imputation and
# fuzzy c-means, then those that the clinics find together. The small clinics gain most.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from soft_clustering import FeMIFuzzy
from soft_clustering.federated import client_project
from soft_clustering.plotting import MembershipScatterDisplay, cluster_colors

weeks = np.arange(1, 7)
courses = 5 * np.array([(weeks - 1) / 5, (6 - weeks) / 5, np.sin(np.pi * (weeks - 1) / 5)])


def make_clinics(sizes, mixes, missing):
    """Return the records of each clinic and the courses behind them."""
    rng = np.random.default_rng(0)
    y = [rng.choice(3, size, p=mix) for size, mix in zip(sizes, mixes, strict=True)]
    clinics = [courses[own] + rng.standard_normal((len(own), 6)) for own in y]
    for X in clinics:
        X[rng.uniform(size=X.shape) < missing] = np.nan
    return clinics, y


mixes = [(0.6, 0.2, 0.2), (0.2, 0.6, 0.2), (0.2, 0.2, 0.6), (0.4, 0.3, 0.3)]
clinics, y = make_clinics((150, 80, 60, 200), mixes, 0.25)
model = FeMIFuzzy(3, projection="sammon", random_state=0).fit(clinics)
order = [np.square(model.centers_ - course).sum(axis=1).argmin() for course in courses]  # as the courses, for colours

alone = [FeMIFuzzy(3, random_state=0).fit([X]).labels_ for X in clinics]
together = [U.argmax(axis=1) for U in model.client_memberships_]

figure, axes = plt.subplots(1, 3, figsize=(12, 3.8))
axes[0].plot(weeks, clinics[2][:12].T, "o-", color="0.5", linewidth=0.8, markersize=3)
axes[0].set(title="12 records of a clinic, with their gaps", xlabel="week")
for shift, color, found, label in ((-0.2, "0.7", alone, "alone"), (0.2, "0.2", together, "together")):
    scores = [adjusted_rand_score(own, labels) for own, labels in zip(y, found, strict=True)]
    axes[1].bar(np.arange(4) + shift, scores, 0.4, color=color, label=label)
axes[1].set(title="agreement with the true courses", xlabel="records of the clinic", ylim=(0, 1.25))
axes[1].set_xticks(range(4), [len(X) for X in clinics])
axes[1].legend(loc="upper left", ncols=2)
plan, fits = model.messages_["plan"], model.messages_["fits"]
for fit in fits:
    for center, mass in zip(plan.mean + fit.centers * plan.std, fit.mass, strict=True):
        axes[2].plot(weeks, center, color="0.7", linewidth=mass / 12)
for course, k, color in zip(courses, order, cluster_colors(3), strict=True):
    axes[2].plot(weeks, model.centers_[k], color=color, linewidth=2.5)
    axes[2].plot(weeks, course, "k:")
axes[2].set(title="centroids of the clinics (grey), common\ncentres (colour), true courses (dotted)", xlabel="week")

# %%
# What is sent
# ------------
# ``messages_`` keeps all that crossed the line: in the first round moments of the features, in the second centroids and
# their weights. What stands for fewer than ``min_count`` patients is not sent. These are aggregates, not
# differential privacy: no noise is added.

values = [value for message in [*model.messages_["summaries"], *fits] for value in message]
sent = sum(value.size for value in values if isinstance(value, np.ndarray))
print(f"The clinics have {sum(np.isfinite(X).sum() for X in clinics)} values and send {sent} numbers.")
print("A clinic's second message:", fits[2].centers.shape, "centroids of weight", fits[2].mass.round(1))

# %%
# A map of all patients
# ---------------------
# The server maps the centroids to the plane by Sammon's method. Each clinic then places its own rows on this map, by
# their distances to the common centres, and keeps the result. The memberships are the means over the imputed copies,
# so that a patient with many gaps is often in doubt: the title counts the missing values of the patients whose largest
# membership is below 0.6, and of the others.

positions = [client_project(X, plan, model.messages_["aggregate"], model.embedding_[:3]) for X in clinics]
display = MembershipScatterDisplay.from_memberships(
    model.memberships_[:, order], np.vstack(positions), centers=model.embedding_[:3][order]
)
doubt = model.memberships_.max(axis=1) < 0.6
gaps = np.isnan(np.vstack(clinics)).mean(axis=1)
display.ax_.set_title(f"missing: {gaps[doubt].mean():.0%} where doubtful, {gaps[~doubt].mean():.0%} elsewhere")
display.ax_.set(xlabel="", ylabel="", aspect="equal")

# %%
# When it fails
# -------------
# With ``n_clusters=None`` each clinic judges the number of clusters by its own rows. If every clinic lacks one of the
# courses, each finds two clusters best, and so does the server. Set ``n_clusters`` if the clients may have different
# mixes. If the rows can be pooled and are complete, :class:`~soft_clustering.FCM` does as well.

clinics, y = make_clinics((150, 150, 150), [(0.5, 0.5, 0), (0, 0.5, 0.5), (0.5, 0, 0.5)], 0.1)
figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), sharey=True)
for ax, n_clusters in zip(axes, (None, 3), strict=True):
    model = FeMIFuzzy(n_clusters, random_state=0).fit(clinics)
    score = adjusted_rand_score(np.concatenate(y), model.labels_)
    ax.plot(weeks, courses.T, "k:")
    for center in model.centers_:
        nearest = np.square(courses - center).sum(axis=1).argmin()
        ax.plot(weeks, center, color=cluster_colors(3)[nearest], linewidth=2.5)
    ax.set(title=f"n_clusters={n_clusters}: {model.n_clusters_} clusters, adjusted Rand index {score:.2f}")
    ax.set_xlabel("week")
