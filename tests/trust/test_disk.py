"""A full or failing disk, files cut at any length; the long form is `python -m torture disk`."""

import pytest
from torture import disk
from torture.disk import full_at
from torture.grids import Witness, tiny_grid, uninterrupted
from torture.steps import Steps, broken_disk, no_space

from simloss import data
from simloss.data import DataError
from simloss.experiment.grid.run import run
from simloss.experiment.grid.setup import Setup
from simloss.experiment.grid.store import RunFolder, RunFolderError


def test_a_record_whose_write_fails_at_any_byte(tmp_path):
    assert disk.records_full_at_every_byte(tmp_path) > 500


def test_files_that_are_written_whole_on_a_full_disk(tmp_path):
    tried = disk.whole_files_full(tmp_path, step=60)
    assert len(tried) == 6
    assert min(tried.values()) > 10


def test_files_cut_at_many_lengths(tmp_path):
    tried = disk.truncations(tmp_path, step=37)
    assert len(tried) == 7
    assert disk.truncated_records(tmp_path, step=37) > 50


@pytest.mark.parametrize("fault", [no_space, broken_disk], ids=["full", "broken"])
def test_a_step_to_the_disk_that_fails(tmp_path, fault):
    """Every seventh of them; the grid then goes on as if nothing had happened."""
    config = tiny_grid(tmp_path, stacked=True, seeds=2, epochs=1)
    whole = uninterrupted(config, tmp_path / "whole")
    for at in range(1, 10_000, 7):
        steps, target = Steps(at, fault), RunFolder(tmp_path / f"run{at}")
        try:
            with steps.counted():
                run(Setup(config), target)
        except RunFolderError as error:
            assert "cannot be written" in str(error)  # noqa: PT017
        if steps.taken < at:
            break
        witness = Witness(config, target, whole)
        witness.look()
        run(Setup(config), target, resume=True)
        witness.conclude()
    assert at > 20


def test_an_image_cache_on_a_full_disk(tmp_path):
    from data.files import jpeg, write_folder

    faces = write_folder(tmp_path / "faces", {f"{age}_0_0_1.jpg": jpeg(age) for age in (3, 4, 5)})
    cache = tmp_path / "cache"
    whole = data.utkface(faces, size=8, cache=False).inputs
    for size in range(0, 700, 50):
        with full_at(size), pytest.raises(DataError, match=r"could not be written|cannot be"):
            data.utkface(faces, size=8, cache=cache)
        assert not list(cache.glob("*.json"))
    assert data.utkface(faces, size=8, cache=cache).inputs.equal(whole)


def test_damage_in_the_middle_of_the_records_cuts_nothing_off(tmp_path):
    """A wrong number of cells that belong together is damage, not the end of a crash."""
    config = tiny_grid(tmp_path, stacked=False, seeds=2, epochs=1)
    folder = RunFolder(uninterrupted(config, tmp_path / "run"))
    content = folder.records_path.read_bytes()
    folder.records_path.write_bytes(content.replace(b'"together": 1', b'"together": 3', 1))
    with pytest.raises(RunFolderError, match="but line 2 is not"):
        run(Setup(config), folder, resume=True)
    assert folder.records_path.stat().st_size == len(content)


def test_a_configuration_without_its_end(tmp_path):
    config = tiny_grid(tmp_path, stacked=True, seeds=2, epochs=1)
    folder = RunFolder(uninterrupted(config, tmp_path / "run"))
    lines = folder.config_path.read_text().splitlines(keepends=True)
    for end in range(1, len(lines)):
        folder.config_path.write_text("".join(lines[:end]))
        with pytest.raises(ValueError, match="complete|must|needs"):
            folder.config()
