"""The documentation; its examples run in test_package.py and commands/test_documents.py."""

import importlib.util
import inspect
import re
import tomllib
from pathlib import Path
from pkgutil import resolve_name
from typing import Annotated
from xml.etree import ElementTree

import typer

from gramshift.model.fit import fit_documents

DOCS = Path(__file__).parents[1] / "docs"


def script(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_commands_has_every_command_and_option():
    reference = script("make_command_reference")
    commands = reference.find_commands()
    places = reference.PLACE.findall((DOCS / reference.PAGE).read_text())
    assert sorted(places) == sorted(commands)
    for name, command in commands.items():
        section = reference.fill_options(f"Before.\n<!-- options: {name} -->\nAfter.")
        assert section.startswith("Before.\n| ")
        assert section.endswith("|\n\nAfter.")
        for one in command.params:
            assert reference.cell(one.help) in section
            if one.param_type_name == "option":
                assert all(
                    re.search(f"`{re.escape(spelling)}[` ]", section) for spelling in one.opts
                )


def test_help_can_be_read_alone():
    """Each is a sentence that can be understood without the name of the option and its panel."""
    for name, command in script("make_command_reference").find_commands().items():
        for one in (command, *command.params):
            words = one.help.split("\n\n")[0]
            assert words.endswith("."), f"{name}: {words}"
            assert len(words.split()) > 2, f"{name}: {words}"


def test_options_of_one_name_mean_the_same_everywhere():
    found = {}
    for command in script("make_command_reference").find_commands().values():
        for one in command.params:
            found.setdefault(one.opts[0], set()).add(
                (
                    getattr(one, "is_flag", False),
                    (one.help or "").split(",")[0].split(":")[0].split(";")[0],
                )
            )
    for option in ("--memory", "--kernel", "--text", "--format", "--abstain-below", "--scheduler"):
        assert len({(is_flag, words.rstrip(".")) for is_flag, words in found[option]}) == 1, (
            option,
            found[option],
        )


def test_a_command_is_described_as_its_code_has_it():
    def cook(
        dish: Annotated[str, typer.Argument(help="What to cook.")],
        recipe: Annotated[
            str, typer.Option("--recipe", "-r", metavar="FILE", help="From here: a|b,\n or c.")
        ],
        guests: Annotated[int, typer.Option(help="How many eat.")] = 4,
        salt: Annotated[
            str | None,
            typer.Option(help="Grams.", show_default="to taste", rich_help_panel="Taste"),
        ] = None,
        quick: Annotated[
            bool, typer.Option("--quick", help="No time.", rich_help_panel="Taste")
        ] = False,
        oven: Annotated[bool, typer.Option(help="Bake it.", rich_help_panel="Taste")] = True,
        secret: Annotated[bool, typer.Option(hidden=True)] = False,
    ) -> None:
        """Cook a dish."""

    kitchen = typer.Typer()
    kitchen.command("cook")(cook)
    lines = script("make_command_reference").describe_options(typer.main.get_command(kitchen))
    assert "\n".join(line for line in lines if "completion" not in line).split("\n") == [
        "| Options | | Default |",
        "|---|---|---|",
        "| `DISH` | What to cook. | required |",
        "| `--recipe FILE`, `-r` | From here: a\\|b, or c. | required |",
        "| `--guests GUESTS` | How many eat. | `4` |",
        "",
        "| Taste | | Default |",
        "|---|---|---|",
        "| `--salt SALT` | Grams. | to taste |",
        "| `--quick` | No time. |  |",
        "| `--oven`, `--no-oven` | Bake it. | `--oven` |",
        "",
    ]


def words_of(picture):
    return [one.strip() for one in ElementTree.fromstring(picture).itertext() if one.strip()]


def test_the_pictures_show_what_the_code_computes():
    """Every subpackage and every number in them; where a line runs does not matter."""
    for name, content in script("make_pictures").make_pictures().items():
        drawn = words_of((DOCS / "images" / name).read_text())
        assert drawn == words_of(content), f"run python -m docs.make_pictures: {name} has changed"


def test_the_architecture_page_names_existing_modules_and_shows_the_fit():
    text = (DOCS / "architecture.md").read_text()
    source = DOCS.parent / "src" / "gramshift"
    folders = {path.name for path in source.iterdir() if path.is_dir()}
    paths = re.findall(r"`([a-z_]+/[a-z_/]*(?:\.py)?)`", text)
    names = re.findall(r"`([a-z_]+(?:\.\w+)+)`", text)
    names = [name for name in names if not name.endswith(".py")]
    for name in paths:
        root = source if name.split("/")[0] in folders else DOCS.parent
        assert (root / name).exists(), name
    for name in names:
        if name.split(".")[0] in folders:
            assert resolve_name(f"gramshift.{name}") is not None
    assert inspect.getsource(fit_documents).strip() in text


def test_files_of_tests_that_pages_name_are_there():
    root = DOCS.parent
    for page in (*DOCS.glob("*.md"), root / "README.md", root / "CONTRIBUTING.md"):
        for name in re.findall(r"`((?:tests|bench|docs)/\w[\w/]*\.py)`", page.read_text()):
            assert (root / name).is_file(), f"{page.name} names {name}"


def test_every_dependency_has_its_licence_on_the_page():
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text())["project"]
    groups = {"always": project["dependencies"], **project["optional-dependencies"]}
    wanted = {
        (re.match(r"[\w.-]+", one)[0], group) for group, some in groups.items() for one in some
    }
    licences = (
        (DOCS.parent / "CONTRIBUTING.md").read_text().split("## Licences")[1].split("| data |")[0]
    )
    rows = re.findall(r"^\| (\S+) \| (.+) \| (.+) \|$", licences, re.MULTILINE)
    found = {(name, group) for name, _, some in rows[1:] for group in some.split(", ")}
    assert found == {(name, group) for name, group in wanted if name != "gramshift"}


def test_every_page_is_in_the_menu():
    text = "".join((DOCS / name).read_text() for name in ("index.md", "lab-book.md"))
    menus = re.findall(r"^```{toctree}\n(.*?)```", text, flags=re.DOTALL | re.MULTILINE)
    listed = [
        line for menu in menus for line in menu.splitlines() if re.fullmatch(r"[a-z-]+", line)
    ]
    assert len(listed) == len(set(listed))
    assert {f"{name}.md" for name in listed} == {page.name for page in DOCS.glob("*.md")} - {
        "index.md"
    }


def test_links_between_documents_lead_somewhere():
    for page in [DOCS.parent / "README.md", DOCS.parent / "CONTRIBUTING.md", *DOCS.glob("*.md")]:
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
            assert "://" in link or (page.parent / link).exists(), f"{page.name} links to {link}"
