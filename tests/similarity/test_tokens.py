import importlib
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import simloss
from simloss.similarity import identity, tokens

MARKS = ("", "Ġ", "▁", " ", "##")
ENDS = ("", "</w>", "@@")
texts = st.one_of(
    st.text("0123456789-+.aĠ▁# ", min_size=1, max_size=5),
    st.builds(
        lambda mark, number, end: mark + str(number) + end,
        st.sampled_from(MARKS),
        st.integers(-20, 1200),
        st.sampled_from(ENDS),
    ),
    st.builds(lambda mark, n: f"{mark}{n:03d}", st.sampled_from(MARKS), st.integers(0, 999)),
)
vocabularies = st.lists(texts, min_size=1, max_size=30, unique=True).flatmap(
    lambda words: st.permutations(range(len(words))).map(
        lambda ids: dict(zip(words, ids, strict=True))
    )
)


def form_and_value(token):
    """Mark, end, number of digits where there are leading zeros; and the value. Else None."""
    mark = next((m for m in MARKS[1:] if token.startswith(m)), "")
    rest = token[len(mark) :]
    end = next((e for e in ENDS[1:] if rest.endswith(e)), "")
    rest = rest[: len(rest) - len(end)]
    digits = rest[1:] if rest[:1] == "-" else rest
    if not digits or any(c not in "0123456789" for c in digits) or rest.strip("0") == "-":
        return None
    length = len(digits) if digits[0] == "0" and len(digits) > 1 else None
    return (mark, end, length, length and rest[0] == "-"), int(rest)


def by_loops(vocabulary, r):
    rows = [[float(i == j) for j in range(len(vocabulary))] for i in range(len(vocabulary))]
    for one, i in vocabulary.items():
        for other, j in vocabulary.items():
            a, b = form_and_value(one), form_and_value(other)
            if a is not None and b is not None and a[0] == b[0]:
                rows[i][j] = r ** abs(a[1] - b[1])
    return torch.tensor(rows, dtype=torch.float64)


@given(vocabularies, st.floats(0, 0.99))
def test_formula(vocabulary, r):
    assert torch.allclose(tokens(vocabulary, r).to_dense(), by_loops(vocabulary, r), atol=1e-12)


@given(vocabularies, st.floats(0, 0.9))
def test_no_two_tokens_are_interchangeable(vocabulary, r):
    S = tokens(vocabulary, r).to_dense()
    assert torch.equal((S == 1).nonzero(), torch.arange(len(S)).unsqueeze(1).expand(-1, 2))


def test_spaces_zeros_and_signs_keep_their_own_company():
    words = ["7", "8", "Ġ7", "Ġ8", "07", "08", "-7", "-8", "007", "x7", "7.", "٧"]
    S = tokens({word: i for i, word in enumerate(words)}, r=0.5)
    alike = {(words[i], words[j]) for i, j in (S.to_dense() > 0).nonzero().tolist() if i < j}
    plain = {("7", "8"), ("7", "-7"), ("7", "-8"), ("8", "-7"), ("8", "-8"), ("-7", "-8")}
    assert alike == plain | {("Ġ7", "Ġ8"), ("07", "08")}
    assert S.to_dense()[0, 6] == 0.5**14


def test_relative_distance():
    vocabulary = {"0": 0, "99": 1, "999": 2, "-9": 3}
    S = tokens(vocabulary, r=0.5, distance="relative").to_dense()
    assert S[1, 2] == pytest.approx(0.5 ** math.log(10))
    assert S[0, 1] == pytest.approx(0.5 ** math.log(100))
    assert S[0, 3] == pytest.approx(0.5 ** math.log(10))
    assert S[1, 3] == pytest.approx(0.5 ** math.log(1000))


def test_padded_vocabularies_and_holes():
    S = tokens({"1": 0, "2": 3}, r=0.5, num_classes=6).to_dense()
    expected = torch.eye(6, dtype=torch.float64)
    expected[0, 3] = expected[3, 0] = 0.5
    assert torch.equal(S, expected)
    assert tokens({"1": 0, "2": 3}, r=0.5).num_classes == 4


def test_a_rule_of_ones_own():
    bins = {"<bin_0>": 0, "<bin_5>": 1, "five": 2, "the": 3}
    values = {"<bin_0>": 0, "<bin_5>": 5, "five": 5.0}
    S = tokens(bins, r=0.9, value=values.get).to_dense()
    assert S[0].tolist() == pytest.approx([1, 0.9**5, 0.9**5, 0])
    assert S[1, 2] == 1


def test_a_tokenizer_is_read_and_not_changed():
    vocabulary = {"a": 0, "1": 1, "2": 2}

    class Tokenizer:
        def get_vocab(self):
            return vocabulary

    assert tokens(Tokenizer(), 0.5) == tokens({"a": 0, "1": 1, "2": 2}, 0.5)
    assert vocabulary == {"a": 0, "1": 1, "2": 2}


def test_r_of_0_and_no_numbers_are_the_identity():
    words = {"1": 0, "2": 1, "a": 2}
    assert tokens(words, r=0) == identity(3)
    S = tokens({"a": 0, "b": 1}, r=0.9)
    assert identity(2) == S
    assert S.notes == ("No two of 2 tokens are similar numbers: this is the identity.",)


def test_a_large_vocabulary_takes_memory_for_its_numbers_only():
    """As GPT's: all numbers of up to three digits, with their leading zeros."""
    numbers = [f"{n:0{width}d}" for width in (1, 2, 3) for n in range(10**width)]
    words = numbers + [f"word{i}" for i in range(149_000)]
    S = tokens({word: i for i, word in enumerate(words)}, r=0.9, num_classes=150_528)
    assert S.tensors["value"].numel() == 1000**2 + 10**2 + 100**2 + 150_528 - 1110
    assert S.notes == ("1,110 of 150,110 tokens are numbers that are alike, from 0 to 999.",)
    five, fifty_three = numbers.index("5"), numbers.index("53")
    assert S.rows([five])[0, fifty_three] == pytest.approx(0.9**48)


@pytest.mark.parametrize(
    "loss", [simloss.sim_loss, simloss.proper_sim_loss, simloss.soft_target_loss]
)
def test_every_loss_takes_it(loss):
    words = {word: i for i, word in enumerate(["3", "a", "5", "12", "Ġ5", "b"])}
    S = tokens(words, r=0.7, num_classes=8)
    z = torch.randn(9, 8, dtype=torch.float64)
    y = torch.arange(9) % 8
    assert torch.allclose(loss(z, y, S), loss(z, y, S.to_dense()))
    assert bool(S.diagnose().proper)


def test_numbers_too_long_to_tell_apart_are_words():
    words = {"1" * 16: 0, "1" * 15 + "2": 1, "1" * 15: 2, "1" * 14 + "2": 3}
    S = tokens(words, r=0.5).to_dense()
    assert (S > 0).nonzero().tolist() == [[0, 0], [1, 1], [2, 2], [2, 3], [3, 2], [3, 3]]


@pytest.mark.parametrize(
    ("tokenizer", "options", "message"),
    [
        ({"1": 0}, {"r": 1.0}, r"`r` must be in \[0, 1\), but got 1.0"),
        ({}, {"r": 0.5}, "`tokenizer` must not be empty"),
        (["1", "2"], {"r": 0.5}, r"`tokenizer` must have get_vocab\(\), .* but got list"),
        ({b"1": 0}, {"r": 0.5}, r"must map tokens \(str\) to ids \(int\), but got b'1': 0"),
        ({"1": "0"}, {"r": 0.5}, r"but got '1': '0'"),
        ({"1": -1}, {"r": 0.5}, "`tokenizer` must have ids from 0 on, but got '1': -1"),
        ({"1": 0, "2": 0}, {"r": 0.5}, "but '1' and '2' both have 0"),
        ({"1": 4}, {"r": 0.5, "num_classes": 4}, "`num_classes` must be at least 5, .* but got 4"),
        ({"1": 0}, {"r": 0.5, "distance": "log"}, "`distance` must be one of 'absolute'"),
        ({"1": 0}, {"r": 0.5, "value": lambda _: "x"}, "`value` must be a number, but got 'x'"),
        ({"1": 0}, {"r": 0.5, "value": lambda _: math.inf}, "but gave inf for the token '1'"),
    ],
)
def test_bad_input(tokenizer, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        tokens(tokenizer, **options)


def test_too_many_numbers(monkeypatch):
    # The module, not the function of the same name.
    module = importlib.import_module("simloss.similarity.tokens")
    monkeypatch.setattr(module, "_MOST_ENTRIES", 8)
    with pytest.raises(ValueError, match="fewer number tokens of one form, but got 3"):
        tokens({"1": 0, "2": 1, "3": 2}, 0.5)
