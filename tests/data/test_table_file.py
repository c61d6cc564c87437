"""Text files of tables: what parts the cells, and how their numbers are written."""

import gzip

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest

from simloss.data import DataError, table
from simloss.data.table_file import read_table, table_parts


def write(tmp_path, text, name="t.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def numbers(path, name):
    """A column as `table` reads it, with the target y."""
    read = table(path, target="y")
    return read.inputs[:, [column.name for column in read.columns].index(name)].tolist()


class TestCells:
    def test_an_empty_cell_too_many_on_each_row(self, tmp_path):
        frame = read_table(write(tmp_path, "a,b,y\n1,2,x,\n4,5,z,\n"), ("y",))
        assert frame.to_dict("list") == {"a": [1, 4], "b": [2, 5], "y": ["x", "z"]}

    @pytest.mark.parametrize("rows", ["r1,1,x\nr2,2,z\n", "0,1,x\n1,2,z\n", "5,1,x\n9,2\n"])
    def test_more_cells_than_headings_are_refused(self, tmp_path, rows):
        with pytest.raises(DataError, match="its rows have more cells than its heading has names"):
            read_table(write(tmp_path, "a,y\n" + rows))

    @pytest.mark.parametrize(
        "rows", ["1,5;2,5;a\n", "1;2;a\n", "1,5;2,5;3,5\n", '1,5;2,5;"a;b, c"\n']
    )
    def test_headings_with_commas(self, tmp_path, rows):
        path = write(tmp_path, "Length, mm;Weight, g;t, class\n" + 30 * rows)
        assert list(read_table(path).columns) == ["Length, mm", "Weight, g", "t, class"]

    def test_separators_in_quotes(self, tmp_path):
        path = write(tmp_path, '"a;b;c;d",y\n1,"x;\ny"\n2,"z;\ny"\n')
        assert list(read_table(path).columns) == ["a;b;c;d", "y"]

    def test_uneven_lines_go_by_the_headings(self, tmp_path):
        path = write(tmp_path, "a;b;y\n1;2\n3;4;x\n")
        assert list(read_table(path).columns) == ["a", "b", "y"]

    @pytest.mark.parametrize(
        ("text", "short"),
        [
            ("a,b,y\n1,2,x\n3\n4,5,\n6,7\n\n8,9,z\n", 2),
            ("a;b;y;\n1;2;x;\n3;4;z;\n", 0),
            ('a,b,y\n1,"2\n,3",x\n4,"5, 6"\n', 1),
            ("a;b;y;\n1;2;x\n3;4;z\n5;6\n", 1),
            (",,y\n,,x\n,\n", 1),
            (",,\n1,,\n2\n", 0),
            ("y\nx\n\nz\n", 0),
        ],
    )
    def test_rows_with_fewer_cells_than_the_heading_are_counted(self, tmp_path, text, short):
        assert read_table(write(tmp_path, text)).attrs["short_rows"] == short


class TestHeadings:
    """A few packed bytes may hold millions of them; pandas would make a column of each."""

    @pytest.mark.parametrize("start", ["", "\n", '"\n",'])
    def test_too_many(self, tmp_path, monkeypatch, start):
        monkeypatch.setattr("pandas.read_csv", None)
        path = tmp_path / "t.csv.gz"
        path.write_bytes(gzip.compress(f"{start}{',' * 100_000}\n1,2\n".encode()))
        with pytest.raises(DataError, match="must have at most 100,000 headings, but has 100,00"):
            read_table(path)

    def test_too_long(self, tmp_path, monkeypatch):
        monkeypatch.setattr("pandas.read_csv", None)
        with pytest.raises(DataError, match="must have fewer than 10,000,000 letters of headings"):
            read_table(write(tmp_path, f"{',' * 20_000_000}\n"))
        with pytest.raises(DataError, match="must have plain headings, but: field larger than"):
            read_table(write(tmp_path, "a" * 200_000 + ",b\n1,2\n"))

    def test_sixty_thousand_genes(self, tmp_path):
        names = ",".join(f"ENSG{i:011}" for i in range(70_000))
        assert read_table(write(tmp_path, f"{names}\n{'1,' * 69_999}1\n")).shape == (1, 70_000)


class TestParquet:
    """A list of equal numbers, or a long text that many cells share, takes a few bytes."""

    @pytest.fixture
    def path(self, tmp_path, monkeypatch):
        monkeypatch.setattr("simloss.data.memory.available_memory", lambda: 10**7)
        return tmp_path / "t.parquet"

    def test_a_text_for_many_rows(self, path):
        pd.DataFrame({"t": ["x" * 10**5] * 200, "p": 0.5}).to_parquet(path)
        assert path.stat().st_size < 10**5
        with pytest.raises(DataError, match=r"needs about 19.1 MB of memory, but 9.5 MB is free"):
            read_table(path)
        with pytest.raises(DataError, match=r"needs about 19.1 MB of memory"):
            next(table_parts(path, 1000))
        assert next(table_parts(path, 10))["t"].tolist() == ["x" * 10**5] * 10

    @pytest.mark.parametrize("cells", [lambda t: [t], lambda t: [{"a": t}], lambda t: {"a": [t]}])
    def test_texts_in_lists_are_not_read(self, path, cells):
        pd.DataFrame({"t": [cells("x" * 10**5)] * 200, "p": 0.5}).to_parquet(path)
        assert path.stat().st_size < 10**5
        for frame in (read_table(path), *table_parts(path, 200)):
            assert list(frame) == ["t", "p"]
            assert [len(each) for each in frame["t"]] == [0] * 200

    @pytest.mark.parametrize("others", [[None] * 99, [str(i) for i in range(99)]])
    def test_only_what_is_there_counts(self, path, others):
        pd.DataFrame({"t": ["x" * 10**5, *others]}).to_parquet(path)
        assert read_table(path)["t"].dropna().tolist()[1:] == [each for each in others if each]

    def test_a_list_of_many_numbers(self, path):
        pd.DataFrame({"l": [np.zeros(2 * 10**6)], "y": "a"}).to_parquet(path)
        assert path.stat().st_size < 10**5
        with pytest.raises(DataError, match=r"needs about 15.3 MB of memory"):
            read_table(path)
        part = next(table_parts(path, 1))
        assert (part["l"][0].tolist(), part["y"][0]) == ([], "a")

    @pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"])
    def test_texts_by_what_differs_from_the_one_before(self, path, encoding):
        """Arrow cannot share these; other programs write them."""
        options = {"use_dictionary": False, "column_encoding": {"t": encoding, "x": "PLAIN"}}

        def written(texts):
            made = pyarrow.table({"t": texts, "x": range(len(texts))})
            pyarrow.parquet.write_table(made, path, compression="zstd", **options)
            assert path.stat().st_size < 10**5

        texts = [f"text {i % 7}" for i in range(300)]
        written(texts)
        assert read_table(path)["t"].tolist() == texts
        parts = list(table_parts(path, 100))
        assert [text for part in parts for text in part["t"]] == texts
        assert [part["x"].iloc[0] for part in parts] == [0, 128, 256]
        written(["x" * 10**5] * 200)
        for read in (read_table, lambda path: next(table_parts(path, 200))):
            with pytest.raises(DataError, match=r"needs about 1\d\.\d MB of memory"):
                read(path)
        assert len(next(table_parts(path, 10))) == 10

    def test_what_the_pages_hold_unpacked(self, path, monkeypatch):
        """Texts that nearly agree are packed as well as ones that do."""
        monkeypatch.setattr("simloss.data.parquet_file._frames", None)
        texts = ["x" * 10**5 + str(i) for i in range(200)]
        pd.DataFrame({"t": texts}).to_parquet(path, compression="zstd")
        assert path.stat().st_size < 10**5
        with pytest.raises(DataError, match=r"needs about 19.1 MB of memory"):
            read_table(path)

    def test_a_text_that_is_none(self, path):
        broken = pyarrow.array([b"a", b"\xd1"]).view(pyarrow.string())
        pyarrow.parquet.write_table(pyarrow.table({"t": broken}), path)
        with pytest.raises(DataError, match="must be a parquet file, but: .*UTF8"):
            read_table(path)

    def test_more_texts_than_an_array_holds(self, path, monkeypatch):
        monkeypatch.setattr("simloss.data.parquet_file._LONGEST", 20)
        texts = ["short", None, "a longer text", "x" * 50, "short"] * 3
        pd.DataFrame({"t": texts}).to_parquet(path)
        assert read_table(path)["t"].fillna("").tolist() == [each or "" for each in texts]

    @pytest.mark.parametrize(
        "headings", [[0, 2, 3], [2020, 2021, 2022], pd.date_range("2020-01-01", periods=3)]
    )
    def test_headings_that_are_no_texts(self, path, headings):
        cells = [[0.5, "u", 1], [1.5, "v", 2]]
        pd.DataFrame(cells, columns=headings).to_parquet(path)
        for frame in (read_table(path), *table_parts(path, 2)):
            assert list(frame) == [str(each) for each in headings]
            assert frame.to_numpy().tolist() == cells

    def test_wide_numbers(self, path):
        wide = pyarrow.array([b"x" * 10**5] * 200, pyarrow.binary(10**5))
        pyarrow.parquet.write_table(pyarrow.table({"b": wide}), path)
        assert path.stat().st_size < 10**5
        with pytest.raises(DataError, match=r"needs about 19.1 MB of memory"):
            read_table(path)

    def test_a_few_labels_in_many_rows_stay_what_they_are(self, path):
        labels = pd.Categorical.from_codes([0, 1] * 50_000, ["x" * 200, "y" * 200], ordered=True)
        frame = pd.DataFrame({"c": labels, "s": ["u", None] * 50_000, "v": [[1.5, 2.5]] * 10**5})
        frame.to_parquet(path)
        found = read_table(path)
        assert found["c"].dtype == frame["c"].dtype
        assert found["s"].tolist()[::2] == ["u"] * 50_000
        assert found["s"].isna().tolist()[1::2] == [True] * 50_000
        assert found["v"][7].tolist() == [1.5, 2.5]

    @pytest.mark.parametrize("columns", [["x", "x"], ["a.b", "a"]])
    def test_two_columns_of_one_name(self, path, columns):
        cells = pyarrow.array(["u", "v"])
        inner = pyarrow.array([{"b": "x"}, {"b": "y"}]) if "a" in columns else cells
        pyarrow.parquet.write_table(pyarrow.Table.from_arrays([cells, inner], columns), path)
        sentence = f"must have distinct headings, but '{columns[0]}' occurs 2 times"
        with pytest.raises(DataError, match=sentence):
            read_table(path)

    def test_json_beside_texts(self, path):
        texts = pyarrow.array(["{}", "[]"])
        made = {"j": pyarrow.ExtensionArray.from_storage(pyarrow.json_(), texts), "t": texts}
        pyarrow.parquet.write_table(pyarrow.table(made), path)
        assert read_table(path)["j"].tolist() == read_table(path)["t"].tolist() == ["{}", "[]"]


class TestNumbers:
    def test_thousands_with_commas(self, tmp_path):
        rows = '"8,122",a\n900,b\n"12,000.5",a\n"-1,000,000",b\n'
        assert numbers(write(tmp_path, "x,y\n" + rows), "x") == [8122, 900, 12000.5, -1000000]

    def test_thousands_with_points_where_fractions_have_commas(self, tmp_path):
        path = write(tmp_path, "x;z;w;y\n1.250;0,5;1.5;a\n12.500;1,5;2.25;b\n980;2;3;a\n")
        assert numbers(path, "x") == [1250, 12500, 980]
        assert numbers(path, "z") == [0.5, 1.5, 2]
        assert numbers(path, "w") == [1.5, 2.25, 3]  # no thousands

    def test_points_alone_are_fractions(self, tmp_path):
        assert numbers(write(tmp_path, "x;y\n1.250;a\n2.500;b\n"), "x") == [1.25, 2.5]
        path = write(tmp_path, "x;z;y\n0.500;0,5;a\n1.250;1,5;b\n")
        assert numbers(path, "x") == [0.5, 1.25]  # 0.500 is none with thousands

    def test_semicolons_with_points_and_thousands_commas(self, tmp_path):
        path = write(tmp_path, "x;z;y\n1,250;0.5;a\n2,500;1.5;b\n")
        assert numbers(path, "x") == [1250, 2500]

    @pytest.mark.parametrize("cell", ["{}", '"{}"'])
    @pytest.mark.parametrize("name", ["t.tsv", "t.csv"])
    def test_tabs_with_decimal_commas(self, tmp_path, cell, name):
        rows = "".join(f"{cell.format(x)}\t{y}\n" for x, y in (("0,5", "a"), ("1,25", "b")))
        assert numbers(write(tmp_path, "x\ty\n" + rows, name), "x") == [0.5, 1.25]

    def test_words_among_decimal_commas_are_gaps(self, tmp_path):
        rows = "".join(f"{i},5;{i % 2}\n" for i in range(9)) + "unknown;0\n"
        read = table(write(tmp_path, "x;y\n" + rows), target="y")
        assert read.inputs[:9, 0].tolist() == [i + 0.5 for i in range(9)]
        assert read.notes["not_numbers"] == {"x": {"count": 1, "example": "unknown"}}

    @pytest.mark.parametrize("name", ["t.tsv", "t.csv"])
    def test_commas_that_are_not_read_are_called_so(self, tmp_path, name):
        """Thousands or fractions: nothing in the file tells."""
        cells = [f"{i},{500 if name == 't.tsv' else i}" for i in range(1, 31)]
        frame = pd.DataFrame({"x": cells, "z": np.arange(30) % 7, "y": ["a", "b"] * 15})
        frame.to_csv(tmp_path / name, index=False, sep="\t" if name == "t.tsv" else ",")
        read = table(tmp_path / name, target="y")
        assert read.notes["unused"] == {"x": "looks like numbers in an unknown format"}

    @pytest.mark.parametrize("mark", [" ", "\u00a0", "\u202f", "'"])
    def test_other_thousands_are_no_identifiers(self, tmp_path, mark):
        cells = [f"{900 + 7 * i:,}".replace(",", mark) + ",5" for i in range(40)]
        frame = pd.DataFrame({"x": cells, "z": np.arange(40) % 7, "y": ["a", "b"] * 20})
        frame.to_csv(tmp_path / "t.csv", index=False, sep=";")
        read = table(tmp_path / "t.csv", target="y")
        assert read.notes["unused"] == {"x": "looks like numbers in an unknown format"}

    @pytest.mark.parametrize(
        ("text", "name"),
        [
            ("x;y\n1;1,3\n2;2,7\n3;3,9\n4;4,1\n", "t.csv"),
            ("x\ty\n1\t1,3\n2\t2,7\n3\t3,9\n4\t4,1\n", "t.tsv"),
            ('x,y\n1,"1,300"\n2,"2,700"\n3,"3,900"\n4,"4,100"\n', "t.csv"),
        ],
    )
    def test_the_target_too(self, tmp_path, text, name):
        path = write(tmp_path, text, name)
        unit = 1000 if "300" in text else 1
        edges = table(path, target="y", bins=2).notes["edges"]
        assert edges == pytest.approx([1.3 * unit, 3.3 * unit, 4.1 * unit])
        by_class = table(path, target="y")
        assert by_class.class_names == tuple(f"{v * unit:g}" for v in (1.3, 2.7, 3.9, 4.1))
        assert by_class.notes["class_order"] == "numbers"

    def test_words_keep_their_commas(self, tmp_path):
        path = write(tmp_path, 'x,y\n1,"1,500"\n2,"Paris, France"\n')
        assert table(path, target="y").class_names == ("1,500", "Paris, France")

    def test_parquet(self, tmp_path):
        frame = pd.DataFrame({"x": ["1,250", None, "30"], "l": [[1], [2], [3]], "y": list("aba")})
        frame.to_parquet(tmp_path / "t.parquet")
        np.testing.assert_equal(numbers(tmp_path / "t.parquet", "x"), [1250, np.nan, 30])
