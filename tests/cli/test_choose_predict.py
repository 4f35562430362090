"""``choose``, ``fit --save`` and ``predict``: K with its reason, and memberships of new rows."""

import json
import os
import sys

import joblib
import numpy as np
import pandas
import pytest
import skops.io
from sklearn.datasets import load_iris, make_blobs

import soft_clustering
from soft_clustering import FCM, GMM, prepare
from soft_clustering.base import BaseSoftClusterer
from soft_clustering.saving import load_model
from soft_clustering.selection import choose_n_clusters

X, _ = load_iris(return_X_y=True)


@pytest.fixture
def customers(tmp_path):
    """A table with ids, categories, dates, gaps and different units, and one with new rows."""
    rng = np.random.default_rng(0)
    n = 300
    segment = rng.choice(3, n)
    frame = pandas.DataFrame(
        {
            "customer": [f"c{i}" for i in range(n)],
            "income": np.array([20000, 50000, 90000])[segment] + rng.normal(0, 3000, n),
            "age": np.array([25, 60, 40])[segment] + rng.normal(0, 3, n),
            "city": np.where(rng.random(n) < 0.9, np.array(["Rome", "Oslo", "Bern"])[segment], "Rome"),
            "since": pandas.Series(pandas.Timestamp("2020-01-01") + pandas.to_timedelta(rng.integers(0, 99, n), "D")),
        }
    )
    frame.loc[::50, "income"] = np.nan
    frame[:200].to_csv(tmp_path / "old.csv", index=False)
    frame[200:].to_csv(tmp_path / "new.csv", index=False, sep=";", decimal=",")
    return frame


# choose ---------------------------------------------------------------------------------------------------------------


def test_choose(call, tmp_path):
    points, _ = make_blobs(300, centers=[[0, 0], [9, 0], [0, 9], [9, 9]], random_state=0)
    pandas.DataFrame(points, columns=["a", "b"]).to_csv(tmp_path / "a.csv", index=False)
    result = choose_n_clusters(FCM(random_state=0), points, range(2, 11), random_state=0)
    code, out, err = call("choose", "a.csv")
    assert (code, err) == (0, "")
    title, empty, table = out.split("\n", 2)
    assert title == "a.csv: 300 rows, 2 features; fits of FCM to all, the choice of each criterion marked by *"
    assert (empty, table) == ("", f"{result}\n")
    assert "recommended: K=4: gaussian_bic is smallest there" in table

    document = json.loads(call("choose", "a.csv", "-m", "gmm", "-k", "3:5", "--json")[1])
    result = choose_n_clusters(GMM(random_state=0), points, range(3, 6), random_state=0)
    assert (document["k"], document["model"], document["recommended"]) == ([3, 4, 5], "GMM", 4)
    assert (document["dataset"], document["n_samples"], document["used"]) == ("a.csv", 300, "all")
    assert document["reason"] == result.reason
    assert set(document["criteria"]) == set(result.scores)
    bic = document["criteria"]["bic"]
    assert (bic["title"], bic["sense"], bic["choice"]) == ("BIC", "min", 4)
    np.testing.assert_allclose(bic["values"], result.scores["bic"])


def test_choose_looks_at_continuous_columns(call, customers):
    """Densities are infinite at single values: with categories, K would be the number of their combinations."""
    code, out, _ = call("choose", "old.csv", "--id", "customer")
    assert code == 0
    assert "old.csv: 200 rows, 6 features; fits of FCM to the 3 continuous features, the choice" in out
    assert "recommended: K=3: " in out


def test_choose_without_continuous_columns(call, tmp_path):
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({name: rng.choice(["x", "y", "z"], 90) for name in "ab"})
    frame.to_csv(tmp_path / "a.csv", index=False)
    code, out, _ = call("choose", "a.csv")
    assert code == 0
    assert "gaussian_bic" not in out and "xie_beni" in out


def test_choose_takes_some_rows(call, tmp_path):
    points, _ = make_blobs(2500, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    np.savez(tmp_path / "a.npz", X=points)
    code, out, _ = call("choose", "a.npz")
    assert code == 0
    assert "fits of FCM to 2000 of 2500 samples" in out and "K=3" in out
    _, _, err = call("fit", "GMM", "a.npz")
    assert err.startswith(
        "soft-clustering: K=3, chosen from 2 to 10 by BIC of Gaussian clusters (GMM, 2000 of 2500 samples); other "
    )


def test_settings_count_for_the_choice(call, tmp_path, monkeypatch):
    np.savez(tmp_path / "a.npz", X=X)
    seen = []
    fit = FCM.fit

    def spy(self, X, y=None):
        seen.append(self.m)
        return fit(self, X)

    monkeypatch.setattr(FCM, "fit", spy)
    assert call("fit", "FCM", "a.npz", "--set", "m=1.7")[0] == 0
    assert set(seen) == {1.7} and len(seen) == 10


def test_few_rows(call, tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n2,9\n7,5\n")
    code, _, err = call("fit", "FCM", "a.csv")
    assert code == 0
    assert "K=2, chosen from 2 to 2 by " in err


def test_wrong_choices(fails, call, tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n" + "1,2\n2,1\n" * 5)
    assert "recommended: K=" in call("choose", "a.csv", "-k", "2")[1]
    assert fails("choose", "a.csv", "-m", "SoftDBSCANGM", code=2).endswith("soft-clustering fit shows which.")
    assert fails("choose", "a.csv", "-k", "2:11") == "-k 11 is more than the 10 rows of a.csv: give a smaller K."
    assert fails("choose", "a.csv", "-m", "LDA").startswith(
        "LDA takes texts, or counts of words, not a table of features"
    )


# fit --save and predict -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["m.skops", "m.joblib"])
def test_predict(name, call, customers, tmp_path):
    code, out, _ = call("fit", "GMM", "old.csv", "--id", "customer", "-k", 3, "--save", name, "-o", "u.csv")
    assert code == 0
    assert f"model: {name}; soft-clustering predict {name} NEW_FILE applies it\n" in out
    trust = ["--trust"] if name.endswith("joblib") else []
    code, out, err = call("predict", name, "new.csv", "-o", "p.csv", *trust)
    assert code == 0
    found = pandas.read_csv(tmp_path / "p.csv")
    assert list(found.columns) == ["customer", "cluster_0", "cluster_1", "cluster_2", "label"]
    assert found["customer"].tolist() == [f"c{i}" for i in range(200, 300)]
    old = customers[:200].astype({"since": str})
    transformer = prepare(old, id_column="customer", missing="keep")
    model = GMM(3, random_state=0).fit(transformer.transform(old))
    expected = model.predict_memberships(transformer.transform(customers[200:].astype({"since": str})))
    np.testing.assert_allclose(found.iloc[:, 1:4], expected, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(found["label"], expected.argmax(axis=1))
    assert "soft-clustering: missing or unreadable, missing for the model: income (2)\n" in err
    assert "new.csv: 100 rows by GMM, 3 clusters\n" in out
    # the rows of the fit get the memberships of the fit
    assert call("predict", name, "old.csv", "-o", "again.csv", *trust)[0] == 0
    again, first = pandas.read_csv(tmp_path / "again.csv"), pandas.read_csv(tmp_path / "u.csv")
    pandas.testing.assert_frame_equal(again, first, check_exact=False, atol=1e-9)


@pytest.mark.parametrize("model, what", [("FCM", "missing for the model"), ("GK", "replaced by the median at the fit")])
def test_predict_says_what_is_new(call, customers, tmp_path, model, what):
    assert call("fit", model, "old.csv", "--drop", "customer", "-k", 2, "--save", "m.skops")[0] == 0
    new = customers[200:203].assign(city=["Paris", "Rome", None], age=["?", 30, 40], CUSTOMER=["x", "y", "z"])
    new.drop(columns="customer").rename(columns={"city": "City"}).to_csv(tmp_path / "few.csv", index=False)
    code, _, err = call("predict", "m.skops", "few.csv", "-o", "p.csv", "--id", "customer")
    assert code == 0
    assert err.splitlines() == [
        f"soft-clustering: missing or unreadable, {what}: income (1), age (1)",
        "soft-clustering: values that were not there at the fit, taken as no category: city (2)",
    ]
    assert pandas.read_csv(tmp_path / "p.csv").iloc[:, 0].tolist() == ["x", "y", "z"]


def test_model_file_is_a_pipeline(call, customers, tmp_path):
    assert call("fit", "FCM", "old.csv", "--id", "customer", "-k", 2, "--save", "m.skops")[0] == 0
    pipeline = load_model(tmp_path / "m.skops")
    frame = customers.astype({"since": str})
    np.testing.assert_array_equal(pipeline.predict(frame), pipeline[-1].predict(pipeline[:-1].transform(frame)))
    assert pipeline[0].id_column_ == "customer"


def test_wrong_predictions(call, fails, customers, tmp_path):
    assert call("fit", "FCM", "old.csv", "--id", "customer", "-k", 2, "--save", "m.skops")[0] == 0
    assert call("fit", "FCM", "old.csv", "--id", "customer", "-k", 2, "--save", "m.joblib")[0] == 0
    assert "predict needs -o FILE" in fails("predict", "m.skops", "new.csv", code=2)
    assert fails("predict", "m.joblib", "new.csv", "-o", "p.csv") == (
        "m.joblib can run any code when it is loaded: if you know who wrote it, load it with trust=True (--trust), "
        "otherwise ask for a .skops file."
    )
    customers[["age", "city"]].to_csv(tmp_path / "part.csv", index=False)
    assert fails("predict", "m.skops", "part.csv", "-o", "p.csv") == (
        "part.csv: X must have the columns that were prepared: income, since not found."
    )
    assert fails("predict", "none.skops", "new.csv", "-o", "p.csv").startswith("There is no file none.skops")
    assert fails("predict", "m.skops", "none.csv", "-o", "p.csv").startswith("There is no file none.csv")
    assert "must end in .skops or .joblib" in fails("predict", "new.csv", "new.csv", "-o", "p.csv")
    assert fails("predict", "m.skops", "old.csv", "-o", "p.csv", "--id", "custmer") == (
        "Unknown column of --id 'custmer': did you mean 'customer'?"
    )
    (tmp_path / "bad.skops").write_bytes(b"junk")
    assert "bad.skops is damaged or holds no model" in fails("predict", "bad.skops", "new.csv", "-o", "p.csv")
    (tmp_path / "list.skops").write_bytes(skops.io.dumps([1, 2]))
    message = "list.skops was not written by soft-clustering fit --save: fit the model again."
    assert fails("predict", "list.skops", "new.csv", "-o", "p.csv") == message
    joblib.dump(FCM(2), tmp_path / "bare.joblib")
    assert "bare.joblib was not written by" in fails("predict", "bare.joblib", "new.csv", "-o", "p.csv", "--trust")
    model = load_model(tmp_path / "m.skops")
    model.function = os.system
    (tmp_path / "evil.skops").write_bytes(skops.io.dumps(model))
    assert "evil.skops holds types that are not trusted: posix.system." in fails(
        "predict", "evil.skops", "new.csv", "-o", "p.csv"
    )
    assert not (tmp_path / "p.csv").exists()
    infinite = customers.astype({"income": object})
    infinite.loc[0, "income"] = "inf"
    infinite.to_csv(tmp_path / "infinite.csv", index=False)
    assert "infinite.csv: Column 'income' has infinite numbers" in fails(
        "predict", "m.skops", "infinite.csv", "-o", "p.csv"
    )


def test_saving_is_checked_before_the_fit(fails, tmp_path, monkeypatch):
    monkeypatch.setattr(FCM, "fit", lambda self, X, y=None: pytest.fail("fitted"))
    (tmp_path / "m.skops").write_text("mine")
    message = "m.skops exists: give another --save, or --force to write over it."
    assert fails("fit", "FCM", "iris", "--save", "m.skops") == message
    assert "--save m.pkl must end in .skops, .joblib." in fails("fit", "FCM", "iris", "--save", "m.pkl", code=2)
    assert fails("fit", "FCM", "iris", "--save", "no/m.skops").startswith("no/m.skops cannot be written: No such file")
    assert "--save is for models of tables, not of graph" in fails(
        "fit", "BIGCLAM", "g.gml", "--as", "graph", "--save", "g.skops", code=2
    )
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "skops.io", None)
        assert fails("fit", "FCM", "iris", "--save", "n.skops") == (
            'Saving a model as .skops needs skops: pip install "soft-clustering[app]"'
        )

    class Transductive(BaseSoftClusterer):
        """It has no rule for new rows."""

    monkeypatch.setattr(soft_clustering, "FCM", Transductive, raising=False)
    assert fails("fit", "FCM", "iris", "--save", "n.skops") == (
        "Transductive cannot predict new rows, so --save would be of no use: leave it out."
    )
    assert os.listdir(tmp_path) == ["m.skops"]


def test_failed_fit_leaves_no_model(fails, tmp_path):
    assert "'m' parameter of FCM" in fails("fit", "FCM", "iris", "--set", "m=0.5", "--save", "m.skops", "-o", "u.csv")
    assert os.listdir(tmp_path) == []


def test_many_sizes_are_summed_up(call):
    out = call("fit", "FCM", "iris", "-k", 140)[1]
    (line,) = [line for line in out.splitlines() if line.startswith("sizes: ")]
    assert line.startswith("sizes: the largest ") and len(line) < 80
    assert "sizes: " + ", ".join(["1"] * 2) not in out
