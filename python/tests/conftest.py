from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from model_server import ModelServer

import refract_eval

DATA = Path(os.environ.get("REFRACT_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")).absolute()
signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored in a background job
FAKE = Path(__file__).with_name("fake_serve.py")


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the program by a server with faults."""
    monkeypatch.setenv("REFRACT_PROGRAM", str(FAKE))


@pytest.fixture(scope="session")
def program() -> str:
    """Return the real program."""
    return refract_eval.find_program()


@pytest.fixture
def sample(program: str, tmp_path: Path) -> Path:
    """Return the folder that `refract demo -o` makes, with a cache of its answers."""
    folder = tmp_path / "demo"
    subprocess.run([program, "demo", "-o", str(folder)], check=True, capture_output=True)
    imported = [program, "cache", "import", "cache.sqlite", "answers.jsonl"]
    subprocess.run(imported, cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """Check that a test leaves no child process, thread or descriptor."""
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
    """Serve a model at $OPENAI_BASE_URL, in its own folder."""
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


@dataclass(frozen=True)
class Task:
    """Outputs with references, and `refract score`'s results for them."""

    hypotheses: list[str]
    references: list[list[str | None]]
    totals: dict[tuple[str, str], float]
    segments: dict[tuple[str, str], list[float]]


SETTINGS = (("chrf", "max"), ("bleu", "native"))


@pytest.fixture(scope="session", params=["ragged", "wmt22"])
def task(request: pytest.FixtureRequest, program: str, tmp_path_factory: pytest.TempPathFactory) -> Task:
    """Return a small set with ragged references, and 300 segments of WMT22 zh-en with eleven references."""
    folder = tmp_path_factory.mktemp("task")
    if request.param == "ragged":
        hypotheses = ["the cat sat on the mat", "it rains here", "a dog ran home", "four"]
        references = [
            ["a cat sat on the mat", "the cat was sitting on a mat"],
            ["it is raining here", None],
            ["the dog ran home"],
            [None, "for", "fourth", "five"],
        ]
    else:
        if not (DATA / "div-ref").is_dir():
            pytest.skip(f"there is no div-ref in {DATA}, where WMT22 and the released references are looked for")
        set_of = f"mtme:{DATA}/mt-metrics-eval-v2/wmt22/zh-en"
        expanded = f"div-ref-lines:{DATA}/div-ref/wmt22.zh-en.refA.diversified"
        flags = ["--references", expanded, "-k", "10", "--by", "order", "-o", "set.jsonl"]
        subprocess.run([program, "select", set_of, *flags], cwd=folder, check=True, capture_output=True)
        lines = refract_eval.read(folder / "set.jsonl")[:300]
        hypotheses = [s.hypotheses["HuaweiTSC"] or "" for s in lines]
        references = [s.all_references for s in lines]
        assert {len(r) for r in references} == {11}
    return Task(hypotheses, references, *commands_scores(program, folder, hypotheses, references))


def commands_scores(
    program: str, folder: Path, hypotheses: Sequence[str], references: Sequence[Sequence[str | None]]
) -> tuple[dict[tuple[str, str], float], dict[tuple[str, str], list[float]]]:
    """Return `refract score`'s results with SETTINGS, for the corpus and for segments."""
    rows = [
        {"id": str(i), "references": r, "hypotheses": {"a": h}}
        for i, (h, r) in enumerate(zip(hypotheses, references, strict=True))
    ]
    (folder / "scored.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    totals: dict[tuple[str, str], float] = {}
    segments: dict[tuple[str, str], list[float]] = {}
    for metric, aggregate in SETTINGS:
        for per in ("system", "segment"):
            flags = ["-m", metric, "-a", aggregate, "--per", per, "-f", "json"]
            done = subprocess.run(
                [program, "score", "jsonl:scored.jsonl", *flags], cwd=folder, check=True, capture_output=True
            )
            scores = [row["score"] for row in json.loads(done.stdout)]
            if per == "system":
                (totals[metric, aggregate],) = scores
            else:
                segments[metric, aggregate] = scores
    return totals, segments
