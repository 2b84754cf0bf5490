"""Files that Refract writes, read by the programs that people use."""
import pytest
from conftest import run, script


@pytest.fixture(scope="module")
def sample(tmp_path_factory, refract):
    """The built-in sample, and its references expanded by recorded answers."""
    folder = tmp_path_factory.mktemp("sample")
    run(refract, "demo", "-o", folder / "demo")
    cache = folder / "cache.sqlite"
    run(refract, "cache", "import", cache, folder / "demo" / "answers.jsonl")
    run(refract, "expand", f"jsonl:{folder}/demo/sample.jsonl", "--model", "recorded", "--cache", cache, "--offline",
        "-o", folder / "expanded.jsonl")
    return folder


def test_matrix_in_pyarrow(tmp_path, refract, sample):
    for form in "parquet", "jsonl":
        run(refract, "score", f"jsonl:{sample}/demo/sample.jsonl", "-a", "native", "--per", "cell",
            "-o", tmp_path / f"matrix.{form}")
    script("parquet_check.py", tmp_path / "matrix.parquet", tmp_path / "matrix.jsonl")


@pytest.mark.parametrize("name", ["expanded", "hostile"])
def test_published_sets(tmp_path, refract, sample, seed, name):
    lines = sample / "expanded.jsonl"
    if name == "hostile":
        lines = tmp_path / "hostile.jsonl"
        script("publish_vectors.py", lines, "--seed", seed)
    for form in "jsonl", "parquet", "div-ref":
        run(refract, "publish", f"jsonl:{lines}", "--to", form, "-o", tmp_path / form)
    rewritten = tmp_path / "rewritten.parquet"
    script("hf_check.py", tmp_path / "parquet", tmp_path / "jsonl", rewritten)
    run(refract, "publish", f"parquet:{rewritten}", "--to", "jsonl", "-o", tmp_path / "again")
    assert (tmp_path / "again" / "references.jsonl").read_bytes() == (tmp_path / "jsonl" / "references.jsonl").read_bytes()
    script("pylist_check.py", tmp_path / "div-ref" / "references.diversified", tmp_path / "jsonl" / "references.jsonl")


def test_text_files_in_sacrebleu(tmp_path, refract, sample):
    run(refract, "publish", f"jsonl:{sample}/expanded.jsonl", "--to", "text", "-o", tmp_path / "text")
    system = tmp_path / "system.txt"
    with open(tmp_path / "text" / "ref.3", encoding="utf-8") as f, open(system, "w", encoding="utf-8") as out:
        for line in f:
            words = line.split()
            words[1:2] = ["word"]
            out.write(" ".join(words) + "\n")
    script("sacrebleu_files.py", refract, tmp_path / "text", system)
