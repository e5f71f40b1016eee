"""The documents as a whole; examples in them run in test_package.py and commands/test_documents.py."""

import importlib.util
import re
from pathlib import Path
from pkgutil import resolve_name
from typing import Annotated

import typer

from gramshift.commands.main import app

DOCS = Path(__file__).parents[1] / "docs"


def script(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_command_reference_has_every_command_and_option():
    reference = script("make_command_reference")
    page = reference.command_reference()
    sections = dict(re.findall(r"^## gramshift (\w+)\n(.*?)(?=^## |\Z)", page, flags=re.DOTALL | re.MULTILINE))
    commands = typer.main.get_command(app).commands
    assert sorted(sections) == sorted(commands)
    for name, command in commands.items():
        assert command.help in sections[name]
        for one in command.params:
            assert reference.cell(one.help) in sections[name]
            if one.param_type_name == "option":
                assert all(re.search(f"`{re.escape(spelling)}[` ]", sections[name]) for spelling in one.opts)


def test_a_command_is_described_as_its_code_has_it():
    def cook(
        dish: Annotated[str, typer.Argument(help="What to cook.")],
        recipe: Annotated[str, typer.Option("--recipe", "-r", metavar="FILE", help="From here: a|b,\n or c.")],
        guests: Annotated[int, typer.Option(help="How many eat.")] = 4,
        salt: Annotated[str | None, typer.Option(help="Grams.", show_default="to taste", rich_help_panel="Taste")] = None,
        quick: Annotated[bool, typer.Option("--quick", help="No time.", rich_help_panel="Taste")] = False,
        oven: Annotated[bool, typer.Option(help="Bake it.", rich_help_panel="Taste")] = True,
        secret: Annotated[bool, typer.Option(hidden=True)] = False,
    ) -> None:
        """Cook a dish."""

    kitchen = typer.Typer()
    kitchen.command("cook")(cook)
    lines = script("make_command_reference").describe_command("cook", typer.main.get_command(kitchen))
    assert "\n".join(line for line in lines if "completion" not in line).split("\n") == [
        "## gramshift cook",
        "",
        "Cook a dish.",
        "",
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


def test_the_pictures_are_those_that_the_code_draws():
    for name, content in script("make_pictures").make_pictures().items():
        assert (DOCS / "images" / name).read_text() == content, f"run python -m docs.make_pictures: {name} has changed"


def test_the_page_about_the_rooms_names_what_is_there():
    """Every name such as learn.rounds.fit_rounds and every file such as learn/rounds.py."""
    text = (DOCS / "architecture.md").read_text()
    source = DOCS.parent / "src" / "gramshift"
    rooms = {path.name for path in source.iterdir() if path.is_dir()}
    names = [name for name in re.findall(r"`([a-z_]+(?:\.\w+)+)`", text) if name.split(".")[0] in rooms]
    files = [name for name in re.findall(r"`([a-z_]+/[a-z_/]*(?:\.py)?)`", text) if name.split("/")[0] in rooms]
    assert len(names) > 15
    assert len(files) > 10
    assert [name for name in files if not (source / name).exists()] == []
    for name in names:
        assert resolve_name(f"gramshift.{name}") is not None


def test_files_of_tests_that_pages_name_are_there():
    root = DOCS.parent
    for page in (*DOCS.glob("*.md"), root / "README.md", root / "CONTRIBUTING.md"):
        for name in re.findall(r"`((?:tests|bench|docs)/\w[\w/]*\.py)`", page.read_text()):
            assert (root / name).is_file(), f"{page.name} names {name}"


def test_every_page_is_in_the_menu():
    menu = (DOCS.parent / "mkdocs.yml").read_text().split("\nnav:\n")[1]
    listed = re.findall(r"(\S+\.md)$", menu, flags=re.MULTILINE)
    made = {script("make_command_reference").PAGE}
    assert len(listed) == len(set(listed))
    assert set(listed) - made == {page.name for page in DOCS.glob("*.md")}


def test_links_between_documents_lead_somewhere():
    for page in [DOCS.parent / "README.md", DOCS.parent / "CONTRIBUTING.md", *DOCS.glob("*.md")]:
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
            assert "://" in link or (page.parent / link).exists(), f"{page.name} links to {link}"
