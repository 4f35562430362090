"""
LatentClass: answers, symptoms and other categories
===================================================

A questionnaire has no distances: "tea" is not twice "coffee". Latent class analysis describes each cluster by the
probability of every answer, and takes missing answers as what they are. Take it for tables of categories, also with
some numbers beside them.
"""

# %%
# Four questions about a conflict of roles
# ----------------------------------------
# 216 people were asked what they would do in four situations where a friend hopes for a favour that the rules forbid
# (Stouffer and Toby, 1951; analysed by Goodman, 1974). There are only 16 possible rows, so the table holds the number
# of people for each of them, which is a weight. In the smaller class people keep to the rules almost always; in the
# larger one it depends on the situation. The colours are memberships in the smaller class: who kept to the rules in
# three situations may belong to either class, and it matters in which ones.

from itertools import product

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from soft_clustering import LatentClass
from soft_clustering.plotting import IndexCurvesDisplay

rows = np.array([*product(["rules", "friend"], repeat=4)])
people = np.array([42, 23, 6, 25, 6, 24, 7, 38, 1, 4, 1, 6, 2, 9, 2, 20])
model = LatentClass(2, random_state=0).fit(rows, sample_weight=people)

strict = int(np.argmin(model.weights_))
rules = [
    shares[:, list(known).index("rules")] for shares, known in zip(model.probabilities_, model.categories_, strict=True)
]
situations = ["1", "2", "3", "4"]

figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), width_ratios=[1, 1.25], layout="constrained")
for k, marker in ((strict, "o"), (1 - strict, "s")):
    name = f"class of {model.weights_[k]:.0%}"
    axes[0].plot(situations, [shares[k] for shares in rules], marker=marker, label=name)
axes[0].set(xlabel="situation", ylabel="probability of keeping to the rules", ylim=(0, 1.03))
axes[0].legend()
order = np.argsort(model.memberships_[:, strict])
bars = axes[1].barh(range(16), people[order], color=plt.get_cmap("viridis")(model.memberships_[order, strict]))
labels = ["".join("R" if answer == "rules" else "f" for answer in row) for row in rows[order]]
axes[1].set(yticks=range(16), yticklabels=labels, xlabel="people", ylabel="answers: rules (R) or friend (f)")
scale = plt.cm.ScalarMappable(cmap="viridis")
figure.colorbar(scale, ax=axes[1], label="membership in the class of the rules")

# %%
# Is the model good enough? The deviance of the 16 counts from what the model expects is that of Goodman's paper, 2.72
# on 6 degrees of freedom.

expected = people.sum() * np.exp(model.score_samples(rows))
print(f"deviance {2 * people @ np.log(people / expected):.2f} on {15 - model.n_parameters_} degrees of freedom")

# %%
# How many classes
# ----------------
# BIC and AIC charge the likelihood for parameters. The table has 600 made-up customers of four kinds: where they buy,
# how they pay, what they think, whether they come again, and the amount they spend, which is a number. One cell in
# seven is empty. BIC finds the four kinds; AIC, which charges less, takes a fifth.

rng = np.random.default_rng(0)
kind = rng.integers(4, size=600)
table = np.empty((600, 5), dtype=object)
for j, (words, sure) in enumerate(
    [
        (["web", "shop", "phone", "app"], 0.7),
        (["card", "cash", "card", "app"], 0.85),
        (["good", "good", "bad", "bad"], 0.8),
    ]
):
    usual = np.array(words, dtype=object)[kind]
    table[:, j] = np.where(rng.uniform(size=600) < sure, usual, rng.choice(words, 600))
table[:, 3] = np.where(rng.uniform(size=600) < 0.8, np.array(["no", "yes", "yes", "no"])[kind], "no")
table[:, 4] = rng.normal(np.array([20.0, 45.0, 30.0, 60.0])[kind], 6.0).round(2)
table[rng.uniform(size=table.shape) < 1 / 7] = None

sizes = range(1, 8)
fits = [LatentClass(K, random_state=0).fit(table) for K in sizes]
scores = {name.upper(): [getattr(fit, name)(table) for fit in fits] for name in ("bic", "aic")}
best = {name: sizes[int(np.argmin(values))] for name, values in scores.items()}
display = IndexCurvesDisplay(sizes, scores, best=best, senses=dict.fromkeys(scores, "min")).plot()
print(f"Rand index of four classes: {adjusted_rand_score(kind, fits[3].labels_):.2f}")

# %%
# Known answers decide
# --------------------
# A row without any answer has the shares of the classes as memberships, and each answer makes them surer.

customer, answers = [None] * 5, {3: "no", 2: "bad", 4: 41.5, 1: "card"}
print([answer or "?" for answer in customer], fits[3].predict_memberships([customer]).round(2)[0])
for j, answer in answers.items():
    customer[j] = answer
    print([answer or "?" for answer in customer], fits[3].predict_memberships([customer]).round(2)[0])

# %%
# When it fails
# -------------
# Given the class, the answers must be independent. Here 400 people of two groups answer three questions that tell the
# groups, and two more that ask for the same thing, which has nothing to do with the groups. The two classes explain why
# these two answers go together, and forget the groups. Without one of the two questions the groups are found.

rng = np.random.default_rng(0)
group = rng.integers(2, size=400)
telling = np.where(rng.uniform(size=(400, 3)) < 0.75, group[:, None], 1 - group[:, None])
asked = rng.integers(2, size=400)
again = np.where(rng.uniform(size=400) < 0.95, asked, 1 - asked)
questions = np.column_stack([telling, asked, again])

figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
for ax, columns, title in ((axes[0], 5, "all questions"), (axes[1], 4, "without question 5")):
    fit = LatentClass(2, random_state=0).fit(questions[:, :columns])
    for k in range(2):
        ax.plot(range(1, columns + 1), fit.centers_[k], marker="os"[k], label=f"class of {fit.weights_[k]:.0%}")
    ax.set(xlabel="question", xticks=range(1, columns + 1), ylim=(-0.03, 1.03))
    ax.set_title(f"{title}: Rand index {adjusted_rand_score(group, fit.labels_):.2f}")
    ax.legend()
axes[0].set_ylabel("probability of yes")
