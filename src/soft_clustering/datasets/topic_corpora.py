"""Word counts of documents drawn from planted topics."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import softmax
from sklearn.utils import Bunch, check_random_state
from sklearn.utils._param_validation import Interval, validate_params


@validate_params(  # type: ignore[untyped-decorator]
    {
        "n_documents": [Interval(Integral, 1, None, closed="left")],
        "n_topics": [Interval(Integral, 1, None, closed="left")],
        "vocabulary_size": [Interval(Integral, 1, None, closed="left")],
        "document_length": [Interval(Real, 0, np.inf, closed="neither")],
        "alpha": [Interval(Real, 0, np.inf, closed="neither")],
        "beta": [Interval(Real, 0, np.inf, closed="neither")],
        "random_state": ["random_state"],
    },
    prefer_skip_nested_validation=True,
)
def make_topic_corpus(
    n_documents: int = 1000,
    n_topics: int = 5,
    *,
    vocabulary_size: int = 500,
    document_length: float = 80.0,
    alpha: float = 0.1,
    beta: float = 0.05,
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    """Draw a corpus from the model of latent Dirichlet allocation.

    Parameters
    ----------
    n_documents : int, default=1000
    n_topics : int, default=5
    vocabulary_size : int, default=500
    document_length : float, default=80.0
        Mean number of words of a document.
    alpha : float, default=0.1
        Concentration of the topics of a document: near 0 a document has one topic, large values mix all equally.
    beta : float, default=0.05
        Concentration of the words of a topic: near 0 a topic has few words, large values make all topics the same.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    corpus : Bunch
        ``counts`` : CSR array of shape (n_documents, vocabulary_size), int64.

        ``document_topics`` : ndarray of shape (n_documents, n_topics); rows sum to 1.

        ``topic_words`` : ndarray of shape (n_topics, vocabulary_size); rows sum to 1.

        ``vocabulary`` : ndarray of shape (vocabulary_size,), made-up words.

    Notes
    -----
    For topics k, documents d and words i of a document [1]_:

        phi_k ~ Dirichlet(beta), theta_d ~ Dirichlet(alpha), N_d ~ Poisson(document_length),
        z_di ~ theta_d, w_di ~ phi_(z_di), i = 1, ..., N_d.

    A document may be empty. Time and memory are linear in the number of words of the corpus.

    References
    ----------
    .. [1] D. M. Blei, A. Y. Ng, M. I. Jordan (2003). Latent Dirichlet allocation. JMLR 3, 993-1022.

    Examples
    --------
    >>> from soft_clustering.datasets import make_topic_corpus
    >>> corpus = make_topic_corpus(200, 3, random_state=0)
    >>> corpus.counts.shape, corpus.document_topics.shape, corpus.topic_words.shape
    ((200, 500), (200, 3), (3, 500))
    >>> print(*corpus.vocabulary[corpus.topic_words[0].argsort()[-3:]])
    w283 w016 w417
    """
    rng = check_random_state(random_state)
    topic_words = _dirichlet(beta, (n_topics, vocabulary_size), rng)
    document_topics = _dirichlet(alpha, (n_documents, n_topics), rng)
    lengths = rng.poisson(document_length, n_documents)
    # the number of words of each document that come from each topic
    shares = np.array([rng.multinomial(*pair) for pair in zip(lengths, document_topics, strict=True)])
    words = [rng.choice(vocabulary_size, n, p=p) for n, p in zip(shares.sum(axis=0), topic_words, strict=True)]
    documents = [np.repeat(np.arange(n_documents), share) for share in shares.T]
    # int32, because parts of scikit-learn refuse int64 indices
    where = np.concatenate(documents).astype(np.int32), np.concatenate(words).astype(np.int32)
    ones = np.ones(len(where[0]), dtype=np.int64)
    counts = sparse.coo_array((ones, where), shape=(n_documents, vocabulary_size)).tocsr()
    digits = len(str(vocabulary_size - 1))
    vocabulary = np.array([f"w{i:0{digits}}" for i in range(vocabulary_size)])
    return Bunch(counts=counts, document_topics=document_topics, topic_words=topic_words, vocabulary=vocabulary)


def _dirichlet(concentration: float, shape: tuple[int, int], rng: np.random.RandomState) -> NDArray[np.float64]:
    """Draw rows from the symmetric Dirichlet distribution, in logarithms: gamma variables of small shape underflow.

    If G has shape a + 1 and E is exponential, G exp(-E / a) has shape a.
    """
    exponential = rng.standard_exponential(shape)
    exponential -= exponential.min(axis=1, keepdims=True)
    with np.errstate(over="ignore"):
        logs = np.log(rng.standard_gamma(concentration + 1, shape)) - exponential / concentration
    rows: NDArray[np.float64] = softmax(logs, axis=1)
    return rows
