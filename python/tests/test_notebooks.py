"""The notebooks run, from the first cell to the last."""

from __future__ import annotations

import ast
import json
import warnings
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).parents[2] / "docs" / "notebooks"


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda p: p.stem)
def test_notebook(path):
    for needed in ("pandas", "scipy", "sklearn", "geopandas"):
        pytest.importorskip(needed)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    names: dict[str, object] = {}
    shown = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        assert not cell["outputs"], "notebooks are kept without outputs"
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            exec(compile(tree, path.name, "exec"), names)
            if last is not None:  # Jupyter shows the last value
                value = eval(compile(ast.Expression(last.value), path.name, "eval"), names)
                show = getattr(value, "_repr_html_", value.__repr__)
                assert show()
                shown += 1
    assert shown >= 3


def test_there_are_notebooks():
    assert len(list(NOTEBOOKS.glob("*.ipynb"))) >= 4
