"""The protocol over Flower: the same result as in one process, over a loop in memory and in Flower's own simulation."""

import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from trajectories import trajectories

from soft_clustering import FeMIFuzzy
from soft_clustering.federated import Aggregate, Fit, Plan, Settings, Summary
from soft_clustering.federated.flower import fit_over_grid, make_client_app, pack, unpack

NAMES = ["t0", "t1", "t2", "t3", "t4", "t5"]
needs_flower = pytest.mark.skipif(
    find_spec("flwr") is None, reason='Flower is not installed: pip install "soft-clustering[federated]"'
)
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(autouse=True)
def inside_a_run(monkeypatch):
    """Newer versions of Flower make messages only inside a run of an app."""
    try:
        from flwr.supercore.task_identity import TaskIdentity
    except ImportError:
        return
    for name in ("_run_id", "_task_id", "_node_id"):
        monkeypatch.setattr(TaskIdentity, name, 1)


class Loop:
    """A grid whose nodes 1, 2, ... run the app of the clients here; answers come in another order."""

    def __init__(self, app, n_nodes, broken=None):
        self.app, self.n_nodes, self.broken = app, n_nodes, broken
        self.kinds, self.numbers = [], 0

    def get_node_ids(self):
        return list(range(self.n_nodes, 0, -1))

    def send_and_receive(self, messages, *, timeout=None):
        from flwr.app import Context, Error, Message, RecordDict

        answers = []
        for message in messages:
            node = message.metadata.dst_node_id
            self.kinds.append(message.metadata.message_type)
            if node == self.broken:
                answers.append(Message(Error(code=1, reason="out of order"), reply_to=message))
                continue
            context = Context(
                run_id=1, node_id=node, node_config={"partition-id": node - 1}, state=RecordDict(), run_config={}
            )
            answer = self.app(message, context)
            self.numbers += sum(
                array.numpy().size for r in answer.content.array_records.values() for array in r.values()
            )
            answers.append(answer)
        return answers[1:] + answers[:1]


def app_of(clients, kept=None, names=NAMES):
    def load(context):
        X = clients[context.node_config["partition-id"]]
        return (X, names) if names else X

    def keep(context, memberships):
        kept[context.node_config["partition-id"]] = memberships

    return make_client_app(load, None if kept is None else keep)


def test_missing_flower_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "flwr", None)
    monkeypatch.delitem(sys.modules, "flwr.app", raising=False)
    with pytest.raises(ImportError, match=r'pip install "soft-clustering\[federated\]"'):
        make_client_app(lambda context: None)
    with pytest.raises(ImportError, match=r'pip install "soft-clustering\[federated\]"'):
        fit_over_grid(FeMIFuzzy(3), Loop(None, 1), n_clients=1)


@needs_flower
@pytest.mark.parametrize("parameters", [{"n_clusters": 3}, {"max_clusters": 4, "align": "intersection"}])
def test_same_as_in_one_process(parameters):
    clients, _ = trajectories(0, 0.2)
    here = FeMIFuzzy(**parameters, projection="sammon", random_state=0).fit(clients, feature_names=NAMES)
    kept = {}
    grid = Loop(app_of(clients, kept), 4)
    model = FeMIFuzzy(**parameters, projection="sammon", random_state=0)
    assert fit_over_grid(model, grid, n_clients=4) is model
    assert grid.kinds == ["train.summary"] * 4 + ["train.fit"] * 4 + ["evaluate.score"] * 4
    for name in ("centers_", "embedding_", "objective_history_", "feature_names_in_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(here, name))
    for name in ("n_clusters_", "m_", "xie_beni_", "n_iter_", "converged_", "n_features_in_"):
        assert getattr(model, name) == getattr(here, name)
    for c in range(4):
        np.testing.assert_array_equal(kept[c], here.client_memberships_[c])
    new = np.vstack(clients)[::5]
    with pytest.warns(UserWarning, match="feature names"):
        np.testing.assert_array_equal(model.predict_memberships(new), here.predict_memberships(new))
    for name in ("memberships_", "labels_", "client_memberships_"):
        assert not hasattr(model, name)


@needs_flower
def test_rows_do_not_travel():
    sent = []
    for sizes in ((60, 70), (180, 210)):
        grid = Loop(app_of(trajectories(0, 0.2, sizes)[0], {}), 2)
        fit_over_grid(FeMIFuzzy(3, random_state=0), grid, n_clients=2)
        sent.append(grid.numbers)
    assert sent[0] == sent[1] == 2 * (3 * 6) + 2 * (3 * 6 + 3)  # moments, centroids and their mass


@needs_flower
def test_messages_survive_the_journey():
    from flwr.app import Message

    model = FeMIFuzzy(max_clusters=4, m=1.5, random_state=0).fit(trajectories(0, 0.1)[0])
    messages = model.messages_
    plan, aggregate = messages["plan"], messages["aggregate"]
    rare = Summary([], 0, np.empty(0), np.empty(0), np.empty(0), np.full(3, np.nan), np.zeros(3))
    content = pack(plan, aggregate, messages["summaries"][0], messages["fits"][0])
    message = Message(content, dst_node_id=1, message_type="train.fit")
    for kind, expected in (
        (Settings, plan.settings),
        (Plan, plan),
        (Aggregate, aggregate),
        (Summary, messages["summaries"][0]),
        (Fit, messages["fits"][0]),
    ):
        found = unpack(message, kind)
        assert type(found) is kind
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, b)
    empty = unpack(Message(pack(rare), dst_node_id=1, message_type="train.fit"), Summary)
    assert empty.features == []
    assert np.isnan(empty.log_xie_beni).all()


@needs_flower
def test_numbers_of_numpy_are_settings():
    from flwr.app import Message

    settings = FeMIFuzzy(np.int64(3), m=np.float64(1.5), tol=np.float32(1e-3))._settings()
    found = unpack(Message(pack(settings), dst_node_id=1, message_type="train.fit"), Settings)
    assert found == settings


@needs_flower
def test_names_are_required():
    with pytest.raises(ValueError, match="load must give feature names"):
        fit_over_grid(FeMIFuzzy(3), Loop(app_of(trajectories(0)[0], names=None), 4), n_clients=4)


@needs_flower
def test_failing_and_missing_clients():
    app = app_of(trajectories(0)[0])
    with pytest.raises(RuntimeError, match=r"client 2 failed in 'train.summary': out of order"):
        fit_over_grid(FeMIFuzzy(3), Loop(app, 4, broken=2), n_clients=4)
    with pytest.raises(TimeoutError, match=r"4 of n_clients=5 clients were there after timeout=0.1 s"):
        fit_over_grid(FeMIFuzzy(3), Loop(app, 4), n_clients=5, timeout=0.1)

    class Lossy(Loop):
        def send_and_receive(self, messages, *, timeout=None):
            return super().send_and_receive(messages, timeout=timeout)[:-1]

    with pytest.raises(TimeoutError, match=r"client 1 did not answer 'train.summary' within timeout=9 s"):
        fit_over_grid(FeMIFuzzy(3), Lossy(app, 4), n_clients=4, timeout=9)


@needs_flower
@pytest.mark.skipif(find_spec("ray") is None, reason='Flower\'s simulation needs Ray: pip install "flwr[simulation]"')
def test_simulation_of_flower(request):
    script = request.config.rootpath / "examples" / "federated" / "federated_flower.py"
    run = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=500, cwd=request.config.rootpath
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.rstrip().endswith("largest difference of a centre from a fit in one process: 0")
