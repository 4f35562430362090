"""What a pass over a Dask array costs beyond its work: time, tasks, and bytes and memory of the client.

``python -m benchmarks dask-passes [PART ...]`` prints a table. Parts:

* ``overhead``: seconds of a pass at 100, 1000 and 10,000 small chunks on two worker processes (GMM full, d=64, K=26,
  and FCM), persisted, beyond the same pass in memory;
* ``memory``: the most memory that the client needs beyond its start for GMM full, d=64, K=26 at 10,000 chunks;
* ``compare``: a pass of FCM over 10,000,000 x 16 float32 on two worker processes against two threads in memory;
* ``disk``: the most memory of each process for a fit of FCM and GMM to 20,000,000 x 16 float32 in a file;
* ``many``: tasks of a pass on a scheduler with 256 workers in this process, and the messages and bytes that it sends
  between client, scheduler and workers, as counted where they are written to the network.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections import defaultdict
from pathlib import Path

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster
from distributed.comm.tcp import TCP

from benchmarks.lib.memory import forget_peak, peak
from benchmarks.lib.records import Record
from benchmarks.lib.timing import best
from soft_clustering import FCM, GMM


def prepared(model, X):
    """A fitted model's pass over X: a function without arguments."""
    blocks = model._blocks(X)
    model._resolve(blocks)
    state = next(iter(model._starts(blocks, np.random.RandomState(0))))
    return lambda: blocks.reduce(model._statistics, state)


def mixture(K):
    """A Gaussian mixture that starts from random rows."""
    return GMM(K, init="random", random_state=0)


def two_workers():
    return LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)


def overhead():
    """Seconds of a pass over many small chunks, and over the same rows in memory."""
    found = {}
    with two_workers() as cluster, Client(cluster):
        for name, model, d in (("FCM", FCM(10, m=2.0, random_state=0), 16), ("GMM full", mixture(26), 64)):
            for chunks in (100, 1000, 10_000):
                rows = np.random.default_rng(0).normal(size=(20 * chunks, d))
                data = da.from_array(rows, chunks=(20, d)).persist()
                in_memory = best(prepared(model, rows), 3)
                on_dask = best(prepared(model, data), 5)
                found[f"{name}, {chunks} chunks"] = {
                    "dask": on_dask,
                    "memory": in_memory,
                    "overhead": on_dask - in_memory,
                }
                print(
                    f"{name:9s} {chunks:6d} chunks: {1e3 * on_dask:7.1f} ms a pass, in memory {1e3 * in_memory:6.1f} ms"
                )
                del data
    return found


def memory():
    """The client's memory for passes of a large mixture over many chunks."""
    with two_workers() as cluster, Client(cluster):
        data = da.random.default_rng(0).normal(size=(200_000, 64), chunks=(20, 64)).persist()
        model = mixture(26)
        forget_peak()
        before = peak()
        step = prepared(model, data)
        for _ in range(3):
            step()
        found = {"before_MB": before, "beyond_MB": peak() - before}
    print(f"client: {found['beyond_MB']:.0f} MB beyond {before:.0f} MB")
    return found


def compare():
    """A pass over 10,000,000 x 16 float32: two worker processes against two threads."""
    n, d, K = 10_000_000, 16, 10
    rows = np.random.default_rng(0).standard_normal((n, d), dtype=np.float32)
    model = FCM(K, m=2.0, init=rows[:K].astype(float), random_state=0)
    in_memory = best(prepared(model, rows), 5)
    del rows
    with two_workers() as cluster, Client(cluster):
        data = da.random.default_rng(0).standard_normal((n, d), dtype=np.float32, chunks=(100_000, d)).persist()
        on_dask = best(prepared(model, data), 5)
    print(f"10M x 16: {1e3 * on_dask:.0f} ms on Dask, {1e3 * in_memory:.0f} ms in memory, {on_dask / in_memory:.2f}x")
    return {"dask": on_dask, "memory": in_memory, "ratio": on_dask / in_memory}


def disk(n=20_000_000, d=16, size=100_000):
    """The most memory of the client and of two workers for fits to a file."""
    path = Path(tempfile.mkdtemp()) / "rows.float32"
    rng = np.random.default_rng(0)
    places = rng.normal(0, 6, (10, d)).astype(np.float32)
    with path.open("wb") as file:
        for _ in range(n // size):
            rows = rng.standard_normal((size, d), dtype=np.float32)
            (rows + places[rng.integers(0, 10, size)]).tofile(file)
    found = {}
    for name, model in (("FCM", FCM(10, n_init=1, max_iter=5)), ("GMM", GMM(10, init="random", max_iter=5))):
        with two_workers() as cluster, Client(cluster) as client:
            chunks = [
                da.from_delayed(dask.delayed(_read)(str(path), start, size, d), (size, d), np.float32)
                for start in range(0, n, size)
            ]
            data = da.concatenate(chunks)
            forget_peak()
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # five passes do not converge
                model.set_params(random_state=0).fit(data)
            seconds = time.perf_counter() - start
            found[name] = {"workers_MB": sorted(client.run(peak).values()), "client_MB": peak(), "seconds": seconds}
        print(f"{name}: {found[name]}")
    path.unlink()
    return found


def _read(path, start, size, d):
    """Some rows of a file."""
    return np.fromfile(path, np.float32, size * d, offset=4 * start * d).reshape(size, d)


def many(workers=256, chunks=2560):
    """Tasks, messages and bytes of a pass on many workers, as counted by the scheduler and on the network."""
    from soft_clustering.engine import dask_blocks

    dask_blocks._SMALLEST_GROUP = dask_blocks._SMALLEST_BLOCK = 1
    # so many workers in one process answer slowly
    dask.config.set({"distributed.comm.timeouts.connect": "600s", "distributed.worker.profile.enabled": False})
    with many_workers(workers) as cluster, Client(cluster):
        step = prepared_on(chunks)
        scheduler = cluster.scheduler
        before = scheduler.transition_counter
        seen: list[str] = []
        plugin = _Tasks(seen)
        scheduler.add_plugin(plugin)
        start = time.perf_counter()
        statistics = step()
        seconds = time.perf_counter() - start
        scheduler.remove_plugin(name=plugin.name)
        found = {
            "workers": workers,
            "chunks": chunks,
            "tasks": len(seen),
            "transitions": scheduler.transition_counter - before,
            "bytes_of_the_result": int(sum(np.asarray(part).nbytes for part in statistics if part is not None)),
            "seconds": seconds,
            "sent": {},
        }
    print(f"{workers} workers, {chunks} chunks: {found['tasks']} tasks, {1e3 * seconds:.0f} ms")
    for number in (chunks, 2 * chunks):
        with many_workers(workers, protocol="tcp://") as cluster, Client(cluster) as client:
            step = prepared_on(number)
            found["sent"][f"{number} chunks"] = sent = traffic(cluster, client, step)
        ways = (f"{way} {counts['messages']} messages, {counts['bytes']} bytes" for way, counts in sent.items())
        print(f"{number} chunks: " + "; ".join(ways))
    return found


def many_workers(number, **options):
    """A cluster of workers that are threads of this process."""
    return LocalCluster(
        n_workers=number, threads_per_worker=1, processes=False, dashboard_address=None, memory_limit=0, **options
    )


def prepared_on(chunks):
    """A pass of a mixture over many tiny chunks; the first one, which describes the groups, is over."""
    step = prepared(mixture(4), da.random.default_rng(0).normal(size=(10 * chunks, 8), chunks=(10, 8)).persist())
    step()
    return step


def traffic(cluster, client, step, repeats=5):
    """From whom to whom -> messages and bytes of a pass: the medians of some passes, without what is sent periodically.

    All parties are in this process, so that every message is written once here. A message to the stream of a worker or
    client holds all that was to be said since the last one.
    """
    written = []
    write = TCP.write

    async def counted(self, message, *arguments, **options):
        size = await write(self, message, *arguments, **options)
        if not _is_periodic(message):
            written.append((self.local_address, self.peer_address, size))
        return size

    TCP.write = counted
    passes = []
    try:
        for _ in range(repeats):
            written.clear()
            step()
            before = -1
            while len(written) > before:  # what is no longer needed is released after the pass
                before = len(written)
                time.sleep(1)
            owners = _owners(cluster, client)
            sums = defaultdict(lambda: np.zeros(2, dtype=int))
            for source, target, size in written:
                if source in owners and target in owners:
                    sums[f"{owners[source]} to {owners[target]}"] += (1, size)
            passes.append(sums)
    finally:
        TCP.write = write
    found = {}
    for way in sorted(set().union(*passes)):
        messages, size = np.median([sums[way] for sums in passes], axis=0).astype(int).tolist()
        found[way] = {"messages": messages, "bytes": size}
    return found


def _is_periodic(message):
    """Whether a message belongs to a heartbeat, or to a question about what the cluster is."""
    names = {"heartbeat_worker", "heartbeat-client", "adjust-heartbeat-interval", "keep-alive", "identity"}
    parts = message if isinstance(message, list | tuple) else [message]
    return all(
        isinstance(part, dict)
        and (part.get("op") in names or "heartbeat-interval" in part or part.get("type") == "Scheduler")
        for part in parts
    )


def _owners(cluster, client):
    """Address of each end of a connection -> client, scheduler or workers."""
    scheduler, workers = cluster.scheduler, list(cluster.workers.values())
    owners = {scheduler.address: "scheduler"} | {worker.address: "workers" for worker in workers}
    streams = [("client", client.scheduler_comm.comm), *(("workers", worker.batched_stream.comm) for worker in workers)]
    pools = [("client", client.rpc), ("scheduler", scheduler.rpc), *(("workers", worker.rpc) for worker in workers)]
    for name, pool in pools:
        for connections in (*pool.available.values(), *pool.occupied.values()):
            streams += [(name, connection) for connection in connections]
    return owners | {connection.local_address: name for name, connection in streams}


class _Tasks:
    """A scheduler plugin that notes each task that ends."""

    name = "count-tasks"

    def __init__(self, seen):
        self.seen = seen

    def transition(self, key, start, finish, *args, **kwargs):
        if start == "processing" and finish == "memory":
            self.seen.append(str(key))

    def __getattr__(self, name):
        return lambda *args, **kwargs: None


PARTS = {"memory": memory, "overhead": overhead, "compare": compare, "disk": disk, "many": many}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="all unless given")
    arguments = parser.parse_args()
    record = Record("dask_passes", partial=arguments != parser.parse_args([]))
    for part in arguments.parts or PARTS:
        record[part] = PARTS[part]()
    record.save()


if __name__ == "__main__":
    main()
