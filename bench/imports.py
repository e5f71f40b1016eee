"""Reading who imports whom from the source, in every form that an import can have, without running any of it."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "gramshift"


@dataclass(frozen=True)
class Import:
    """One name that one module takes from another."""

    importer: str
    imported: str
    name: str
    """What is taken from the module; empty if it is the module itself."""
    how: str
    """'top', 'type' (seen by the type checker only), 'late' (inside a function) or 'string' (a module named by a string)."""


@dataclass(frozen=True)
class Source:
    """The modules of a package, with what is written in them; packages stand among them under their own name."""

    folder: Path
    paths: dict[str, Path]

    def room_of(self, module: str) -> str:
        """The folder below the package that a module lives in, or its own name if it stands beside them; '' for the package."""
        return module.split(".")[1] if "." in module else ""


def read_source(folder: Path) -> Source:
    """Find the modules of the package that lives in ``folder``, such as src/gramshift."""
    paths = {}
    for path in sorted(set(folder.rglob("*.py")) - {folder / "__main__.py"}):
        parts = [PACKAGE, *path.relative_to(folder).with_suffix("").parts]
        paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return Source(folder, paths)


def read_imports(source: Source) -> list[Import]:
    """Find all imports of one module of the package by another, each once."""
    found: dict[Import, None] = {}
    for module, path in source.paths.items():
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        reader = _Reader(module, package, set(source.paths))
        reader.visit(ast.parse(path.read_text(encoding="utf-8")))
        for one in (*reader.found, *reader.named_by_strings()):
            if one.imported != module:
                found[one] = None
    return list(found)


class _Reader(ast.NodeVisitor):
    """Walks through one module and remembers where it stands."""

    def __init__(self, module: str, package: str, modules: set[str]) -> None:
        self.module = module
        self.package = package
        self.modules = modules
        self.found: list[Import] = []
        self._strings: list[str] = []
        self._prefixes: list[str] = [""]
        self._in_function = False
        self._for_types = False

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._add(alias.name, "")

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = node.module or ""
        if node.level:
            above = self.package.split(".")[: len(self.package.split(".")) - node.level + 1]
            base = ".".join([*above, *([base] if base else [])])
        for alias in node.names:
            inner = f"{base}.{alias.name}"
            if inner in self.modules:
                self._add(inner, "")
            else:
                self._add(base, alias.name)

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        outside, self._for_types = self._for_types, self._for_types or "TYPE_CHECKING" in ast.unparse(node.test)
        self._visit_all(node.body)
        self._for_types = outside
        self._visit_all(node.orelse)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        outside, self._in_function = self._in_function, True
        self.generic_visit(node)
        self._in_function = outside

    visit_AsyncFunctionDef = visit_FunctionDef
    visit_Lambda = visit_FunctionDef

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring imports nothing
            self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self._strings.append(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self._add_prefix(node.values[0] if node.values else None)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self._add_prefix(node.left)
        self.generic_visit(node)

    def named_by_strings(self) -> Iterator[Import]:
        """Find the modules that strings name: whole, below the package ('.x'), or behind the front of an f-string."""
        for text in dict.fromkeys(self._strings):
            for front in self._prefixes:
                name = f"{self.package}{text}" if text.startswith(".") and not front else front + text
                if name in self.modules and name != PACKAGE:
                    yield Import(self.module, name, "", "string")
        for front in self._prefixes:  # whatever comes behind it, it is in that room
            if front.removesuffix(".") in self.modules and front != f"{PACKAGE}.":
                yield Import(self.module, front.removesuffix("."), "", "string")

    def _add_prefix(self, node: ast.AST | None) -> None:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
            if text.startswith(f"{PACKAGE}.") and text.endswith(".") and text not in self._prefixes:
                self._prefixes.append(text)

    def _add(self, imported: str, name: str) -> None:
        if imported in self.modules:
            how = "type" if self._for_types else "late" if self._in_function else "top"
            self.found.append(Import(self.module, imported, name, how))

    def _visit_all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)
