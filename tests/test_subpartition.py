"""What shows, measures and explains memberships knows those beside noise."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from soft_clustering import FCM, GMM, explain
from soft_clustering.base import without_noise
from soft_clustering.benchmarking.quality import quality
from soft_clustering.explanation import explain_memberships
from soft_clustering.metrics import METRICS

pytest.importorskip("matplotlib")
pytest.importorskip("pandas")

IRIS = load_iris().data
NOISY = np.vstack([IRIS, np.random.RandomState(0).uniform(-10, 20, (15, 4))])
CLASSES = np.append(load_iris().target, np.full(15, 3))
MODEL = FCM(3, noise_distance="auto", random_state=0).fit(NOISY)
NOISE = MODEL.labels_ < 0
GREY = np.array([0x99] * 3) / 255


def test_rows_of_noise_become_zero():
    U = without_noise(MODEL.memberships_, MODEL.noise_mass_)
    np.testing.assert_array_equal(U[NOISE], 0)
    np.testing.assert_array_equal(U[~NOISE], MODEL.memberships_[~NOISE])


# Displays -------------------------------------------------------------------------------------------------------------


def test_colors():
    from soft_clustering.plotting import membership_colors

    colors = membership_colors([[1, 0], [0, 0], [0.25, 0.25]], noise_mass=[0, 1, 0.5])
    np.testing.assert_allclose(colors[1], [*GREY, 1], atol=1e-12)
    plain = membership_colors([[1, 0]])
    np.testing.assert_allclose(colors[0], plain[0])
    assert 0.25 < colors[2, 3] < 1  # half noise: neither sure of a cluster nor of the noise
    with pytest.raises(ValueError, match="noise_mass must be non-negative"):
        membership_colors([[1, 0]], noise_mass=[-1])
    with pytest.raises(ValueError, match="noise_mass must have shape"):
        membership_colors([[1, 0]], noise_mass=[0, 0])


def labels_of(legend):
    return [text.get_text() for text in legend.get_texts()]


def test_displays_show_noise_in_grey():
    from soft_clustering.plotting import (
        MembershipContourDisplay,
        MembershipHeatmapDisplay,
        MembershipScatterDisplay,
        SegmentationDisplay,
        TernaryDisplay,
    )

    display = MembershipScatterDisplay.from_estimator(MODEL, NOISY)
    assert "noise" in labels_of(display.legend_)
    colors = display.points_.get_facecolors()
    far = MODEL.noise_mass_[display.shown_] > 0.95
    assert far.any()
    np.testing.assert_allclose(colors[far, :3], GREY[None].repeat(far.sum(), axis=0), atol=0.03)
    one = MembershipScatterDisplay.from_estimator(
        FCM(2, noise_distance=1.0, random_state=0).fit(IRIS[:, 2:3]), IRIS[:, 2:3]
    )
    assert len(one.points_) == 3

    heat = MembershipHeatmapDisplay.from_estimator(MODEL)
    assert heat.heatmap_.get_array().shape == (len(NOISY), 4)
    assert [tick.get_text() for tick in heat.ax_.get_xticklabels()] == ["0", "1", "2", "noise"]
    np.testing.assert_array_equal(np.sort(heat.order_[-NOISE.sum() :]), np.flatnonzero(NOISE))

    plane = FCM(3, noise_distance="auto", random_state=0).fit(NOISY[:, :2])
    contour = MembershipContourDisplay.from_estimator(plane, NOISY[:, :2], grid_resolution=30)
    assert "noise" in labels_of(contour.legend_)
    corner = contour.background_.get_array()[-1, -1]
    np.testing.assert_allclose(corner[:3], GREY, atol=0.05)
    interpolated = MembershipContourDisplay.from_memberships(
        plane.memberships_, NOISY[:, :2], noise_mass=plane.noise_mass_, grid_resolution=20
    )
    assert "noise" in labels_of(interpolated.legend_)

    ternary = TernaryDisplay.from_estimator(MODEL)
    assert len(ternary.points_.get_offsets()) == len(NOISY)
    picture = SegmentationDisplay.from_memberships(MODEL.memberships_, np.zeros((15, 11)), noise_mass=MODEL.noise_mass_)
    assert "noise" in labels_of(picture.legend_)


# Measures -------------------------------------------------------------------------------------------------------------


def test_measures_leave_noise_out():
    found = dict(quality(MODEL, NOISY, CLASSES, MODEL.labels_))
    kept, labels = NOISY[~NOISE], MODEL.labels_[~NOISE]
    U = MODEL.memberships_[~NOISE] / MODEL.memberships_[~NOISE].sum(axis=1, keepdims=True)
    assert found["ari"] == pytest.approx(adjusted_rand_score(CLASSES, MODEL.labels_))  # noise is a group of its own
    assert found["silhouette"] == pytest.approx(METRICS["silhouette"](X=kept, labels=labels))
    assert found["partition_coefficient"] == pytest.approx((U**2).sum() / len(U))
    D = cdist(kept, MODEL.centers_, "sqeuclidean")
    least = cdist(MODEL.centers_, MODEL.centers_, "sqeuclidean")[np.triu_indices(3, 1)].min()
    assert found["xie_beni"] == pytest.approx(np.sum(U**2 * D) / len(kept) / least)


def test_measures_if_all_is_noise():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = FCM(3, noise_distance=1e-6, random_state=0).fit(IRIS)
    found = dict(quality(model, IRIS, None, np.full(150, -1)))
    assert np.isnan([found["silhouette"], found["xie_beni"], found["partition_coefficient"]]).all()


# Explanations ---------------------------------------------------------------------------------------------------------


def test_explanations_leave_noise_out():
    found = explain(MODEL, NOISY)
    assert found.sizes.size.sum() == (~NOISE).sum()
    assert f"Noise, in no cluster: {NOISE.sum()} of 165 samples" in found.notes[0]
    assert not set(np.concatenate(found.typical)) & set(np.flatnonzero(NOISE))
    same = explain_memberships(MODEL.memberships_, NOISY, noise_mass=MODEL.noise_mass_)
    np.testing.assert_array_equal(found.sizes.share, same.sizes.share)
    pipeline = make_pipeline(StandardScaler(), FCM(3, noise_distance="auto", random_state=0)).fit(NOISY)
    assert "Noise" in explain(pipeline, NOISY).notes[0]
    assert "Noise" in explain(pipeline, NOISY[-40:]).notes[0]  # predicted
    assert not explain(GMM(3, random_state=0).fit(IRIS), IRIS).notes


# Comparisons and commands ---------------------------------------------------------------------------------------------


def test_report(tmp_path):
    pytest.importorskip("jinja2")
    from soft_clustering.report import compare

    path = tmp_path / "report.html"
    compare([FCM(3, noise_distance="auto", random_state=0), GMM(3, random_state=0)], NOISY, path=path)
    text = path.read_text(encoding="utf-8")
    summary = json.loads(text.split('id="summary">')[1].split("</script>")[0].replace("\\u003c", "<"))
    model = next(model for model in summary["models"] if model["name"] == "FCM")
    assert model["n_clusters"] == 3
    assert model["memberships"]["n_clusters"] == 4
    assert model["colors"][3] == -1
    assert sum(model["sizes"]) == (~NOISE).sum()
    assert next(model for model in summary["models"] if model["name"] == "GMM")["memberships"]["n_clusters"] == 3


def test_commands_write_the_noise(tmp_path, capsys):
    import pandas

    from soft_clustering.cli import main

    table, out, saved, new = (str(tmp_path / name) for name in ("t.csv", "u.csv", "m.joblib", "n.csv"))
    pandas.DataFrame(NOISY, columns=list("abcd")).to_csv(table, index=False)
    settings = ["--set", "noise_distance=auto", "--set", "random_state=0"]
    assert main(["fit", "FCM", table, "-k", "3", *settings, "-o", out, "--save", saved]) == 0
    printed = capsys.readouterr().out
    frame = pandas.read_csv(out)
    assert f"; {(frame.label == -1).sum()} rows in no cluster" in printed
    assert "Noise, in no cluster" in printed
    parts = frame[["cluster_0", "cluster_1", "cluster_2", "noise"]]
    np.testing.assert_allclose(parts.sum(axis=1), 1, atol=1e-6)
    assert main(["predict", saved, table, "-o", new, "--trust"]) == 0
    again = pandas.read_csv(new)
    np.testing.assert_allclose(again["noise"], frame["noise"], atol=1e-9)
    np.testing.assert_array_equal(again.label, frame.label)


def test_comparison_of_rows_with_gaps(tmp_path, capsys):
    """Methods that take missing values get them, the others medians."""
    import pandas

    from soft_clustering.cli import main

    holes = np.random.RandomState(0).uniform(size=IRIS.shape) < 0.1
    X = np.where(holes, np.nan, IRIS)
    table = str(tmp_path / "t.csv")
    pandas.DataFrame(X, columns=list("abcd")).to_csv(table, index=False)
    command = ["compare", table, "--models", "FCM", "GK", "-k", "3", "--json"]
    assert main([*command, "--output", str(tmp_path / "r.jsonl")]) == 0
    found = capsys.readouterr()
    assert "FCM take the missing values as they are; the other models, and the measures, medians" in found.err
    results = {row["model"]: row for row in json.loads(found.out)["results"]}
    assert {row["status"] for row in results.values()} == {"ok"}
    saved = next((tmp_path / "r.memberships").glob("*.npy"), None)
    assert saved is not None
    expected = FCM(3, random_state=0).fit(X).memberships_
    memberships = [np.load(path) for path in (tmp_path / "r.memberships").glob("*.npy")]
    assert any(np.allclose(U, expected, atol=1e-5) for U in memberships)
