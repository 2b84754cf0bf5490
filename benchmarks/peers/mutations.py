"""Damages files of every format that Refract reads, and compares what it makes of them with its peers.

usage: mutations.py REFRACT [MUTATIONS [SEED]]

A mutated file gives the texts that Python's csv and json, or pyarrow, read in it, or what the whole
file gives; or it is an error that names the file and, in formats of lines, the line. Line ends, a
byte order mark, gzip and white space between the values of JSON change nothing. A fault of a whole
file (no digest, no segment, no such column, too many lines) has no line, and one of an experiment's dataset or metric
has its name instead. No run panics or takes more than MEMORY. Needs pyarrow and PyYAML.
"""
import ast
import collections
import csv
import gzip
import hashlib
import io
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

MEMORY = 400 << 20  # bytes resident; an idle one takes 40 MiB
SAMPLE = pathlib.Path(__file__).parents[2] / "cmd/refract/command/sample"
OTHER_END = "\ue000"
PIECES = [b"\0", b"\r", b"\n", b'"', b"'", b"\\", b",", b"\t", b"\xff", b"\xc2\x85", b"\xe2\x80\xa8", b"{", b"]", b":", b"#", b"null", b"NaN", b"1e999", b"-", b"\\ud800", b"9" * 400]


def once(pairs):
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


def parse(text):
    return json.loads(text, object_pairs_hook=once, parse_int=str, parse_float=str)


def decoded(data, *others):
    """Only a line feed ends a line here: what else does in Python or YAML 1.1 is replaced, and a tab that PyYAML refuses."""
    return re.sub("\r(?!\n)" + "".join("|" + c for c in others), OTHER_END, data.decode().removeprefix("\ufeff"))


def lines(data):
    return data.decode().removeprefix("\ufeff").replace("\r\n", "\n").removesuffix("\n").split("\n")


def segments(rows):
    other = lambda text: text and text.replace("\r", OTHER_END)
    return [(other(s["id"]), other(s.get("source")), [other(r) for r in s.get("references") or []]) for s in rows]


def table(data, **dialect):
    rows = csv.reader(io.StringIO(decoded(data), newline=""), strict=True, **dialect)
    head = next(rows)
    named = [dict(zip(head, row, strict=True)) for row in rows if row]
    return segments({"id": r["id"], "source": r["source"] or None, "references": [r["ref"] or None]} for r in named)


def key(segment, reference, text):
    """The key by which a decision names the answer of a segment to the prompt "order"."""
    whole = json.dumps([segment, 0, reference, "order", 0, "m", text], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(whole.encode()).hexdigest()[:24]


def arrow(data):
    t = pq.read_table(io.BytesIO(data), page_checksum_verification=True).to_pydict()
    return segments({"id": i, "source": s, "references": [r]} for i, s, r in zip(t["id"], t["source"], t["ref"]))


def sealed(data):
    """The meaning of a file with a digest in it: it gives what it gave, or is refused."""
    return data


class Reader:
    """A file, the command that reads it, and its peer. A peer of texts returns what the command writes;
    one of meaning returns what decides whether the command must write what it wrote before."""

    def __init__(self, name, file, command, texts=None, meaning=None, lines=True, harmless=()):
        self.name, self.file, self.command = name, pathlib.Path(file), [str(c) for c in command]
        self.texts, self.meaning, self.lines, self.harmless = texts, meaning, lines, harmless


def harmless(how, data):
    return {"crlf": lambda: data.replace(b"\n", b"\r\n"), "mark": lambda: b"\xef\xbb\xbf" + data, "gzip": lambda: gzip.compress(data),
            "space": lambda: b"".join(b" " + json.dumps(json.loads(l), indent=None, separators=(" ,\t", " : ")).encode() + b" \n" for l in data.splitlines())}[how]()


def mutated(rng, data):
    at = rng.randrange(len(data))
    rows = data.splitlines(keepends=True)
    row = rng.randrange(len(rows))
    return [lambda: data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:],
            lambda: data[:at] + data[at + rng.randrange(1, 9):],
            lambda: data[:at] + rng.choice(PIECES) + data[at:],
            lambda: data[:at] + rng.choice(PIECES) + data[at + 1:],
            lambda: data[:at],
            lambda: b"".join(rows[:row] + rows[row + 1:]),
            lambda: b"".join(rows[:row + 1] + rows[row:])][rng.randrange(7)]()


def readers(refract, root):
    def make(*command):
        subprocess.run([str(c) for c in (refract, *command)], cwd=root, check=True, capture_output=True)

    def texts(name, data, spec, texts, **more):
        (root / name).write_bytes(data)
        return Reader(name, root / name, ["publish", spec % name, "--to", "jsonl", "-o", "out"], texts, **more)

    sample = [json.loads(line) for line in (SAMPLE / "sample.jsonl").open(encoding="utf-8")][:12]
    whole = [(s["id"], s["source"], s["references"]) for s in sample]
    flat = [(i, s, refs[0]) for i, s, refs in whole] + [("q", 'a "quoted", one', "two\nlines"), ("天", "naïve\ttab", "'s")]

    def delimited(rows, **dialect):
        out = io.StringIO(newline="")
        csv.writer(out, lineterminator="\n", **dialect).writerows([("id", "source", "ref"), *rows])
        return out.getvalue().encode()

    dump = lambda rows: "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows).encode()
    columns = "table:%s,id=id,source=source,reference=ref"
    (root / "s.jsonl").write_bytes(dump(sample))
    answer = {"reference": 0, "prompt": "order", "sample": 0, "model": "m", "finish": "stop", "verdict": "accepted"}
    expanded = [{"id": i, "references": refs, "variants": [answer | {"text": "So " + refs[0]}]} for i, _, refs in whole]
    (root / "e.jsonl").write_bytes(dump(expanded))
    parquet = io.BytesIO()
    pq.write_table(pa.table(dict(zip(("id", "source", "ref"), zip(*flat)))), parquet, write_page_checksum=True)
    (root / "experiment.yaml").write_text("name: n\ndatasets:\n  - name: d\n    dataset: jsonl:s.jsonl\nreferences: [original]\nmetrics: [chrf]\naggregators: [max, mean]\nstatistics:\n  - kendall\n")
    make("score", "jsonl:s.jsonl", "-m", "chrf", "-a", "max", "--per", "cell", "-o", "matrix.jsonl")
    make("score", "jsonl:s.jsonl", "-m", "chrf", "-a", "max", "--per", "cell", "-o", "matrix.parquet")
    make("cache", "import", "cache.sqlite", SAMPLE / "answers.jsonl")
    (root / "folder").mkdir()
    make("publish", "jsonl:s.jsonl", "--to", "mtme", "-l", "de-en", "-o", "folder/wmt")
    (root / "folder/wmt/manifest.json").unlink()
    make("publish", "jsonl:e.jsonl", "--to", "jsonl", "-o", "set")
    make("publish", "jsonl:e.jsonl", "--to", "div-ref", "-o", "divref")
    shutil.copy(next((root / "divref").glob("*.diversified")), root / "div.txt")
    decisions = [{"answer": key(i, refs[0], "So " + refs[0]), "segment": i, "prompt": "order", "decision": ("accept", "reject")[k % 2]} for k, (i, _, refs) in enumerate(whole)]
    (root / "decisions.jsonl").write_bytes(dump(decisions))
    mqm = [("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity", "comment")]
    mqm += [(system, "d", str(k), str(k), "r1", s["source"], s["hypotheses"].get(system, s["references"][0]), "Fluency/Grammar", ("Minor", "Major")[k % 2], "") for k, s in enumerate(sample, 1) for system in ("general", "small", "ref.A")]
    (root / "ratings.tsv").write_text("".join("\t".join(r) + "\n" for r in mqm), encoding="utf-8")
    compare = ["compare", "jsonl:s.jsonl", "-f", "json", "--seed", "1"]
    rows = lambda data: [parse(line) for line in lines(data)]
    tsv = dict(delimiter="\t")
    of_set = "set/references.jsonl"
    return [
        texts("segments.jsonl", dump(sample), "jsonl:%s", lambda d: segments(rows(d)), harmless=("crlf", "mark", "gzip", "space")),
        texts("array.json", json.dumps(sample, indent=1).encode(), "jsonl:%s", lambda d: segments(parse(d.decode("utf-8-sig"))), harmless=("crlf", "mark", "gzip")),
        texts("t.csv", delimited(flat), columns, table, harmless=("mark", "gzip")),
        texts("t.tsv", delimited(flat, **tsv), columns, lambda d: table(d, **tsv), harmless=("mark", "gzip")),
        texts("t.parquet", parquet.getvalue(), columns, arrow, lines=False),
        Reader("div-ref", root / "div.txt", ["publish", "jsonl:s.jsonl", "--references", "div-ref-lines:div.txt", "--to", "jsonl", "-o", "out"],
               meaning=lambda d: [ast.literal_eval(decoded(l.encode())) for l in lines(d)], harmless=("crlf", "mark", "gzip")),
        Reader("expansions", root / "e.jsonl", ["publish", "jsonl:s.jsonl", "--references", "jsonl:e.jsonl", "--to", "jsonl", "-o", "out"], meaning=rows, harmless=("crlf", "mark", "gzip", "space")),
        Reader("decisions", root / "decisions.jsonl", ["publish", "jsonl:e.jsonl", "--decisions", "decisions.jsonl", "--to", "jsonl", "-o", "out"], meaning=lambda d: [parse(line) for line in lines(d) if line.strip()], harmless=("crlf", "space")),
        Reader("mtme", root / "folder/wmt/references/de-en.refA.txt", ["publish", "mtme:folder/wmt/de-en", "--to", "jsonl", "-o", "out"],
               lambda d: [(str(k), s["source"], [ref.strip().replace("\r", OTHER_END)]) for k, (s, ref) in enumerate(zip(sample, lines(d), strict=True), 1)], harmless=("crlf", "mark", "gzip")),
        Reader("matrix", root / "matrix.jsonl", [*compare, "--matrix", "matrix.jsonl"], meaning=sealed),
        Reader("Parquet matrix", root / "matrix.parquet", [*compare, "--matrix", "matrix.parquet"], meaning=sealed, lines=False),
        Reader("cache", root / "cache.sqlite", ["cache", "export", "cache.sqlite", "-o", "out/answers.jsonl"], meaning=sealed, lines=False),
        Reader("published set", root / of_set, ["publish", "published:set", "--to", "jsonl", "-o", "out"], meaning=sealed, lines=False),
        Reader("manifest", root / "set/manifest.json", ["publish", "published:set", "--to", "jsonl", "-o", "out"], meaning=lambda d: parse(d.decode()), lines=False),
        Reader("experiment", root / "experiment.yaml", ["experiment", "experiment.yaml", "-f", "json"], meaning=lambda d: yaml.serialize(yaml.compose(decoded(d, "\x85", "\u2028", "\t"))), harmless=("crlf",)),
        Reader("mqm", root / "ratings.tsv", ["compare", "mqm:ratings.tsv", "--reference", "ref.A", "-m", "chrf", "-f", "json"], meaning=lambda d: d, harmless=("crlf", "mark", "gzip")),
    ]


def run(refract, reader, root):
    shutil.rmtree(root / "out", ignore_errors=True)
    if reader.name == "cache":
        (root / "out").mkdir()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        p = subprocess.Popen([refract, *reader.command], cwd=root, stdout=out, stderr=err)
        _, status, usage = os.wait4(p.pid, 0)
        out.seek(0), err.seek(0)
        result, complaint = out.read(), err.read().decode(errors="replace")
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, 1, 2) or re.search(r"^(panic|fatal error|goroutine )", complaint, re.M):
        raise AssertionError(f"exit code {code}: {complaint[:800]}")
    if usage.ru_maxrss << 10 > MEMORY:
        raise AssertionError(f"{usage.ru_maxrss >> 10} MiB: {complaint[:300]}")
    if code:
        return None, complaint
    if "out" not in reader.command and reader.name != "cache":
        return result, complaint
    texts = next((root / "out").glob("*.jsonl")).read_bytes()
    if reader.texts:
        return segments(map(json.loads, texts.decode().removesuffix("\n").split("\n"))), complaint
    return texts, complaint


def tried(peer, data):
    try:
        return peer(data)
    except Exception:
        return None


def check(refract, reader, root, data, want, parsed, kind):
    """Says how a mutation ended, and raises AssertionError where it must not end so."""
    reader.file.write_bytes(data)
    got, complaint = run(refract, reader, root)
    if kind:
        assert got == want, f"{kind} changes what is read: {complaint[:300]}"
        return "harmless"
    peer = tried(reader.texts or reader.meaning, data)
    if got is None:
        place = re.search(re.escape(reader.file.name) + (r"(:\d+|: (there is no column|the dataset|the file has no reference|has \d+ lines?,|the digest|the matrix has no digest|datasets|the file is empty|dataset \w|(unknown )?metric \S))" if reader.lines else ""), complaint)
        folder = not reader.lines and reader.file.parent.name in complaint
        assert place or folder, f"the error names no place: {complaint[:400]}"
        assert reader.meaning is None or peer != parsed, f"refuses what means the same: {complaint[:400]}"
        return "refused"
    if reader.texts:
        assert got in (want, peer), f"reads {got}, not {peer}"
    else:
        assert peer is not None, "reads what its peer refuses"
        assert peer != parsed or got == want, "the same file gives other results"
        assert reader.meaning is not sealed or got == want, "reads other results from a damaged file"
    return "same" if got == want else "as its peer"


def main(refract, mutations=1000, seed=1):
    rng, failed = random.Random(seed), 0
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        everything = readers(refract, root)
        for n, reader in enumerate(everything):
            whole, counts = reader.file.read_bytes(), collections.Counter()
            want, complaint = run(refract, reader, root)
            assert want is not None, f"{reader.name}: {complaint}"
            parsed = (reader.texts or reader.meaning)(whole)
            assert not reader.texts or parsed == want, f"{reader.name} reads {want}, its peer {parsed}"
            kinds = [*reader.harmless] + [None] * (mutations * (n + 1) // len(everything) - mutations * n // len(everything) - len(reader.harmless))
            for k, kind in enumerate(kinds):
                data = harmless(kind, whole) if kind else mutated(rng, whole)
                try:
                    counts[check(refract, reader, root, data, want, parsed, kind)] += 1
                except AssertionError as e:
                    failed += 1
                    print(f"FAILED {reader.name}, mutation {k} of seed {seed}: {str(e)[:1500]}", file=sys.stderr)
                    if keep := os.environ.get("REFRACT_KEEP"):
                        pathlib.Path(keep, f"{n}-{k}-{reader.file.name}").write_bytes(data)
            reader.file.write_bytes(whole)
            print(f"{reader.name}: " + ", ".join(f"{v} {k}" for k, v in sorted(counts.items())), flush=True)
    if failed:
        sys.exit(f"{failed} of {mutations} mutations end as they must not")
    print(f"{mutations} mutations over {len(everything)} readers")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), *map(int, sys.argv[2:]))
