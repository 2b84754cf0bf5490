#!/usr/bin/env python3
"""Writes cases.jsonl: cases of multi-reference scoring with sacreBLEU's values.

usage: generate.py [OUT.jsonl]        (sacreBLEU 2.6.0; standard output without OUT)

A case has texts by segment: "hypotheses" is one text a segment and "references" a list a segment; null is a
missing text, "" an empty one. With "streams" instead of "references", there is one list a reference, as in
files.

  level      sentence (a single segment) or corpus
  aggregate  native (the metric's own rule for several references), single (the first
             reference), max, min or mean over the scores against one reference each;
             over a corpus, the mean of these over segments, and pooled for native and single
  expect     a number, in sacreBLEU's units; "missing": no number for this segment;
             "refuse": no number, as a plain one would be of something else. "why" says why
  rest       where refused: the score of the segments that have all that it takes, which may
             be shown with the count of the missing segments
  call       the sacreBLEU call that gives the number, with hyps, refs (by segment) and
             streams(refs) (by reference, the missing ones as None at the end)

Every text is written for this file.
"""
import json
import logging
import sys

import sacrebleu
from sacrebleu.metrics import BLEU, CHRF, TER

logging.getLogger("sacrebleu").setLevel(logging.ERROR)
assert sacrebleu.__version__ == "2.6.0", "the expected values are those of sacreBLEU 2.6.0"

ALL = ("bleu", "chrf", "chrf++", "ter")
THREE = ("bleu", "chrf", "ter")
CORPUS = {"bleu": "BLEU()", "chrf": "CHRF()", "chrf++": "CHRF(word_order=2)", "ter": "TER()"}
SENTENCE = CORPUS | {"bleu": "BLEU(effective_order=True)"}


def streams(refs):
    present = [[r for r in segment if r is not None] for segment in refs]
    return [[r[i] if i < len(r) else None for r in present] for i in range(max(map(len, present)))]


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def call(metric, level, aggregate):
    one = f"{SENTENCE[metric]}.sentence_score(h, [r]).score"
    if aggregate == "native" and level == "corpus":
        return f"{CORPUS[metric]}.corpus_score(hyps, streams(refs)).score"
    if aggregate == "single" and level == "corpus":
        return f"{CORPUS[metric]}.corpus_score(hyps, [[r[0] for r in refs]]).score"
    if aggregate == "native":
        return f"{SENTENCE[metric]}.sentence_score(hyps[0], [r for r in refs[0] if r is not None]).score"
    if aggregate == "single":
        return f"{SENTENCE[metric]}.sentence_score(hyps[0], [refs[0][0]]).score"
    cells = f"{aggregate}({one} for r in rs if r is not None)"
    return f"mean({cells} for h, rs in zip(hyps, refs))"


class Set:
    def __init__(self):
        self.cases, self.names = [], set()

    def add(self, group, name, tests, hyps, refs, metrics=ALL, level="corpus", aggregate="native",
            expect=None, why=None, rest=None, given="references"):
        for metric in metrics:
            full = "/".join((group, name, metric, level, aggregate))
            assert full not in self.names, full
            self.names.add(full)
            case = {"name": full, "group": group, "tests": tests, "metric": metric, "level": level,
                    "aggregate": aggregate, "hypotheses": hyps, given: refs}
            if expect:
                case |= {"expect": expect, "why": why}
                if rest:
                    case |= {"rest": self.score(metric, level, aggregate, [hyps[i] for i in rest], [refs[i] for i in rest])}
            else:
                case |= {"expect": self.score(metric, level, aggregate, hyps, refs), "call": call(metric, level, aggregate)}
            self.cases.append(case)

    @staticmethod
    def score(metric, level, aggregate, hyps, refs):
        names = {"hyps": hyps, "refs": refs, "streams": streams, "mean": mean, "BLEU": BLEU, "CHRF": CHRF, "TER": TER}
        return eval(call(metric, level, aggregate), names)

    def sentences(self, group, name, tests, hyp, refs, metrics=ALL, aggregates=("native", "max", "mean"), **more):
        for aggregate in aggregates:
            self.add(group, name, tests, [hyp], [refs], metrics, "sentence", aggregate, **more)


HARBOUR = [
    "The harbour was closed for two days after the storm.",
    "Fishermen repaired their nets on the quay in the morning.",
    "A small ferry took the children across to the island.",
    "Nobody had seen the lighthouse keeper since last winter.",
]
OTHERS = [
    ["For two days after the storm, the harbour stayed closed.", "The port was shut for two days following the storm."],
    ["In the morning the fishermen mended their nets on the quay.", "On the quay, nets were being repaired by fishermen that morning."],
    ["The children were taken to the island by a small ferry.", "A little ferry boat carried the children over to the island."],
    ["Since last winter nobody had seen the keeper of the lighthouse.", "The lighthouse keeper had not been seen by anyone since winter."],
]
OUTPUTS = [
    "The harbour stayed closed for two days following the storm.",
    "The fishermen repaired nets on the quay in the morning.",
    "The small ferry carried the children across to the island.",
    "Nobody has seen the keeper of the lighthouse since winter.",
]
WIDE = [[first, *others] for first, others in zip(HARBOUR, OTHERS)]


def build():
    s = Set()

    s.add("baseline", "one reference", "a corpus with one reference a segment", OUTPUTS, [[r] for r in HARBOUR])
    s.add("baseline", "three references", "a corpus with three references a segment", OUTPUTS, WIDE)
    s.add("baseline", "first of three", "the first of three references alone", OUTPUTS, WIDE, aggregate="single")
    s.sentences("aggregates", "four numbers", "single, native, largest, smallest and mean score differ", OUTPUTS[0], WIDE[0],
                aggregates=("single", "native", "max", "min", "mean"))
    s.add("aggregates", "mean of the largest", "the largest score a segment, then the mean over segments", OUTPUTS, WIDE, aggregate="max")
    s.add("aggregates", "mean of means", "the mean score a segment, then the mean over segments", OUTPUTS, WIDE, aggregate="mean")
    s.add("aggregates", "order", "references in another order give the same number", OUTPUTS, [r[::-1] for r in WIDE])

    s.add("ragged", "one, two, three", "segments with 1, 2, 3 and 3 references", OUTPUTS, [r[:n] for r, n in zip(WIDE, (1, 2, 3, 3))])
    s.add("ragged", "three, two, one", "segments with 3, 2, 1 and 1 references", OUTPUTS, [r[:n] for r, n in zip(WIDE, (3, 2, 1, 1))])
    s.add("ragged", "one short", "one segment of four has one reference less", OUTPUTS, [WIDE[0], WIDE[1], WIDE[2], WIDE[3][:2]])
    s.add("ragged", "the good one is cut", "the reference that equals the output is the last of the longest list",
          OUTPUTS, [[*WIDE[0], OUTPUTS[0]], WIDE[1], WIDE[2][:2], WIDE[3]])
    many = [f"{a} {b}" for a in ("The harbour was closed", "They shut the harbour", "No ship left the harbour")
            for b in ("for two days.", "until Sunday.", "after the storm.", "because of the wind.")][:11]
    s.add("ragged", "eleven and one", "segments with 11 references and with 1", OUTPUTS[:2], [many, WIDE[1][:1]])
    s.add("ragged", "means", "each segment is divided by its own number of references", OUTPUTS,
          [r[:n] for r, n in zip(WIDE, (1, 2, 3, 3))], aggregate="mean")
    s.add("ragged", "largest", "the largest of as many scores as a segment has references", OUTPUTS,
          [r[:n] for r, n in zip(WIDE, (3, 1, 2, 3))], aggregate="max")

    s.add("missing", "a later one", "a reference after the first is missing in two segments", OUTPUTS,
          [WIDE[0], [WIDE[1][0], None, WIDE[1][2]], [WIDE[2][0], WIDE[2][1], None], WIDE[3]], metrics=THREE)
    s.add("missing", "the first one", "the first reference of the first segment is missing", OUTPUTS,
          [[None, *WIDE[0][1:]], *WIDE[1:]], metrics=THREE)
    s.add("missing", "a whole stream", "one of three references is missing everywhere", OUTPUTS, [[r[0], None, r[2]] for r in WIDE], metrics=THREE)
    s.sentences("missing", "is not a text", "a reference that is missing enters no mean", OUTPUTS[1], [WIDE[1][0], None, WIDE[1][2]], metrics=THREE)
    s.sentences("missing", "no first", "the first reference is missing, and it alone is asked for", OUTPUTS[1], [None, WIDE[1][1]],
                aggregates=["single"], expect="missing", why="the first reference is missing, and another one is not the first", metrics=THREE)
    nothing = "a segment without a reference has no score, and leaving it out is for the caller to decide"
    s.add("missing", "none at all", "one segment of four has an empty list of references", OUTPUTS, [*WIDE[:3], []],
          expect="refuse", why=nothing, rest=[0, 1, 2], metrics=THREE)
    s.add("missing", "only missing ones", "all references of one segment are missing", OUTPUTS, [WIDE[0], [None, None, None], *WIDE[2:]],
          expect="refuse", why=nothing, rest=[0, 2, 3], metrics=THREE)
    s.sentences("missing", "no reference", "a sentence without a reference", OUTPUTS[0], [],
                aggregates=["native", "max"], expect="missing", why="there is nothing to compare with, which is no score of 0", metrics=THREE)

    s.add("empty", "output", "one output is empty and counts as one", ["", *OUTPUTS[1:]], WIDE, metrics=THREE)
    s.add("empty", "outputs", "all outputs are empty", ["", "", "", ""], WIDE, metrics=THREE)
    s.add("empty", "white space", "one output is of white space alone", [OUTPUTS[0], "   ", *OUTPUTS[2:]], WIDE, metrics=THREE)
    s.add("empty", "reference", "one of three references is empty, and no missing one", OUTPUTS,
          [[WIDE[0][0], "", WIDE[0][2]], *WIDE[1:]], metrics=THREE)
    s.add("empty", "only reference", "the only reference of one segment is empty", OUTPUTS, [[WIDE[0][0]], [""], [WIDE[2][0]], [WIDE[3][0]]], metrics=THREE)
    s.sentences("empty", "both", "output and references are empty", "", ["", ""], aggregates=["native", "max"], metrics=THREE)
    s.sentences("empty", "among three", "an empty reference enters the mean", OUTPUTS[2], [WIDE[2][0], "", WIDE[2][2]], aggregates=["mean"], metrics=THREE)

    s.add("transposed", "two by two", "as many references as segments: the shape does not show which is which",
          OUTPUTS[:2], [r[:2] for r in WIDE[:2]])
    s.add("transposed", "three by three", "three references, three segments", OUTPUTS[:3], WIDE[:3])
    s.add("transposed", "four segments, two references", "more segments than references", OUTPUTS, [r[:2] for r in WIDE])
    s.add("transposed", "two segments, three references", "more references than segments", OUTPUTS[:2], WIDE[:2])
    s.add("transposed", "exact", "every output equals its second reference", [r[1] for r in WIDE], WIDE)
    length = "a stream of references has another length than the outputs: some texts would be dropped"
    s.add("transposed", "streams by segment", "four outputs, and lists by segment where lists by reference belong", OUTPUTS,
          [r[:2] for r in WIDE], expect="refuse", why=length, given="streams", metrics=THREE)
    s.add("transposed", "a short stream", "one of two streams has a line less than there are outputs", OUTPUTS,
          [HARBOUR, [r[1] for r in WIDE[:3]]], expect="refuse", why=length, given="streams", metrics=THREE)
    s.add("transposed", "a long stream", "both streams have a line more than there are outputs", OUTPUTS[:3],
          [HARBOUR, [r[1] for r in WIDE]], expect="refuse", why=length, given="streams", metrics=THREE)

    s.add("duplicates", "a reference twice", "a repeated reference adds no n-gram", OUTPUTS, [[*r[:2], r[0]] for r in WIDE], metrics=THREE)
    s.sentences("duplicates", "a reference three times", "a repeated reference weighs more in a mean, and in TER's length",
                OUTPUTS[3], [WIDE[3][0], WIDE[3][1], WIDE[3][1], WIDE[3][1]], metrics=THREE)
    s.add("duplicates", "an output twice", "equal outputs with unlike references", [OUTPUTS[0], OUTPUTS[0]], [WIDE[0], WIDE[1]], metrics=THREE)

    halves = ["The old mill by the river burned down on Monday.", "A fire on Tuesday destroyed the mill that stood beside the water."]
    both = "The old mill by the river burned down: a fire on Tuesday destroyed the mill."
    s.add("complementary", "halves", "half of the n-grams are in each reference: native BLEU takes both",
          [both, OUTPUTS[1]], [halves, WIDE[1]])
    s.sentences("complementary", "halves", "the same as a sentence", both, halves)
    s.sentences("complementary", "clipped", "a word counts as often as in one reference, not as in their sum",
                "the sea the sea the sea the sea", ["the sea and the sky over the bay", "the sea near the coast is the sea of the north"],
                aggregates=["native", "max"])
    s.add("complementary", "all found", "every n-gram is in a reference, and the length fits",
          ["The wind rose early and the boats came back before noon."],
          [["The wind rose early and the boats stayed at sea all day.", "In autumn the boats came back before noon.",
            "Early and the boats came back before they were due."]], metrics=("bleu", "chrf", "ter"))

    s.add("length ties", "shorter and longer", "references of 7 and 9 words are equally near to 8: the shorter one counts",
          ["we walked along the beach until it rained"],
          [["we walked along the beach until rain", "we walked along the sandy beach until it rained"]], metrics=("bleu",))
    s.add("length ties", "longer first", "the same, with the longer reference first",
          ["we walked along the beach until it rained"],
          [["we walked along the sandy beach until it rained", "we walked along the beach until rain"]], metrics=("bleu",))
    s.add("length ties", "two segments", "ties in two segments, either order", ["she sold the boat in May", "he bought a new one in June"],
          [["she sold the old boat in May", "she sold it in May"], ["he bought one in early June", "he bought a new one late in June"]], metrics=("bleu",))
    s.sentences("length ties", "nearest", "a nearer longer reference counts before a shorter one", "the bell rang at six in the evening",
                ["the bell rang", "at six in the evening the big old bell rang", "the bell rang at six in the early evening"], aggregates=["native"], metrics=("bleu",))

    gone = "the system has no output here, which is not an empty one; a number of the others is one of fewer segments"
    s.add("no output", "one segment", "the system has no output for one segment of four", [OUTPUTS[0], None, *OUTPUTS[2:]], WIDE,
          expect="refuse", why=gone, rest=[0, 2, 3])
    s.add("no output", "the first segment", "the system has no output for the first segment", [None, *OUTPUTS[1:]], WIDE,
          expect="refuse", why=gone, rest=[1, 2, 3])
    s.add("no output", "anywhere", "the system has no output at all", [None, None], WIDE[:2], metrics=("bleu", "chrf", "ter"),
          expect="refuse", why="there is nothing to score")
    s.sentences("no output", "a sentence", "a sentence without an output", None, WIDE[0], aggregates=["native"],
                expect="missing", why="there is nothing to score, which is no score of 0")

    s.add("scripts", "four scripts", "Greek, Cyrillic, Arabic and Devanagari, with their punctuation",
          ["Το πλοίο έφυγε χθες, αργά.", "Корабль ушёл вчера поздно.", "غادرت السفينة أمس، متأخرة.", "जहाज़ कल देर से गया।"],
          [["Το πλοίο έφυγε αργά χθες.", "Χθες, αργά, έφυγε το πλοίο."], ["Корабль вчера ушёл поздно.", "Вчера поздно ушёл корабль."],
           ["غادرت السفينة متأخرة أمس.", "أمس غادرت السفينة."], ["जहाज़ देर से गया।", "कल जहाज़ देर से गया।"]])
    s.add("scripts", "composed", "letters with combining marks are not the composed ones", ["Le cafe\u0301 est fermé."],
          [["Le café est fermé.", "Le cafe\u0301 ferme."]])
    return s.cases


def main():
    rows = "".join(json.dumps(c, ensure_ascii=False) + "\n" for c in build())
    if len(sys.argv) > 1:
        with open(sys.argv[1], "w", encoding="utf-8") as f:
            f.write(rows)
    else:
        sys.stdout.write(rows)


if __name__ == "__main__":
    main()
