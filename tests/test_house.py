"""The house keeps to its plan: how many modules, how they are called, who imports whom, what tests reach into."""

import json

import pytest

from bench import house
from bench.__main__ import main
from bench.imports import Import, read_imports, read_source


@pytest.fixture(scope="module")
def now():
    return house.count_house(house.ROOT)


def test_no_two_modules_have_one_name(now):
    assert now["names_used_twice"] == {}


def test_a_module_that_one_other_imports_is_a_leaf_or_an_idea_of_its_own(now):
    assert now["one_importer_unlisted"] == []
    assert set(house.ALONE) - set(now["one_importer_no_leaf"]) == set(), "they need no reason any more"


def test_tests_reach_into_few_modules(now):
    """Streams, arguments and full disks of the system are not counted: they are how its faults are made."""
    assert now["patches_of_ours"] <= house.MOST_PATCHES


FORMS = {
    "top": "from gramshift.a.one import f",
    "top, whole": "import gramshift.a.one",
    "top, by another name": "import gramshift.a.one as short",
    "top, from the folder": "from gramshift.a import one",
    "top, relative": "from .one import f",
    "top, relative folder": "from . import one",
    "top, relative from above": "from ..a.one import f",
    "top, attempted": "try:\n    from gramshift.a.one import f\nexcept ImportError:\n    f = None",
    "type": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from gramshift.a.one import f",
    "late": "def g():\n    from gramshift.a.one import f",
    "late, in a class": "class C:\n    def g(self):\n        import gramshift.a.one",
    "string": "from importlib import import_module\nimport_module('gramshift.a.one')",
    "string, relative": "from importlib import import_module\nimport_module('.one', __package__)",
    "string, in a table": "HOMES = {'f': 'gramshift.a.one'}",
    "string, handed to a function": "def load(name):\n    return import_module(f'gramshift.{name}')\nload('a.one')",
    "string, added up": "import_module('gramshift.' + 'a.one')",
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_import_is_seen(tmp_path, form):
    (tmp_path / "a").mkdir()
    files = {"__init__.py": "", "a/__init__.py": "", "a/one.py": "f = 1", "a/two.py": f'"""gramshift.a"""\n{FORMS[form]}'}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (found,) = read_imports(read_source(tmp_path))
    assert (found.importer, found.imported) == ("gramshift.a.two", "gramshift.a.one")
    assert found.how == form.partition(",")[0]


def test_a_room_that_a_name_is_put_behind_is_seen(tmp_path):
    (tmp_path / "a").mkdir()
    files = {"__init__.py": "import_module(f'gramshift.a.{name}')", "a/__init__.py": "", "a/one.py": ""}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert read_imports(read_source(tmp_path)) == [Import("gramshift", "gramshift.a", "", "string")]


COUNTED = {
    "src/gramshift/__init__.py": "",
    "src/gramshift/room/__init__.py": "",
    "src/gramshift/room/same.py": "from gramshift.room.leaves.same import f",
    "src/gramshift/room/leaves/__init__.py": "",
    "src/gramshift/room/leaves/same.py": "@leaf('int64()')\ndef f():\n    return 1",
    "src/gramshift/other/__init__.py": "",
    "src/gramshift/other/twice.py": "def g():\n    from gramshift.room.same import f, h",
    "src/gramshift/third/__init__.py": "",
    "src/gramshift/third/twice.py": "x = 1\n" * 401,
    "src/gramshift/commands/__init__.py": "",
    "src/gramshift/commands/same.py": "import gramshift.other.twice, gramshift.third.twice",
    "tests/test_some.py": (
        "import os, gramshift.room.same as own\ndef test(monkeypatch):\n    monkeypatch.setattr(os, 'fsync', None)\n"
        "    monkeypatch.setattr(own, '_f', None)\n    monkeypatch.setattr('gramshift.room.same.SIZE', 1)\n"
        "    monkeypatch.setattr(own, 'f', None)\n    monkeypatch.setattr('os.fsync', None)\n"
    ),
}


def test_what_is_counted(tmp_path):
    for name, text in COUNTED.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert house.count_house(tmp_path) == {
        "modules": 5,
        "names_used_twice": {"twice": ["other.twice", "third.twice"]},
        "names_like_what_they_serve": ["commands.same", "room.leaves.same"],
        "late_imports": 2,
        "imports_by_string": 0,
        "one_importer": 4,
        "one_importer_no_leaf": ["other.twice", "room.same", "third.twice"],
        "one_importer_unlisted": ["other.twice", "room.same", "third.twice"],
        "patches": 5,
        "patches_of_ours": 3,
        "patches_of_private_names": 2,
        "too_long": {"gramshift.third.twice": 401},
    }


@pytest.mark.process
def test_the_count_is_a_command(capsys):
    assert main(["house", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["now"]["modules"] > 100
    assert "monkeypatch.setattr in tests" in house.show(result)


@pytest.mark.process
def test_a_commit_that_git_does_not_know(capsys):
    assert main(["house", "--commit", "no-such-commit"]) == 1
    assert capsys.readouterr().err.startswith("bench: fatal:")
