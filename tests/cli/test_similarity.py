"""`simloss similarity ...` as a user types it."""

import os
import subprocess
import sys

import pytest
import torch

from simloss.cli import main
from simloss.similarity import (
    Tree,
    circular,
    confusion,
    cost,
    embedding,
    geo,
    graph,
    load,
    order,
    sparse,
    tree,
    values,
    words,
)

HEAVY = ("torch", "numpy", "pandas", "scipy", "plotly")


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Run a command in an empty folder; exit code, what it printed, what it complained about."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SIMLOSS_TRACEBACK", raising=False)

    def run(*arguments):
        code = 0
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code or 0
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def written(tmp_path, text, name="in.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_order(run, tmp_path):
    code, out, err = run("similarity", "order", "--classes", 90, "--r", 0.8, "--out", "s.csv")
    assert (code, err) == (0, "")
    assert out.startswith("order(90 classes, r=0.8)\n")
    assert "positive definite      yes" in out
    assert out.endswith("Written: s.csv\n")
    assert load(tmp_path / "s.csv") == order(90, r=0.8)


def test_words(run, tmp_path):
    names = ["rose", "violet", "truck"]
    code, out, _ = run("similarity", "words", *names, "--lower-bound", 0.1, "--out", "s.npz")
    assert code == 0
    assert "lower_bound=0.1" in out
    assert load(tmp_path / "s.npz") == words(names, 0.1)
    listed = written(tmp_path, "rose\nviolet\n\nqqzz\n", "names.txt")
    run("similarity", "words", "--names-from", listed, "--missing", "drop", "--kernel", "angle",
        "--temperature", 0.5, "--out", "d.npz")  # fmt: skip
    assert load(tmp_path / "d.npz") == words(names[:2], kernel="angle", temperature=0.5)


def test_other_vectors(run, tmp_path):
    vectors = written(tmp_path, "rose 1 0\nviolet 1 1\n", "v.txt")
    code, _, _ = run(
        "similarity", "words", "rose", "violet", "--vectors", vectors, "--out", "s.npz"
    )
    assert code == 0
    assert load(tmp_path / "s.npz").to_dense()[0, 1] == pytest.approx(0.5**0.5)


BUILT = {
    "circular": (["--classes", 7, "--r", 0.5], None, lambda: circular(7, r=0.5)),
    "values": ([0, -18, 65, "--scale", 20], None, lambda: values([0, -18, 65], 20)),
    "tree": (
        ["in.csv", "--temperature", 2, "--measure", "path"],
        "animal/robin\nanimal/crow\nplant/rose\n",
        lambda: tree(
            Tree.from_paths(["animal/robin", "animal/crow", "plant/rose"]), 2, measure="path"
        ),
    ),
    "graph": (
        ["in.csv", "--header", "--classes", "a", "c", "--temperature", 3, "--directed"],
        "from,to,length\na,b,1\nb,c,2\n",
        lambda: graph([("a", "b", 1), ("b", "c", 2)], 3, classes=["a", "c"], directed=True),
    ),
    "geo": (
        ["in.csv", "--scale-km", 500],
        "Berlin,52.5,13.4\nParis,48.9,2.4\n",
        lambda: geo([(52.5, 13.4), (48.9, 2.4)], 500, names=["Berlin", "Paris"]),
    ),
    "embedding": (
        ["in.csv", "--lower-bound", 0.2, "--kernel", "angle"],
        "a,1,0\nb,1,1\n",
        lambda: embedding([[1, 0], [1, 1]], 0.2, "angle", ["a", "b"]),
    ),
    "cost": (
        ["in.csv", "--temperature", 2],
        ",ill,well\nill,0,5\nwell,1,0\n",
        lambda: cost([[0, 5], [1, 0]], 2, names=["ill", "well"]),
    ),
    "confusion": (
        ["in.csv", "--kind", "probability", "--smoothing", 0.5],
        "8,2\n1,9\n",
        lambda: confusion([[8, 2], [1, 9]], kind="probability", smoothing=0.5),
    ),
}


@pytest.mark.parametrize("kind", sorted(BUILT))
def test_every_kind(run, tmp_path, kind):
    arguments, text, expected = BUILT[kind]
    if text:
        written(tmp_path, text)
    code, out, err = run("similarity", kind, *arguments, "--out", "s.safetensors")
    assert (code, err) == (0, "")
    assert "What to do" in out
    assert load(tmp_path / "s.safetensors") == expected()


def test_wordnet(run, tmp_path):
    synsets = [
        "00000000 03 n 01 entity 0 000 | what is\n",
        "00000041 03 n 01 rose 0 001 @ 00000000 n 0000 | a flower\n",
        "00000098 03 n 01 truck 0 001 @ 00000000 n 0000 | a car\n",
    ]
    offsets = [sum(map(len, synsets[:i])) for i in range(3)]
    text = "".join(f"{at:08d}{line[8:]}" for at, line in zip(offsets, synsets, strict=True))
    written(tmp_path, text, "data.noun")
    lines = [
        f"{word} n 1 1 @ 1 0 {at:08d}  \n"
        for word, at in zip(("entity", "rose", "truck"), offsets, strict=True)
    ]
    written(tmp_path, "".join(lines), "index.noun")
    code, out, err = run("similarity", "wordnet", "rose", "truck", "--folder", tmp_path)
    assert (code, err) == (0, "")
    assert "rose - truck 0.5" in out
    code, _, err = run("similarity", "wordnet", "rose", "lorry", "--folder", tmp_path,
                       "--choose", "lorry=truck")  # fmt: skip
    assert (code, err) == (0, "")


def test_load_prior_uncertainty_and_top_k(run, tmp_path):
    order(5, r=0.9, names=list("abcde")).save(tmp_path / "s.csv")
    prior = written(tmp_path, "e,1\nd,1\nc,1\nb,1\na,96\n", "prior.csv")
    code, out, _ = run("similarity", "load", "s.csv", "--prior", prior, "--uncertainty", 3)
    assert code == 0
    assert str(order(5, r=0.9).diagnose([96, 1, 1, 1, 1], 3).vanishing_of) in out
    assert "posteriors 3 wide" in out
    assert "b, c, d, e" in out
    plain = written(tmp_path, "96\n1\n1\n1\n1\n", "plain.csv")
    assert run("similarity", "load", "s.csv", "--prior", plain, "--uncertainty", 3)[1] == out
    run("similarity", "load", "s.csv", "--top-k", 1, "--out", "k.npz")
    expected = sparse(order(5, r=0.9, names=list("abcde")), top_k=1).to_dense(torch.float64)
    assert torch.allclose(load(tmp_path / "k.npz").to_dense(torch.float64), expected)


def test_sketch(run):
    out = run("similarity", "order", "--classes", 3, "--r", 0.5, "--sketch")[1]
    assert out.endswith("0 ██▓▓▒▒\n1 ▓▓██▓▓\n2 ▒▒▓▓██\n")


@pytest.mark.parametrize("clustered", [[], ["--clustered"]])
def test_figure_is_one_file_that_works_offline(run, tmp_path, clustered):
    code, _, _ = run(
        "similarity", "order", "--classes", 4, "--r", 0.5, "--figure", "s.html", *clustered
    )
    assert code == 0
    page = (tmp_path / "s.html").read_text(encoding="utf-8")
    assert "order(4 classes, r=0.5)" in page
    assert "<script src=" not in page


BAD = {
    "ragged table": (
        ["load", "in.csv"],
        ",a,b\na,1,0.5\nb,0.5\n",
        "line 3 has 2 where line 1 has 3",
    ),
    "ragged tree": (["tree", "in.csv"], "a,b\na,b,c\n", "line 2 has 3 where line 1 has 2"),
    "names twice": (["load", "in.csv"], ",a,a\na,1,0.5\na,0.5,1\n", "'a' is listed twice"),
    "words twice": (["words", "rose", "rose"], None, "'rose' is listed twice"),
    "class above a class": (["tree", "in.csv"], "a/b\na/b/c\n", "is both a class and the parent"),
    "leaf twice": (["tree", "in.csv"], "a/b\nc/b\n", "'b' is listed twice"),
    "cycle": (["tree", "in.csv", "--parents"], "a,b\nb,a\n", "it has a cycle: a -> b -> a"),
    "two parents": (["tree", "in.csv", "--parents"], "a,b\na,c\n", "'a' has two, 'b' and 'c'"),
    "no parent": (["tree", "in.csv", "--parents"], "a\n", "but line 1 has 1 cells"),
    "unknown word": (["words", "rose", "voilet"], None, "did you mean 'violet'?"),
    "empty file": (["load", "in.csv"], "", "it is empty"),
    "empty tree": (["tree", "in.csv"], "\n\n", "it is empty"),
    "empty edges": (["graph", "in.csv"], "", "it is empty"),
    "NaN": (["load", "in.csv"], ",a,b\na,1,nan\nb,0.5,1\n", "must not be NaN"),
    "NaN vector": (["embedding", "in.csv"], "a,1,nan\nb,1,2\n", "must be finite"),
    "not a number": (["cost", "in.csv"], ",a,b\na,0,x\nb,1,0\n", "got 'x' in line 2, cell 3"),
    "one class": (["order", "--classes", "1", "--r", "0.5"], None, "at least 2 classes"),
    "one word": (["words", "rose"], None, "at least 2 classes"),
    "no words": (["words"], None, "`names` must not be empty"),
    "no such file": (["load", "none.csv"], None, "No such file or directory: none.csv."),
    "other ending": (["load", "in.txt"], None, "must end in .csv, .npz, .safetensors"),
    "r too large": (["order", "--classes", "9", "--r", "1.2"], None, "`r` must be in [0, 1), but"),
    "no folder": (
        ["order", "--classes", "3", "--r", "0.5", "--out", "none/s.csv"],
        None,
        "`--out` must be in an existing folder, but 'none' does not exist.",
    ),
    "no folder for the figure": (
        ["order", "--classes", "3", "--r", "0.5", "--figure", "none/s.html"],
        None,
        "`--figure` must be in an existing folder, but 'none' does not exist.",
    ),
    "nothing to cluster": (
        ["order", "--classes", "3", "--r", "0.5", "--clustered"],
        None,
        "`--clustered` must go with --figure",
    ),
    "temperature of words": (
        ["words", "rose", "tulip", "--temperature", "3"],
        None,
        "`temperature` must be used with kernel='angle'",
    ),
    "temperature of vectors": (
        ["embedding", "in.csv", "--temperature", "3"],
        "a,1,2\nb,2,1\n",
        "`temperature` must be used with kernel='angle'",
    ),
    "no classes": (["graph", "in.csv", "--classes"], "a,b\n", "at least 1 element"),
    "no such flag": (["graph", "in.csv", "--empty-classes"], "a,b\n", "Unknown option"),
    "wrong prior": (
        ["order", "--classes", "3", "--r", "0.5", "--prior", "in.csv"],
        "1\n2\n",
        "each of the 3 classes",
    ),
    "unknown option": (
        ["words", "rose", "tulip", "--lowerbound", "0.3"],
        None,
        "Unknown option: --lowerbound. Did you mean --lower-bound?",
    ),
    "unknown kind": (["ordre"], None, 'Did you mean "order"?'),
    "unknown kernel": (
        ["words", "rose", "tulip", "--kernel", "cosin"],
        None,
        'Did you mean "cosine"?',
    ),
    "not a count": (["order", "--classes", "many", "--r", "0.5"], None, '"many"'),
    "missing option": (["order", "--classes", "3"], None, "--r requires an argument"),
    "names twice given": (
        ["words", "rose", "--names-from", "in.csv"],
        "tulip\n",
        "but both were given",
    ),
    "bad choice": (
        ["wordnet", "rose", "tulip", "--choose", "rose"],
        None,
        "must be name=offset or name=word",
    ),
    "three numbers": (["geo", "in.csv", "--scale-km", "9"], "a,1\nb,2\n", "a name and 2 numbers"),
}


@pytest.mark.parametrize("case", sorted(BAD))
def test_a_mistake_is_one_sentence_and_exit_code_2(run, tmp_path, case):
    arguments, text, message = BAD[case]
    if text is not None:
        written(tmp_path, text)
    code, out, err = run("similarity", *arguments)
    assert code == 2
    assert message in err
    assert out == ""
    assert err.count("\n") == 1
    assert "Traceback" not in err


def test_a_traceback_can_be_had(run, monkeypatch):
    monkeypatch.setenv("SIMLOSS_TRACEBACK", "1")
    with pytest.raises(ValueError, match="`r` must be"):
        run("similarity", "order", "--classes", 3, "--r", 2)


TORCH_IS_FULL = "DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes."


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (MemoryError(), "this needs more memory than there is"),
        (RuntimeError(TORCH_IS_FULL), "this needs more memory than there is"),
        (RuntimeError("CUDA out of memory. Tried to allocate 2 GiB."), "the GPU has too little"),
        (RecursionError("maximum recursion depth exceeded"), "this must be nested less deeply"),
    ],
)
def test_the_limits_of_the_machine_are_one_sentence(run, monkeypatch, error, sentence):
    monkeypatch.setattr("simloss.similarity.order", raising(error))
    code, _, err = run("similarity", "order", "--classes", 3, "--r", 0)
    assert code == 2
    assert err.startswith(f"simloss: {sentence}")
    assert err.count("\n") == 1


def test_a_defect_of_ours_keeps_its_traceback(run, monkeypatch):
    monkeypatch.setattr("simloss.similarity.order", raising(RuntimeError("a defect")))
    with pytest.raises(RuntimeError, match="a defect"):
        run("similarity", "order", "--classes", 3, "--r", 0)


def raising(error):
    def raises(*_):
        raise error

    return raises


@pytest.mark.parametrize(
    "arguments", [["--help"], ["similarity", "--help"], ["similarity", "words", "--help"]]
)
def test_help_waits_for_nothing_heavy(arguments):
    script = (
        "import sys; from simloss.cli import main; main(sys.argv[1:]);"
        f"print(sorted(set({HEAVY!r}) & set(sys.modules)))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True
    )
    assert "Usage: simloss" in answer.stdout
    assert answer.stdout.strip().endswith("[]")


def test_without_the_extra_it_says_what_to_install():
    script = (
        "import sys; sys.modules['cyclopts'] = None;"
        "from simloss.cli import main; main(['similarity', '--help'])"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert answer.returncode == 2
    assert "pip install 'simloss[cli]'" in answer.stderr
    assert answer.stderr.count("\n") == 1


def test_a_reader_that_has_seen_enough_is_no_error():
    read, write = os.pipe()
    os.close(read)
    command = [
        sys.executable,
        "-m",
        "simloss",
        "similarity",
        "order",
        "--classes",
        "9",
        "--r",
        "0.5",
    ]
    answer = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert (answer.returncode, answer.stderr) == (0, "")
