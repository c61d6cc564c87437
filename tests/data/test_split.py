import subprocess
import sys
from collections import Counter

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from simloss.data import DataError, Dataset, abalone, split


def dataset(labels, groups=None, **options):
    labels = torch.tensor(labels)
    return Dataset(
        name="toy",
        inputs=torch.zeros(len(labels), 1),
        labels=labels,
        class_names=tuple(str(at) for at in range(int(labels.max()) + 1)),
        groups=None if groups is None else torch.tensor(groups),
        **options,
    )


def as_sets(parts):
    return [set(parts[name].tolist()) for name in ("train", "validation", "test")]


def split_or_empty(data, **options):
    """The parts, or nothing if one of them would be empty."""
    try:
        return split(data, **options)
    except DataError as error:
        if "part is empty" in str(error):
            return {}
        raise


shares = st.tuples(*[st.integers(1, 20)] * 3).map(lambda s: tuple(x / sum(s) for x in s))
seeds = st.integers(0, 2**32)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 30)), min_size=40, max_size=120),
    shares,
    seeds,
    st.booleans(),
    st.booleans(),
)
def test_every_example_is_in_exactly_one_part(rows, shares, seed, stratify, together):
    labels, groups = (list(column) for column in zip(*rows, strict=True))
    data = dataset(labels, groups)
    parts = split_or_empty(
        data, shares=shares, seed=seed, stratify=stratify, keep_groups_together=together
    )
    assume(parts)
    sets = as_sets(parts)
    assert sum(map(len, sets)) == len(labels)  # none in two
    assert set.union(*sets) == set(range(len(labels)))  # none in no part
    assert all(torch.equal(indices, indices.sort().values) for indices in parts.values())
    if together:
        sides = [{groups[index] for index in part} for part in sets]
        assert sum(map(len, sides)) == len(set(groups))  # no group in two parts


@given(st.integers(3, 500), shares, seeds)
def test_shares_are_kept_to_the_example(count, shares, seed):
    parts = split_or_empty(dataset([0] * count), shares=shares, seed=seed)
    if not parts:
        assert min(shares) * count < 1
        return
    for part, share in zip(as_sets(parts), shares, strict=True):
        assert abs(len(part) - share * count) < 1


@given(st.lists(st.integers(0, 9), min_size=60, max_size=200), shares, seeds)
def test_stratified_every_class_has_its_shares(labels, shares, seed):
    parts = split_or_empty(dataset(labels), shares=shares, seed=seed, stratify=True)
    assume(parts)
    for part, share in zip(as_sets(parts), shares, strict=True):
        assert abs(len(part) - share * len(labels)) < 1
        counts = Counter(labels[index] for index in part)
        for label, total in Counter(labels).items():
            assert abs(counts[label] - share * total) < 2


def test_without_stratification_a_class_may_be_missing():
    data = dataset([0] * 400 + [1] * 4)
    counts = {sum(data.labels[split(data, seed=seed)["test"]].tolist()) for seed in range(30)}
    assert 0 in counts
    stratified = {
        sum(data.labels[split(data, seed=seed, stratify=True)["test"]].tolist())
        for seed in range(30)
    }
    assert stratified == {1}


def test_groups_matter_only_when_asked():
    data = dataset([0] * 100, [at // 2 for at in range(100)])
    apart = as_sets(split(data))
    assert any(2 * at in apart[0] and 2 * at + 1 in apart[2] for at in range(50))


def test_large_groups_fill_the_parts_about_right():
    data = dataset([0] * 1000, [at // 7 for at in range(1000)])
    parts = split(data, keep_groups_together=True)
    for indices, size in zip(parts.values(), (600, 200, 200), strict=True):
        assert abs(len(indices) - size) <= 7


def test_seed_decides_and_nothing_else():
    data = abalone()
    torch.manual_seed(1)
    first = split(data, seed=5)
    torch.manual_seed(2)
    before = torch.get_rng_state()
    again = split(data, seed=5)
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["test"], split(data, seed=6)["test"])


def test_same_in_another_process():
    script = (
        "from simloss.data import abalone, split;"
        "print(split(abalone(), seed=3)['test'][:20].tolist())"
    )
    printed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    assert printed.strip() == str(split(abalone(), seed=3)["test"][:20].tolist())


def test_empty_part_is_an_error():
    with pytest.raises(
        DataError,
        match=r"The test part is empty: a share of 0.2 of 2 examples is none; "
        r"use more examples\.",
    ):
        split(dataset([0, 0]))


@pytest.mark.parametrize(
    "shares", [(0.6, 0.4), (0.6, 0.2, 0.3), (1.2, -0.1, -0.1), (0.8, 0.2, 0.0), (0.5, 0.5, "nan")]
)
def test_shares_that_are_none(shares):
    with pytest.raises((ValueError, TypeError), match="`shares` must be "):
        split(dataset([0] * 9), shares=shares)


def test_fixed_parts_are_not_drawn_again():
    with pytest.raises(DataError, match="parts of toy are fixed by its source: `dataset.parts`"):
        split(dataset([0] * 9, parts={}))


def test_groups_that_are_not_there():
    with pytest.raises(DataError, match="`keep_groups_together` needs groups, but toy has none"):
        split(dataset([0] * 9), keep_groups_together=True)
