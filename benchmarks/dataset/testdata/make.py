"""Writes the binary samples of this folder. Needs pyarrow."""

import sys

import pyarrow as pa
import pyarrow.parquet as pq

OUT = sys.argv[1]


table = pa.table({
    "id": pa.array([10, 20, 30, 40], pa.int64()),
    "translation": pa.array([{"en": "one", "zh": "一"}, {"en": "", "zh": None}, None, {"en": "four", "zh": "四"}],
                            pa.struct([("en", pa.string()), ("zh", pa.large_string())])),
    "refs": pa.array([["a", None, ""], [], None, ["d"]], pa.list_(pa.string())),
    "answers": pa.array([[{"lex": "x", "n": 1}, {"lex": None, "n": 2}], [], None, [None]],
                        pa.list_(pa.struct([("lex", pa.string()), ("n", pa.int32())]))),
    "nested": pa.array([[["a"]], [], None, [[]]], pa.list_(pa.list_(pa.string()))),
    "image": pa.array([b"\xff", b"\xfe", None, b""], pa.binary()),
    "score": pa.array([0.5, 1, None, 2], pa.float64()),
    "mt": pa.array(["uno", None, "", "cuatro"], pa.dictionary(pa.int32(), pa.string())),
    "domain": pa.array(["news", "news", None, "chat"], pa.string()),
})
pq.write_table(table, OUT + "/table.parquet", row_group_size=3, data_page_size=8)
