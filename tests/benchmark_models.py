"""Clusterers that behave badly, each in one way; a module of its own, so that the workers of a benchmark find it."""

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import replace

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from threadpoolctl import threadpool_info, threadpool_limits

from soft_clustering.metrics import METRICS

#: Writes a byte twenty times a second, for as long as it lives.
BEAT = """
import sys, time
while True:
    with open(sys.argv[1], "a") as file:
        file.write(".")
    time.sleep(0.05)
"""


class Halves(ClusterMixin, BaseEstimator):
    """Two clusters: below and above the median of the first feature."""

    def fit(self, X, y=None):
        self.misbehave()
        self.labels_ = (X[:, 0] > np.median(X[:, 0])).astype(int)
        return self

    def misbehave(self):
        pass


class Wrapped(Halves):
    """Has its number of clusters in another estimator."""

    def __init__(self, estimator=None):
        self.estimator = estimator


class Raises(Halves):
    def misbehave(self):
        raise ValueError("a message\n  of two lines")


class RaisesMemoryError(Halves):
    def misbehave(self):
        raise MemoryError("no room")


class RaisesAfterFit(Halves):
    def fit(self, X, y=None):
        return self


class FailsToPredict(Halves):
    def predict(self, X):
        raise RuntimeError("cannot predict")


class OneCluster(Halves):
    def fit(self, X, y=None):
        self.labels_ = np.zeros(len(X), dtype=int)
        return self


class OnlyNoise(Halves):
    def fit(self, X, y=None):
        self.labels_ = np.full(len(X), -1)
        return self


class NoisyButTwo(Halves):
    """Two clusters and noise; NaN-free, but talkative on every channel."""

    def fit(self, X, y=None):
        print("an estimator may print")
        print("here too", file=sys.stderr)
        for _ in range(3):
            warnings.warn("look out\nbelow", UserWarning, stacklevel=2)
        super().fit(X)
        self.labels_[0] = -1
        return self


class Crashes(Halves):
    def misbehave(self):
        os.kill(os.getpid(), signal.SIGSEGV)


class Exits(Halves):
    def misbehave(self):
        print("giving up", file=sys.stderr, flush=True)
        os._exit(3)


class Allocates(Halves):
    """Takes 1.5 GiB in small steps, itself or in a process that it starts; fails if nobody stops it."""

    def __init__(self, in_child=False):
        self.in_child = in_child

    def misbehave(self):
        steps = "import time\nheld = []\nfor _ in range(96):\n    held.append(b'.' * 2**24)\n    time.sleep(0.02)"
        if self.in_child:
            subprocess.run([sys.executable, "-c", steps], check=True)
        else:
            exec(steps)
        raise AssertionError("was not stopped")


class SpoilsAMeasure(Halves):
    """Its fit is good, but the third measure never ends, crashes, takes memory without end, or raises."""

    def __init__(self, how="hangs"):
        self.how = how

    def misbehave(self):
        METRICS["davies_bouldin"] = replace(METRICS["davies_bouldin"], function=getattr(self, self.how))

    def hangs(self, X, labels):
        time.sleep(600)

    def crashes(self, X, labels):
        os.kill(os.getpid(), signal.SIGSEGV)

    def grows(self, X, labels):
        Allocates().misbehave()

    def raises(self, X, labels):
        raise ValueError("too\nbad")


class SlowToPredict(Halves):
    def predict(self, X):
        time.sleep(600)


class Litters(Halves):
    """Notes what it finds in its process, and leaves it changed."""

    def __init__(self, notes="", number=0):
        self.notes = notes
        self.number = number

    def misbehave(self):
        found = {
            "parent": os.getppid(),
            "folder": os.getcwd(),
            "variable": os.environ.get("LITTER"),
            "modules": "litter" in sys.modules,
            "filters": len(warnings.filters),
            "threads": [pool["num_threads"] for pool in threadpool_info()],
            "random": np.random.get_state()[1][:3].tolist(),  # noqa: NPY002
        }
        with open(self.notes, "a") as file:
            file.write(json.dumps(found) + "\n")
        os.chdir("/")
        os.environ["LITTER"] = "everywhere"
        sys.modules["litter"] = sys
        warnings.simplefilter("error")
        threadpool_limits(1)
        self.held = bytearray(2**26)


class Copies(Halves):
    """Holds ten copies of the data for a moment."""

    def fit(self, X, y=None):
        np.ones((10, *X.shape))
        return super().fit(X)


class StartsAProcess(Halves):
    """Never ends, nor does the process that it starts."""

    def __init__(self, beat):
        self.beat = beat

    def misbehave(self):
        subprocess.Popen([sys.executable, "-c", BEAT, self.beat])
        time.sleep(600)


class NamesItsAncestors(Halves):
    """Writes the numbers of the processes that led to its own, in a file of a folder."""

    def __init__(self, folder="."):
        self.folder = folder

    def misbehave(self):
        import psutil

        process = psutil.Process()
        with open(os.path.join(self.folder, str(process.pid)), "w") as file:
            json.dump([each.pid for each in process.parents()], file)


class Overlapping(Halves):
    """With unbounded memberships and no centres."""

    partition_constrained = False

    def fit(self, X, y=None):
        super().fit(X)
        self.memberships_ = np.where(np.eye(2)[self.labels_], 3.0, 0.5)
        return self


class WrongMemberships(Halves):
    def fit(self, X, y=None):
        super().fit(X)
        self.memberships_ = np.ones((1, 2))
        return self


class OfGraphs(Overlapping):
    """Takes anything that has a length."""

    modality = "graph"
    partition_constrained = True

    def fit(self, X, y=None):
        self.labels_ = np.arange(len(X)) % 2
        self.memberships_ = np.eye(2)[self.labels_]
        return self
