"""What graph neural networks share: features, normalised links, sparse products and their gradients."""

import numpy as np
import pytest
from scipy import sparse

from soft_clustering import kernels
from soft_clustering.graphs.message_passing import (
    DenseMatrix,
    Features,
    NewRows,
    SparseMatrix,
    Standard,
    dropout,
    normalised_adjacency,
    unit_rows,
)
from soft_clustering.inputs.graphs import validate_node_features


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


def graph(rng, n=12):
    A = np.triu(rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < 0.4), 1)
    return sparse.csr_array(A + A.T)


def test_normalised_adjacency_by_its_definition(rng):
    A = graph(rng)
    joined = A.toarray() + np.eye(12)
    root = np.diag(joined.sum(axis=1) ** -0.5)
    np.testing.assert_allclose(normalised_adjacency(A).toarray(), root @ joined @ root, rtol=1e-12)


def test_rows_of_a_known_node_are_its_own(rng):
    """A new node with the links of an old one gets the messages that the old one gets."""
    A = graph(rng)
    P = rng.normal(size=(12, 3))
    rows = NewRows.of(A[[4, 7]], np.asarray(A.sum(axis=1)).ravel())
    np.testing.assert_allclose(rows.mix([P])(0, P[[4, 7]]), (normalised_adjacency(A) @ P)[[4, 7]], rtol=1e-12)


@pytest.mark.parametrize("unit", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_unit_rows(rng, unit, kind):
    X = rng.normal(size=(5, 4)) * (rng.uniform(size=(5, 4)) < 0.7)
    X[2] = 0
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    found = unit_rows(kind(unit * X))
    assert sparse.issparse(found) == (kind is sparse.csr_array)
    found = found.toarray() if sparse.issparse(found) else found
    np.testing.assert_allclose(found, X / np.where(lengths > 0, lengths, 1), rtol=1e-12)


def test_unit_rows_of_very_different_lengths():
    np.testing.assert_allclose(unit_rows(np.array([[3e200, 4e200], [3e-200, 4e-200]])), [[0.6, 0.8]] * 2, rtol=1e-15)


@pytest.mark.parametrize("unit", [1e-150, 1.0, 1e150])
def test_standard_columns(rng, unit):
    X = unit * (rng.normal(size=(30, 3)) * [1, 10, 0] + [0, 5, 7])
    Z = Standard.of(X).of_rows(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(Z.std(axis=0), [1, 1, 0], atol=1e-12)


def test_features_and_links_side_by_side(rng):
    A, X = graph(rng), rng.normal(size=(12, 3))
    links = unit_rows(A).toarray()
    assert (Features.of(None, None, False).input(A, None) != unit_rows(A)).nnz == 0
    np.testing.assert_allclose(Features.of(X, "rows", False).input(A, X), unit_rows(X))
    np.testing.assert_allclose(Features.of(X, None, False).input(A, X), X)
    both = Features.of(X, "columns", True).input(A, sparse.csr_array(X))
    np.testing.assert_allclose(both.toarray(), np.hstack([(X - X.mean(axis=0)) / X.std(axis=0), links]))


def test_hostile_features():
    for features, message in [
        (np.ones((3, 2)), "row for each of the 4 nodes. Got 3"),
        (np.full((4, 2), np.nan), "node_features contains NaN"),
        (np.array([["a"]] * 4), "node_features must be numeric"),
        (np.ones(4), "Expected 2D array"),
    ]:
        with pytest.raises(ValueError, match=message):
            validate_node_features(features, 4)
    with pytest.raises(ValueError, match=r"at most 1e\+15. Got 1e\+20"):
        Features.of(np.full((2, 1), 1e20), None, False).input(None, np.full((2, 1), 1e20))
    one = np.array([[1.0, -1e20], [0.0, 2.0]])  # a single large entry is enough
    for features in (one, sparse.csr_array(one)):
        with pytest.raises(ValueError, match=r"at most 1e\+15. Got 1e\+20"):
            Features.of(features, None, False).input(None, features)


def test_sparse_product_and_its_gradient(torch, rng):
    M = rng.normal(size=(6, 9)) * (rng.uniform(size=(6, 9)) < 0.5)
    W = torch.from_numpy(rng.normal(size=(9, 4)).astype(np.float32)).requires_grad_()
    G = torch.from_numpy(rng.normal(size=(6, 4)).astype(np.float32))
    for kind, data in ((SparseMatrix, sparse.csr_array(M)), (DenseMatrix, M)):
        matrix = kind(torch, data, torch.device("cpu"))
        for rate in (0.0, 0.4):
            W.grad = None
            product = matrix.dropped(W, rate, torch.Generator().manual_seed(3))
            product.backward(G)
            # The entries that were kept: the product with the unit matrix of the same draws.
            kept = matrix.dropped(torch.eye(9), rate, torch.Generator().manual_seed(3)).numpy()
            np.testing.assert_allclose(product.detach().numpy(), kept @ W.detach().numpy(), rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(W.grad.numpy(), kept.T @ G.numpy(), rtol=1e-4, atol=1e-5)
            expected = np.where(kept != 0, M / (1 - rate), 0)
            np.testing.assert_allclose(kept, expected, rtol=1e-5)
            assert (np.count_nonzero(kept) == np.count_nonzero(M)) == (rate == 0)


@pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")
@pytest.mark.parametrize("width", [1, 5, 64, 131])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_compiled_products_are_those_of_torch(torch, rng, width, index, monkeypatch):
    M = rng.normal(size=(90, 70)) * (rng.uniform(size=(90, 70)) < 0.2)
    M[3] = 0
    M = sparse.csr_array(M)
    M.indices, M.indptr = M.indices.astype(index), M.indptr.astype(index)
    W, G = (torch.from_numpy(rng.normal(size=(n, width)).astype(np.float32)) for n in (70, 90))

    def found():
        matrix, given = SparseMatrix(torch, M, torch.device("cpu")), W.clone().requires_grad_()
        product = matrix.dropped(given, 0.5, torch.Generator().manual_seed(1))
        product.backward(G)
        return product.detach().numpy(), given.grad.numpy()

    ours = found()
    monkeypatch.setattr(kernels, "compiled", None)
    for mine, reference in zip(ours, found(), strict=True):
        np.testing.assert_allclose(mine, reference, rtol=1e-5, atol=1e-5)


def test_dropout_keeps_the_mean(torch):
    x = torch.full((200, 100), 3.0)
    found = dropout(torch, x, 0.7, torch.Generator().manual_seed(0)).numpy()
    assert set(np.unique(found)) == {0, np.float32(10)}
    assert found.mean() == pytest.approx(3, abs=0.1)
