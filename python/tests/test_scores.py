"""Scores from the real program: equal to `refract score`, to the last digit."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import pickle
import shlex
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import children_now, open_now
from test_process import wait_until

import refract_eval
from refract_eval import Scorer, UsageError


def command(program: str, *arguments: str, cwd: Path) -> list[dict[str, object]]:
    done = subprocess.run([program, *arguments, "-f", "json"], cwd=cwd, check=True, capture_output=True)
    return list(json.loads(done.stdout))


def test_equal_to_the_command(program: str, sample: Path) -> None:
    segments = refract_eval.read(sample / "sample.jsonl")
    metrics, aggregate = ["bleu", "chrf", "chrf++", "ter"], ["single", "max", "mean", "native"]
    scores = refract_eval.score_segments(segments, metrics, aggregate)
    flags = ["score", "jsonl:sample.jsonl", "-a", ",".join(aggregate), *(f"-m={m}" for m in metrics)]
    for row in command(program, *flags, cwd=sample):
        s = scores[str(row["metric"]), str(row["aggregate"])]
        assert s.systems[str(row["system"])].score == row["score"]
        assert s.systems[str(row["system"])].method == str(row["method"]).replace("average", "mean")
    places = {s.id: i for i, s in enumerate(segments)}
    rows = command(program, *flags, "--per", "segment", cwd=sample)
    assert len(rows) == len(segments) * 6 * len(metrics) * len(aggregate)
    for row in rows:
        s = scores[str(row["metric"]), str(row["aggregate"])]
        assert s.segments[str(row["system"])][places[str(row["id"])]] == row["score"]


def test_a_language_chooses_the_tokenizer() -> None:
    texts = ["我喜欢那个城市的春天"], [["我喜欢这个城市的春天"]]
    with_language = refract_eval.score(*texts, metrics="bleu", aggregate=None, language="en-zh")
    explicit = refract_eval.score(*texts, metrics="bleu:tokenize=zh", aggregate=None)
    assert with_language.settings[0].systems == explicit.settings[0].systems
    assert "tok:zh" in with_language.settings[0].signature
    assert any("-l zh" in w for w in refract_eval.score(*texts, metrics="bleu").warnings)


def test_lists_are_as_files_of_lines(program: str, sample: Path) -> None:
    hypotheses = {n: (sample / f"{n}.txt").read_text().splitlines() for n in "ab"}
    references = [(sample / name).read_text().splitlines() for name in ("ref.txt", "ref2.txt")]
    scores = refract_eval.score(hypotheses, references, "bleu", "native", layout="reference")
    flags = ["score", "--ref", "ref.txt", "--ref", "ref2.txt", "--hyp", "a=a.txt", "--hyp", "b=b.txt", "-m", "bleu"]
    rows = command(program, *flags, cwd=sample)
    assert scores.systems["bleu", "native"] == {str(r["system"]): r["score"] for r in rows}
    assert scores.signatures["bleu", "native"].split("|set:")[0] == str(rows[0]["signature"]).split("|set:")[0]


def test_default(program: str, sample: Path) -> None:
    """Without an aggregator, a score is the one that the command and sacreBLEU print."""
    hypotheses, *columns = ((sample / name).read_text().splitlines() for name in ("a.txt", "ref.txt", "ref2.txt"))
    references = [list(row) for row in zip(*columns, strict=True)]
    scores = refract_eval.score(hypotheses, references)
    rows = command(program, "score", "--ref=ref.txt", "--ref=ref2.txt", "--hyp=a=a.txt", cwd=sample)
    assert [(s.score, s.method, s.signature) for s in scores] == [(r["score"], "corpus", r["signature"]) for r in rows]
    assert repr(scores).splitlines()[1].startswith("bleu over 2 references (corpus) ")
    one = refract_eval.score(hypotheses, [r[0] for r in references])
    assert repr(one).splitlines()[1].startswith("bleu (corpus) ")


def test_ragged_and_missing() -> None:
    scores = refract_eval.score(
        ["the cat sat", None, "", "a dog ran"],
        [["a cat sat", "the cat sat"], ["x"], ["y"], ["a dog ran", None, "the dog was running"]],
        "chrf",
    )
    assert scores.per_segment == [100.0, None, 0.0, 100.0]
    status = scores.status["chrf", "native"]["system"]
    assert [bool(s) for s in status] == [False, True, False, False]
    assert "missing" in status[1]
    one = scores["chrf"].systems["system"]
    assert (one.segments, one.scored) == (4, 3)
    assert one.score == scores.score


def test_cells_and_frames() -> None:
    scores = refract_eval.score(
        {"a": ["x y z", "q"], "b": ["q", "x y"]}, [["x y z", "q"], ["q"]], aggregate="max", cells=True
    )
    (cells,) = [c for c in scores.cells if c.metric == "chrf"]
    assert cells.scores == {"a": [[100.0, 0.0], [100.0]], "b": [[0.0, 100.0], [0.0]]}
    pytest.importorskip("pandas")
    frame = scores.to_pandas()
    assert list(frame.columns) == ["metric", "aggregator", "system", "segment", "score", "status", "signature"]
    assert len(frame) == 2 * 2 * 2
    assert frame[frame.metric == "chrf"].score.tolist() == [100.0, 100.0, 100.0, 0.0]
    totals = scores.to_pandas("system")
    assert totals[totals.metric == "chrf"].set_index("system").score.to_dict() == {"a": 100.0, "b": 50.0}
    with pytest.raises(ValueError, match="'segment' or 'system'"):
        scores.to_pandas("cell")


def test_access() -> None:
    scores = refract_eval.score(["a b c d"], [["a b c d"]], "bleu", ["max", "mean"])
    assert scores["bleu", "max"].score == pytest.approx(100)
    with pytest.raises(KeyError, match=r"several are 'bleu'; there are \['bleu', 'max'\], \['bleu', 'mean'\]"):
        scores["bleu"]
    with pytest.raises(KeyError, match="none is 'chrf'"):
        scores["chrf"]
    with pytest.raises(ValueError, match=r"there are several: scores\['bleu', 'max'\].score"):
        _ = scores.score
    assert repr(scores).splitlines()[0].split() == ["system"]
    assert repr(scores).splitlines()[1].split() == ["bleu", "max", "(mean)", "100.00"]
    both = refract_eval.score({"a": ["x"], "b": ["y"]}, ["x"], "chrf")
    with pytest.raises(ValueError, match=r"exactly one system: .systems\['a'\], .systems\['b'\]"):
        _ = both.score


@pytest.mark.parametrize(
    ("metrics", "aggregate", "message"),
    [("chrff", "max", "did you mean .?chrf"), ("bleu:tokenise=intl", "max", "tokeni"), ("chrf", "maxx", "maxx")],
)
def test_wrong_settings(metrics: str, aggregate: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        refract_eval.score(["a"], ["a"], metrics, aggregate)


def test_wrong_arguments() -> None:
    for metrics in (None, [], ""):
        with pytest.raises(ValueError, match=r'metrics is .*: give one or several names, such as "chrf"'):
            refract_eval.score(["a"], ["a"], metrics)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^score\(\) got an unexpected keyword argument 'metric'"):
        refract_eval.score(["a"], ["a"], metric="chrf")  # type: ignore[call-arg]
    with Scorer() as scorer, pytest.raises(TypeError, match=r"^Scorer.score\(\) got an unexpected"):
        scorer.score(["a"], ["a"], metric="chrf")  # type: ignore[call-arg]


def test_flags() -> None:
    long = "a" * (2 << 20)
    for flags in ({"max_text": 1}, {"max-text": 1}, ["--max-text=1"], ("--max-text", "1")):
        with Scorer("chrf", flags=flags) as scorer, pytest.raises(UsageError, match="MiB"):
            scorer.score([long], [long])
    for wrong in ("--max-text=1", ["max-text=1"], [1]):
        with pytest.raises(UsageError, match=r"^flags .*give {.max-text.: 64}, or \[.--max-text=64.\]"):
            Scorer("chrf", flags=wrong)  # type: ignore[arg-type]
    with Scorer("chrf", flags={"no-such": 1}) as scorer, pytest.raises(UsageError, match="unknown flag: --no-such"):
        scorer.score(["a"], ["a"])


def test_scores_are_floats_and_warn() -> None:
    scores = refract_eval.score({"x": ["a b", None], "y": [None, None]}, [["a b"], ["q"]], ["chrf", "ter"], cells=True)
    assert all(type(v) is float for s in scores for v in [s.systems["x"].score, s.segments["x"][0]])
    assert [type(c.scores["x"][0][0]) for c in scores.cells] == [float, float]
    assert scores.warnings[:2] == (
        "1 of 2 hypotheses of 'x' are missing (None), and have no score",
        "2 of 2 hypotheses of 'y' are missing (None), and have no score",
    )
    assert "warning: 1 of 2 hypotheses of 'x'" in str(scores)
    assert not refract_eval.score(["a"], [["a"]], "chrf").warnings


def test_tables_are_harmless() -> None:
    scores = refract_eval.score({"<b>\x1b[31m\u202e": ["a", None]}, [["a"], ["b"]], "chrf")
    assert str(scores).splitlines()[0].strip() == r"<b>\x1b[31m\u202e"
    assert "\x1b" not in repr(scores["chrf"])
    page = scores._repr_html_()
    assert r"<td>&lt;b&gt;\x1b[31m\u202e</td>" in page
    assert "<td>100.00</td>" in page
    assert "<p>warning: 1 of 2 hypotheses" in page


def test_texts_that_are_no_unicode_are_named() -> None:
    with pytest.raises(ValueError, match=r"half of a surrogate pair.*\\ud800"):
        refract_eval.score(["a \ud800"], ["a"])
    texts = "a\0b\u2028c\r\nd \U0001f408 \\u0041"
    assert refract_eval.score([texts], [texts], "chrf").score == 100.0


def test_64_threads_share_a_scorer() -> None:
    with Scorer("chrf") as scorer:
        want = [scorer.score([f"the cat {i} sat"], [[f"a cat {i} sat", "x"]]).score for i in range(64)]
        barrier = threading.Barrier(64)

        def one(i: int) -> list[float | None]:
            barrier.wait()
            return [scorer.score([f"the cat {i} sat"], [[f"a cat {i} sat", "x"]]).score for _ in range(10)]

        with ThreadPoolExecutor(64) as threads:
            assert list(threads.map(one, range(64))) == [[w] * 10 for w in want]


def test_async_calls_share_a_scorer() -> None:
    async def main() -> None:
        async with Scorer("chrf") as scorer:
            answers = await asyncio.gather(*(scorer.ascore(["a b"], [["a b", f"c {i}"]]) for i in range(300)))
            assert {a.score for a in answers} == {100.0}
        assert (await refract_eval.ascore(["a b"], ["a b"], "chrf")).score == 100.0

    asyncio.run(main())


HANGING = """
import json, pathlib, sys
print(json.dumps({"refract": 1, "name": "hanging", "signature": {"rules": "1"}}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if request["segments"][0]["hypotheses"] == ["hang"]:
        pathlib.Path("begun").touch()
        sys.stdin.read()
    print(json.dumps({"id": request["id"], "scores": [[1.0] for _ in request["segments"]]}), flush=True)
"""


def test_a_cancelled_task_leaves_the_process_usable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hanging.py").write_text(HANGING)

    async def main() -> None:
        async with Scorer(f"exec:processes=1 {shlex.quote(sys.executable)} hanging.py") as scorer:
            await scorer.ascore(["a"], ["a"])
            pid = scorer.pid
            task = asyncio.create_task(scorer.ascore(["hang"], ["a"]))
            await asyncio.to_thread(wait_until, (tmp_path / "begun").exists)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await scorer.ascore(["a"], ["a"])).score == 1.0
            assert scorer.pid == pid

    asyncio.run(main())


def scored_in_child(i: int) -> tuple[int, float | None]:
    return os.getpid(), refract_eval.score([f"a b {i}"], [[f"a b {i}", "x"]], "chrf").score


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_pools_of_processes(method: str) -> None:
    refract_eval.score(["a"], ["a"], "chrf")
    with multiprocessing.get_context(method).Pool(3) as pool:
        done = pool.map(scored_in_child, range(30))
    assert {score for _, score in done} == {100.0}
    assert os.getpid() not in {pid for pid, _ in done}
    assert refract_eval.score(["a"], ["a"], "chrf").score == 100.0


def test_a_copy_has_the_settings_and_a_process_of_its_own() -> None:
    with Scorer(["chrf"], "mean", system="average", flags=["--quiet"]) as scorer:
        scorer.score(["a"], ["a"])
        with pickle.loads(pickle.dumps(scorer)) as copy:
            assert copy.score(["a b"], [["a b", "x"]])["chrf", "mean"].score == 50.0
            assert copy.pid not in (None, scorer.pid)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="/proc")
def test_10000_calls_leave_nothing() -> None:
    with Scorer("chrf") as scorer:
        scorer.score(["a"], ["a"])
        fds, threads, children = open_now(), threading.active_count(), children_now()
        for i in range(10_000):
            scorer.score([f"the cat {i}"], [["the cat", "a cat"]])
        assert (open_now(), threading.active_count(), children_now()) == (fds, threads, children)
        assert not scorer._client._session._pending  # type: ignore[union-attr]


def test_metrics() -> None:
    assert {"bleu", "chrf", "ter"} <= {m["name"] for m in refract_eval.metrics()}
