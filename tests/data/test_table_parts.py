"""A table read some rows at a time is the table."""

import pandas as pd
import pytest

from simloss.data.errors import DataError, MissingDataError
from simloss.data.table_file import read_table, table_parts

TABLE = pd.DataFrame({"id": [f"r{i}" for i in range(25)], "a": [i / 8 for i in range(25)]})


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv", ".parquet"])
@pytest.mark.parametrize("rows", [1, 7, 25, 100])
def test_the_parts_are_the_whole(tmp_path, ending, rows):
    path = tmp_path / f"t{ending}"
    if ending == ".parquet":
        TABLE.to_parquet(path, row_group_size=10)
    else:
        TABLE.to_csv(path, index=False, sep="\t" if ending == ".tsv" else ",")
    parts = list(table_parts(path, rows))
    assert max(map(len, parts)) <= rows
    pd.testing.assert_frame_equal(
        pd.concat(parts, ignore_index=True), read_table(path), check_dtype=False
    )


def test_decimal_commas(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n0,5;0,5\n0,25;0,75\n")
    (part,) = table_parts(path, 10)
    assert part.to_numpy().tolist() == [[0.5, 0.5], [0.25, 0.75]]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"", "must hold a heading and rows, but it is empty"),
        ("t.csv", b"a,b\n", "must hold rows below its heading, but it has none"),
        ("t.csv", b"a,b\n1,2,3\n4,5,6\n", "its rows have more cells than its heading"),
        ("t.csv", b"a,a\n1,2\n", "must have distinct headings, but 'a' occurs twice"),
        ("t.csv", b"a,b\n1,\xff\n", "must be UTF-8 text"),
        ("t.parquet", b"PAR1 not", "must be a parquet file"),
        ("t.txt", b"a", "must end in .csv"),
    ],
)
def test_damage_is_told_in_a_sentence(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        list(table_parts(tmp_path / name, 10))


def test_nothing_there(tmp_path):
    with pytest.raises(MissingDataError, match="Nothing was found at"):
        list(table_parts(tmp_path / "t.csv", 10))
