"""What is accepted as hypotheses and references, and what is refused."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refract_eval._texts import hypotheses_by_system, references_by_segment
from refract_eval._texts import texts as texts_of

HYPOTHESES = ["the cat sat on the mat", "a dog barked at the moon"]
BY_SEGMENT = [
    ["a cat sat on a mat", "the cat was on the mat"],
    ["a dog barked at a full moon", "the dog was barking at the moon"],
]


def read(hypotheses: Any, references: Any, layout: str | None = None) -> list[list[str | None]]:
    return references_by_segment(references, hypotheses_by_system(hypotheses), layout)


@pytest.mark.parametrize(
    ("references", "want"),
    [
        (BY_SEGMENT, BY_SEGMENT),
        (["x", "y"], [["x"], ["y"]]),
        (["x", None], [["x"], []]),
        ([["x"], ["y", None, float("nan"), ""]], [["x"], ["y", None, None, ""]]),
        ([None, ("y",)], [[], ["y"]]),
        ((x for x in [["x"], iter(["y"])]), [["x"], ["y"]]),
    ],
)
def test_forms(references: Any, want: Any) -> None:
    assert read(HYPOTHESES, references) == want


def test_arrays_and_columns() -> None:
    np = pytest.importorskip("numpy")
    pd = pytest.importorskip("pandas")
    assert read(np.array(HYPOTHESES), np.array(BY_SEGMENT)) == BY_SEGMENT
    frame = pd.DataFrame({"h": HYPOTHESES, "r": ["x", None]})
    assert read(frame["h"], frame["r"]) == [["x"], []]
    assert read(HYPOTHESES, pd.array(["x", pd.NA], dtype="string")) == [["x"], []]
    assert hypotheses_by_system({"a": frame["h"]}) == {"a": HYPOTHESES}


def test_tables() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"hyp": HYPOTHESES, "ref1": ["x", "y"], "ref2": [None, "z"]})
    assert read(frame["hyp"], frame[["ref1", "ref2"]], "segment") == [["x", None], ["y", "z"]]
    assert read(frame["hyp"], frame[["ref1"]]) == [["x"], ["y"]]
    assert read(frame["hyp"], frame[["ref1", "ref2"]].T, "reference") == [["x", None], ["y", "z"]]
    assert read(HYPOTHESES, pd.DataFrame(BY_SEGMENT, columns=["r", "r"])) == BY_SEGMENT
    with pytest.raises(TypeError, match=r"references\[0\]\[1\] is a int"):
        read(HYPOTHESES, pd.DataFrame({"r": ["x", "y"], "n": [1, 2]}))
    for refused in (frame, frame[["hyp"]], {"a": frame[["hyp"]]}):
        with pytest.raises(TypeError, match=r"is a table; give a column: hypotheses.*=df\['column'\]"):
            read(refused, ["x", "y"])
    with pytest.raises(TypeError, match="is a table; give a column"):
        read(HYPOTHESES, [frame, frame])


@pytest.mark.parametrize(
    ("hypotheses", "references", "message"),
    [
        ("the cat", [["the cat"]], "hypotheses is a str, not a list: 'the cat'"),
        (["a"], "the cat", "references is a str, not a list"),
        (["a"], {"x": ["y"]}, "references is a dict, not a list"),
        (["a"], {"x"}, "references is a set, not a list"),
        (["a", 7], [["x"], ["y"]], r"hypotheses\[1\] is a int, not a text: 7"),
        (["a", "b"], [["x"], ["y", b"z"]], r"references\[1\]\[1\] is a bytes, not a text"),
        (["a", "b"], [["x"], ["y", ["z"]]], r"references\[1\]\[1\] is a list, not a text"),
        (["a", "b"], [["x"], "y"], r"references has texts, and references\[0\] is a list"),
        (
            ["a"],
            ["x", "y"],
            r"has 2 texts, one a hypothesis, and there are 1 hypotheses; for 2 references .* \[\[…\]\]",
        ),
        (["a", "b"], [["x"]], r"references has 1 elements, and there are 2 hypotheses"),
        ([], [], "there are no hypotheses"),
        ({}, [], "hypotheses is empty"),
        ({"a": ["x"], "b": ["x", "y"]}, [["r"]], r"differ in their numbers of hypotheses: {'a': 1, 'b': 2}"),
        ({1: ["x"]}, [["r"]], "a system's name is a int"),
    ],
)
def test_refusals(hypotheses: Any, references: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        read(hypotheses, references)


def test_transposed_by_its_lengths() -> None:
    references = [["first of a", "first of b", "first of c"], ["second of a", None, "second of c"]]
    with pytest.raises(ValueError, match="transposed") as refused:
        read(["a", "b", "c"], references)
    assert str(refused.value) == (
        "references seems to be transposed: 2 lists of 3 texts, for 3 hypotheses.\n"
        "  As a list for each reference, hypotheses[0] has the references ['first of a', 'second of a']\n"
        "  As a list for each hypothesis, hypotheses[0] has the references ['first of a', 'first of b', 'first of c']\n"
        "If the first is meant, give layout='reference', or list(zip(*references)); if the second is, "
        "give layout='segment'. The second lacks 1 lists."
    )
    by_segment = [["first of a", "second of a"], ["first of b", None], ["first of c", "second of c"]]
    assert read(["a", "b", "c"], references, "reference") == by_segment
    with pytest.raises(ValueError, match="has 2 elements, and there are 3 hypotheses"):
        read(["a", "b", "c"], references, "segment")


def test_one_hypothesis_per_reference_list_is_not_ambiguous() -> None:
    # [[…]] of one hypothesis with one reference is the same either way.
    assert read(["a"], [["x"]]) == [["x"]]
    with pytest.raises(ValueError, match="transposed"):
        read(["a"], [["x"], ["y"]])


def test_transposed_square() -> None:
    columns = [list(r) for r in zip(*BY_SEGMENT, strict=True)]
    assert read(HYPOTHESES, BY_SEGMENT) == BY_SEGMENT
    with pytest.raises(ValueError, match="give layout='segment'"):
        read(HYPOTHESES, columns)
    assert read(HYPOTHESES, columns, "segment") == columns
    assert read(HYPOTHESES, columns, "reference") == BY_SEGMENT
    with pytest.raises(ValueError, match="layout is 'segment', 'reference' or None"):
        read(HYPOTHESES, columns, "rows")


def test_squares_in_other_scripts() -> None:
    hypotheses = ["昨天猫坐在垫子上", "狗对着月亮叫", "火车晚点了"]
    by_segment = [
        ["猫昨天坐在垫子上", "昨天那只猫在垫子上", "昨天猫坐在一张垫子上"],
        ["那只狗对着月亮叫", "狗对月亮叫", "一只狗对着月亮叫了"],
        ["这趟火车晚点了", "火车来晚了", "列车晚点了"],
    ]
    assert read(hypotheses, by_segment) == by_segment
    with pytest.raises(ValueError, match="transposed"):
        read(hypotheses, list(zip(*by_segment, strict=True)))


def test_garbage_is_no_evidence() -> None:
    # A model in training writes texts unlike any reference; references are similar to each other.
    draw = random.Random(1)
    words = ["the", "of", "a", "in", "and", "to", "is", "for", "on", "cat", "dog", "train", "moon", "house"]

    def text() -> list[str]:
        return draw.choices(words, k=12)

    for _ in range(500):
        n = draw.randint(2, 8)
        bases = [text() for _ in range(n)]
        square = [[" ".join(draw.sample(base, k=10)) for _ in range(n)] for base in bases]
        read([" ".join(text()) for _ in range(n)], square)


texts = st.one_of(st.none(), st.text(max_size=5))


@given(st.lists(st.tuples(texts, st.lists(texts, max_size=4)), min_size=1, max_size=6))
def test_what_is_read_is_what_was_given(rows: list[tuple[str | None, list[str | None]]]) -> None:
    hypotheses, references = [h for h, _ in rows], [r for _, r in rows]
    assert read(hypotheses, references, "segment") == references
    if len({len(r) for r in references}) == 1 and references[0]:
        columns = list(zip(*references, strict=True))
        assert read(hypotheses, columns, "reference") == references


def test_columns_of_pyarrow() -> None:
    pa = pytest.importorskip("pyarrow")
    column = pa.chunked_array([["a", None], ["b"]])
    assert texts_of(column, "x") == ["a", None, "b"]
    assert texts_of([pa.scalar("a", pa.large_string()), pa.scalar(None, pa.string())], "x") == ["a", None]
    assert read(["x", "y"], pa.array([["a", "b"], None])) == [["a", "b"], []]
