"""Sets: read and written, through the program and through Hugging Face's datasets."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import refract_eval
from refract_eval import RefractError, Segment, Variant, from_datasets, read, to_datasets, write
from refract_eval.segments import segment_from_json, segment_to_json

SET = [
    Segment(
        "1",
        ["a", None],
        source="q",
        variants=[Variant("b", 0, "plain", 1, "m", "stop", {"raw": "B", "verdict": "accepted"})],
        hypotheses={"x": "h", "y": None},
        human_systems=["y"],
        human={"mqm": {"x": -1.5, "y": None}},
        document="d",
        domain="news",
        rejected=[Variant(None, 0, "plain", 0, "m", "length", {"verdict": "cut"})],
        language="de",
        judged={"model": "j", "asked": 2, "flagged": 1},
        ratings={"r1": {"mqm": {"x": -1.0}}, "r2": {"mqm": {"x": -2.0}}},
    ),
    Segment("2", [""]),
]


def test_round_trips(tmp_path: Path) -> None:
    for name in ("set.jsonl", "set.jsonl.gz"):
        write(SET, tmp_path / name)
        assert read(tmp_path / name) == SET
        first = (tmp_path / name).read_bytes()
        write(read(str(tmp_path / name)), tmp_path / name)
        assert (tmp_path / name).read_bytes() == first
    assert sorted(p.name for p in tmp_path.iterdir()) == ["set.jsonl", "set.jsonl.gz"]
    assert gzip.decompress((tmp_path / "set.jsonl.gz").read_bytes()) == (tmp_path / "set.jsonl").read_bytes()
    # The program reads what is written.
    assert [s.hypotheses for s in read(f"jsonl:{tmp_path / 'set.jsonl'}")] == [s.hypotheses for s in SET]


def test_published_folders(tmp_path: Path, sample: Path) -> None:
    segments = read(sample / "sample.jsonl")
    for to in ("parquet", "jsonl"):
        write(segments, tmp_path / to, to=to)
        back = read(tmp_path / to)
        assert [(s.id, s.source, s.references, s.document) for s in back] == [
            (s.id, s.source, s.references, s.document) for s in segments
        ]
    (file,) = tmp_path.glob("parquet/data/*.parquet")
    assert [s.id for s in read(file)] == [s.id for s in segments]
    with pytest.raises(ValueError, match="to is one of jsonl, parquet"):
        write(segments, tmp_path / "x", to="xlsx")
    with pytest.raises(RefractError, match="parquet"):
        write(segments, tmp_path / "parquet", to="parquet")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"set.jsonl:2: no JSON at character 3"),
        ("[]", r"set.jsonl:2: want an object, not list"),
        ('{"id":"2","refs":[]}', "unknown field 'refs'"),
        ('{"id":"2","id":"3"}', "the key 'id' is repeated"),
        ('{"id":"1"}', "the id '1' is also in line 1"),
        ('{"references":["a"]}', "there is no id"),
        ('{"id":"2","references":"a"}', "references is a str, not a list"),
        ('{"id":"2","variants":["a"]}', r"variants\[0\] is a str, not an object"),
    ],
)
def test_bad_lines(line: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "set.jsonl").write_text(f'{{"id":"1"}}\n{line}\n')
    with pytest.raises(ValueError, match=message):
        read(tmp_path / "set.jsonl")


def test_what_fails_leaves_the_file(tmp_path: Path) -> None:
    write(SET, tmp_path / "set.jsonl")
    with pytest.raises(ValueError, match="Out of range"):
        write([Segment("1", human={"m": {"x": float("nan")}})], tmp_path / "set.jsonl")
    assert read(tmp_path / "set.jsonl") == SET
    assert len(list(tmp_path.iterdir())) == 1
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.jsonl")


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@given(text, st.lists(st.none() | text), st.dictionaries(text, st.none() | text), st.none() | text)
def test_json_keeps_everything(id: str, refs: list[str | None], outputs: dict[str, str | None], domain: str) -> None:
    segment = Segment(id, refs, hypotheses=outputs, domain=domain)
    assert segment_from_json(segment_to_json(segment), "x") == segment


def test_datasets(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    dataset = to_datasets(SET)
    texts = ["id", "source", "references", "variants", "hypotheses"]
    assert dataset.column_names == [*texts, "human_systems", "human", "document", "domain"]
    back = from_datasets(dataset)
    assert [s.all_references for s in back] == [["a", None, "b"], [""]]
    assert back[0].hypotheses == {"x": "h", "y": None}
    assert back[0].variants[0].prompt == "plain"
    rows = datasets.Dataset.from_dict({"translation": [{"zh": "q", "en": "a"}], "output": ["h"]})
    assert from_datasets(rows, "translation.en", "translation.zh", {"mine": "output"}) == [
        Segment("1", ["a"], source="q", hypotheses={"mine": "h"})
    ]
    with pytest.raises(KeyError, match=r"row 0: there is no column 'refs'; there are translation, output"):
        from_datasets(rows, "refs")


def test_datasets_keep_judgements(tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    judged = [
        Segment(
            "1",
            ["a", None],
            source="q",
            variants=[Variant("b", 1, "plain", 2, "m", "stop"), Variant(None)],
            hypotheses={"x": "h", "y": None},
            human_systems=["y"],
            human={"mqm": {"x": -1.5, "y": None}, "da": {"x": 70.0}},
            document="d",
            domain="news",
        ),
        Segment("2", [""], hypotheses={"x": "", "y": "k"}),
    ]
    assert from_datasets(to_datasets(judged)) == judged
    with pytest.raises(TypeError, match=r"row 0: human has 'mqm', not a structure with name"):
        from_datasets([{"references": ["a"], "human": {"mqm": {"x": 1.0}}}])


def test_datasets_in_parquet(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    segments = [Segment("1", ["a", None], variants=[Variant("b", 1, "plain", 2, "m", "stop")]), Segment("2", [""])]
    to_datasets(segments).to_parquet(tmp_path / "ds.parquet")
    assert [(s.id, s.all_references, s.variants) for s in read(tmp_path / "ds.parquet")] == [
        (s.id, s.all_references, s.variants) for s in segments
    ]
    splits = datasets.DatasetDict({"train": to_datasets(segments)})
    with pytest.raises(TypeError, match="dataset is a DatasetDict of 'train': give one of them"):
        from_datasets(splits)


def test_wrong_segments_and_files(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"references is a str, not a list; give \['abc'\]"):
        Segment("1", "abc")
    with pytest.raises(TypeError, match="id is a int, not a text: 1"):
        Segment(1)  # type: ignore[arg-type]
    for name in ("c.csv", "c.txt.gz", "c.parquet"):
        with pytest.raises(ValueError, match=f"{name}: JSON Lines are written"):
            write(SET, tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "latin.jsonl").write_bytes(b'{"id":"1"}\n{"id":"\xe9"}\n')
    with pytest.raises(ValueError, match=r"latin\.jsonl:2: not UTF-8 at byte 8 of the line"):
        read(tmp_path / "latin.jsonl")
    (tmp_path / "mark.jsonl").write_bytes(b'\xef\xbb\xbf{"id":"1"}\n')
    assert read(tmp_path / "mark.jsonl") == [Segment("1")]


def test_messages_name_no_file_of_ours(tmp_path: Path) -> None:
    with pytest.raises(RefractError) as refused:
        write([Segment("1", ["a"], variants=[Variant("b", 7)])], tmp_path / "out", to="jsonl")
    assert str(refused.value).startswith("segments:1: ")
    assert "set.jsonl" not in str(refused.value)


def test_commands(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    segments = refract_eval.read(sample / "sample.jsonl")
    rows = refract_eval.systems(segments, metric="chrf", aggregate="max")
    scores = refract_eval.score_segments(segments, "chrf", "max").systems["chrf", "max"]
    assert {r["system"]: pytest.approx(r["score"]) for r in rows} == scores
    variants = [Variant("A cat sat on the mat.", prompt="plain"), Variant("On the mat sat a cat.", prompt="order")]
    expanded = [Segment("1", ["The cat sat on the mat."], variants=variants)]
    counts = refract_eval.check(expanded, output=tmp_path / "checked.jsonl")
    assert any(row["name"] == "accepted" and row["answers"] == 2 for row in counts)
    assert len(refract_eval.read(tmp_path / "checked.jsonl")) == 1
    page = refract_eval.report(segments, tmp_path / "page.html", metric="chrf", aggregate=["single", "max"])
    assert "<title>" in page.read_text(encoding="utf-8")
    (chosen,) = refract_eval.select(expanded, 1, by="order")
    assert [v.prompt for v in chosen.variants] == ["plain"]
    monkeypatch.chdir(sample)
    plan = {
        "name": "sample",
        "datasets": [{"name": "sample", "dataset": "jsonl:sample.jsonl"}],
        "references": ["original"],
        "metrics": ["chrf"],
        "aggregators": ["max"],
        "statistics": ["kendall"],
    }
    assert refract_eval.experiment(plan)["rows"]
    assert not list(sample.glob(".refract-*"))
    with pytest.raises(refract_eval.UsageError, match="unknown flag: --nothing"):
        refract_eval.systems(segments, nothing=1)


def test_tables_licences_and_plain_references(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("id,reference,output\n1,a cat,the cat\n", encoding="utf-8")
    with pytest.raises(refract_eval.UsageError, match=r"say what the columns are, as in 'table:.*,id=id,reference="):
        refract_eval.read(tmp_path / "x.csv")
    (segment,) = refract_eval.read(f"table:{tmp_path / 'x.csv'},id=id,reference=reference,system:mine=output")
    assert (segment.references, list(segment.hypotheses.values())) == (("a cat",), ["the cat"])
    refract_eval.write([segment], tmp_path / "set", to="jsonl", license="cc-by-4.0")
    assert 'license: "cc-by-4.0"' in (tmp_path / "set" / "README.md").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="a licence belongs to a published folder"):
        refract_eval.write([segment], tmp_path / "x.jsonl", license="mit")
    with pytest.raises(RefractError, match="the dataset has no variant to check"):
        refract_eval.check(["one", "two"])


def test_compare(program: str, sample: Path) -> None:
    import json
    import subprocess

    segments = read(sample / "sample.jsonl")
    given = {"metrics": ["chrf", "bleu"], "statistic": ["kendall", "pearson"], "aggregate": "single"}
    found = refract_eval.compare(segments, **given)  # type: ignore[arg-type]
    flags = ["compare", "jsonl:sample.jsonl", "-m=chrf", "-m=bleu", "--statistic=kendall,pearson", "-a=single"]
    done = subprocess.run([program, *flags, "-f", "json"], cwd=sample, check=True, capture_output=True)
    rows = json.loads(done.stdout)
    assert [(a.metric, a.statistic, a.value, a.n, list(a.ci or [])) for a in found] == [
        (r["metric"], r["statistic"], r["value"], r["n"], r["ci"]) for r in rows
    ]
    assert found.best("kendall").value == max(r["value"] for r in rows if r["statistic"] == "kendall")
    assert "chrf single: kendall with authors 0.225" in repr(found)
    pytest.importorskip("pandas")
    assert found.to_pandas()["value"].tolist() == [r["value"] for r in rows]
    tested = refract_eval.compare(segments, ["chrf", "bleu"], "single", test="auto", resamples=50, seed=1)
    assert all("rank" in a.other for a in tested)
    tested = refract_eval.compare(
        segments, ["chrf", "bleu"], "single", statistic="kendall", test="auto", pairs="all", resamples=50
    )
    flags = [
        "-m=bleu",
        "-m=chrf",
        "-a=single",
        "--statistic=kendall",
        "--test=auto",
        "--table=pairs",
        "--pairs=all",
        "--resamples=50",
    ]
    done = subprocess.run(
        [program, "compare", "jsonl:sample.jsonl", *flags, "-f=json"],
        cwd=sample,
        check=True,
        capture_output=True,
    )
    assert [(p.better[0], p.worse[0], p.difference, list(p.ci or []), p.p_holm) for p in tested.pairs] == [
        tuple(r[k] for k in ("better", "worse", "delta", "delta_ci", "p_holm")) for r in json.loads(done.stdout)
    ]
    assert "bleu single − chrf single: kendall 0.037 [" in repr(tested)
    turned = refract_eval.compare(segments, "chrf", "single", statistic="kendall", human_lower_is_better=True)
    assert [a.value for a in turned] == [-(a.value or 0) for a in tested if a.metric == "chrf"]


def test_what_are_no_segments() -> None:
    for call in (
        refract_eval.compare,
        refract_eval.score_segments,
        refract_eval.systems,
        lambda s: write(s, "x.jsonl"),
        to_datasets,
    ):
        for wrong in (3, [3], ["a", 3], "nope:x"):
            with pytest.raises((TypeError, ValueError, refract_eval.RefractError), match=r"Segment|dataset|nope"):
                call(wrong)  # type: ignore[operator]
    with pytest.raises(TypeError, match="dataset has rows of the type int"):
        from_datasets([3])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="--format=csv: the result is read as JSON"):
        refract_eval.systems([], format="csv")
