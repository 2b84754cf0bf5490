"""Make a metric of Refract in Python: one file, no dependencies, Python 3.8 or later.

    import refract_metric

    def shared(source, hypothesis, reference):
        words = set(reference.split())
        return len(words & set(hypothesis.split())) / len(words) if words else None

    refract_metric.run("shared-words", shared, signature={"rules": "1"}, lower=0, upper=1)

Save it as my_metric.py next to this file, and call

    refract score --ref ref.txt --hyp a=a.txt -m 'exec:python3 my_metric.py'

A score that is None, or not finite, counts as missing, never as 0. Anything printed goes to standard error:
standard output belongs to the protocol.
"""

import ctypes
import json
import math
import os
import signal
import subprocess
import sys
import traceback


def run(name, pair=None, *, native=None, segments=None, needs=("reference",), signature=None,
        direction="higher", lower=None, upper=None, batch=None):
    """Answers requests until their input ends. Give either pair or segments.

    pair(source, hypothesis, reference) gives a score; reference is None if the metric needs none, and so is
    source. native(source, hypothesis, references) gives one against all references at once; omit it if the
    metric has no such rule. segments(all, native) scores many at once and replaces both: all is a list of
    {"source": …, "hypotheses": […], "references": […]}, and the result has a list for each: hypotheses ×
    references scores row by row, or one score a hypothesis if native is true (pass native=True to offer that).

    needs lists what is read besides the hypothesis: "source", "reference". signature has, as strings, all that
    changes the numbers: the rules, the model, the options. Scores are stored under it; without it they are not
    stored. batch is the number of segments in a request.
    """
    out = _claim_stdout()

    def write(message):
        out.write(json.dumps(message, allow_nan=False) + "\n")
        out.flush()

    hello = {"refract": 1, "name": name, "signature": signature or {}, "needs": list(needs),
             "direction": direction, "lower": lower, "upper": upper, "native": bool(native)}
    if batch:
        hello["batch"] = batch
    write(hello)
    for line in sys.stdin.buffer:
        request = json.loads(line)
        try:
            if segments:
                scores = segments(request["segments"], request["native"])
            else:
                scores = [_score(s, pair, native if request["native"] else None) for s in request["segments"]]
            scores = [[_finite(v) for v in row] for row in scores]
        except Exception as error:  # reported; the program goes on with the next request
            traceback.print_exc()
            write({"id": request["id"], "error": f"{type(error).__name__}: {error}"})
        else:
            write({"id": request["id"], "scores": scores})


def _score(segment, pair, native):
    source, references = segment.get("source"), segment.get("references") or [None]
    if native:
        return [native(source, h, references) for h in segment["hypotheses"]]
    return [pair(source, h, r) for h in segment["hypotheses"] for r in references]


def _finite(value):
    return float(value) if value is not None and math.isfinite(value) else None


def _claim_stdout():
    """Keeps standard output for answers, and sends everything printed to standard error."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return out


def start(command, **options):
    """Starts a program like subprocess.Popen; it dies with this one (on Linux)."""
    if sys.platform != "linux":
        return subprocess.Popen(command, **options)
    libc, parent = ctypes.CDLL(None), os.getpid()

    def tie():
        libc.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:
            os._exit(1)

    return subprocess.Popen(command, preexec_fn=tie, **options)
