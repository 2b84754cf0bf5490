#!/usr/bin/env python3
"""Serves neural metrics on 127.0.0.1, with Triton or MLServer.

usage: run.py triton|mlserver METRIC[:option=value,…]… [--port N] [--repository FOLDER]

    run.py triton bertscore comet:model=/models/wmt22-comet-da,device=cuda:0
    run.py mlserver bertscore:model=bert-base-chinese,layer=8,name=bertscore-zh

Options of every metric: model (a folder, or an id at the Hugging Face hub), name (of the model on the server),
device (auto, cpu, cuda:N), dtype (float32, float16, bfloat16), tokens (of a batch, 16384), threads.
docs/how-to/neural-servers.md lists each metric's own options.
"""

import argparse
import ctypes
import glob
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile

from refract_metrics.metric import Wrong
from refract_metrics.protocol import resolve, tensors

HERE = os.path.dirname(os.path.abspath(__file__))
TRITON = {"BYTES": "TYPE_STRING", "FP32": "TYPE_FP32", "INT32": "TYPE_INT32"}


def main():
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage=argparse.SUPPRESS, description=__doc__)
    parser.add_argument("server", choices=("triton", "mlserver"))
    parser.add_argument("metrics", nargs="+", metavar="METRIC")
    parser.add_argument("--port", type=int, default=8000, help="of HTTP; gRPC has the next, metrics the one after (8000)")
    parser.add_argument("--repository", help="write the model repository here and keep it; without it, a temporary folder")
    parser.add_argument("--write-only", action="store_true", help="write the repository, start no server")
    args = parser.parse_args()
    if args.write_only and not args.repository:
        parser.error("--write-only needs --repository")

    folder = args.repository or tempfile.mkdtemp(prefix="refract-models-")
    try:
        served = [resolve(spec) for spec in args.metrics]
        names = [s["name"] for s in served]
        if len(set(names)) < len(names):
            raise Wrong(f"two models are called {max(names, key=names.count)}: give one of them name=…")
        if args.repository and os.path.exists(folder) and os.listdir(folder):
            raise Wrong(f"{folder} is not empty")
        for s in served:
            (write_triton if args.server == "triton" else write_mlserver)(folder, s, *tensors(s))
        if args.write_only:
            return 0
        return run(*(triton if args.server == "triton" else mlserver)(folder, args.port))
    except Wrong as e:
        print(f"error: {e}", file=sys.stderr)
        return 1
    finally:
        if not args.repository:
            shutil.rmtree(folder, ignore_errors=True)


def copy_code(folder):
    shutil.copytree(HERE + "/refract_metrics", folder + "/refract_metrics", ignore=shutil.ignore_patterns("__pycache__"))


def write_triton(folder, served, inputs, outputs):
    model = f"{folder}/{served['name']}"
    os.makedirs(model + "/1")
    copy_code(model + "/1")
    with open(model + "/1/model.py", "w") as f:
        f.write("from refract_metrics.on_triton import TritonPythonModel\n")

    def tensor(name, datatype, shape):
        return f'  {{ name: "{name}" data_type: {TRITON[datatype]} dims: {shape} }}'

    with open(model + "/config.pbtxt", "w") as f:
        f.write("\n".join([
            f'name: {json.dumps(served["name"])}', 'backend: "python"', "max_batch_size: 0",
            "input [", ",\n".join(tensor(*t) for t in inputs), "]",
            "output [", ",\n".join(tensor(*t) for t in outputs), "]",
            "instance_group [ { kind: KIND_CPU count: 1 } ]", # the option device decides
            f'parameters {{ key: "refract" value: {{ string_value: {json.dumps(json.dumps(served))} }} }}', ""]))


def write_mlserver(folder, served, inputs, outputs):
    model = f"{folder}/{served['name']}"
    os.makedirs(model)
    copy_code(model)
    with open(model + "/model-settings.json", "w") as f:
        json.dump({
            "name": served["name"], "implementation": "refract_metrics.on_mlserver.MLServerModel",
            "inputs": [{"name": n, "datatype": t, "shape": s} for n, t, s in inputs],
            "outputs": [{"name": n, "datatype": t, "shape": s} for n, t, s in outputs],
            "max_batch_size": 0,  # requests are never mixed
            "parameters": {"extra": served},
        }, f, indent=1)


def triton(folder, port):
    """The command, environment and leftovers of a Triton: the one in PATH, or nvidia-pytriton's."""
    prefix = f"refract_{os.getpid()}_"
    command = ["tritonserver", "--model-repository=" + folder, "--model-control-mode=none", "--exit-on-error=true",
               "--backend-config=python,shm-region-prefix-name=" + prefix, "--log-info=false"]
    for i, what in enumerate(("http", "grpc", "metrics")):
        command += [f"--{what}-address=127.0.0.1", f"--{what}-port={port + i}"]
    env, leftovers = os.environ.copy(), [f"/dev/shm/{prefix}*"]
    if not shutil.which("tritonserver"):
        site = sysconfig.get_paths()["purelib"]
        wheel = site + "/pytriton/tritonserver"
        if not os.path.isdir(wheel):
            raise Wrong("there is no tritonserver: pip install nvidia-pytriton==0.7.0, or run this in NVIDIA's container")
        version = "{}.{}".format(*sys.version_info)
        stub = f"{wheel}/python_backend_stubs/{version}/triton_python_backend_stub"
        if not os.path.exists(stub):
            raise Wrong(f"the wheel of Triton has no stub for Python {version}: use 3.11 to 3.13")
        env["LD_LIBRARY_PATH"] = ":".join(filter(None, [
            env.get("LD_LIBRARY_PATH"), site + "/nvidia_pytriton.libs", sysconfig.get_config_var("LIBDIR")]))
        try:
            ctypes.CDLL(f"libpython{version}.so.1.0")
        except OSError:
            if not glob.glob(f"{sysconfig.get_config_var('LIBDIR')}/libpython{version}.so.1.0"):
                raise Wrong(f"Triton needs libpython{version}.so.1.0: apt-get install libpython{version}")
        backends = tempfile.mkdtemp(prefix="refract-backends-")
        shutil.copytree(wheel + "/backends/python", backends + "/python")
        shutil.copy(stub, backends + "/python/")
        env["PATH"] = os.path.dirname(sys.executable) + os.pathsep + env.get("PATH", "")
        command[0] = wheel + "/bin/tritonserver"
        command.append("--backend-directory=" + backends)
        leftovers.append(backends)
    return command, env, leftovers


def mlserver(folder, port):
    """The command, environment and leftovers of an MLServer. It scores in its own process."""
    with open(folder + "/settings.json", "w") as f:
        json.dump({"host": "127.0.0.1", "http_port": port, "grpc_port": port + 1, "metrics_port": port + 2,
                   "parallel_workers": 0, "debug": False, "use_structured_logging": False}, f)
    if not importlib.util.find_spec("mlserver"):
        raise Wrong("there is no mlserver: pip install mlserver==1.7.1")
    return [sys.executable, "-c", "from mlserver.cli import main; main()", "start", folder], os.environ.copy(), []


def run(command, env, leftovers):
    """Runs a server until it ends or a signal ends it, and removes what it leaves."""
    child = subprocess.Popen(command, env=env)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: child.send_signal(number))
    try:
        return child.wait()
    finally:
        for path in (p for pattern in leftovers for p in glob.glob(pattern)):
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)


if __name__ == "__main__":
    sys.exit(main())
