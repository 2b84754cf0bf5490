"""The notebook of examples runs, and prints what it shows.

`jupyter execute --inplace examples/notebook/scores.ipynb` writes its outputs anew.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).resolve().parents[2] / "examples" / "notebook" / "scores.ipynb"


def printed(notebook: Any) -> list[str]:
    """Return the texts of all outputs, without the name of a figure's object."""
    outputs = [o for cell in notebook.cells if cell.cell_type == "code" for o in cell.outputs]
    return ["a figure" if "image/png" in o["data"] else o["data"]["text/plain"] for o in outputs]


@pytest.mark.filterwarnings("default")
def test_notebook(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    for package in ("ipykernel", "matplotlib", "pandas"):
        pytest.importorskip(package)
    monkeypatch.setenv("REFRACT_PROGRAM", program)
    shown = nbformat.read(NOTEBOOK, as_version=4)
    ran = nbclient.execute(nbformat.from_dict(shown), cwd=str(tmp_path), timeout=300)
    assert printed(ran) == printed(nbformat.read(NOTEBOOK, as_version=4))
    assert "a figure" in printed(ran)
