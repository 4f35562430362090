"""Saved models: what comes back predicts the same, and what is not trusted is not loaded."""

import inspect
import pickle
import sys
import warnings

import numpy as np
import pandas
import pytest
import skops.io
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

import soft_clustering
from soft_clustering import FCM, GMM, prepare
from soft_clustering._extras import is_installed
from soft_clustering._registry import REGISTRY
from soft_clustering.saving import load_model, save_model
from soft_clustering.testing import make_sample, quick

X, Y = load_iris(return_X_y=True)
SHARES = (X - X.min(axis=0) + 0.1) / (np.ptp(X, axis=0) + 0.2)  # in (0, 1), as models of shares need it


def feature_models():
    for row in REGISTRY:
        model = getattr(soft_clustering, row.name)
        if model.modality == "features" and hasattr(model, "predict_memberships"):
            absent = row.extra is not None and not is_installed(row.extra)
            skip = pytest.mark.skipif(absent, reason=f"the extra {row.extra} is not installed")
            yield pytest.param(row.name, model, marks=skip)


@pytest.mark.parametrize("suffix", [".skops", ".joblib"])
@pytest.mark.parametrize(
    "name, model", list(feature_models()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_model_comes_back(name, model, suffix, tmp_path):
    known = inspect.signature(model).parameters
    estimator = model(**({"random_state": 0} if "random_state" in known else {}))
    y = np.where(np.arange(len(Y)) % 3 == 0, Y, -1) if not model.finds_n_clusters and name == "SFCMEP" else None
    frame = pandas.DataFrame(SHARES, columns=list("abcd"))
    pipeline = make_pipeline(prepare(frame), estimator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        pipeline.fit(frame, y)
    save_model(tmp_path / f"m{suffix}", pipeline)
    again = load_model(tmp_path / f"m{suffix}", trust=suffix == ".joblib")
    assert again.steps[0][1].plan_ == pipeline.steps[0][1].plan_
    new = frame[::7] + 0.01
    np.testing.assert_array_equal(
        again[-1].predict_memberships(again[:-1].transform(new)),
        pipeline[-1].predict_memberships(pipeline[:-1].transform(new)),
    )
    np.testing.assert_array_equal(again.predict(new), pipeline.predict(new))


def other_models():
    for row in REGISTRY:
        model = getattr(soft_clustering, row.name)
        if model.modality != "features":
            absent = row.extra is not None and not is_installed(row.extra)
            skip = pytest.mark.skipif(absent, reason=f"the extra {row.extra} is not installed")
            yield pytest.param(model, id=row.name, marks=skip)


@pytest.mark.parametrize("model", list(other_models()))
def test_models_of_other_data_come_back(model, tmp_path):
    known = inspect.signature(model).parameters
    estimator = quick(model(**({"random_state": 0} if "random_state" in known else {})))
    sample = make_sample(estimator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        estimator.fit(sample.X)
    save_model(tmp_path / "m.skops", estimator)
    again = load_model(tmp_path / "m.skops")
    np.testing.assert_array_equal(again.memberships_, estimator.memberships_)
    np.testing.assert_array_equal(again.predict_memberships(sample.new), estimator.predict_memberships(sample.new))


def test_prediction_needs_no_results_of_the_fit(tmp_path):
    model = FCM(2, random_state=0).fit(X)
    expected = model.predict_memberships(X)
    del model.memberships_, model.labels_
    save_model(tmp_path / "m.skops", model)
    np.testing.assert_array_equal(load_model(tmp_path / "m.skops").predict_memberships(X), expected)


def test_preparation_of_every_kind_comes_back(tmp_path):
    frame = pandas.DataFrame(
        {
            "price": ["1.234,5", "2,5", "?", "7"] * 5,
            "day": ["31.12.2020", "1.1.2021", None, "2.1.2021"] * 5,
            "city": ["Rome", "Oslo", None, "Rome"] * 5,
            "yes": [True, False] * 10,
            "id": range(20),
        }
    )
    transformer = prepare(frame, id_column="id")
    save_model(tmp_path / "m.skops", transformer)
    again = load_model(tmp_path / "m.skops")
    np.testing.assert_array_equal(again.transform(frame), transformer.transform(frame))
    assert vars(again)["plan_"] == transformer.plan_ and again.notes_ == transformer.notes_
    assert again.id_column_ == "id"
    assert again.get_feature_names_out().tolist() == transformer.get_feature_names_out().tolist()


class Payload:
    """An object of the test's: nobody trusts it."""


def run_me():
    raise AssertionError("ran")


def test_what_is_not_trusted(tmp_path):
    model = FCM(2, random_state=0).fit(X)
    model.payload = Payload()
    with pytest.warns(UserWarning, match=r"types that load_model trusts only with trust=True: .*Payload\."):
        save_model(tmp_path / "m.skops", model)
    with pytest.raises(ValueError, match=r"m.skops holds types that are not trusted: .*Payload. If you know who wrote"):
        load_model(tmp_path / "m.skops")
    assert isinstance(load_model(tmp_path / "m.skops", trust=True).payload, Payload)


@pytest.mark.parametrize(
    "value", [run_me, soft_clustering.saving.load_model, np.ma.masked_array.filled, np.load, pickle.loads]
)
def test_functions_are_not_trusted(value, tmp_path):
    (tmp_path / "m.skops").write_bytes(skops.io.dumps({"a": value}))
    with pytest.raises(ValueError, match=r"holds types that are not trusted"):
        load_model(tmp_path / "m.skops")


def test_joblib_needs_trust(tmp_path):
    model = GMM(2, random_state=0).fit(X)
    save_model(tmp_path / "m.joblib", model)
    with pytest.raises(ValueError, match=r"m.joblib can run any code when it is loaded: if you know who wrote it"):
        load_model(tmp_path / "m.joblib")
    np.testing.assert_array_equal(load_model(tmp_path / "m.joblib", trust=True).labels_, model.labels_)


@pytest.mark.parametrize("name", ["m.skops", "m.joblib"])
def test_damaged_files(name, tmp_path):
    (tmp_path / name).write_bytes(b"junk")
    with pytest.raises(ValueError, match=f"{name} is damaged or holds no model: ") as error:
        load_model(tmp_path / name, trust=True)
    assert "\n" not in str(error.value)
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / f"none-{name}", trust=True)


def test_wrong_names_and_models(tmp_path, monkeypatch):
    for call in (lambda: save_model("m.pickle", FCM()), lambda: load_model("m.pickle")):
        with pytest.raises(ValueError, match=r"^m.pickle must end in .skops or .joblib.$"):
            call()

    def refuse(model):
        raise TypeError("No such\ntype.")

    monkeypatch.setattr(skops.io, "dumps", refuse)
    with pytest.raises(ValueError, match=r"skops cannot hold this model: No such type. Save it as .joblib."):
        save_model(tmp_path / "m.skops", FCM())
    assert not (tmp_path / "m.skops").exists()


def test_without_skops(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    for call in (lambda: save_model(tmp_path / "m.skops", FCM()), lambda: load_model(tmp_path / "m.skops")):
        with pytest.raises(ImportError, match=r'needs skops: pip install "soft-clustering\[app\]"'):
            call()
