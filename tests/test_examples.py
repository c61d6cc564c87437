"""Every example runs as a reader would run it, is short, and prints what its last lines claim."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
# Those of the integrations need what not every environment has, and have tests of their own.
SCRIPTS = sorted(
    path for path in EXAMPLES.glob("*.py") if not path.stem.startswith(("integration_", "tokens_"))
)

pytestmark = pytest.mark.skipif(not SCRIPTS, reason="not in a clone")


def readme():
    return (EXAMPLES / "README.md").read_text()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_is_short_described_and_listed(script):
    text = script.read_text()
    assert text.startswith('"""')
    assert len(text.splitlines()) < 60
    assert f"`{script.name}`" in readme()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_prints_what_it_should(script, tmp_path):
    """The words of the README, and numbers that bear out what the script says of them."""
    result = subprocess.run(
        [sys.executable, script],
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (result.returncode, result.stderr) == (0, "")
    shown = re.search(r"```\n(.*?)```", readme().split(f"`{script.name}`")[-1], re.DOTALL)
    assert sorted(words(result.stdout)) == sorted(words(shown[1]))
    CLAIMS[script.stem](lambda label: numbers(result.stdout, label))


def words(text):
    """Without numbers, whose last digits differ from machine to machine."""
    return re.sub(r"[\d.\s]+", " ", text).split()


def numbers(text, label):
    """The numbers on the line that begins with `label`."""
    line = next(line for line in text.splitlines() if line.strip().startswith(label))
    return [float(found) for found in re.findall(r"\d+\.?\d*", line.strip().removeprefix(label))]


def the_median_lowers_the_error(of):
    for loss in ("cross entropy", "soft targets"):
        argmax, median, _ = of(loss)
        assert median < argmax
    assert of("SimLoss")[2] > of("cross entropy")[2]  # NLL


def soft_targets_make_milder_mistakes(of):
    assert of("soft targets, argmax")[1] < of("cross entropy, argmax")[1]
    assert of("a digit for")[1] > of("cross entropy, argmax")[0]


def the_median_of_a_blurred_answer_is_off(of):
    argmax, median, _ = of("cross entropy")
    assert median < argmax
    argmax, median, _ = of("soft targets")
    assert argmax < median


def costs_lower_the_cost(of):
    plain, costs = of("most probable class"), of("lowest expected cost")
    assert of("the same, or unsure")[0] < costs[0] < plain[0]
    assert costs[1] < plain[1]  # severe cases missed
    assert costs[3] < plain[3]  # right answers


def soft_targets_gain_from_the_schedule(of):
    assert of("soft targets, r 0.9 to 0")[1] < of("soft targets, r = 0.9")[1]
    late, plain = of("SimLoss, r 0.9 to 0"), of("cross entropy")
    assert late[1] > plain[1]
    assert late[2] < plain[2]  # classes in use


def the_search_ends(of):
    assert 0.5 < of("held-out patients: mean error")[0] < 2


CLAIMS = {
    "class_tree": soft_targets_make_milder_mistakes,
    "fill_in_pixels": the_median_of_a_blurred_answer_is_off,
    "ordered_classes": the_median_lowers_the_error,
    "own_costs": costs_lower_the_cost,
    "schedule": soft_targets_gain_from_the_schedule,
    "scikit_learn": the_search_ends,
}
