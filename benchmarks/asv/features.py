"""Passes, default fits and predictions of the methods for tables."""

import warnings

import numpy as np
from sklearn.datasets import make_blobs

import soft_clustering

METHODS = ["FCM", "GMM", "PCM", "GK", "KFCM", "ECM"]
SIZES = [2000, 200_000]
K = 5


class _Features:
    params = (METHODS, SIZES)
    param_names = ("method", "n")
    warmup_time = 0.0
    timeout = 120.0

    def setup(self, method, n):
        warnings.simplefilter("ignore")
        self.X = make_blobs(n, 8, centers=K, cluster_std=4.0, random_state=0)[0]
        self.method = getattr(soft_clustering, method)


class Passes(_Features):
    """Ten passes from given centres: what the kernels take."""

    def setup(self, method, n):
        super().setup(method, n)
        given = {"means_init": self.X[:K]} if method == "GMM" else {"init": self.X[:K]}
        plain = {"accelerate": False} if "accelerate" in self.method().get_params() else {}
        self.model = self.method(K, max_iter=10, tol=0.0, **given, **plain)

    def time_ten_passes(self, method, n):
        self.model.fit(self.X)


class DefaultFits(_Features):
    """What a user waits for: starts, passes until convergence, memberships."""

    def time_default_fit(self, method, n):
        self.method(K, random_state=0).fit(self.X)


class Predictions(_Features):
    """Memberships of new rows."""

    def setup(self, method, n):
        super().setup(method, n)
        self.model = self.method(K, random_state=0).fit(self.X[:: n // 2000])
        self.X = np.ascontiguousarray(self.X[::-1])

    def time_predict_memberships(self, method, n):
        self.model.predict_memberships(self.X)
