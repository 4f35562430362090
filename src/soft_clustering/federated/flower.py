"""The protocol over Flower (extra ``federated``): clients on other machines, or in Flower's simulation.

A client runs the app of :func:`make_client_app`; the server calls :func:`fit_over_grid` in its app. Only the messages
of :mod:`soft_clustering.federated.protocol` travel, as Flower's records. Flower is imported when one of the two is
called.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._extras import require
from ..engine import fitting
from ..inputs.clients import validate_client
from .femi_fuzzy import FeMIFuzzy, Messages
from .protocol import (
    Aggregate,
    Fit,
    Plan,
    Settings,
    Summary,
    client_fit,
    client_score,
    client_summary,
    server_aggregate,
    server_plan,
)

_POLL = 0.5  # seconds between two looks for clients


def make_client_app(load: Callable[[Any], Any], keep: Callable[[Any, Any], None] | None = None) -> Any:
    """The Flower app of a client.

    Parameters
    ----------
    load : callable
        ``load(context)`` gives the rows of the client: a data frame, or a pair of matrix and feature names. Values may
        be missing (NaN). The clients' features are matched by name.
    keep : callable, default=None
        ``keep(context, memberships)`` gets the memberships of these rows (n, n_clusters) at the end. They are not sent.

    Returns
    -------
    app : flwr.clientapp.ClientApp
    """
    flwr = _flower()
    app = require("flwr.clientapp", "A client needs Flower", extra="federated").ClientApp()

    def rows(context: Any) -> dict[str, Any]:
        loaded = load(context)
        client = validate_client(*loaded) if isinstance(loaded, tuple) else validate_client(loaded)
        if not client.named:
            raise ValueError("load must give feature names, as the columns of a data frame or beside the matrix.")
        return {"X": client.X, "feature_names": client.features}

    def summary(message: Any, context: Any) -> Any:
        return flwr.Message(pack(client_summary(settings=unpack(message, Settings), **rows(context))), reply_to=message)

    def fit(message: Any, context: Any) -> Any:
        return flwr.Message(pack(client_fit(plan=unpack(message, Plan), **rows(context))), reply_to=message)

    def score(message: Any, context: Any) -> Any:
        if keep is not None:
            plan, aggregate = unpack(message, Plan), unpack(message, Aggregate)
            keep(context, client_score(plan=plan, aggregate=aggregate, **rows(context)))
        return flwr.Message(flwr.RecordDict(), reply_to=message)

    app.train("summary")(summary)
    app.train("fit")(fit)
    app.evaluate("score")(score)
    return app


def fit_over_grid(model: FeMIFuzzy, grid: Any, *, n_clients: int, timeout: float | None = None) -> FeMIFuzzy:
    """Fit with the clients of a Flower grid, to be called in the server's app.

    Parameters
    ----------
    model : FeMIFuzzy
    grid : flwr.serverapp.Grid
    n_clients : int
        Clients to wait for; all that are connected then take part.
    timeout : float or None, default=None
        Seconds to wait for the clients to connect, and for the answers of a round. None waits for ever.

    Returns
    -------
    model : FeMIFuzzy
        Fitted, but for the attributes with an entry per row, which nobody knows: the memberships stay with the
        clients. It predicts.
    """
    with fitting.Fit[Messages](model) as fit:
        fit.stores(partial(model._store, named=True))
        settings = model._settings()
        nodes = _wait_for_nodes(grid, n_clients, timeout)
        summaries = [unpack(reply, Summary) for reply in _ask(grid, nodes, "train.summary", pack(settings), timeout)]
        plan = server_plan(summaries, settings)
        fits = [unpack(reply, Fit) for reply in _ask(grid, nodes, "train.fit", pack(plan), timeout)]
        aggregate = server_aggregate(fits, plan)
        _ask(grid, nodes, "evaluate.score", pack(plan, aggregate), timeout)
        fit.runs.append(Messages(settings, summaries, plan, fits, aggregate).run())
    return model


def pack(*messages: NamedTuple) -> Any:
    """Messages of the protocol as Flower's records: arrays apart from the rest."""
    flwr = _flower()
    records = {}
    for message in messages:
        arrays, plain = {}, {}
        for name, value in message._asdict().items():
            if isinstance(value, Settings):
                records.update(pack(value))
            elif isinstance(value, np.ndarray):
                arrays[name] = flwr.Array(value)
            elif value is not None:
                plain[name] = value.item() if isinstance(value, np.generic) else value
        kind = type(message).__name__
        records |= {f"{kind}.arrays": flwr.ArrayRecord(arrays), f"{kind}.config": flwr.ConfigRecord(plain)}
    return flwr.RecordDict(records)


def unpack(message: Any, kind: type[Any]) -> Any:
    """A message of the protocol from the content of one of Flower's; what was None is the default again."""
    content = message.content
    values = {name: array.numpy() for name, array in content[f"{kind.__name__}.arrays"].items()}
    values.update(content[f"{kind.__name__}.config"])
    if kind is Plan:
        values["settings"] = unpack(message, Settings)
    return kind(**values)


def _flower() -> Any:
    return require("flwr.app", "Federated clustering over a network needs Flower", extra="federated")


def _wait_for_nodes(grid: Any, n_clients: int, timeout: float | None) -> list[int]:
    end = np.inf if timeout is None else time.monotonic() + timeout
    while len(nodes := sorted(grid.get_node_ids())) < n_clients:
        if time.monotonic() > end:
            raise TimeoutError(f"{len(nodes)} of n_clients={n_clients} clients were there after timeout={timeout:g} s.")
        time.sleep(_POLL)
    return nodes


def _ask(grid: Any, nodes: list[int], kind: str, content: Any, timeout: float | None) -> list[Any]:
    """The answers of all nodes, in their order."""
    flwr = _flower()
    questions = [flwr.Message(content, dst_node_id=node, message_type=kind) for node in nodes]
    answers = {reply.metadata.src_node_id: reply for reply in grid.send_and_receive(questions, timeout=timeout)}
    for node in nodes:
        if node not in answers:
            raise TimeoutError(f"client {node} did not answer {kind!r} within timeout={timeout:g} s.")
        if answers[node].has_error():
            raise RuntimeError(f"client {node} failed in {kind!r}: {answers[node].error.reason}")
    return [answers[node] for node in nodes]
