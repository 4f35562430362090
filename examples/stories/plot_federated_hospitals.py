"""
Federated: three hospitals
==========================

Three hospitals want to know which types of patients they have in common. Their rows must stay in the house, each
hospital mostly sees one type, a fifth of the values is missing, and one hospital does not measure one of the features.
FeMIFuzzy lets them work together; this story compares it with each hospital alone and with a pooled table that the
hospitals may not have.
"""

# %%
# What the hospitals have
# -----------------------
# There are three types: patients with a metabolic trouble (type 0), with an inflammation (type 1) and with a weak heart
# (type 2). The first hospital mostly treats type 0, the second type 1, the third type 2; the colours show the types,
# which no hospital knows. The second hospital has no cholesterol.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from soft_clustering import FCM, FeMIFuzzy
from soft_clustering.plotting import cluster_colors

names = ["age", "BMI", "systolic pressure", "glucose", "cholesterol", "log CRP", "haemoglobin"]
typical = np.array(
    [[52, 33, 136, 9.2, 5.4, 1.2, 14.0], [48, 24, 122, 5.6, 4.7, 3.6, 11.6], [69, 26, 156, 6, 6.9, 1.1, 13.9]]
)
spread = np.array([11, 3.2, 12, 1.4, 0.9, 0.8, 1.1])


def make_hospitals(main, seed):
    """Return the tables of the hospitals and the types; a hospital has the share ``main`` of its own type."""
    rng = np.random.default_rng(seed)
    tables, types = [], []
    for own, size in enumerate((300, 180, 90)):
        share = np.where(np.arange(3) == own, main, (1 - main) / 2)
        y = rng.choice(3, size, p=share)
        table = pd.DataFrame(typical[y] + spread * rng.standard_normal((size, 7)), columns=names)
        tables.append(table.mask(rng.uniform(size=table.shape) < 0.2))
        types.append(y)
    tables[1] = tables[1].drop(columns="cholesterol")
    return tables, types


tables, types = make_hospitals(0.8, seed=0)
figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), sharex=True, sharey=True)
for ax, table, y in zip(axes, tables, types, strict=True):
    for k, color in enumerate(cluster_colors(3)):
        ax.scatter(table["glucose"][y == k], table["log CRP"][y == k], s=16, color=color, label=f"type {k}")
    ax.set(title=f"{len(table)} patients, {table.isna().to_numpy().mean():.0%} of the values missing")
    ax.set(xlabel="glucose", ylabel="log CRP")
axes[2].legend(loc="upper right")

# %%
# Alone, together, pooled
# -----------------------
# The largest hospital does quite well alone. The two others split their own type and have few patients of the other
# types: on the patients of all hospitals their clusters agree poorly with the types. Together the hospitals find the
# types nearly as well as from a pooled table, whose gaps are filled in the same way or by the means of the columns.

settings = {"n_clusters": 3, "m": 1.5, "max_iter": 500, "random_state": 0}


def score_alone(tables, types):
    """Return how well the clusters that each hospital finds alone agree with the types of all patients."""
    everyone = pd.concat(tables)
    scores = []
    for table in tables:
        own = FeMIFuzzy(**settings, min_count=0).fit([table])  # nothing is sent, so nothing is withheld
        scores.append(adjusted_rand_score(np.concatenate(types), own.predict(everyone[table.columns])))
    return scores


y, pooled = np.concatenate(types), pd.concat(tables)[names]
model = FeMIFuzzy(**settings).fit(tables)
same = FeMIFuzzy(**settings).fit([pooled])
means = FCM(3, m=1.5, random_state=0).fit(((pooled - pooled.mean()) / pooled.std()).fillna(0))
scores = {f"hospital {number} alone": score for number, score in enumerate(score_alone(tables, types), 1)}
scores["FeMIFuzzy, rows stay"] = adjusted_rand_score(y, model.labels_)
scores["pooled, same imputation"] = adjusted_rand_score(y, same.labels_)
scores["pooled, means in the gaps"] = adjusted_rand_score(y, means.labels_)

figure, ax = plt.subplots(figsize=(8, 3))
bars = ax.barh(list(scores), list(scores.values()), color=["0.75"] * 3 + ["0.3"] + ["0.75"] * 2)
ax.bar_label(bars, fmt=" %.2f")
ax.invert_yaxis()
ax.set(title="agreement with the types, patients of all hospitals", xlabel="adjusted Rand index", xlim=(0, 1))

# %%
# What they learn
# ---------------
# The centres are in the units of the tables; the cholesterol comes from the two hospitals that measure it. Every
# hospital gets the memberships of its own patients (``client_memberships_``). A row with gaps has the mean of its
# memberships over several imputations.

order = [np.square((typical - center) / spread).sum(axis=1).argmin() for center in model.centers_]
centers = pd.DataFrame(model.centers_, columns=model.feature_names_in_, index=[f"like type {k}" for k in order])
print(centers.sort_index().round(1).T)

# %%
# What is sent
# ------------
# All messages are kept in ``messages_``. In the first round a hospital sends counts, means and standard deviations of
# its features, in the second round centroids and their weights. A centroid that stands for fewer than ``min_count``
# patients stays at home. These are aggregates without added noise, which is not differential privacy.

for number, (summary, fit) in enumerate(zip(model.messages_["summaries"], model.messages_["fits"], strict=True), 1):
    print(f"hospital {number}, first round: ", len(summary.features), "features, means", summary.mean.round(1))
    print(f"hospital {number}, second round:", len(fit.mass), "centroids of weights", fit.mass.round(1))

# %%
# When it is worth it
# -------------------
# If all hospitals have the same mix of patients, each finds the types alone, and there is no need to work together. The
# more the mixes differ, the less a hospital finds alone. Dots are means of two draws.

shares = (1 / 3, 0.5, 0.65, 0.8)
together, alone = [], []
for share in shares:
    draws = [make_hospitals(share, seed) for seed in (0, 2)]
    labels = [FeMIFuzzy(**settings).fit(tables).labels_ for tables, _ in draws]
    together.append(
        np.mean([adjusted_rand_score(np.concatenate(y), own) for (_, y), own in zip(draws, labels, strict=True)])
    )
    alone.append(np.mean([score_alone(tables, types) for tables, types in draws], axis=0))

figure, ax = plt.subplots(figsize=(8, 3.6))
for number, (values, style) in enumerate(zip(np.transpose(alone), (":", "--", "-."), strict=True), 1):
    ax.plot(shares, values, "o", linestyle=style, color="0.5", label=f"hospital {number} alone")
ax.plot(shares, together, "ko-", label="FeMIFuzzy")
ax.set(
    title="alone works while the mixes are alike", xlabel="share of a hospital's own type", ylabel="adjusted Rand index"
)
ax.set_ylim(0, 1)
ax.legend(loc="lower left")

# %%
# A trap: the number of types
# ---------------------------
# With ``n_clusters=None`` each hospital judges the number of clusters by its own patients, who are mostly of one type,
# and the server follows them. The answer is too small here. If hospitals may differ, set ``n_clusters``. Here only the
# features that all hospitals measure take part (``align="intersection"``).

tables, _ = make_hospitals(0.8, seed=0)
chosen = FeMIFuzzy(m=1.5, max_iter=500, align="intersection", random_state=0).fit(tables)
print(f"with n_clusters=None: {chosen.n_clusters_} clusters")
