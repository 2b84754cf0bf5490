"""Scores of the built-in metrics, compared with the packages that define them."""
import os
import shutil
import sys

import pytest
from conftest import EVERY, go_test, script

needs_java = pytest.mark.skipif(not shutil.which("java"), reason="no Java")


def test_sacrebleu(tmp_path, seed, maybe_data):
    vectors = tmp_path / "vectors.jsonl"
    script("sacrebleu_vectors.py", vectors, "--seed", seed, "--rounds", 1, "--every", EVERY, *maybe_data)
    go_test("./metrics", "TestSacreBLEU", REFRACT_SACREBLEU_VECTORS=vectors)


def test_ter_on_long_shifts(tmp_path):
    vectors = tmp_path / "ter.jsonl"
    script("ter_vectors.py", vectors, "--pairs", 1000 // EVERY)
    go_test("./metrics", "TestSacreBLEU", REFRACT_SACREBLEU_VECTORS=vectors)


def test_rouge_score_and_stems(tmp_path, seed, maybe_data):
    vectors, stems = tmp_path / "rouge.jsonl", tmp_path / "stems.tsv"
    script("rouge_vectors.py", vectors, stems, "--seed", seed, "--segments", 300 // EVERY, *maybe_data)
    go_test("./metrics", "TestSacreBLEU", REFRACT_SACREBLEU_VECTORS=vectors)
    go_test("./metrics/rouge", "TestStemPeer", REFRACT_STEMS=stems)


def test_sentencepiece(tmp_path, seed, maybe_data):
    script("sentencepiece_vectors.py", tmp_path, "--seed", seed, "--texts", 300 // EVERY, *maybe_data, SACREBLEU=tmp_path)
    go_test("./metrics/bleu", "TestSentencePiece", REFRACT_SENTENCEPIECE_VECTORS=tmp_path)
    go_test("./metrics", "TestSacreBLEU", SACREBLEU=tmp_path, REFRACT_SACREBLEU_VECTORS=tmp_path / "bleu.jsonl")


def test_mecab_as_a_program(tmp_path, refract):
    script("mecab_check.py", refract, tmp_path)


@needs_java
def test_cider_and_penn_treebank(tmp_path, seed, maybe_data):
    vectors, words = tmp_path / "cider.jsonl", tmp_path / "words.tsv"
    script("cider_vectors.py", vectors, words, "--seed", seed, "--every", EVERY, *maybe_data)
    go_test("./metrics/cider", "TestPeer", REFRACT_CIDER_VECTORS=vectors)
    go_test("./metrics/cider", "TestWordsPeer", REFRACT_PTB=words)


CLONES = [a for name in ("easse", "evaluate", "simplification") if (d := os.environ.get(f"REFRACT_{name.upper()}")) for a in (f"--{name}", d)]


@pytest.mark.skipif(not CLONES, reason="REFRACT_EASSE, REFRACT_EVALUATE and REFRACT_SIMPLIFICATION name no clones: no registry has these programs")
def test_sari(tmp_path, seed):
    vectors = tmp_path / "sari.jsonl"
    script("sari_vectors.py", vectors, "--seed", seed, "--every", 4 * EVERY, *CLONES)
    go_test("./metrics/sari", "TestPeer", REFRACT_SARI_VECTORS=vectors)


@pytest.mark.skipif("REFRACT_WMT25" not in os.environ, reason="REFRACT_WMT25 names no clone of wmt-conference/wmt25-mteval")
def test_error_spans(refract, seed):
    script("spans_check.py", refract, os.environ["REFRACT_WMT25"], "--seed", seed)


@needs_java
@pytest.mark.parametrize("option, figures", [
    ("", ["meteor.raw_1ref.segments", "meteor.raw_3ref.segments"]),
    (" --ptb", ["meteor.ptb_1ref.segments", "meteor.ptb_3ref.segments"]),
])
def test_meteor_as_a_program(tmp_path, refract, data, option, figures):
    program = f"exec:processes=1 {sys.executable} metrics/program/meteor.py{option}"
    script("program_check.py", refract, program, data / "neural" / "meteor_spice.json", tmp_path, *figures)


@needs_java
@pytest.mark.skipif(not os.environ.get("REFRACT_SPICE_JARS"), reason="REFRACT_SPICE_JARS names no folder of SPICE's jars: see spice_pom.xml")
def test_spice_as_a_program(tmp_path, refract, data):
    jars = os.environ["REFRACT_SPICE_JARS"]
    program = f"exec:processes=1 timeout=1h {sys.executable} metrics/program/spice.py --jars '{jars}'"
    script("program_check.py", refract, program, data / "neural" / "meteor_spice.json", tmp_path, "spice.1ref.segments", "spice.3ref.segments")
