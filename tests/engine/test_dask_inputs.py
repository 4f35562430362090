"""What Dask collections may hold and where their rows may lie: CSR chunks, data frames, Parquet files, memory maps."""

import os
import uuid
import warnings
from itertools import pairwise

import numpy as np
import pytest
from helpers.clusters import two_workers
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

import soft_clustering
from soft_clustering import FCM, GK, GMM
from soft_clustering._registry import REGISTRY
from soft_clustering.engine.alternating import AlternatingClusterer

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
dask_blocks = pytest.importorskip("soft_clustering.engine.dask_blocks")

X, _ = make_blobs(1200, 4, centers=3, cluster_std=2.5, random_state=0)
START = X[:3]
COLUMNS = list("abcd")
# counts of 12 words in 900 short documents of three topics, about a quarter of them zeros
TOPICS = np.random.default_rng(0).gamma(0.5, size=(3, 12)) + 0.02
COUNTS = np.random.default_rng(1).poisson(8 * TOPICS[np.arange(900) % 3]).astype(float)
CSR = sparse.csr_array(COUNTS)
ROWS = (400, 1, 299, 200)
CLASSES = [getattr(soft_clustering, row.name) for row in REGISTRY]
ENGINE = [cls for cls in CLASSES if issubclass(cls, AlternatingClusterer) and cls.modality == "features"]
SPARSE = [cls.__name__ for cls in ENGINE if cls()._policy.sparse]
DENSE = [cls.__name__ for cls in ENGINE if not cls()._policy.sparse and "init" in cls().get_params()]


def assembled(parts, sizes, meta):
    """A Dask array of these chunks, which Dask takes for what it is told: their lengths and their kind."""
    name = f"parts-{uuid.uuid4()}"
    graph = {(name, c, 0): part for c, part in enumerate(parts)}
    return da.Array(graph, name, (tuple(sizes), (12,)), meta=meta)


def chunked(matrix, rows=ROWS, meta=None):
    """A Dask array whose chunks are rows of a sparse matrix, in its format."""
    meta = type(matrix)((0, 0), dtype=matrix.dtype) if meta is None else meta
    ends, csr = np.cumsum([0, *rows]).tolist(), matrix.tocsr()
    return assembled([csr[low:high].asformat(matrix.format) for low, high in pairwise(ends)], rows, meta)


def started(name, rows):
    """The estimator of three clusters from given centres, or from those that it draws from few rows."""
    estimator = getattr(soft_clustering, name)(3, random_state=0)
    return estimator.set_params(init=rows[:3]) if "init" in estimator.get_params() else estimator


@pytest.fixture(scope="module")
def workers():
    with two_workers(memory_limit="700MB") as client:
        yield client


@pytest.fixture
def cluster(workers):
    """Two workers with little memory, in use for this test only: the other tests compute in this process."""
    with workers.as_current():
        yield workers


# CSR chunks -----------------------------------------------------------------------------------------------------------


def test_there_are_estimators_of_both_kinds():
    assert len(SPARSE) >= 6
    assert len(DENSE) >= 6


@pytest.mark.parametrize("name", SPARSE)
def test_csr_chunks_equal_memory(name, monkeypatch):
    """Each chunk is a block of its own; the largest difference measured is 3e-14."""
    monkeypatch.setattr(dask_blocks, "_SMALLEST_BLOCK", 1)
    weight = np.random.default_rng(2).integers(0, 3, len(COUNTS)).astype(float)
    weight[400:500] = 0
    for given in (None, weight):
        expected = started(name, COUNTS).fit(CSR, sample_weight=given)
        model = started(name, COUNTS).fit(chunked(CSR), sample_weight=given)
        assert model.n_iter_ == expected.n_iter_
        np.testing.assert_allclose(model.centers_, expected.centers_, rtol=0, atol=1e-12)
        np.testing.assert_allclose(model.memberships_.compute(), expected.memberships_, rtol=0, atol=1e-12)
        assert model.objective_ == pytest.approx(expected.objective_, rel=1e-12)
        lazy = model.predict_memberships(chunked(CSR, (450, 450)))
        np.testing.assert_allclose(lazy.compute(), expected.memberships_, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(model.predict(chunked(CSR)).compute(), expected.labels_)
        np.testing.assert_allclose(
            np.asarray(model.transform(chunked(CSR))), expected.transform(CSR), rtol=0, atol=1e-12
        )
        assert model.score(chunked(CSR), sample_weight=given) == pytest.approx(
            expected.score(CSR, sample_weight=given), rel=1e-12
        )


@pytest.mark.parametrize("name", SPARSE)
def test_one_csr_chunk_is_bitwise_memory(name):
    """Drawn starts included: a sample of all rows is all rows."""
    expected = getattr(soft_clustering, name)(3, random_state=0).fit(CSR)
    model = getattr(soft_clustering, name)(3, random_state=0).fit(chunked(CSR, (900,)))
    assert model.centers_.tobytes() == expected.centers_.tobytes()
    assert model.memberships_.compute().tobytes() == expected.memberships_.tobytes()
    assert model.objective_ == expected.objective_


@pytest.mark.parametrize("name", DENSE)
def test_csr_chunks_are_refused_as_in_memory(name):
    errors = []
    for data in (CSR, chunked(CSR)):
        with pytest.raises(TypeError, match="dense data is required") as caught:
            getattr(soft_clustering, name)(3).fit(data)
        errors.append(str(caught.value))
    assert errors[0] == errors[1]


@pytest.mark.parametrize(
    "form",
    [sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix, sparse.coo_array, sparse.lil_array],
    ids=lambda form: form.__name__,
)
def test_other_sparse_formats(form):
    expected = FCM(3, init=COUNTS[:3]).fit(chunked(CSR))
    model = FCM(3, init=COUNTS[:3]).fit(chunked(form(CSR)))
    assert model.centers_.tobytes() == expected.centers_.tobytes()
    assert model.memberships_.compute().tobytes() == expected.memberships_.compute().tobytes()


def test_ways_to_make_sparse_chunks():
    expected = FCM(3, init=COUNTS[:3]).fit(CSR).centers_
    dense, matrix = da.from_array(COUNTS, chunks=(300, 12)), sparse.csr_matrix(CSR)
    for data in (
        dense.map_blocks(sparse.csr_array, meta=sparse.csr_array((0, 0))),
        da.from_delayed(dask.delayed(CSR), CSR.shape, meta=sparse.csr_array((0, 0))),
        da.from_array(matrix, chunks=(300, 12)),
        da.from_array(matrix, chunks=(300, 5)),
    ):
        np.testing.assert_allclose(FCM(3, init=COUNTS[:3]).fit(data).centers_, expected, rtol=0, atol=1e-12)


def test_duplicates_and_unsorted_indices():
    """Entries of a CSR matrix may come in any order, and in several parts that are added."""
    order = np.random.default_rng(0).permutation(2 * CSR.nnz)
    i, j = CSR.nonzero()
    parts = sparse.coo_array((np.tile(CSR.data / 2, 2)[order], (np.tile(i, 2)[order], np.tile(j, 2)[order])), CSR.shape)
    rows = np.argsort(parts.coords[0], kind="stable")
    loose = sparse.csr_array(
        (parts.data[rows], parts.coords[1][rows], np.append(0, np.cumsum(np.bincount(parts.coords[0], minlength=900)))),
        CSR.shape,
    )
    assert not loose.has_canonical_format
    data = da.from_delayed(dask.delayed(loose), CSR.shape, meta=sparse.csr_array((0, 0)))
    model = FCM(3, init=COUNTS[:3]).fit(data)
    assert model.centers_.tobytes() == FCM(3, init=COUNTS[:3]).fit(CSR).centers_.tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.int16, bool])
@pytest.mark.parametrize("told", [True, False])
def test_types_of_entries(dtype, told):
    """Of what type the chunks are counts only as far as Dask was told."""
    entries = CSR.astype(dtype)
    data = chunked(entries, (900,), None if told else sparse.csr_array((0, 0)))
    whole = entries if told else entries.astype(np.float64)
    model, expected = FCM(3, init=COUNTS[:3]).fit(data), FCM(3, init=COUNTS[:3]).fit(whole)
    assert model.memberships_.dtype == model.memberships_.compute().dtype == expected.memberships_.dtype
    assert model.centers_.tobytes() == expected.centers_.tobytes()


def test_drawn_start_of_csr_chunks(monkeypatch):
    """All rows, in their order, if they are few; otherwise each chunk draws its share."""
    expected = FCM(3, random_state=0).fit(CSR)
    np.testing.assert_allclose(FCM(3, random_state=0).fit(chunked(CSR)).centers_, expected.centers_, rtol=0, atol=1e-12)
    monkeypatch.setattr(dask_blocks, "_SAMPLE", 100)
    monkeypatch.setattr(dask_blocks, "_SMALLEST_BLOCK", 1)
    blocks = dask_blocks.DaskBlocks(chunked(CSR), None)
    sample = blocks.local(np.random.RandomState(0))
    assert blocks.is_sparse and sample.is_sparse and sample.n == len(set(sample.kept)) == 100
    np.testing.assert_array_equal(sample.blocks[0].X.toarray(), COUNTS[sample.kept])
    model = FCM(3, random_state=0).fit(chunked(CSR))
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-6)


def test_survey_counts_implicit_zeros():
    positive = sparse.csr_array(np.where(COUNTS > 0, COUNTS, 0) + np.outer(np.ones(900), np.arange(12) == 0))
    survey = dask_blocks.DaskBlocks(chunked(positive), None)._groups.survey
    dense = positive.toarray()
    np.testing.assert_array_equal(survey.extent.low, dense.min(axis=0))
    np.testing.assert_array_equal(survey.extent.high, dense.max(axis=0))
    np.testing.assert_allclose(survey.moments.mean, dense.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(survey.moments.variance, dense.var(axis=0), rtol=1e-13)
    assert not survey.origin.any()


@pytest.mark.parametrize("rows", [1, 200, 100_000])
def test_small_csr_chunks_joined_in_blocks(monkeypatch, rows):
    monkeypatch.setattr(dask_blocks, "_SMALLEST_BLOCK", rows)
    monkeypatch.setattr(dask_blocks, "_SMALLEST_GROUP", 1)
    weight = np.random.default_rng(2).integers(0, 3, 900).astype(float)
    weight[100:230] = 0
    with dask.config.set(num_workers=3):
        model = FCM(3, init=COUNTS[:3]).fit(chunked(CSR, (40, 5) * 20), sample_weight=weight)
    expected = FCM(3, init=COUNTS[:3]).fit(CSR, sample_weight=weight)
    np.testing.assert_allclose(model.centers_, expected.centers_, rtol=0, atol=1e-12)


def test_csr_persisted_equals_lazy_bitwise(cluster, monkeypatch):
    monkeypatch.setattr(dask_blocks, "_SMALLEST_GROUP", 1)
    monkeypatch.setattr(dask_blocks, "_SMALLEST_BLOCK", 1)
    lazy = chunked(CSR, (100,) * 9)
    with dask.config.set(scheduler="threads"):
        expected = FCM(3, random_state=0).fit(lazy)
        memberships = expected.memberships_.compute()
    for data in (lazy, lazy.persist()):
        model = FCM(3, random_state=0).fit(data)
        assert model.centers_.tobytes() == expected.centers_.tobytes()
        assert model.memberships_.compute().tobytes() == memberships.tobytes()
        out = np.empty((900, 3))
        assert model.predict_memberships(data, out=out).tobytes() == memberships.tobytes()
        largest = model.predict_memberships(data, top_k=1)
        np.testing.assert_array_equal(largest.nonzero()[1], memberships.argmax(axis=1))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_entries_of_csr_chunks(bad):
    broken = COUNTS.copy()
    broken[[450, 460], [2, 0]] = bad
    data = chunked(sparse.csr_array(broken), (300,) * 3)
    where = "X contains NaN or infinity: rows 450, 460, in the chunk that begins with row 300"
    model = FCM(3, init=COUNTS[:3])
    with pytest.raises(ValueError, match=where):
        model.fit(data)
    model.fit(CSR)
    for call in (
        lambda: model.score(data),
        lambda: model.predict_memberships(data).compute(),
        lambda: model.predict_memberships(data, top_k=1),
    ):
        with pytest.raises(ValueError, match=where):
            call()


@pytest.mark.parametrize(
    "chunk, meta, message",
    [
        (CSR[300:600], np.empty((0, 0)), r"chunk 1 of X is a csr_array, .* dense: .*meta=scipy.sparse.csr_array"),
        (COUNTS[300:600], sparse.csr_array((0, 0)), r"chunk 1 of X is a ndarray, .* sparse: .*meta=numpy.empty"),
        (CSR[300:600, :9], sparse.csr_array((0, 0)), r"chunk 1 of X has shape \(300, 9\) instead of \(300, 12\)"),
        (CSR[300:500], sparse.csr_array((0, 0)), r"chunk 1 of X has shape \(200, 12\) instead of \(300, 12\)"),
    ],
    ids=["sparse", "dense", "width", "length"],
)
def test_chunks_that_are_not_what_dask_was_told(chunk, meta, message):
    first = COUNTS[:300] if isinstance(meta, np.ndarray) else CSR[:300]
    data = assembled([first, chunk], (300, 300), meta)
    with pytest.raises(ValueError, match=message):
        FCM(3).fit(data)
    model = FCM(3, init=COUNTS[:3]).fit(COUNTS)
    with pytest.raises(ValueError, match=message):
        model.predict_memberships(data).compute()
    with pytest.raises(ValueError, match=message):
        model.predict_memberships(data, out=np.empty((600, 3)))


def test_empty_csr_chunks_and_unknown_sizes():
    with pytest.raises(ValueError, match=r"chunks without rows \(number 1\): join them, for example X.rechunk"):
        FCM(3).fit(chunked(CSR, (400, 0, 500)))
    unknown = assembled([CSR[:400], CSR[400:]], (np.nan, np.nan), sparse.csr_array((0, 0)))
    model = FCM(3, init=COUNTS[:3]).fit(unknown)
    assert model.centers_.tobytes() == FCM(3, init=COUNTS[:3]).fit(chunked(CSR, (400, 500))).centers_.tobytes()


# Data made of persisted data ------------------------------------------------------------------------------------------


def test_data_made_of_persisted_data(cluster, monkeypatch):
    monkeypatch.setattr(dask_blocks, "_SMALLEST_GROUP", 1)
    monkeypatch.setattr(dask_blocks, "_SMALLEST_BLOCK", 1)
    rows = da.from_array(X, chunks=(100, 4)).persist()
    weight = da.from_array(np.arange(1200) % 3 + 1.0, chunks=100).persist()
    whole = da.from_array(np.round(X * 10).astype(int), chunks=(100, 4)).persist()
    cases = [
        (rows[:950], None, X[:950]),
        (2 * rows, weight, 2 * X),
        (da.from_array(X, chunks=(100, 4)), weight, X),
        (whole, None, np.round(X * 10)),
    ]
    for data, weights, expected in cases:
        in_memory = None if weights is None else weights.compute()
        model = FCM(3, init=expected[:3]).fit(data, sample_weight=weights)
        np.testing.assert_allclose(
            model.centers_,
            FCM(3, init=expected[:3]).fit(expected, sample_weight=in_memory).centers_,
            rtol=1e-9,
        )
    held = dask_blocks.Groups(rows, None)._holders
    assert dask_blocks.Groups(2 * rows, None)._holders == held
    assert dask_blocks.Groups(rows[50:950], None)._holders.keys() == set(range(10))


# Data frames ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def frames():
    """The modules of Dask and pandas for data frames."""
    return pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")


def mixed(pd):
    """A frame of floats, integers, booleans and numbers that may be missing."""
    frame = pd.DataFrame(X, columns=COLUMNS)
    return frame.assign(b=np.round(X[:, 1]).astype(np.int32), c=X[:, 2] > 0, d=pd.array(X[:, 3], dtype="Float64"))


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
def test_frames_of_mixed_columns(frames, known):
    dd, pd = frames
    frame = mixed(pd)
    data = dd.from_pandas(frame, npartitions=3)
    if not known:
        data = data.clear_divisions()
        data = data[data.a > -1e9]
    assert data.known_divisions is known
    start = frame.iloc[:3].astype(float)
    expected = FCM(3, init=start).fit(frame)
    model = FCM(3, init=start).fit(data)
    np.testing.assert_allclose(model.centers_, expected.centers_, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(model.feature_names_in_, COLUMNS)
    np.testing.assert_allclose(
        model.predict_memberships(data).compute(), expected.predict_memberships(frame), rtol=0, atol=1e-9
    )
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(data[list("bacd")])
    with pytest.raises(ValueError, match="feature names should match"):
        model.score(data.rename(columns={"a": "other"}))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(da.from_array(X, chunks=(300, 4)))
    model.fit(da.from_array(X, chunks=(300, 4)))
    assert not hasattr(model, "feature_names_in_")


def test_frame_of_float32(frames):
    dd, pd = frames
    data = dd.from_pandas(pd.DataFrame(X.astype(np.float32), columns=COLUMNS), npartitions=3)
    assert FCM(3, init=START).fit(data).memberships_.compute().dtype == np.float32


@pytest.mark.parametrize("kind", ["text", "category", "date"])
def test_columns_that_are_not_numbers(frames, kind):
    dd, pd = frames
    values = {
        "text": ["x", "y", "z"] * 400,
        "category": pd.Categorical(["x", "y", "z"] * 400),
        "date": pd.date_range("2020", periods=1200),
    }[kind]
    data = dd.from_pandas(pd.DataFrame(X, columns=COLUMNS).assign(b=values, d=values), npartitions=3)
    with pytest.raises(ValueError, match=r"X must be numeric. Got the columns 'b' \(.*\), 'd' \(.*\): encode them"):
        FCM(3).fit(data)


def test_missing_values_of_a_frame_are_named(frames):
    dd, pd = frames
    frame = mixed(pd)
    frame.loc[[500, 501], "d"] = pd.NA
    with pytest.raises(ValueError, match="NaN or infinity: rows 500, 501, in the chunk that begins with row 400"):
        GK(3).fit(dd.from_pandas(frame, npartitions=3))


def test_empty_partitions_are_refused_and_the_remedy_works(frames):
    dd, pd = frames
    data = dd.from_pandas(pd.DataFrame(X, columns=COLUMNS).sort_values("a", ignore_index=True), npartitions=6)
    kept = data[data.a > 0]
    with pytest.raises(
        ValueError, match=r"X has partitions without rows \(number 0.*\): .*X.repartition\(part"
    ) as caught:
        FCM(3).fit(kept)
    remedy = str(caught.value).partition("for example ")[2].rstrip(".")
    assert remedy == "X.repartition(partition_size='100MB')"
    positive = X[X[:, 0] > 0][np.argsort(X[X[:, 0] > 0][:, 0])]
    model = FCM(3, init=START).fit(kept.repartition(partition_size="100MB"))
    np.testing.assert_allclose(model.centers_, FCM(3, init=START).fit(positive).centers_, rtol=0, atol=1e-9)


def test_series_as_weights_and_persisted_frame(frames, cluster):
    dd, pd = frames
    weight = np.arange(1200) % 3 + 0.0
    data = dd.from_pandas(pd.DataFrame(X, columns=COLUMNS).assign(w=weight), npartitions=4).persist()
    model = FCM(3, init=START).fit(data[COLUMNS], sample_weight=data.w)
    expected = FCM(3, init=START).fit(X, sample_weight=weight)
    np.testing.assert_allclose(model.centers_, expected.centers_, rtol=0, atol=1e-9)
    with pytest.raises(ValueError, match="Expected 2D array, got 1D"):
        FCM(3).fit(data.w)


# Out of core ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def parquet(tmp_path, frames):
    """Five Parquet files and a function that reads them."""
    pytest.importorskip("pyarrow", reason="pandas writes and reads Parquet files with pyarrow")
    dd, pd = frames
    for number, rows in enumerate(np.split(X, [100, 400, 650, 900])):
        pd.DataFrame(rows, columns=COLUMNS).to_parquet(tmp_path / f"{number}.parquet")
    return tmp_path, lambda: dd.read_parquet(sorted(map(str, tmp_path.glob("*.parquet"))))


def truncate(path, share=0.5):
    os.truncate(path, int(os.path.getsize(path) * share))


@pytest.mark.parametrize("where", ["here", "cluster"])
def test_parquet_equals_memory(parquet, where, request, tmp_path):
    if where == "cluster":
        request.getfixturevalue("cluster")
    _, read = parquet
    expected = FCM(3, init=START).fit(X)
    model = FCM(3, init=START).fit(read())
    np.testing.assert_allclose(model.centers_, expected.centers_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.memberships_.compute(), expected.memberships_, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(model.feature_names_in_, COLUMNS)
    assert model.score(read()) == pytest.approx(expected.score(X), rel=1e-12)
    out = np.lib.format.open_memmap(tmp_path / "out.npy", "w+", np.float64, (1200, 3))
    assert model.predict_memberships(read(), out=out) is out
    out.flush()
    np.testing.assert_allclose(np.load(tmp_path / "out.npy"), expected.memberships_, rtol=0, atol=1e-9)
    drawn = GMM(3, random_state=0)
    assert drawn.fit(read()).objective_ == pytest.approx(GMM(3, random_state=0).fit(X).objective_, rel=1e-9)


@pytest.mark.parametrize("where", ["here", "cluster"])
@pytest.mark.parametrize("kind", ["npy", "raw"])
def test_memory_map_equals_memory(tmp_path, kind, where, request):
    if where == "cluster":
        request.getfixturevalue("cluster")
    np.save(tmp_path / "rows.npy", X)
    X.tofile(tmp_path / "rows.raw")
    if kind == "npy":
        rows = np.load(tmp_path / "rows.npy", mmap_mode="r")
    else:
        rows = np.memmap(tmp_path / "rows.raw", np.float64, "r", shape=X.shape)
    expected = FCM(3, init=START).fit(X)
    for data in (da.from_array(rows, chunks=(250, 4)), mapped(tmp_path / "rows.npy", 250)):
        model = FCM(3, init=START).fit(data)
        np.testing.assert_allclose(model.centers_, expected.centers_, rtol=0, atol=1e-9)
        np.testing.assert_allclose(model.memberships_.compute(), expected.memberships_, rtol=0, atol=1e-9)
        out = model.predict_memberships(data, out=np.empty((1200, 3)))
        np.testing.assert_allclose(out, expected.memberships_, rtol=0, atol=1e-9)


def mapped(path, size):
    """A Dask array whose chunks open the memory map of a file when they are read; from_array reads all of it."""

    def rows(block_info=None):
        (low, high), _ = block_info[None]["array-location"]
        return np.load(path, mmap_mode="r")[low:high]

    n, d = np.load(path, mmap_mode="r").shape
    sizes = tuple(min(size, n - low) for low in range(0, n, size))
    return da.map_blocks(rows, chunks=(sizes, (d,)), meta=np.empty((0, 0)))


def test_file_larger_than_the_workers(tmp_path, cluster):
    """Rows of 900 MB, workers of 700 MB: chunks are read one after the other, and no pass sends rows to the workers.

    A worker without data already takes 220 MB.
    """
    rows = np.lib.format.open_memmap(tmp_path / "large.npy", "w+", np.float64, (7_100_000, 16))
    rows[::1000] = np.random.default_rng(0).normal(size=(7100, 16))
    assert rows.nbytes > 900e6
    before = cluster.run(os.getpid)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # Dask warns of large graphs
        warnings.filterwarnings("ignore", message="FCM did not converge")
        model = FCM(2, init=np.array(rows[[0, 1000]]), max_iter=2).fit(mapped(tmp_path / "large.npy", 100_000))
    assert model.n_iter_ == 2
    assert cluster.run(os.getpid) == before  # none was killed for the memory that it used


def test_cut_file_under_a_memory_map(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    data = mapped(tmp_path / "rows.npy", 250)
    model = FCM(3, init=START).fit(data)
    truncate(tmp_path / "rows.npy")
    where = r"chunk \d of X \(from row \d+\) could not be computed: mmap length is greater than file size"
    out = np.zeros((1200, 3))
    for call in (lambda: model.score(data), lambda: model.predict_memberships(data, out=out), lambda: model.fit(data)):
        with pytest.raises(RuntimeError, match=where):
            call()
    assert np.isnan(out).all()
    assert_unfitted(model)


def assert_unfitted(model):
    """Nothing of a fit is left."""
    assert [name for name in vars(model) if name.endswith("_")] == []
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_cut_parquet_file(parquet):
    folder, read = parquet
    model, data = FCM(3, init=START).fit(read()), read()
    truncate(folder / "2.parquet")
    for call in (lambda: model.predict_memberships(data), lambda: model.fit(data)):
        with pytest.raises(RuntimeError, match="chunk 2 of X could not be computed: "):
            call()
    assert_unfitted(model)


def test_cut_parquet_file_leaves_nothing_half_written(parquet, monkeypatch):
    """The file is cut after its length was read. What is written is right, the rest is NaN."""
    folder, read = parquet
    monkeypatch.setattr(dask_blocks, "_AT_ONCE", 1)
    model = FCM(3, init=START).fit(read())
    expected, described = model.predict_memberships(X), dask_blocks.Groups.described

    def cut_first(self, groups):
        truncate(folder / "2.parquet")
        return described(self, groups)

    monkeypatch.setattr(dask_blocks.Groups, "described", cut_first)
    out = np.zeros((1200, 3))
    with pytest.raises(RuntimeError, match=r"chunk 2 of X \(from row 400\) could not be computed: "):
        model.predict_memberships(read(), out=out)
    np.testing.assert_allclose(out[:400], expected[:400], rtol=0, atol=1e-9)
    assert np.isnan(out[400:]).all()


@pytest.mark.parametrize("number", [1, 2, 4, 7, 8])
def test_fit_that_fails_midway_leaves_no_fit(parquet, monkeypatch, number):
    """A file is cut before the survey, one of five passes, the last statistics, or the search for a collapse."""
    folder, read = parquet
    model = FCM(3, init=START, max_iter=5, tol=0, accelerate=False)
    with pytest.warns(UserWarning, match="did not converge"):
        model.fit(read())
    calls, reduce = [], dask_blocks.Groups.reduce

    def cut_later(self, *arguments):
        calls.append(None)
        if len(calls) == number:
            truncate(folder / "3.parquet")
        result = reduce(self, *arguments)
        if len(calls) == number - 1 == 7:
            truncate(folder / "3.parquet")
        return result

    monkeypatch.setattr(dask_blocks.Groups, "reduce", cut_later)
    named = None if number == 8 else r"chunk 3 of X \(from row 650\) could not be computed"
    with pytest.raises(Exception, match=named):
        model.fit(read())
    assert len(calls) == min(number, 7)
    assert_unfitted(model)
