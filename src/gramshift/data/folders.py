"""Folders of .txt files, and folders with a folder of them per class."""

import os
from collections.abc import Iterator
from pathlib import Path

from gramshift.data.decoding import decoded_lines
from gramshift.data.opening import TableError, open_input
from gramshift.data.tables import Place, Row, Style, Table, in_parts

ENDS = (".txt", ".txt.gz")


def read_folder(name: str, *, encoding: str) -> Table:
    """Every file is a document; its name is its id, the folder that it stands in its label, if there is one per class."""
    folder = Path(name)
    here, below = _texts(folder), {one.name: _texts(one) for one in sorted(folder.iterdir()) if _is_class(one)}
    below = {label: files for label, files in below.items() if files}
    if here and below:
        raise TableError(f"{name} has .txt files of its own and in folders ({', '.join(below)}); keep one or the other")
    if not here and not below:
        raise TableError(f"{name} has no .txt files, nor folders of them; a csv file is given by its own name")
    files = here or [path for paths in below.values() for path in paths]
    done = 0

    def rows() -> Iterator[tuple[Place, Row]]:
        nonlocal done
        for path in files:
            with open_input(os.fspath(path)) as opened:
                text = "".join(decoded_lines(opened.pieces(), encoding=encoding, name=opened.name))
            place = path.relative_to(folder).as_posix()
            row = {"id": place, "text": text}
            yield place, row | {"label": path.parent.name} if below else row
            done += 1

    columns = ["id", "text", "label"] if below else ["id", "text"]
    style = Style("csv", kept=[column for column in columns if column != "text"])
    return Table(name, columns, style, lambda size: in_parts(rows(), size), lambda: (done, len(files)), "file")


def _texts(folder: Path) -> list[Path]:
    return sorted(one for one in folder.iterdir() if one.name.endswith(ENDS) and not one.name.startswith(".") and one.is_file())


def _is_class(path: Path) -> bool:
    return path.is_dir() and not path.name.startswith(".")
