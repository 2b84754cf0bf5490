"""The examples of README.md, docs/how-to/python.md and docs/how-to/adapters.md run, and print what these show."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from model_server import ModelServer

import refract_eval

HERE = Path(__file__).resolve().parent.parent
DOCS = HERE.parent / "docs" / "how-to"
PAGES = [HERE / "README.md", HERE.parent / "README.md", DOCS / "python.md"]
ADAPTERS = (DOCS / "adapters.md").read_text(encoding="utf-8")
BLOCK = re.compile(r'^```(\w*)(?: title="([^"]+)")?[^\n]*\n(.*?)^```$', re.M | re.S)
MODULES = {"lm-evaluation-harness": "lm_eval", "sacreBLEU": "sacrebleu", "TRL": "trl"}
STARTS = """
import sys, types
sys.modules["lighteval.tasks.tasks.tiny_benchmarks"] = types.SimpleNamespace(TASKS_TABLE=[])  # which downloads
"""


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


@pytest.mark.parametrize("name", re.findall(r"^## (.+)$", ADAPTERS, re.M))
def test_adapters(name: str, program: str, tmp_path: Path) -> None:
    if not (shutil.which(name) if name == "promptfoo" else importlib.util.find_spec(MODULES.get(name, name))):
        pytest.skip(f"there is no {name}")
    section = re.split(r"^## ", ADAPTERS.split(f"\n## {name}\n")[1], flags=re.M)[0]
    (tmp_path / "sitecustomize.py").write_text(STARTS if name == "lighteval" else "")
    (tmp_path / "home").mkdir()
    path = f"{tmp_path}{os.pathsep}{Path(refract_eval.__file__).parents[1]}"
    env = os.environ | {"PYTHONPATH": path, "REFRACT_PROGRAM": program, "HF_HOME": f"{tmp_path}/home"}
    env |= {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}", "HF_HUB_OFFLINE": "1"}
    printed, shown = "", 0
    for kind, title, body in BLOCK.findall(section):
        if title:
            (tmp_path / title).parent.mkdir(exist_ok=True)
            (tmp_path / title).write_text(body, encoding="utf-8")
        elif kind in ("python", "sh"):
            body = re.sub(r"^(pip|npm) install .*$", "", body, flags=re.M)
            command = [sys.executable, "-W", "ignore", "-c", body] if kind == "python" else ["sh", "-ec", body]
            done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            printed = done.stdout
        elif not kind:
            for line in body.splitlines():
                assert line in printed
                shown += 1
    assert shown
