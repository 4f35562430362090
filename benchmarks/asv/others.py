"""Passes over texts and graphs, and what the first fit of a process takes."""

import warnings

import numpy as np

from soft_clustering import BIGCLAM, LDA
from soft_clustering.datasets import make_overlapping_graph, make_topic_corpus


class Topics:
    """Five passes of LDA over 2000 documents."""

    def setup(self):
        warnings.simplefilter("ignore")
        self.X = make_topic_corpus(2000, 10, vocabulary_size=3000, document_length=100.0, random_state=0).counts

    def time_lda_five_passes(self):
        LDA(10, init="random", max_iter=5, tol=0.0, random_state=0).fit(self.X)


class Communities:
    """Ten sweeps of BIGCLAM over 5000 nodes and 75,000 links."""

    def setup(self):
        warnings.simplefilter("ignore")
        self.A = make_overlapping_graph(5000, 20, degree=20.0, background_degree=4.0, random_state=0).adjacency
        self.start = 0.1 + np.random.RandomState(0).dirichlet(np.ones(20), 5000)

    def time_bigclam_ten_sweeps(self):
        BIGCLAM(20, init=self.start, max_iter=10, tol=0.0, random_state=0).fit(self.A)


class NewProcess:
    """What a process waits for at its beginning."""

    def timeraw_import(self):
        return "import soft_clustering"

    def timeraw_first_fit(self):
        return "import numpy\nfrom soft_clustering import FCM\nFCM(3).fit(numpy.eye(100, 4))"
