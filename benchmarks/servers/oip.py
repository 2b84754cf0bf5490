"""Requests of the Open Inference Protocol v2 over HTTP, for the checks in this folder."""

import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request

TYPES = {"pairs": "INT32", "nrefs": "INT32"}


def tensor(name, values, datatype=None, shape=None):
    flat = [x for row in values for x in row] if name == "pairs" and shape is None else list(values)
    return {"name": name, "datatype": datatype or TYPES.get(name, "BYTES"), "data": flat,
            "shape": shape or ([len(values), 3] if name == "pairs" else [len(values)])}


def infer(url, model, *tensors, **inputs):
    """The outputs by name. Inputs are lists by name, or ready tensors."""
    body = json.dumps({"inputs": list(tensors) + [tensor(n, v) for n, v in inputs.items()]}).encode()
    request = urllib.request.Request(f"{url}/v2/models/{model}/infer", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=600) as answer:
        return {o["name"]: o["data"] for o in json.load(answer)["outputs"]}


def refused(url, model, *tensors, **inputs):
    """The status and text with which a request is refused."""
    try:
        infer(url, model, *tensors, **inputs)
    except urllib.error.HTTPError as e:
        return e.code, e.read().decode()
    raise AssertionError(f"{model} accepted {tensors} {inputs}")


class Serving:
    """A real server of metrics, started by run.py, for the time of a with statement."""

    def __init__(self, run, kind, specs, names, port):
        self.command = [*run, kind, *specs, "--port", str(port)]
        self.names, self.url = names, f"http://127.0.0.1:{port}"

    def __enter__(self):
        begun = time.monotonic()
        self.process = subprocess.Popen(self.command)
        while True:
            try:
                for m in self.names:
                    urllib.request.urlopen(f"{self.url}/v2/models/{m}/ready", timeout=5).close()
                print(f"{self.command[2]} is ready after {time.monotonic() - begun:.0f} s")
                return self
            except OSError as e:
                if self.process.poll() is not None or time.monotonic() > begun + 300:
                    self.__exit__()
                    raise SystemExit(f"no server at {self.url}: {e}") from e
                time.sleep(0.2)

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        left = [x for x in os.listdir("/dev/shm") if x.startswith(f"refract_{self.process.pid}_")]
        assert not left, left

    def crash(self):
        """Kills the server without warning, as running out of memory would."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as f:
            os.kill(int(f.read().split()[0]), signal.SIGKILL)
        self.process.wait(60)


def close(name, got, want, tolerance=1e-5):
    assert len(got) == len(want), (name, len(got), len(want))
    worst = max((abs(a - b) for a, b in zip(got, want)), default=0.0)
    assert worst <= tolerance, f"{name}: the largest difference is {worst}"
    print(f"{name}: {len(got)} values, the largest difference is {worst:.1e}")


def refusals(url, model):
    """Sends wrong requests to a metric that needs a reference and no source."""
    h, r = ["a b", "c"], ["a b"]
    good = {"hypothesis": h, "reference": r}
    rows = [[-1, 0, 0]]
    cases = [
        ({**good, "pairs": [[-1, 2, 0]]}, [], "row 0 of pairs has hypothesis 2"),
        ({**good, "pairs": [[-1, 0, 0], [-1, 0, -1]]}, [], "row 1 of pairs has reference -1"),
        (good, [tensor("pairs", [0, 0], shape=[1, 2])], "pairs"),
        (good, [tensor("pairs", rows, "INT64")], "pairs"),
        (good, [tensor("pairs", ["x"] * 3, "BYTES", [1, 3])], "pairs"),
        ({"reference": r, "pairs": rows}, [tensor("hypothesis", [1], "INT32")], "hypothesis"),
        ({"reference": r, "pairs": rows}, [tensor("hypothesis", h, shape=[2, 1])], "hypothesis"),
        ({"reference": r, "pairs": rows}, [], "hypothesis"),
        (good, [], "pairs"),
        ({**good, "pairs": rows, "nrefs": [1]}, [], "nrefs"),
    ]
    for inputs, tensors, words in cases:
        status, text = refused(url, model, *tensors, **inputs)
        assert 400 <= status < 500 and words in text, (model, inputs, tensors, status, text)
    print(f"{len(cases)} wrong requests are refused with 4xx and a reason")
