"""Rewards, called as TRL and verl call them, equal the command's scores; neither package is needed."""

from __future__ import annotations

import json
import multiprocessing
import pickle
import subprocess
from pathlib import Path

import pytest

from refract_eval.integrations.trl import Reward, make_reward
from refract_eval.integrations.verl import compute_score, compute_scores

HYPOTHESES = ["the cat sat", "it rains", "a dog ran home", "four"]
REFERENCES = [
    ["the cat sat down", "a cat sat"],
    ["it is raining", None],
    ["the dog ran home"],
    ["for", "fourth", "five"],
]


def command(program: str, folder: Path) -> list[float]:
    rows = [
        {"id": str(i), "references": r, "hypotheses": {"a": h}}
        for i, (h, r) in enumerate(zip(HYPOTHESES, REFERENCES, strict=True))
    ]
    (folder / "d.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    arguments = ["score", "jsonl:d.jsonl", "-m", "chrf", "-a", "max", "--per", "segment", "-f", "json"]
    done = subprocess.run([program, *arguments], cwd=folder, check=True, capture_output=True)
    return [row["score"] / 100 for row in json.loads(done.stdout)]


def test_rewards_are_the_commands_scores(program: str, tmp_path: Path) -> None:
    want = command(program, tmp_path)
    reward = make_reward("chrf")
    assert reward.__name__ == "refract_chrf_max"
    assert reward(prompts=[""] * 4, completions=HYPOTHESES, completion_ids=None, references=REFERENCES) == want
    said = [[{"role": "user", "content": "?"}, {"role": "assistant", "content": h}] for h in HYPOTHESES]
    assert reward(prompts=[], completions=said, references=REFERENCES) == want
    assert compute_scores([""] * 4, HYPOTHESES, REFERENCES) == want
    assert [compute_score("", h, {"references": r}) for h, r in zip(HYPOTHESES, REFERENCES, strict=True)] == want


def test_what_is_missing_has_no_reward(program: str) -> None:
    reward = make_reward("chrf")
    assert reward(prompts=[], completions=[None, "a", "a"], references=[["a"], [None], ["a"]]) == [None, None, 1.0]
    with pytest.raises(ValueError, match="no score"):
        compute_score("set", "a", [None])
    assert compute_score("set", "a", [None], missing=0) == 0
    with pytest.raises(ValueError, match="no column"):
        reward(prompts=[], completions=["a"])
    with pytest.raises(ValueError, match="bounds"):
        make_reward("ter")
    assert make_reward("ter", "min", bounds=(0, 100))(prompts=[], completions=["a"], references=[["a"]]) == [1.0]


def ask(reward: Reward, answers: multiprocessing.Queue[list[float | None]]) -> None:
    answers.put(reward(prompts=[], completions=HYPOTHESES, references=REFERENCES))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers(program: str, method: str) -> None:
    reward = make_reward("chrf")
    want = reward(prompts=[], completions=HYPOTHESES, references=REFERENCES)
    context = multiprocessing.get_context(method)
    answers = context.Queue()
    worker = context.Process(target=ask, args=(pickle.loads(pickle.dumps(reward)), answers))
    worker.start()
    assert answers.get(timeout=120) == want
    worker.join()
    assert worker.exitcode == 0
