import time
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simloss.data import ordered_words
from simloss.data.class_order import ClassOrder, class_order, dates, positions


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
        ("bad poor fair good great", "words"),
        ("poor fair average good excellent", "words"),
        ("awful bad ok good superb", "words"),
        ("unsatisfactory satisfactory good outstanding", "words"),
        ("very_unhappy unhappy neutral happy very_happy", "words"),
        ("not_too_happy pretty_happy very_happy", "words"),
        ("extremely_dissatisfied not_very_satisfied fairly_satisfied very_satisfied", "words"),
        ("fully_disagree tend_to_disagree neither tend_to_agree fully_agree", "words"),
        ("extremely_unlikely somewhat_unlikely maybe somewhat_likely certain", "words"),
        ("definitely_not probably_not maybe probably definitely", "words"),
        ("not_at_all_important somewhat_important very_important essential", "words"),
        ("somewhat_unimportant neutral somewhat_important", "words"),
        ("very_easy somewhat_easy neutral somewhat_difficult extremely_difficult", "words"),
        ("easy medium hard expert", "words"),
        ("never very_rarely occasionally frequently very_frequently", "words"),
        ("never a_few_times_a_year once_a_month once_a_week every_day", "words"),
        ("dislike neutral like love", "words"),
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


@pytest.mark.parametrize(
    ("in_order", "other"),
    [
        (["1 star", "2 stars", "10 stars"], ["1 star", "2 planets"]),
        (["1 class-room", "2 class-rooms"], ["1 room", "2 class rooms"]),
        (["1 year old", "2 years old"], ["1 year old", "2 years young"]),
        (["0 entries", "1 entry"], ["1 entry", "2 entrances"]),
        (["1 box", "2 boxes"], ["1 box", "2 boxers"]),
        (["1 child", "2 children"], ["1 child", "2 kids"]),
        (["grade 1", "grade 2"], ["grade 1", "grades 2"]),
        (["1 m", "2 m"], ["1 m", "2 ms"]),
        (["1 star", "2 stars"], ["1 star", "1 stars", "2 stars"]),
        (["1 star", "2 stars"], ["1 star", "2 stars", "3 starss"]),
    ],
)
def test_the_plural_of_a_unit_is_the_same_unit(in_order, other):
    assert class_order(in_order[::-1]) == ClassOrder(tuple(in_order), "numbers")
    assert class_order(other).kind == "names"


def test_no_two_scales_order_two_words_differently():
    known = {("critical", "extreme")}  # of pain, and of a risk
    for one, other in combinations(ordered_words._scales(), 2):
        for pair in combinations(sorted(one.keys() & other.keys()), 2):
            first, second = ((scale[pair[0]] - scale[pair[1]]) for scale in (one, other))
            assert first * second >= 0 or pair in known


def test_every_word_of_a_scale_can_be_found_and_once():
    for scale, line in zip(ordered_words._scales(), ordered_words._lines(), strict=True):
        assert len(scale) == len(line.replace(", ", "|").split("|"))
        assert all(ordered_words._plain(word) == word for word in scale)


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
