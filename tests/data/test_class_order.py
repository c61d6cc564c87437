import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simloss.data import ordered_words
from simloss.data.class_order import class_order, dates, positions


@pytest.mark.parametrize(
    ("in_order", "kind"),
    [
        ("1 2 3 10 11 12", "numbers"),
        ("-2 -1.5 0 3", "numbers"),
        ("0-9 10-19 20-99 100+", "numbers"),
        ("<18 18–64 65+", "numbers"),
        ("900 1,500 1,900 2,500 1,000,000", "numbers"),
        ("0,9 1,2 2,5 10", "numbers"),
        ("0,125 1,500", "numbers"),  # the first is no thousand
        ("(-1,0] (0,10] (10,12]", "numbers"),
        ("[0,10) [10,12) [12,100]", "numbers"),
        ("900 1500 2,500", "names"),  # 2500 or 2.5
        ("1,5,2 1,6,3", "names"),
        ("item2 item10 item100", "numbers"),
        ("class-1 class-2 class-10", "numbers"),
        ("2023-11 2023-12 2024-01", "dates"),
        ("11/2023 12/2023 01/2024", "dates"),
        ("Low medium HIGH", "words"),
        ("too-little about-right too-much", "words"),
        ("not notvery somewhat very", "words"),
        ("XS S M L XL XXL", "words"),
        ("never rarely sometimes often always", "words"),
        ("bad good excellent", "words"),
        ("first second third", "words"),
        ("A B C D F", "words"),
        ("A+ A A- B+ B", "words"),
        ("Jan Feb Mar Dec", "words"),
        ("Monday Tuesday Sunday", "words"),
        ("strongly_disagree disagree neutral agree strongly_agree", "words"),
        ("2023-12-31 2024-01-01 2024-02-01", "dates"),
        ("31.12.2023 01.01.2024 01.02.2024", "dates"),
        ("Jan-2024x Feb-2024y z", "names"),
        ("ant bee cat", "names"),
        ("v2-a v10-b", "names"),
    ],
)
def test_orders_people_mean(in_order, kind):
    names = in_order.split()
    for given_names in (names[::-1], sorted(names), names * 2):
        found = class_order(given_names)
        assert found.kind == kind
        if kind != "names":
            assert list(found.names) == names
    assert found.is_ordered == (kind != "names")


def test_long_names_take_no_minutes():
    names = ["a" + mark * 100_000 + "!" for mark in ("-", " _", "1", "1,", "1.", "[1 ")]
    start = time.perf_counter()
    assert all(class_order([name, "low"]).kind == "names" for name in names)
    assert time.perf_counter() - start < 10


def test_the_longest_word_of_a_scale_is_read():
    assert max(len(word) for scale in ordered_words._scales() for word in scale) < 200


@given(st.sets(st.integers(-(10**6), 10**6), min_size=2))
def test_numbers_sort_as_numbers(numbers):
    names = [str(number) for number in numbers]
    assert class_order(names).names == tuple(str(number) for number in sorted(numbers))
    assert positions(names) == [float(number) for number in numbers]


def test_names_sort_naturally():
    assert class_order(["b10x", "b2y", "a"]).names == ("a", "b2y", "b10x")


def test_a_given_order():
    found = class_order(["ripe", "raw"], ["raw", "ripe"])
    assert (found.names, found.kind) == (("raw", "ripe"), "given")
    with pytest.raises(ValueError, match="`class_order` must name all 2 classes, but 'raw' is"):
        class_order(["raw", "ripe"], ["ripe"])
    with pytest.raises(ValueError, match=r"but 'rype' is not one \(did you mean 'ripe'\?\)"):
        class_order(["raw", "ripe"], ["raw", "rype"])


def test_two_names_of_one_number_or_day_are_no_order():
    assert positions(["1", "1.0"]) is None
    assert dates(["2024-01-01", "2024-01-01"]) is None
    assert class_order(["med", "medium"]).kind == "names"


def test_long_lists_are_cut_in_print():
    assert "12 < … < 89" in str(class_order([str(i) for i in range(1, 101)]))
