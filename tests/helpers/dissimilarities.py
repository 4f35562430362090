"""The conformance checks on dissimilarities."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.distance import cdist

from soft_clustering.testing import ALL_CHECKS, SAMPLES, shared_fits

# Integers that are rounded distances are not symmetric, and removed rows leave a matrix that is not square.
NOT_OF_MATRICES = {"check_float32", "check_weight_zero"}


def check_with_dissimilarities(monkeypatch, estimator):
    """The checks on the sample of features, of which only the distances are given."""
    of_features = SAMPLES["features"]

    def sample(n_clusters):
        plain = of_features(n_clusters)
        D, new = cdist(plain.X, plain.X), cdist(plain.new, plain.X)
        refused, refused_new = D.copy(), new.copy()
        refused[2, 0] = refused_new[2, 0] = -1.0
        return replace(
            plain,
            X=D,
            known=D,
            new=new,
            batches=(new[:1], new[1:6], new[6:]),
            worse=cdist(plain.worse, plain.X),
            hard=cdist(plain.hard, plain.hard),
            other=cdist(plain.other, plain.other),
            refused=refused,
            refused_new=(refused_new, new[:, :-1]),
            take=lambda data, indices: data[np.ix_(indices, indices)],
            same={"Fortran order": np.asfortranarray(D), "a nested list": D.tolist()},
            starts=plain.starts[1:],
            frame=None,
        )

    monkeypatch.setitem(SAMPLES, "features", sample)
    with shared_fits():
        for check in ALL_CHECKS:
            if check.__name__ not in NOT_OF_MATRICES:
                check(estimator)
