"""Faults of a cluster in the middle of a fit: bitwise the result of an undisturbed fit, or a clear error."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from helpers.clusters import two_workers
from sklearn.datasets import make_blobs

from soft_clustering import FCM

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
dask_blocks = pytest.importorskip("soft_clustering.engine.dask_blocks")

X, _ = make_blobs(4000, 4, centers=4, cluster_std=3, random_state=0)


@pytest.fixture
def cluster(monkeypatch):
    """Two workers of their own processes, in use for one test, which may ruin them."""
    monkeypatch.setattr(dask_blocks, "_SMALLEST_GROUP", 1)
    monkeypatch.setattr(dask_blocks, "_SMALLEST_BLOCK", 1)
    with two_workers() as client, client.as_current():
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


def after_passes(monkeypatch, number, act, done=None):
    """Call ``act`` once, from another thread, when so many passes have begun; 30 passes later wait until it is done."""
    calls, reduce = [], dask_blocks.Groups.reduce

    def counted(self, *arguments):
        calls.append(None)
        if len(calls) == number:
            threading.Thread(target=act, daemon=True).start()
        if len(calls) == number + 30 and done is not None:
            assert done.wait(30)
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


LIMIT = 1 << 30  # bytes of a worker, which pauses beyond 0.6 of them; it has a fifth of them without data


@pytest.fixture
def small_cluster(monkeypatch):
    """The same, with a limit of memory beyond which a worker pauses; nothing is spilled and nobody is killed."""
    monkeypatch.setattr(dask_blocks, "_SMALLEST_GROUP", 1)
    monkeypatch.setattr(dask_blocks, "_SMALLEST_BLOCK", 1)
    settings = {"target": False, "spill": False, "pause": 0.6, "terminate": False}
    with (
        dask.config.set({f"distributed.worker.memory.{name}": value for name, value in settings.items()}),
        two_workers(memory_limit=LIMIT) as client,
        client.as_current(),
    ):
        yield client


def fill(dask_worker):
    """Exceed the limit beyond which a worker pauses."""
    dask_worker.ballast = bytearray(b"x") * int(0.62 * LIMIT)


def free(dask_worker):
    del dask_worker.ballast


def wait_for(client, workers, status):
    """Wait until the scheduler knows that workers are paused, or running again."""
    end = time.monotonic() + 30
    while {client.scheduler_info()["workers"][address]["status"] for address in workers} != {status}:
        assert time.monotonic() < end, f"the workers are not {status} after 30 s"
        time.sleep(0.02)


@pytest.mark.parametrize("persisted", [True, False], ids=["persisted", "lazy"])
def test_worker_paused_in_mid_fit(small_cluster, undisturbed, monkeypatch, persisted):
    data = da.from_array(X, chunks=(250, 4))
    data = data.persist() if persisted else data
    address = next(iter(small_cluster.nthreads()))
    paused_at, paused, resumed = [], threading.Event(), threading.Event()

    def act():
        small_cluster.run(fill, workers=[address])
        wait_for(small_cluster, [address], "paused")
        paused_at.append(len(calls))
        paused.set()
        end = time.monotonic() + 2  # a task that waits in the paused worker holds up the pass until it resumes
        while len(calls) < paused_at[0] + 10 and time.monotonic() < end:
            time.sleep(0.01)
        small_cluster.run(free, workers=[address])
        wait_for(small_cluster, [address], "running")
        resumed.set()

    calls = after_passes(monkeypatch, 8, act, done=paused)
    with pytest.warns(UserWarning, match="did not converge"):
        model = slow_model().fit(data)
    assert resumed.wait(30)
    assert 8 <= paused_at[0] <= 38 < len(calls)
    assert model.centers_.tobytes() == undisturbed.tobytes()


def test_all_workers_paused(small_cluster, undisturbed, monkeypatch):
    """The pass waits, a warning says for whom, and the fit goes on when they resume."""
    monkeypatch.setattr(dask_blocks, "_PATIENCE", 0.5)
    data = da.from_array(X, chunks=(250, 4)).persist()
    addresses = list(small_cluster.nthreads())
    watch, paused, warned = dask_blocks._watch, threading.Event(), threading.Event()

    def noted(client, over):
        paused.wait(30)  # both, not one of them
        watch(client, over)
        if not over.is_set():
            warned.set()

    monkeypatch.setattr(dask_blocks, "_watch", noted)

    def act():
        small_cluster.run(fill)
        wait_for(small_cluster, addresses, "paused")
        paused.set()
        warned.wait(30)
        small_cluster.run(free)

    calls = after_passes(monkeypatch, 8, act)
    with pytest.warns(UserWarning, match="paused") as caught:
        model = slow_model().fit(data)
    (text,) = [str(warning.message) for warning in caught if "paused" in str(warning.message)]
    assert text.startswith("a pass over X has taken more than 0.5 s, and 2 of 2 Dask workers are paused")
    assert all(address in text for address in addresses)
    assert len(calls) > 20
    assert model.centers_.tobytes() == undisturbed.tobytes()


def test_scheduler_gone(cluster, monkeypatch):
    data = da.from_array(X, chunks=(250, 4)).persist()
    after_passes(monkeypatch, 8, cluster.cluster.close)
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
        _ = blocks.n, blocks.origin()  # the groups are described, the survey is made
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


@pytest.fixture
def many_workers(monkeypatch):
    """32 workers that are threads of this process; they speak through the network, where messages have bytes."""
    monkeypatch.setattr(dask_blocks, "_SMALLEST_GROUP", 1)
    monkeypatch.setattr(dask_blocks, "_SMALLEST_BLOCK", 1)
    with (
        dask.config.set({"distributed.worker.profile.enabled": False}),
        distributed.LocalCluster(
            n_workers=32,
            threads_per_worker=1,
            processes=False,
            protocol="tcp://",
            dashboard_address=None,
            memory_limit=0,
        ) as made,
        distributed.Client(made) as client,
    ):
        yield client


def traffic_of_client(client, action, monkeypatch):
    """(messages, bytes) from the client and to the client, without heartbeats, while an action is carried out.

    Both ends are in this process, so that every message is written here once.
    """
    from distributed.comm.tcp import TCP

    written, write = [], TCP.write
    # operations, and what is only in the answers to them
    periodic = {"heartbeat_worker", "heartbeat-client", "adjust-heartbeat-interval", "keep-alive", "identity"}
    periodic |= {"heartbeat-interval", "total_memory"}

    async def counted(self, message, *arguments, **options):
        size = await write(self, message, *arguments, **options)
        parts = message if isinstance(message, list | tuple) else [message]
        if not all(isinstance(part, dict) and periodic & {part.get("op"), *part} for part in parts):
            written.append((self.local_address, self.peer_address, size))
        return size

    with monkeypatch.context() as patch:
        patch.setattr(TCP, "write", counted)
        action()
        before = -1
        while len(written) > before:  # what the client no longer needs is released after the pass
            before = len(written)
            time.sleep(0.2)
    pool = (connections for held in (client.rpc.available, client.rpc.occupied) for connections in held.values())
    ends = {client.scheduler_comm.comm.local_address} | {each.local_address for some in pool for each in some}
    sent = [size for source, _, size in written if source in ends]
    received = [size for _, target, size in written if target in ends]
    return (len(sent), sum(sent)), (len(received), sum(received))


def test_traffic_does_not_grow_with_the_chunks(many_workers, monkeypatch):
    """Four times the chunks, the same messages and bytes between client and scheduler, as counted on the network."""
    rows, found = np.random.default_rng(0).normal(size=(3840, 4)), []
    for chunks in (320, 1280):
        data = da.from_array(rows, chunks=(len(rows) // chunks, 4)).persist()
        blocks = dask_blocks.DaskBlocks(data, None)
        blocks.reduce(dask_blocks.extent)  # the groups are described
        passes = [
            traffic_of_client(many_workers, lambda blocks=blocks: blocks.reduce(dask_blocks.extent), monkeypatch)
            for _ in range(3)
        ]
        found.append(np.median(passes, axis=0))
    few, many = found
    assert (few[:, 0] >= 2).all()  # at least the graph and a question; that it is done, and the result
    assert (many[:, 0] <= 10).all()
    np.testing.assert_allclose(many[:, 1], few[:, 1], rtol=0.02)
