"""
A big table with Dask
=====================

A big table can be a Dask array: rows in chunks, each of which is read when it is needed. Fuzzy c-means, mixtures and
their relatives take such an array in ``fit``, and their memberships are again a Dask array with the same chunks. Here
the table is small enough for a quick look; the end says how it goes further.
"""

# %%
# A table that is made chunk by chunk
# -----------------------------------
# A power company has a row for each day of each household, with the use of electricity in eight periods of three hours.
# There is one chunk per month. The function below invents it: four types of days, whose shares change over the year,
# and many days that are a mixture of two types. With real data it would read a file, for example with ``numpy.load``.

import dask
import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

from soft_clustering import FCM
from soft_clustering.plotting import MembershipScatterDisplay, cluster_colors

ROWS = 50_000  # of a month


@dask.delayed
def read_month(month):
    """The days of a month, (ROWS, 8): kilowatts in the periods from 0-3 to 21-24 o'clock."""
    rng = np.random.default_rng(month)
    days = np.array(
        [
            [0.3, 0.3, 1.2, 0.5, 0.5, 0.6, 2.0, 1.4],  # nobody at home during work
            [0.3, 0.3, 0.8, 1.3, 1.6, 1.2, 1.6, 1.0],  # somebody at home
            [2.2, 2.3, 1.2, 0.6, 0.6, 0.8, 1.8, 1.6],  # storage heaters are loaded at night
            [0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3],  # away
        ]
    )
    winter = 0.5 + 0.5 * np.cos(2 * np.pi * month / 12)  # 1 in month 0, January
    shares = np.array([0.4, 0.3, 0.5 * winter, 0.05 + 0.4 * (month in (6, 7))])
    main, other = rng.choice(4, size=(2, ROWS), p=shares / shares.sum())
    mixture = rng.beta(1, 2, size=(ROWS, 1)) / 2
    loads = (1 - mixture) * days[main] + mixture * days[other]
    return np.maximum(loads + 0.2 * rng.standard_normal(loads.shape, dtype=np.float32), 0).astype(np.float32)


dask.config.set(scheduler="threads")  # the threads of this computer, no cluster
months = [da.from_delayed(read_month(month), shape=(ROWS, 8), dtype=np.float32) for month in range(12)]
X = da.concatenate(months)
print(f"{X.shape[0]:,} rows in {X.numblocks[0]} chunks, {X.nbytes / 1e6:.0f} MB; nothing is computed yet")

# %%
# Fit
# ---
# ``fit`` takes the Dask array as it is. In each pass the chunks are read, their statistics are computed and the chunks
# are dropped; only the statistics are kept and added up. The start is drawn from a random sample of the rows.
# ``memberships_`` and ``labels_`` are lazy, with the chunks of X.

model = FCM(n_clusters=4, n_init=1, random_state=0).fit(X)
print(f"{model.n_iter_} passes; memberships_: {model.memberships_}")

# %%
# The same as in memory
# ---------------------
# The passes read the chunks again and again. If they fit into the memory of the computer, or of a cluster together,
# ``persist`` reads them once and keeps them. From the same start, here the days of four rows, the fit of the Dask array
# and the fit of the array in memory then give the same result but for rounding. Without a given start they may begin
# elsewhere: in memory the starts are chosen from all rows.

X = X.persist()
start = X[[0, 100_000, 350_000, 500_000]].compute()
lazy = FCM(n_clusters=4, init=start).fit(X)
in_memory = FCM(n_clusters=4, init=start).fit(X.compute())
print(f"passes: {lazy.n_iter_} and {in_memory.n_iter_}")
print(f"largest difference of the centres: {np.abs(lazy.centers_ - in_memory.centers_).max():.1e}")
difference = da.abs(lazy.memberships_ - da.from_array(in_memory.memberships_, chunks=(ROWS, 4))).max()
print(f"largest difference of the memberships: {difference.compute():.1e}")

# %%
# The types of days, and how they change over the year
# ----------------------------------------------------
# A chunk is a month, so a mean of the memberships of each chunk says how common each type was in that month. These are
# twelve rows of four numbers; the memberships themselves are never in memory together. Night heating fills the winter,
# and in July and August many households are away. The share of uncertain days, whose largest membership is below 0.6,
# is computed in the same way.

memberships = model.memberships_
per_month = da.stack([memberships.blocks[month].mean(axis=0) for month in range(12)])
uncertain = da.stack([(memberships.blocks[month].max(axis=1) < 0.6).mean() for month in range(12)])
per_month, uncertain = dask.compute(per_month, uncertain)

figure, axes = plt.subplots(1, 3, figsize=(13, 3.8))
hours = np.arange(1.5, 24, 3)
for k, color in enumerate(cluster_colors(4)):
    axes[0].plot(hours, model.centers_[k], "o-", color=color, label=f"type {k}")
    axes[1].plot(range(1, 13), per_month[:, k], "o-", color=color)
axes[2].bar(range(1, 13), 100 * uncertain, color="0.6")
axes[0].set(xlabel="hour of the day", ylabel="kilowatts", xticks=range(0, 25, 6), title="Four types of days")
axes[0].legend()
axes[1].set(xlabel="month", ylabel="mean membership", xticks=range(1, 13), ylim=(0, None))
axes[1].set_title("Heating in winter, away in summer")
axes[2].set(xlabel="month", ylabel="% of the days", xticks=range(1, 13), title="Days below 0.6 in all types")

# %%
# A picture of a sample
# ---------------------
# Pictures need rows in memory. A sample of a few thousand is enough; the model gives it memberships in memory, too. The
# display projects the eight periods on two principal components.

rows = np.sort(np.random.default_rng(0).choice(len(X), 3000, replace=False))
sample = X[rows].compute()
figure, ax = plt.subplots(figsize=(7.5, 5))
MembershipScatterDisplay.from_memberships(model.predict_memberships(sample), sample, centers=model.centers_, ax=ax)
ax.set_title("3,000 of 600,000 days")

# %%
# How it goes further
# -------------------
# * **Larger than memory.** Do not persist; each pass then reads all chunks again. A task goes through its chunks one
#   after the other, so that one chunk for each thread is in memory, whatever the length of the table. If chunks depend
#   on each other, as after ``X - X.mean(axis=0)``, a task needs all of its chunks at once: write such a table to disk
#   first.
# * **One look only.** ``partial_fit`` of :class:`~soft_clustering.FCM` updates a model with one chunk after the other,
#   without coming back to it: ``for block in X.blocks: model.partial_fit(block)``.
# * **The result.** ``model.memberships_.to_zarr(...)`` or ``da.to_npy_stack(...)`` write the memberships chunk by
#   chunk. ``model.predict_memberships`` is lazy for a Dask array and immediate for an array.
# * **A cluster.** Start a ``distributed.Client`` and persist X. The code stays the same: each worker computes the
#   statistics of the chunks that it holds, and only these travel.
# * **Data frames.** ``fit`` also takes a Dask data frame with numeric columns.
# * **What does not work.** Methods that compare rows with each other, such as :class:`~soft_clustering.AFCM` or
#   :class:`~soft_clustering.EVCLUS`, refuse a Dask array and say so; give them a sample. ``batch_size`` must stay None,
#   since the chunks take the place of batches.
