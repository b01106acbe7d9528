"""Runs the code of a notebook without Jupyter, and with ``python tests/notebook_cells.py FILE`` renews its output."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def read_cells(path: Path) -> list[tuple[str, str]]:
    """The source and the output, as text, of each code cell."""
    cells = [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
    return [("".join(cell["source"]), "".join(map(_text_of, cell["outputs"]))) for cell in cells]


def _text_of(output: dict[str, Any]) -> str:
    text = output["text"] if output["output_type"] == "stream" else output["data"]["text/plain"]
    return "".join(text)


def run_cells(sources: Sequence[str]) -> list[str]:
    """What each cell prints, and the value of its last expression, in one namespace."""
    names: dict[str, Any] = {}
    return [run_cell(source, names) for source in sources]


def run_cell(source: str, names: dict[str, Any]) -> str:
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, "cell", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if isinstance(last, ast.Expr) else None
    return printed.getvalue() + ("" if value is None else repr(value))


def renew(path: Path) -> None:
    """Writes the outputs of the cells, run in the working folder, into the notebook."""
    book = json.loads(path.read_text("utf-8"))
    cells = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    for number, (cell, output) in enumerate(zip(cells, run_cells([s for s, _ in read_cells(path)]), strict=True), 1):
        shown = {"output_type": "execute_result", "execution_count": number, "metadata": {}}
        cell["execution_count"] = number
        cell["outputs"] = [shown | {"data": {"text/plain": output.splitlines(keepends=True)}}] if output else []
    path.write_text(json.dumps(book, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    renew(Path(sys.argv[1]).resolve())
