from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from model_server import ModelServer

import refract_eval

FAKE = Path(__file__).with_name("fake_serve.py")


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a server with faults in the program's place."""
    monkeypatch.setenv("REFRACT_PROGRAM", str(FAKE))


@pytest.fixture(scope="session")
def program() -> str:
    """Return the real program."""
    return refract_eval.find_program()


@pytest.fixture
def sample(program: str, tmp_path: Path) -> Path:
    """Return the folder that `refract demo --write` makes."""
    subprocess.run([program, "demo", "--write", str(tmp_path / "demo")], check=True, capture_output=True)
    return tmp_path / "demo"


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """Want that a test leaves no child, thread or descriptor behind."""
    if not sys.platform.startswith("linux"):
        yield
        return
    children, threads, fds = children_now(), threading.active_count(), open_now()
    yield
    for _ in range(200):  # threads end a moment after the process that they serve
        left = (children_now() - children, threading.active_count() - threads, open_now() - fds)
        if not left[0] and max(left[1:]) <= 0:
            return
        time.sleep(0.01)
    raise AssertionError(f"children, threads and descriptors are left: {left}")


def children_now() -> set[str]:
    """Return the pids of the children of this process, zombies among them."""
    found: set[str] = set()
    for task in Path(f"/proc/{os.getpid()}/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # a thread that has ended
            found.update((task / "children").read_text().split())
    return found


def open_now() -> int:
    """Count the descriptors that are open."""
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ModelServer]:
    """Serve a model at $OPENAI_BASE_URL, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    with ModelServer() as served:
        monkeypatch.setenv("OPENAI_BASE_URL", served.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield served
        served.ended.set()
        served.shutdown()
        thread.join()
