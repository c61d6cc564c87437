"""A name becomes an import only where the user has given it."""

import ast
import copy
import json
import pickle
from dataclasses import asdict, replace
from pathlib import Path

import pytest

import simloss
from simloss._imports import UsersName, imported
from simloss.experiment.plan.config import Config
from simloss.experiment.plan.presets import comparison
from simloss.experiment.plan.treatment import Treatment


def test_what_the_user_names_is_imported():
    assert imported("loss", UsersName("json:dumps")) is json.dumps


@pytest.mark.parametrize("plain", ["json:dumps", str(UsersName("json:dumps"))])
def test_plain_text_is_not(plain):
    with pytest.raises(ValueError, match="`loss` 'json:dumps' comes from a file, and a file may"):
        imported("loss", plain)


@pytest.mark.parametrize("name", ["json:absent", "no_such_module:x", "json", "", ":", "json:"])
def test_what_cannot_be_imported_is_one_sentence(name):
    with pytest.raises(ValueError, match="`loss` must name an importable module:name, but got"):
        imported("loss", UsersName(name))


def test_a_name_stays_the_users_in_copies_and_in_other_processes():
    treatment = Treatment(UsersName("mine:Loss"), UsersName("mine:alike"), 0.5)
    for same in (
        pickle.loads(pickle.dumps(treatment)),
        copy.deepcopy(treatment),
        replace(treatment, value=0.7),
        Treatment(**asdict(treatment)),
    ):
        assert isinstance(same.loss, UsersName)
        assert isinstance(same.similarity, UsersName)


def own() -> Config:
    """A configuration in which every name that can be is a user's own."""
    plain = comparison("diamonds", seeds=1)
    return replace(
        plain,
        data=replace(plain.data, source=UsersName("mine:reader")),
        model=UsersName("mine:net"),
        treatments=(
            plain.treatments[0],
            Treatment(UsersName("mine:Loss"), UsersName("mine:alike"), 0.5),
        ),
        cost=UsersName("mine:alike"),
    )


def names(config: Config) -> list[str]:
    last = config.treatments[-1]
    return [config.data.source, config.model, config.cost, last.loss, last.similarity]


def test_a_name_is_plain_text_once_it_was_in_a_file(tmp_path):
    config = own()
    config.save(tmp_path / "config.yaml")
    for read in (
        Config.load(tmp_path / "config.yaml"),
        Config.load(tmp_path / "config.yaml", whole=True),
        Config.from_dict(json.loads(json.dumps(config.as_dict()))),
        Config.from_dict(config.as_dict()),
    ):
        assert read == config
        assert {type(name) for name in names(read)} == {str}


def test_unless_the_user_has_named_that_file(tmp_path):
    config = own()
    config.save(tmp_path / "config.yaml")
    read = Config.load(tmp_path / "config.yaml", named_by_user=True)
    assert read == config
    assert {type(name) for name in names(read)} == {UsersName}


def test_what_was_just_run_vouches_for_its_own_names_only():
    mine, theirs = own(), Config.from_dict(own().as_dict())
    other = Treatment("mine:Other", "mine:alike", 0.5)
    both = replace(theirs, treatments=(*theirs.treatments, other))
    seen = mine.vouching_for(both)
    assert seen == both
    assert [type(t.loss) for t in seen.treatments] == [str, UsersName, str]
    assert type(seen.cost) is UsersName
    assert type(replace(mine, cost=None).vouching_for(both).cost) is str


def test_there_is_one_door():
    """No other file imports by name, but for the package's own lazy parts."""
    root = Path(simloss.__file__).parent
    importing = {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Name) and node.id in ("import_module", "__import__")
    }
    assert importing == {"__init__.py", "_checks/surroundings.py", "_imports.py"}
