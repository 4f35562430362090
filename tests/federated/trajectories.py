"""Three trajectories of six time points at four clients of different size and mix."""

import numpy as np

TIME = np.linspace(0, 1, 6)
CURVES = 5.2 * np.array([TIME - 0.5, 0.5 - TIME, np.sin(np.pi * TIME) - 0.5])
SIZES = (150, 80, 60, 200)
MIXES = ((0.6, 0.2, 0.2), (0.2, 0.6, 0.2), (0.2, 0.2, 0.6), (1 / 3, 1 / 3, 1 / 3))


def trajectories(seed=0, missing=0.0, sizes=SIZES):
    """Matrices per client with a share of missing values, and the labels of all rows."""
    rng = np.random.default_rng(seed)
    clients, labels = [], []
    for n, mix in zip(sizes, MIXES, strict=False):
        y = rng.choice(3, n, p=mix)
        clients.append(CURVES[y] + rng.standard_normal((n, 6)))
        labels.append(y)
    gaps = np.random.default_rng(1000 + seed)
    for X in clients:
        X[gaps.uniform(size=X.shape) < missing] = np.nan
    return clients, np.concatenate(labels)
