"""Faults of a cluster in the middle of a fit: bitwise the result of an undisturbed fit, or a clear error."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from soft_clustering import FCM

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
dask_blocks = pytest.importorskip("soft_clustering.engine.dask_blocks")

X, _ = make_blobs(4000, 4, centers=4, cluster_std=3, random_state=0)


@pytest.fixture
def cluster(monkeypatch):
    """Two workers of their own processes, in use for one test, which may ruin them."""
    monkeypatch.setattr(dask_blocks, "_SMALLEST_GROUP", 1)
    monkeypatch.setattr(dask_blocks, "_SMALLEST_BLOCK", 1)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as made,
        distributed.Client(made) as client,
    ):
        client.made = made
        yield client


def slow_model():
    """A fit of about 60 passes that no tolerance ends."""
    return FCM(4, m=2.0, init=X[:4], accelerate=False, tol=0, max_iter=60)


@pytest.fixture
def undisturbed(monkeypatch):
    """The centres of a fit in this process, with the same chunks."""
    monkeypatch.setattr(dask_blocks, "_SMALLEST_BLOCK", 1)
    with pytest.warns(UserWarning, match="did not converge"):
        return slow_model().fit(da.from_array(X, chunks=(250, 4))).centers_


def after_passes(monkeypatch, number, act):
    """Call ``act`` once, from another thread, when so many passes have begun."""
    calls, reduce = [], dask_blocks.Groups.reduce

    def counted(self, *arguments):
        calls.append(None)
        if len(calls) == number:
            threading.Thread(target=act, daemon=True).start()
        return reduce(self, *arguments)

    monkeypatch.setattr(dask_blocks.Groups, "reduce", counted)
    return calls


@pytest.mark.parametrize("persisted", [True, False], ids=["persisted", "lazy"])
@pytest.mark.parametrize("fault", ["killed", "restarted"])
def test_worker_lost_in_mid_fit(cluster, undisturbed, monkeypatch, fault, persisted):
    data = da.from_array(X, chunks=(250, 4))
    data = data.persist() if persisted else data
    pids = cluster.run(os.getpid)
    address = next(iter(pids))

    def act():
        if fault == "killed":
            os.kill(pids[address], signal.SIGKILL)
        else:
            cluster.restart_workers([address], raise_for_error=False)

    calls = after_passes(monkeypatch, 8, act)
    with pytest.warns(UserWarning, match="did not converge"):
        model = slow_model().fit(data)
    assert len(calls) > 20
    end = time.monotonic() + 30  # the killed worker comes back as a new process
    while set(cluster.run(os.getpid).values()) == set(pids.values()) and time.monotonic() < end:
        time.sleep(0.1)
    assert set(cluster.run(os.getpid).values()) != set(pids.values())
    assert model.centers_.tobytes() == undisturbed.tobytes()


def test_scheduler_gone(cluster, monkeypatch):
    data = da.from_array(X, chunks=(250, 4)).persist()
    after_passes(monkeypatch, 8, cluster.made.close)
    with pytest.raises(RuntimeError, match="the Dask cluster was lost during the fit"):
        slow_model().fit(data)


def test_interruption_keeps_the_best_run(cluster, monkeypatch):
    data = da.from_array(X, chunks=(250, 4)).persist()
    calls, reduce = [], dask_blocks.Groups.reduce

    def interrupted(self, *arguments):
        calls.append(None)
        if len(calls) == 12:
            raise KeyboardInterrupt
        return reduce(self, *arguments)

    monkeypatch.setattr(dask_blocks.Groups, "reduce", interrupted)
    model = slow_model()
    with pytest.raises(KeyboardInterrupt):
        model.fit(data)
    assert 5 < model.n_iter_ < 12
    np.testing.assert_allclose(model.memberships_.compute().sum(axis=1), 1)


def test_pass_does_not_grow_with_the_chunks(cluster):
    """One task per thread and one that merges, whatever the number of chunks; one value reaches the client."""
    sizes = []
    for size in (500, 20):
        blocks = dask_blocks.DaskBlocks(da.from_array(X, chunks=(size, 4)).persist(), None)
        _ = blocks.n, blocks.first_row()  # the groups are described, the survey is made
        graphs, compute = [], dask_blocks.dask.compute

        def counted(*parts, graphs=graphs, compute=compute, **options):
            graphs.append(sum(len(dict(part.__dask_graph__())) for part in parts))
            return compute(*parts, **options)

        dask_blocks.dask.compute = counted
        try:
            blocks.reduce(dask_blocks.extent)
        finally:
            dask_blocks.dask.compute = compute
        sizes.append(graphs)
    assert sizes[0] == sizes[1] == [sizes[0][0]]
    assert sizes[0][0] <= 2 + 2 + 1  # two groups as futures, a task for each, one that merges
