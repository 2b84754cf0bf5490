"""Expanding with the real program and our test server."""

from __future__ import annotations

import asyncio
import re
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer
from test_process import wait_until

import refract_eval
from refract_eval import Progress, RefractError, Scorer, Segment, UsageError, aexpand, expand
from refract_eval._run import Run

pytestmark = pytest.mark.usefixtures("nothing_left")
PLAIN = {"checks": "none", "form": "text"}
SET = [
    Segment("1", ["The train leaves at eight."], hypotheses={"a": "At eight the train leaves."}),
    Segment("2", ["It is raining in Lindenau.", None]),
]


def test_expand(server: ModelServer) -> None:
    told: list[Progress] = []
    done = expand(SET, model="m", prompts="plain", cache="c.sqlite", flags=PLAIN | {"samples": 3}, progress=told.append)
    assert done.complete
    assert [len(s.variants) for s in done.segments] == [3, 3]
    assert [s.references for s in done.segments] == [s.references for s in SET]
    variant = done.segments[0].variants[0]
    assert variant.text == "In other words: The train leaves at eight."
    assert (variant.model, variant.prompt, variant.finish) == ("m", "plain", "stop")
    assert told[-1].finished
    assert (told[-1].label, told[-1].done, told[-1].total, told[-1].unit) == ("expand", 6, 6, "variants")
    assert any("6 variants" in line for line in done.messages)
    assert not any("progress" in line for line in done.messages)
    assert server.calls == 6

    # Again: all is stored, and the output is a file.
    again = expand(SET, model="m", prompts="plain", cache="c.sqlite", flags=PLAIN | {"samples": 3}, output="out.jsonl")
    assert server.calls == 6
    assert refract_eval.read("out.jsonl") == again.segments
    with Scorer("chrf", ["single", "max"]) as scorer:
        scores = scorer.score_segments([again.segments[0]])
    assert scores["chrf", "max"].score is not None
    assert "nrefs:4" in scores["chrf", "max"].signature


def test_a_set_that_stays_incomplete(server: ModelServer) -> None:
    done = expand(SET, model="m", prompts="plain", complete=2, flags={"form": "text"})
    assert not done.complete
    assert [len(s.variants) < 2 for s in done.segments] == [True, True]


def test_wrong_usage_and_failures(server: ModelServer, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="plainer"):
        expand(SET, model="m", prompts="plainer")
    with pytest.raises(RefractError, match="nowhere"):
        expand("jsonl:nowhere.jsonl", model="m")
    assert server.calls == 0
    assert list(tmp_path.glob(".expanded*")) == []


def test_complete_means_what_was_asked_for(server: ModelServer) -> None:
    assert expand(SET, model="m", prompts="plain", flags=PLAIN | {"samples": 2}).complete
    # A segment without a reference, nothing to expand, or nothing accepted.
    assert not expand([*SET, Segment("3")], model="m", prompts="plain", flags=PLAIN).complete
    with pytest.raises(RefractError, match="nothing is written"):
        expand([Segment("1", [None])], model="m", prompts="plain", flags=PLAIN)
    rejected = expand(SET, model="m", prompts="plain", flags={"samples": 2, "form": "text", "checks": "all"})
    assert [len(s.variants) < 2 for s in rejected.segments] == [True, True]
    assert not rejected.complete


def test_errors_begin_with_the_reason(server: ModelServer, tmp_path: Path) -> None:
    gone = {"base_url": "http://127.0.0.1:1/v1", "flags": PLAIN | {"retries": 0}}
    with pytest.raises(RefractError) as failed:
        expand(SET[:1], model="m", prompts="plain", **gone)  # type: ignore[arg-type]
    assert str(failed.value).startswith("segments:1: segment")
    assert "set.jsonl" not in str(failed.value)
    with pytest.raises(RefractError, match=r"^the budget is used up") as failed:
        expand(SET, model="m", prompts="plain", flags=PLAIN | {"samples": 4, "max-calls": 2})
    assert "refract expand SEGMENTS -o OUTPUT" in str(failed.value)
    assert not re.search(r"set\.jsonl|\.expanded|^refract: ", str(failed.value), re.M)
    with pytest.raises(ValueError, match="JSON Lines are written"):
        expand(SET, model="m", output="c.csv")


def test_what_progress_raises_ends_the_run(server: ModelServer) -> None:
    server.free = 2

    def fail(now: Progress) -> None:
        server.ended.set()
        raise ZeroDivisionError(now.label)

    with pytest.raises(ZeroDivisionError, match="expand"):
        expand(SET, model="m", prompts="plain", flags=PLAIN | {"samples": 200, "concurrency": 2}, progress=fail)
    assert server.calls < 400


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], bool]:
    """Return a function that tells whether the last program that was started has said something."""
    started: list[Run] = []

    def run(*arguments: Any) -> Run:
        started.append(Run(*arguments))
        return started[-1]

    monkeypatch.setattr(sys.modules["refract_eval.expand"], "Run", run)  # the function has the same name
    return lambda what: any(what in line for line in started[-1].messages)


def test_interruption_keeps_what_is_paid_for(server: ModelServer, said: Callable[[str], bool]) -> None:
    server.free = 2

    def interrupt() -> None:
        wait_until(lambda: server.calls >= 4)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        wait_until(lambda: said("waiting for 2 calls"))
        server.ended.set()

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        expand(SET, model="m", prompts="plain", cache="c.sqlite", flags=PLAIN | {"samples": 10, "concurrency": 2})
    thread.join()
    paid = server.calls
    assert 4 <= paid < 20
    assert expand(SET, model="m", prompts="plain", cache="c.sqlite", flags=PLAIN | {"samples": 10}).complete
    assert server.calls == 20


def test_cancelling_the_task_ends_the_program(server: ModelServer, said: Callable[[str], bool]) -> None:
    server.free = 2

    async def main() -> None:
        flags = PLAIN | {"samples": 10, "concurrency": 2}
        task = asyncio.create_task(aexpand(SET, model="m", prompts="plain", flags=flags))
        await asyncio.to_thread(wait_until, lambda: server.calls >= 4)
        task.cancel()
        await asyncio.to_thread(wait_until, lambda: said("waiting for 2 calls"))
        server.ended.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await aexpand(SET, model="m", prompts="plain", flags=PLAIN)).complete

    asyncio.run(main())
