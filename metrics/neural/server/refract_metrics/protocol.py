"""A request, checked, and the answer.

hypothesis, source, reference BYTES[-1]: distinct texts; pairs INT32[-1,3]: rows of
indexes (source, hypothesis, reference), −1 for a text that the metric does not need.
Answer: score FP32[-1], precision and recall where the metric has them, error_spans BYTES[-1]
in JSON, one a row; facts BYTES[1] in JSON.
"""

import importlib
import json

import numpy as np

from .metric import COMMON, Wrong, find

TEXTS = ("source", "hypothesis", "reference")


class Refused(ValueError):
    """A request that cannot be scored. The message is for its sender."""


def kind(name):
    """The class of a metric by the name of its module."""
    try:
        return importlib.import_module("." + name, __package__).Metric
    except ModuleNotFoundError as e:
        if e.name == f"{__package__}.{name}":
            raise Wrong(f"there is no metric {name!r}") from None
        raise Wrong(f"{name} needs the Python package {e.name}; docs/how-to/neural-servers.md names its requirements") from e


def resolve(spec):
    """Parses a spec METRIC:option=value,… into a dict that can be served, with its checkpoint found."""
    metric, _, tail = spec.partition(":")
    options = {}
    for part in filter(None, tail.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise Wrong(f"{part!r} in {spec!r}: options are written option=value")
        options[key] = value
    found = kind(metric)
    served = {"metric": metric, "name": options.pop("name", metric)}
    given = options.pop("model", "")
    served["folder"] = find(found.checkpoint, given)
    types = COMMON | found.options
    for key, value in options.items():
        if key not in types:
            raise Wrong(f"{metric} has no option {key!r}: there are model, name, {', '.join(types)}")
        try:
            options[key] = types[key](value)
        except ValueError as e:
            raise Wrong(f"{key}={value}: it is a number") from e
    return served | {"options": options | {"given": given or found.checkpoint.hub}}


def tensors(served):
    """Names, types and shapes of inputs and outputs."""
    metric = kind(served["metric"])
    needs = metric.reads(served["options"])
    inputs = [(n, "BYTES", [-1]) for n in TEXTS if n == "hypothesis" or n in needs] + [("pairs", "INT32", [-1, 3])]
    outputs = [(n, "BYTES" if n == "error_spans" else "FP32", [-1]) for n in metric.outputs]
    return inputs, outputs + [("facts", "BYTES", [1])]


class Server:
    """A metric that answers requests."""

    def __init__(self, served):
        self.inputs = {n: (t, s) for n, t, s in tensors(served)[0]}
        self.needs = kind(served["metric"]).reads(served["options"])
        self.metric = kind(served["metric"])(served["folder"], **served["options"])
        self.facts = json.dumps({
            "name": served["metric"], "version": self.metric.version,
            "signature": {k: str(v) for k, v in self.metric.signature().items()},
            "needs": list(self.needs), "direction": self.metric.direction,
            "lower": self.metric.lower, "upper": self.metric.upper,
        }).encode()

    def answer(self, given):
        """Scores a request: arrays by name in, arrays by name out. Raises Refused."""
        for name in given:
            if name not in self.inputs:
                raise Refused(f"there is no input {name!r}: there are {', '.join(self.inputs)}")
        arrays = {}
        for name, (datatype, shape) in self.inputs.items():
            if name not in given:
                raise Refused(f"input {name!r} is missing")
            arrays[name] = checked(name, datatype, shape, given[name])
        texts = {n: decoded(n, arrays.get(n, ())) for n in TEXTS}
        outputs = self.scored(texts, self.rows(texts, arrays["pairs"]))
        return outputs | {"facts": np.array([self.facts], object)}

    def rows(self, texts, rows):
        for column, name in enumerate(TEXTS):
            if name != "hypothesis" and name not in self.needs:
                continue # not used by the metric
            bad = np.flatnonzero((rows[:, column] < 0) | (rows[:, column] >= len(texts[name])))
            if len(bad):
                raise Refused(f"row {bad[0]} of pairs has {name} {rows[bad[0], column]}: "
                              f"the request has {len(texts[name])} (from 0)")
        return rows

    def scored(self, texts, rows):
        read = [n == "hypothesis" or n in self.needs for n in TEXTS]
        if not len(rows):
            outputs = {n: [] for n in self.metric.outputs}
        elif hasattr(self.metric, "encode"):
            place, columns = {}, []
            for column, name in enumerate(TEXTS):
                own = [place.setdefault(t, len(place)) for t in texts[name]] if read[column] else []
                columns.append(np.array(own + [-1])[rows[:, column]] if own else np.full(len(rows), -1))
            outputs = self.metric.score(self.metric.encode(list(place)), np.stack(columns, 1))
        else:
            outputs = self.metric.pairs([
                tuple(texts[n][i] if use else None for n, use, i in zip(TEXTS, read, row)) for row in rows])
        return {n: encoded(n, v, len(rows)) for n, v in outputs.items()}


def checked(name, datatype, shape, array):
    array = np.asarray(array)
    if datatype == "INT32" and array.dtype != np.int32:
        raise Refused(f"input {name!r} is {array.dtype}: it takes INT32")
    if datatype == "BYTES" and array.dtype != object:
        raise Refused(f"input {name!r} is {array.dtype}: it takes BYTES")
    if array.ndim != len(shape) or any(want not in (-1, got) for want, got in zip(shape, array.shape)):
        raise Refused(f"input {name!r} has shape {list(array.shape)}: it takes {shape}")
    return array


def decoded(name, array):
    texts = []
    for i, text in enumerate(array):
        try:
            texts.append(text if isinstance(text, str) else text.decode())
        except UnicodeDecodeError as e:
            raise Refused(f"{name} {i} is not UTF-8: byte {e.start} is {text[e.start]:#x}") from e
    return texts


def encoded(name, values, rows):
    if name == "error_spans":
        array = np.array([json.dumps(v, ensure_ascii=False).encode() for v in values], object)
    else:
        array = np.asarray(values, np.float32)
    if array.shape != (rows,):
        raise RuntimeError(f"the metric gave {name} of shape {array.shape} for {rows} rows")
    if array.dtype == np.float32 and not np.isfinite(array).all():
        raise RuntimeError(f"the model gave no finite {name} for row {int(np.argmin(np.isfinite(array)))}")
    return array
