"""Run folders that the tests of the page share; each is made once a process."""

from dataclasses import replace

import pytest

from report import made_up
from simloss.report import report

UGLY_NAMES = (
    "<script>alert('class')</script>",
    "a very long class name that goes on and on and on, far beyond what fits anywhere",
    "100 % \"quoted\" & 'dear' %{x} </title>",
)


def better_with_similarity(arm, rule, metric):
    """Similarity helps, and so does the median."""
    start = {"accuracy": 0.3, "superclass_accuracy": 0.45, "calibration_error": 0.1}.get(metric, 2)
    if made_up.without_similarity(arm):
        helped = 0.0
    else:
        helped = 0.1 * start * (arm.value if arm.value is not None else 0.5)
    upwards = metric in ("accuracy", "superclass_accuracy")
    return start + helped if upwards else start - helped - 0.05 * (rule == "median")


def records(config, **options):
    return made_up.records(config, better_with_similarity, noise=0.01, luck=0.02, **options)


@pytest.fixture(scope="session")
def ordered(tmp_path_factory):
    """Ten seeds, three losses, 29 ordered classes."""
    config = made_up.config()
    path = tmp_path_factory.mktemp("runs") / "ordered"
    names = {"names": [str(rings) for rings in range(1, 30)], "superclasses": None, "unit": "rings"}
    width = {"width": lambda arm: 1 + (arm.value or 0)}
    made_up.folder(path, config, records(config), names=names, **width)
    return path


@pytest.fixture(scope="session")
def three(tmp_path_factory):
    """One seed, three classes with names that try to break out."""
    config = replace(made_up.config(seeds=1), name="<b>three</b>")
    path = tmp_path_factory.mktemp("runs") / "three"
    names = {"names": UGLY_NAMES, "superclasses": None, "unit": "grades"}
    made_up.folder(path, config, records(config), num_classes=3, names=names)
    return path


@pytest.fixture(scope="session")
def nominal(tmp_path_factory):
    """Classes without an order, in superclasses; more of them than a page holds in full."""
    config = made_up.config(
        seeds=2,
        losses=("proper",),
        values=(0.5, 1.0),
        similarity="tree",
        metrics=("accuracy", "superclass_accuracy"),
        rules=("argmax", "tree"),
        source="cifar100",
    )
    path = tmp_path_factory.mktemp("runs") / "nominal"
    names = {
        "names": [f"class {i}" for i in range(120)],
        "superclasses": [f"group {i // 5}" for i in range(120)],
    }
    made_up.folder(path, config, records(config), num_classes=120, width=lambda _: 3, names=names)
    return path


@pytest.fixture(scope="session")
def thousand(tmp_path_factory):
    """A thousand ordered classes."""
    config = made_up.config(seeds=1, losses=("simloss", "proper"), values=(0.5, 0.8))
    path = tmp_path_factory.mktemp("runs") / "thousand"
    names = {"names": [f"class {i}" for i in range(1000)], "superclasses": None, "unit": None}
    made_up.folder(path, config, records(config), num_classes=1000, width=lambda _: 9, names=names)
    return path


@pytest.fixture(scope="session")
def broken(tmp_path_factory):
    """Some cells failed, one sidecar is damaged, one is missing."""
    config = made_up.config(seeds=3)
    path = tmp_path_factory.mktemp("runs") / "broken"
    made = [
        made_up.failed(each, "the loss became <nan> in epoch 2")
        if each["treatment"].get("value") == 0.8 and each["treatment"]["loss"] == "simloss"
        else each
        for each in records(config)
    ]
    run = made_up.folder(path, config, made)
    done = [each["cell"] for each in made if each["status"] == "done"]
    run.sidecar_path(done[0]).write_bytes(b"no npz")
    run.sidecar_path(done[-1]).unlink()
    return path


@pytest.fixture(scope="session")
def all_failed(tmp_path_factory):
    config = made_up.config(seeds=2)
    path = tmp_path_factory.mktemp("runs") / "all_failed"
    made_up.folder(path, config, [made_up.failed(each) for each in records(config)])
    return path


@pytest.fixture(scope="session")
def alone(tmp_path_factory):
    """Cross entropy and nothing else."""
    config = made_up.config(seeds=2, losses=())
    path = tmp_path_factory.mktemp("runs") / "alone"
    made_up.folder(path, config, records(config))
    return path


@pytest.fixture(scope="session")
def page_of(tmp_path_factory):
    """Run folder -> its report.html, written once."""
    written = {}

    def page(run):
        if run not in written:
            written[run] = report(run, tmp_path_factory.mktemp("pages"))
        return written[run]

    return page


EVERY_RUN = ("ordered", "three", "nominal", "thousand", "broken", "all_failed", "alone")


@pytest.fixture(params=EVERY_RUN)
def any_run(request):
    return request.getfixturevalue(request.param)
