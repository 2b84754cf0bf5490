"""The process and its client, with a server that has faults."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import refract_eval
from refract_eval import ProcessDiedError, RefractError, Scorer, UsageError
from refract_eval.scorer import Settings

pytestmark = [pytest.mark.usefixtures("fake", "nothing_left"), pytest.mark.skipif(os.name == "nt", reason="POSIX")]
ONE = (["a"], [["a"]])


def hanging(scorer: Scorer) -> int:
    """Return how many requests hang in the server."""
    scorer._settings = Settings("any", "max", None, None)
    return int(scorer.score(*ONE)["fake"].signature.split("|")[0].removeprefix("cancelled:"))


def asked(scorer: Scorer) -> int:
    """Return how many requests of a Scorer are not answered."""
    session = scorer._client._session
    return len(session._pending) if session is not None else 0


def test_errors_leave_the_process_usable() -> None:
    with Scorer("usage") as scorer:
        with pytest.raises(UsageError, match="none of this name"):
            scorer.score(*ONE)
        pid = scorer.pid
        scorer._settings = Settings("failed", None, None, None)
        with pytest.raises(RefractError, match="the disk is full"):
            scorer.score(*ONE)
        assert hanging(scorer) == 0
        assert scorer.pid == pid


@pytest.mark.parametrize("fault", ["die", "garbage", "close"])
def test_death_is_told_and_the_next_call_starts_another(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("refract_eval._process._GRACE", 0.2)
    with Scorer(fault) as scorer:
        with pytest.raises(ProcessDiedError) as died:
            scorer.score(*ONE)
        if fault == "die":
            assert died.value.returncode == 3
            assert died.value.stderr == "panic: it is over"
            assert str(died.value) == "refract ended with exit code 3; it said: panic: it is over"
        else:
            assert died.value.returncode == -signal.SIGKILL
        assert scorer.pid is None
        assert hanging(scorer) == 0


def test_killed_while_a_call_waits_and_while_idle() -> None:
    with Scorer("hang") as scorer:
        errors: list[BaseException] = []

        def call() -> None:
            try:
                scorer.score(*ONE)
            except ProcessDiedError as e:
                errors.append(e)

        threads = [threading.Thread(target=call) for _ in range(3)]
        for t in threads:
            t.start()
        wait_until(lambda: asked(scorer) == 3)
        assert scorer.pid is not None
        os.kill(scorer.pid, signal.SIGKILL)
        for t in threads:
            t.join()
        assert [str(e) for e in errors] == ["refract ended by signal 9"] * 3
        hanging(scorer)
        os.kill(scorer.pid, signal.SIGKILL)
        wait_until(lambda: scorer.pid is None)
        assert hanging(scorer) == 0


def test_an_interruption_cancels_the_request() -> None:
    with Scorer("hang") as scorer:

        def interrupt() -> None:
            wait_until(lambda: asked(scorer) == 1)
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            scorer.score(*ONE)
        thread.join()
        pid = scorer.pid
        assert pid is not None
        assert hanging(scorer) == 0
        assert scorer.pid == pid


def test_a_timeout_cancels_the_request() -> None:
    with Scorer("hang", timeout=0.5) as scorer:
        with pytest.raises(RefractError, match=r"score took more than 0.5 s, and was cancelled"):
            scorer.score(*ONE)
        assert hanging(scorer) == 0


def test_cancelling_a_task_cancels_the_request() -> None:
    async def main() -> None:
        async with Scorer("hang") as scorer:
            task = asyncio.create_task(scorer.ascore(*ONE))
            await asyncio.to_thread(wait_until, lambda: asked(scorer) == 1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert hanging(scorer) == 0
            scorer._settings = Settings("hang", None, None, None)
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(scorer.ascore(*ONE), 0.2)
            assert hanging(scorer) == 0

    asyncio.run(main())


def test_a_fork_starts_a_process_of_its_own() -> None:
    with Scorer("any") as scorer:
        parent = scorer.score(*ONE)["fake"].signature
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                said = scorer.score(*ONE)["fake"].signature
                scorer.close()
            except BaseException as e:
                said = repr(e)
            os.write(write, said.encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as f:
            said = f.read()
        os.waitpid(child, 0)
        assert said.startswith("cancelled:0|pid:")
        assert said != parent
        assert scorer.score(*ONE)["fake"].signature == parent


def test_a_forked_child_does_not_keep_the_process_alive() -> None:
    scorer = Scorer("any")
    scorer.score(*ONE)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(write)
        os.read(read, 1)  # until the parent is done
        os._exit(0)
    session = scorer._client._session
    assert session is not None
    scorer.close()
    os.close(write)
    os.close(read)
    os.waitpid(child, 0)
    assert session._process._popen.returncode == 0  # not killed after its grace period


def test_the_process_ends_with_the_scorer_and_with_python() -> None:
    scorer = Scorer("any")
    scorer.score(*ONE)
    pid = scorer.pid
    del scorer
    gc.collect()
    wait_until(lambda: not Path(f"/proc/{pid}").exists())
    said = subprocess.run(
        [sys.executable, "-c", "import refract_eval as r; print(r.score(['a'], [['a']], 'any')['fake'].signature)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stderr == ""
    assert not Path("/proc", said.stdout.strip().split(":")[-1]).exists()


def test_the_process_ends_when_python_is_killed() -> None:
    code = (
        "import os, refract_eval as r; print(r.score(['a'], [['a']], 'any')['fake'].signature, flush=True);"
        "os.kill(os.getpid(), 9)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    pid = said.stdout.strip().split(":")[-1]
    wait_until(lambda: not Path("/proc", pid).exists())


def test_starts_that_fail(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FAKE_HELLO", "2")
    with pytest.raises(RefractError, match=r"speaks version 2 of the protocol, and this package version 1"):
        Scorer("any").score(*ONE)
    monkeypatch.setenv("FAKE_HELLO", "none")
    with pytest.raises(ProcessDiedError, match="it said: cannot start: no such flag"):
        Scorer("any").score(*ONE)
    monkeypatch.setenv("REFRACT_PROGRAM", "/bin/echo")
    with pytest.raises(RefractError, match="does not speak the protocol: it began with b'serve'"):
        Scorer("any").score(*ONE)
    monkeypatch.setenv("REFRACT_PROGRAM", str(tmp_path / "none"))
    with pytest.raises(refract_eval.ProgramNotFoundError, match="where there is no file"):
        Scorer("any").score(*ONE)


def test_a_request_that_is_too_long_is_refused_before_it_is_sent() -> None:
    with Scorer("any") as scorer, pytest.raises(ValueError, match=r"and the process takes 4,096 at most"):
        scorer.score(["a" * 5000], [["a"]])


def test_a_closed_scorer_says_so() -> None:
    scorer = Scorer("any")
    scorer.score(*ONE)
    scorer.close()
    scorer.close()
    with pytest.raises(RefractError, match="closed"):
        scorer.score(*ONE)


def wait_until(done: object) -> None:
    """Wait until a condition holds, for ten seconds at most."""
    assert callable(done)
    for _ in range(1000):
        if done():
            return
        time.sleep(0.01)
    raise AssertionError("it did not come about in ten seconds")
