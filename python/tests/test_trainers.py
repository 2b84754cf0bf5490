"""Adapters in packages that need torch, if these are installed (benchmarks/peers/adapters_torch.sh)."""

from __future__ import annotations

import asyncio
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from conftest import Task, commands_scores

import refract_eval
from refract_eval.integrations.trl import make_reward

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")
CHRF = ("chrf", "max")


@pytest.fixture
def tokenizer() -> Any:
    """Return a byte tokenizer, which restores every text."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    symbols = ["<pad>", "<eos>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    made = Tokenizer(models.BPE(vocab={s: i for i, s in enumerate(symbols)}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", eos_token="<eos>", clean_up_tokenization_spaces=False
    )


def test_a_step_of_trl(program: str, task: Task, tokenizer: Any, tmp_path: Path) -> None:
    trl = pytest.importorskip("trl")
    import datasets
    from transformers import Qwen2Config, Qwen2ForCausalLM

    size = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    torch.manual_seed(1)
    model = Qwen2ForCausalLM(Qwen2Config(vocab_size=len(tokenizer), num_key_value_heads=1, **size))
    made, calls = make_reward(*CHRF), []

    def reward(prompts: Any, completions: Any, **columns: Any) -> list[float | None]:
        rewards = made(prompts, completions, **columns)
        calls.append((completions, columns["references"], rewards))
        return rewards

    rows = {"prompt": ["Translate: 1", "Translate: 2"], "references": task.references[:2]}
    arguments = trl.GRPOConfig(
        output_dir=str(tmp_path),
        max_steps=1,
        per_device_train_batch_size=4,
        num_generations=4,
        max_completion_length=24,
        use_cpu=True,
        bf16=False,
        report_to=[],
        logging_steps=1,
        save_strategy="no",
    )
    trainer = trl.GRPOTrainer(
        model, reward, args=arguments, train_dataset=datasets.Dataset.from_dict(rows), processing_class=tokenizer
    )
    with torch.enable_grad():  # importing lighteval turns it off
        trainer.train()
    for completions, references, rewards in calls:
        _, want = commands_scores(program, tmp_path, completions, references)
        assert rewards == [s / 100 for s in want[CHRF]]
    (logged,) = [row["rewards/reward/mean"] for row in trainer.state.log_history if "rewards/reward/mean" in row]
    assert logged == pytest.approx(sum(calls[0][2]) / 4, abs=1e-6)
    inputs = [{"prompt": "p", "references": r} for r in task.references[:8]]
    outputs = task.hypotheses[:8]
    given = trainer._calculate_rewards(inputs, ["p"] * len(inputs), outputs, [[0]] * len(inputs))
    assert given[:, 0].tolist() == torch.tensor([s / 100 for s in task.segments[CHRF][:8]]).tolist()


def protocol_of(task: Task, tokenizer: Any, n: int) -> Any:
    """Return a batch as verl's trainer makes it: prompts on the left, responses on the right, both padded."""
    import numpy as np
    from verl import DataProto

    responses = tokenizer(task.hypotheses[:n], padding=True, return_tensors="pt")
    prompts = torch.full((n, 2), tokenizer.eos_token_id)
    seen = torch.cat([torch.ones_like(prompts), responses["attention_mask"]], dim=1)
    objects = {
        "data_source": ["wmt22"] * n,
        "reward_model": [{"style": "rule", "ground_truth": {"references": r}} for r in task.references[:n]],
        "extra_info": [{} for _ in range(n)],
    }
    return DataProto.from_dict(
        tensors={"prompts": prompts, "responses": responses["input_ids"], "attention_mask": seen},
        non_tensors={k: np.array(v, dtype=object) for k, v in objects.items()},
    )


def test_managers_of_verl(task: Task, tokenizer: Any) -> None:
    pytest.importorskip("verl")
    from omegaconf import OmegaConf
    from verl.trainer.ppo.reward import get_custom_reward_fn, load_reward_manager
    from verl.workers.reward_manager import get_reward_manager_cls

    def config(name: str, manager: str) -> Any:
        settings = {"metric": "chrf", "aggregate": "max", "bounds": [0, 100], "missing": 0}
        path = "pkg://refract_eval.integrations.verl"
        custom = {"path": path, "name": name, "reward_kwargs": settings}
        return OmegaConf.create(
            {"reward": {"custom_reward_function": custom, "reward_manager": {"source": "register", "name": manager}}}
        )

    n = min(8, len(task.hypotheses))
    want = [s / 100 for s in task.segments[CHRF][:n]]
    data = protocol_of(task, tokenizer, n)

    async def single() -> list[float]:
        loop = load_reward_manager(config("compute_score", "naive"), tokenizer)
        return [(await loop.run_single(data[i : i + 1]))["reward_score"] for i in range(n)]

    assert asyncio.run(single()) == want
    for manager, name in (("naive", "compute_score"), ("batch", "compute_scores")):
        compute = get_custom_reward_fn(config(name, manager))
        rewards = get_reward_manager_cls(manager)(tokenizer, 0, compute)(data)
        assert rewards.sum(dim=1).tolist() == torch.tensor(want).tolist()


def test_mbrs(task: Task) -> None:
    pytest.importorskip("mbrs")
    from mbrs.decoders import DecoderMBR
    from mbrs.metrics import MetricChrF, get_metric

    from refract_eval.integrations.mbrs import MetricRefract

    assert get_metric("refract") is MetricRefract
    metric = MetricRefract(MetricRefract.Config())
    theirs = MetricChrF(MetricChrF.Config(num_workers=1))
    texts = task.hypotheses[:24]
    matrix, want = metric.pairwise_scores(texts, texts), theirs.pairwise_scores(texts, texts)
    assert (matrix - want).abs().max() < 1e-4  # mbrs has single precision
    found, best = (DecoderMBR(DecoderMBR.Config(), m).decode(texts, texts) for m in (metric, theirs))
    assert found.idx == best.idx
    width = max(len(r) for r in task.references)
    streams: Any = [[r[k] if k < len(r) else None for r in task.references] for k in range(width)]
    assert metric.corpus_score(task.hypotheses, streams) == task.totals[CHRF]
    one = [next(r for r in refs if r is not None) for refs in task.references]
    assert metric.scores(task.hypotheses, one).tolist() == refract_eval.score(task.hypotheses, one, "chrf").per_segment
    assert MetricRefract(MetricRefract.Config(name="ter")).HIGHER_IS_BETTER is False


TASK = """
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc
from refract_eval.integrations.lighteval import make_metric

def prompt(line, name):
    given = line["references"]
    return Doc(query=line["id"], choices=given, gold_index=list(range(len(given))), task_name=name)

TASKS_TABLE = [LightevalTaskConfig(
    name="many", prompt_function=prompt, hf_repo={folder!r}, hf_subset="default", hf_avail_splits=["test"],
    evaluation_splits=["test"], metrics=[make_metric("chrf", "max"), make_metric("bleu", "native")], generation_size=9,
)]
"""


def test_a_pipeline_of_lighteval(task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("lighteval")
    # Importing its table of tasks downloads one of them.
    monkeypatch.setitem(
        sys.modules,
        "lighteval.tasks.tasks.tiny_benchmarks",
        types.SimpleNamespace(TASKS_TABLE=[]),  # type: ignore[misc]
    )
    from lighteval.logging.evaluation_tracker import EvaluationTracker
    from lighteval.models.dummy.dummy_model import DummyModel, DummyModelConfig
    from lighteval.models.model_output import ModelResponse
    from lighteval.pipeline import ParallelismManager, Pipeline, PipelineParameters

    class Outputs(DummyModel):  # type: ignore[misc]
        def greedy_until(self, docs: list[Any]) -> list[Any]:
            return [ModelResponse(text=[task.hypotheses[int(d.query) - 1]]) for d in docs]

    segments = [refract_eval.Segment(str(i + 1), r) for i, r in enumerate(task.references)]
    (tmp_path / "set").mkdir()
    refract_eval.write(segments, tmp_path / "set" / "test.jsonl")
    (tmp_path / "tasks.py").write_text(TASK.format(folder=str(tmp_path / "set")))
    pipeline = Pipeline(
        tasks="many|0",
        pipeline_parameters=PipelineParameters(
            launcher_type=ParallelismManager.NONE, custom_tasks_directory=str(tmp_path / "tasks.py"), bootstrap_iters=4
        ),
        evaluation_tracker=EvaluationTracker(output_dir=str(tmp_path / "out"), save_details=True),
        model=Outputs(DummyModelConfig()),
    )
    pipeline.evaluate()
    pipeline.save_and_push_results()
    (found,) = [v for k, v in pipeline.get_results()["results"].items() if k != "all"]
    (details,) = pipeline.evaluation_tracker.details_logger.details.values()
    for (metric, aggregate), total in task.totals.items():
        name = f"refract_{metric}_{aggregate}"
        assert found[name] == total
        scored = sorted((int(d.doc.query), d.metric[name]) for d in details)
        assert [s for _, s in scored] == task.segments[metric, aggregate]
    (written,) = (tmp_path / "out" / "results").rglob("*.json")
    assert "agg:native" in written.read_text()
    assert list((tmp_path / "out" / "details").rglob("*.parquet"))
