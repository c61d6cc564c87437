import math

import pytest
import torch

from simloss.similarity import senses, wordnet

# name: parents; a small world with two tops, a node with two parents and an ambiguous word.
WORLD = {
    "entity": [],
    "organism": ["entity"],
    "plant": ["organism"],
    "food": ["entity"],
    "apple": ["plant", "food"],
    "rose": ["plant"],
    "rose_wine": ["food"],
    "truck": ["entity"],
    "idea": [],
}
LEMMAS = {**{name: [name] for name in WORLD}, "rose": ["rose", "rose_wine"]}


@pytest.fixture
def folder(tmp_path):
    """A WordNet database of the world above, in WNDB's own format."""
    lines, offsets = {}, {}
    at = len(HEADER)
    for name, parents in WORLD.items():  # parents come first, so their offsets are known
        pointers = "".join(f" @ {offsets[parent]:08d} n 0000" for parent in parents)
        offsets[name] = at
        lines[name] = (
            f"{at:08d} 03 n 01 {name} 0 {len(parents):03d}{pointers} | a kind of {name}; as in x\n"
        )
        at += len(lines[name])
    (tmp_path / "data.noun").write_text(HEADER + "".join(lines.values()))
    index = [
        f"{lemma} n {len(some)} 1 @ {len(some)} 0 " + " ".join(f"{offsets[s]:08d}" for s in some)
        for lemma, some in sorted(LEMMAS.items())
    ]
    (tmp_path / "index.noun").write_text(HEADER + "  \n".join(index) + "  \n")
    return tmp_path


HEADER = "  1 This is the head of the file.  \n"


def ways_up(name):
    """Every ancestor and the fewest steps to it, by trying all ways."""
    found = {name: 0}
    for parent in WORLD[name]:
        for node, steps in ways_up(parent).items():
            found[node] = min(steps + 1, found.get(node, math.inf))
    return found


def depth(name):
    return 1 + min((depth(parent) for parent in WORLD[name]), default=0)


def distance(a, b, measure):
    up, down = ways_up(a), ways_up(b)
    common = [node for node in up if node in down]
    if not common:
        return math.inf
    if measure == "path":
        return min(up[node] + down[node] for node in common)
    return min(-math.log(2 * depth(n) / (2 * depth(n) + up[n] + down[n])) for n in common)


@pytest.mark.parametrize("measure", ["path", "wu-palmer"])
@pytest.mark.parametrize("temperature", [0.5, 3])
def test_formula(folder, measure, temperature):
    names = ["apple", "rose", "truck", "plant", "idea"]
    S = wordnet(names, temperature, measure=measure, folder=folder)
    dense = S.to_dense()
    assert S.names == tuple(names)
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            expected = math.exp(-distance(a, b, measure) / temperature)
            assert dense[i, j].item() == pytest.approx(expected)
    warmer = wordnet(names, 2 * temperature, measure=measure, folder=folder).to_dense()
    assert bool((warmer >= dense).all())


def test_ambiguous_names_are_listed_and_overridden(folder):
    found = senses(["rose", "truck"], folder)
    assert [synset.words for synset in found["rose"]] == [("rose",), ("rose_wine",)]
    assert found["truck"][0].definition == "a kind of truck"
    first = wordnet(["rose", "plant", "truck"], folder=folder)
    assert len(first.notes) == 1
    assert "'rose' has 2 meanings; used: the most frequent" in first.notes[0]
    for choice in (found["rose"][1].offset, "rose wine"):
        wine = wordnet(["rose", "plant", "truck"], folder=folder, choose={"rose": choice})
        assert "used: chosen" in wine.notes[0]
        assert wine.to_dense()[0, 1] < first.to_dense()[0, 1]


def test_plurals_and_spellings(folder):
    assert torch.equal(
        wordnet(["Apples", "rose-wine"], folder=folder).to_dense(),
        wordnet(["apple", "rose_wine"], folder=folder).to_dense(),
    )


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        (["rose", "qq", "zz"], {}, "must be nouns of WordNet, but 'qq', 'zz' are not"),
        (
            ["rose", "truck"],
            {"choose": {"rosse": 3}},
            r"'rosse' is not one \(did you mean 'rose'\?\)",
        ),
        (["rose", "truck"], {"choose": {"rose": 3}}, "must have a synset at offset 3"),
        (
            ["rose", "truck"],
            {"choose": {"rose": "qq"}},
            "nouns of WordNet or offsets, but got 'qq'",
        ),
        (["rose", "truck"], {"measure": "height"}, "`measure` must be one of"),
    ],
)
def test_bad_input(folder, names, options, message):
    with pytest.raises(ValueError, match=message):
        wordnet(names, folder=folder, **options)


def test_meanings_in_a_circle(folder):
    """As a damaged file may have them: two that are each a kind of the other."""
    data = (folder / "data.noun").read_text()
    top, organism = (
        next(row for row in data.split("\n") if f" {n} 0" in row) for n in ("entity", "organism")
    )
    head = top.partition("0 000 |")[0]
    circle = f"{head}0 001 @ {organism[:8]} n 0000 |".ljust(len(top))  # other offsets must stay
    assert len(circle) == len(top)
    (folder / "data.noun").write_text(data.replace(top, circle))
    with pytest.raises(ValueError, match="a top above every meaning, but above .* only a cycle"):
        wordnet(["rose", "truck"], folder=folder, measure="wu-palmer")


def test_no_database(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="must hold a WordNet database"):
        wordnet(["rose", "truck"], folder=tmp_path)
    monkeypatch.setattr("simloss.similarity.wordnet_database._USUAL_PLACES", ())
    monkeypatch.delenv("WNSEARCHDIR", raising=False)
    with pytest.raises(FileNotFoundError, match="but found none; install Debian's wordnet-base"):
        wordnet(["rose", "truck"])


def test_the_folder_can_come_from_the_environment(folder, monkeypatch):
    monkeypatch.setenv("WNSEARCHDIR", str(folder))
    assert wordnet(["rose", "truck"]).num_classes == 2
