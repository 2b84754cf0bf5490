"""The examples of docs/how-to/python.md and of README.md run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from model_server import ModelServer

HERE = Path(__file__).resolve().parent.parent
PAGES = [HERE / "README.md", HERE.parent / "docs" / "how-to" / "python.md"]


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_examples(page: Path, sample: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("datasets")
    monkeypatch.chdir(sample)
    blocks = re.findall(r"^```python(?! no-test)[^\n]*\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(page), "exec"), names)
