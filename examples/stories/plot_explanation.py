"""
What the clusters are: explaining a table of customers
======================================================

A clustering gives numbers: cluster 0, 1 and 2. :func:`~soft_clustering.explanation.explain` says what they are: how
large each cluster is, what sets it apart from the rest, who is typical of it and who is on the border, in the columns
and units of the table.
"""

# %%
# A table as it comes
# -------------------
# The table has numbers, a category, a yes-or-no column, a date and missing incomes. Three groups of customers were put
# into it: young people in the city, families, and retired people who have been customers for long. Nothing in the table
# says who is who.

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

from soft_clustering import FCM, explain, prepare
from soft_clustering.plotting import MembershipScatterDisplay
from soft_clustering.selection import choose_n_clusters

n = 1500
rng = np.random.default_rng(0)
group = rng.choice(3, n, p=[0.45, 0.35, 0.2])
in_paris = rng.random(n) < np.array([0.7, 0.3, 0.2])[group]
days = rng.gamma(4, np.array([90, 300, 900])[group]).round()
customers = pd.DataFrame(
    {
        "age": (np.array([27, 41, 69])[group] + rng.normal(0, 5, n)).round(),
        "income": (np.array([32_000, 61_000, 28_000])[group] * rng.lognormal(0, 0.2, n)).round(-2),
        "visits": rng.poisson(np.array([14, 6, 3])[group]),
        "city": np.where(in_paris, "Paris", rng.choice(["Lyon", "Nice", "Lille"], n)),
        "newsletter": rng.random(n) < np.array([0.2, 0.5, 0.4])[group],
        "since": pd.Timestamp("2024-01-01") - pd.to_timedelta(days, unit="D"),
    },
    index=[f"C{number:04d}" for number in range(n)],
)
customers.loc[rng.random(n) < 0.08, "income"] = np.nan
customers.head()

# %%
# Clusters without a meaning
# --------------------------
# :func:`~soft_clustering.prepare` makes features of the table and notes what it did. The picture of the clusters shows
# three clouds and some customers between them, but its axes are mixtures of all columns: one cannot see what the
# clusters are.

preparation = prepare(customers)
model = make_pipeline(preparation, FCM(3, random_state=0)).fit(customers)
print("\n".join(preparation.notes_))

display = MembershipScatterDisplay.from_estimator(model[-1], model[:-1].transform(customers))
display.ax_.set_title("three clusters, but of what?")

# %%
# What sets them apart
# --------------------
# ``explain`` takes the pipeline and the table itself, so the answer is in years, visits and dates. A bar is the
# difference between a cluster and the rest, in standard deviations of the column; the black line is its 95 % interval,
# and the text gives the two means. The groups that were put in can be read off.

# sphinx_gallery_thumbnail_number = 2
explanation = explain(model, customers)
explanation.plot()

# %%
# The same as text: in full, or one sentence for each cluster.

print(explanation)

# %%

for sentence in explanation.sentences:
    print(sentence)

# %%
# Who is on the border
# --------------------
# ``typical`` lists the customers nearest to the middle of a cluster, ``borderline`` those whose two largest memberships
# differ least: with these the soft clustering does not decide. Here they are with their memberships.

borderline = np.unique(np.concatenate(explanation.borderline))
memberships = pd.DataFrame(model[-1].memberships_.round(2), customers.index, [f"cluster {k}" for k in range(3)])
customers.join(memberships).iloc[borderline]

# %%
# When it fails
# -------------
# An explanation says how the clusters differ, not whether they exist. Here every column is shuffled by itself: each
# keeps its values, but there are no groups of customers any more. The clusters are explained nevertheless, with narrow
# intervals, because any clustering makes clusters that differ. So look first whether the clusters are there. The
# stability of :func:`~soft_clustering.selection.choose_n_clusters`, the agreement of clusterings of random parts of the
# table, is near 1 for the customers and much lower for the shuffled table, which also has many more doubtful customers.

shuffled = customers.apply(lambda column: rng.permutation(column.to_numpy()))
shuffled_model = make_pipeline(prepare(shuffled), FCM(3, random_state=0)).fit(shuffled)
explain(shuffled_model, shuffled).plot()

for name, fitted, table in (("customers", model, customers), ("shuffled", shuffled_model, shuffled)):
    features = fitted[:-1].transform(table)
    choice = choose_n_clusters(FCM(random_state=0), features, [3], criteria=["stability"], random_state=0)
    doubtful = (fitted[-1].memberships_.max(axis=1) < 0.6).mean()
    print(f"{name}: stability {choice.scores['stability'][0]:.2f}, {doubtful:.0%} of the customers doubtful")
