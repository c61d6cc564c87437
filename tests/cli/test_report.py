from dataclasses import replace

import pytest

from report import made_up
from simloss.cli import main


@pytest.fixture
def run(tmp_path):
    config = made_up.config(seeds=2, losses=("proper",), values=(0.5, 0.8))
    made_up.folder(tmp_path / "run", config, made_up.records(config, made_up.same_everywhere))
    return tmp_path / "run"


def test_report_prints_the_verdict_and_writes_the_page(run, tmp_path, capsys):
    main(["report", str(run)])
    said = capsys.readouterr().out
    assert "2 runs cannot tell whether training with similarity helps" in said
    assert f"Report: {run / 'report.html'}" in said
    assert (run / "report.html").stat().st_size > 1_000_000
    main(["report", str(run), "--out", str(tmp_path / "else")])
    assert (tmp_path / "else" / "table.tex").exists()


def test_no_text_of_a_received_run_begins_a_line(tmp_path, capsys):
    fake = "\r\nFAKE [it](http://x) helps"
    config = replace(made_up.config(seeds=3, losses=("proper",)), name=fake)
    made = made_up.records(config, made_up.same_everywhere)
    for record in made:
        for part in record["metrics"].values():
            part[fake] = part["argmax"]  # a rule that nobody knows
    names = {"names": [f"{i}{fake}" for i in range(29)], "unit": fake}
    made_up.folder(tmp_path / "run", config, made, names=names)
    main(["report", str(tmp_path / "run")])
    said = capsys.readouterr().out
    assert "\r" not in said
    beginnings = [line.lstrip()[:4] for line in said.split("\n")]
    assert beginnings.count("FAKE") == 1  # the name of the run, which has a line of its own
    assert "[it]" not in (tmp_path / "run" / "table.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["report"], "FOLDER requires an argument"),
        (["report", "nowhere"], "must be a run folder with a config.yaml"),
    ],
)
def test_a_mistake_is_one_sentence(arguments, sentence, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert sentence in said.err
    assert said.err.count("\n") == 1


def test_an_interrupt_is_said_whenever_it_comes(capsys, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("simloss.report.judge.run.Run.read", interrupted)
    with pytest.raises(SystemExit) as exit:
        main(["report", "run"])
    assert exit.value.code == 130
    assert capsys.readouterr().err == "simloss: stopped.\n"
