"""Runs the scripts of deploy/slurm on a cluster with typical losses, and expects the result of one process:
slurm_check.py SCRIPTS DATA WORK (see slurm.sh)."""

import filecmp
import glob
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request

from slurm_cluster import Cluster, Job, output, run, until

SHARDS = 4
SEGMENTS = 160
PORT = 18080
scripts, data, work = sys.argv[1:]


def score(*more):
    return ["score", f"jsonl:{work}/data.jsonl", "-m", "chrf", "-m", "ter", "-a", "max", "--per", "segment", "-q", *more]


def expand(*more):
    return ["expand", "--ref", f"{work}/ref.txt", "--model", "counting", "--prompts", "plain", "--checks", "none",
            "--form", "text", "--concurrency", "2", "--base-url", f"http://127.0.0.1:{PORT}/v1",
            "--cache", f"{os.getcwd()}/answers.sqlite", "-q", *more]


class Array:
    """An array of a command, in its own folder."""

    def __init__(self, words, out):
        self.words, self.out = words + ["-o", out], out
        self.job = self.submit(f"1-{SHARDS}")

    def submit(self, which):
        return Job("--array=" + which, "--cpus-per-task=1", f"{scripts}/shard.sbatch", str(SHARDS), *self.words)

    def merge(self, job):
        return Job("--dependency=afterany:" + job.id, f"{scripts}/merge.sbatch", str(SHARDS), self.out)

    def shard(self, number):
        return f"{self.out}.{number}-of-{SHARDS}.jsonl"

    def processes(self, number):
        """The processes of a task, with the ids of this namespace."""
        found = []
        for folder in glob.glob("/proc/[0-9]*"):
            try:
                with open(folder + "/environ") as f:
                    variables = f.read().split("\0")
                with open(folder + "/cmdline") as f:
                    words = f.read().split("\0")
            except OSError:
                continue
            if f"SLURM_ARRAY_TASK_ID={number}" in variables and self.out in words and os.path.basename(words[0]) == "refract":
                found.append(int(folder[6:]))
        return found

    def running(self, number):
        until(f"task {number} of {self.out} runs", 90, lambda: self.processes(number))
        return self.processes(number)[0]

    def check(self, whole):
        """Merges all shards; the result must equal one process's."""
        merged = self.merge(self.job)
        want(merged.wait() == ["COMPLETED"], f"the merge of {self.out} ends: {log(merged)}")
        want(filecmp.cmp(self.out, whole, shallow=False), f"{self.out} equals one process's")
        left = [name for name in os.listdir(".") if not re.fullmatch(r"(scores|expanded|whole)\.jsonl(\.\d+-of-\d+\.jsonl)?|.*\.log|answers.sqlite.*", name)]
        want(not left, f"nothing is left over: {left}")

    def refused(self, number):
        merged = self.merge(self.job)
        want(merged.wait() == ["FAILED"], f"the merge of {self.out} without shard {number} fails")
        want(f"of {SHARDS} missing: {number}" in log(merged), f"the merge names shard {number}: {log(merged)}")
        want(not os.path.exists(self.out), "a merge that fails leaves no output")


def want(true, what):
    if not true:
        raise SystemExit("not so: " + what)


def log(job):
    return "".join(open(name).read() for name in glob.glob(f"*-{job.id}.log"))


def whole(words, out):
    run("refract", *words, "-o", out)
    return out


def calls():
    with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/calls") as r:
        return json.load(r)


def serve(delay):
    server = subprocess.Popen([sys.executable, os.path.join(os.path.dirname(__file__), "counting_server.py"), str(PORT), str(delay)])
    until("the model server answers", 20, lambda: subprocess.run(
        ["python3", "-c", f"import urllib.request; urllib.request.urlopen('http://127.0.0.1:{PORT}/calls')"], capture_output=True).returncode == 0)
    return server


def scenario(what):
    folder = f"{work}/{len(glob.glob(work + '/s-*'))}"
    os.makedirs(folder.replace(work + "/", work + "/s-"))
    os.chdir(folder.replace(work + "/", work + "/s-"))
    print("==", what, f"({time.monotonic() - began:.0f} s)", flush=True)


def lose(cluster, what, how, lost, delay=1):
    """Runs both commands, causes a loss during their first tasks, and checks that they still succeed. At most
    lost calls are repeated. An answer takes delay seconds."""
    scenario(what)
    server = serve(delay)
    scoring, expanding = Array(score(), "scores.jsonl"), Array(expand(), "expanded.jsonl")
    how(cluster, scoring, expanding)
    for array in scoring, expanding:
        until(f"{array.out}: all tasks end", 180, lambda: not {t["JobState"] for t in array.job.tasks()} & {"PENDING", "RUNNING", "COMPLETING", "REQUEUED"})
    for array in scoring, expanding:
        missing = [i + 1 for i in range(SHARDS) if not os.path.exists(array.shard(i + 1))]
        if missing:
            array.refused(missing[0])
            array.job = array.submit(",".join(map(str, missing)))
            array.job.wait()
    scoring.check(one_process)
    count = calls()
    want(count["prompts"] == SEGMENTS and count["again"] <= lost, f"no stored answer is asked for again: {count}")
    expanding.check(whole(expand("--offline"), "whole.jsonl"))
    want(calls() == count, "what is stored is not asked for")
    print(f"   calls: {count['calls']} of {SEGMENTS} prompts, {count['again']} of them lost in flight and made again")
    server.kill()


def kill_tasks(cluster, *arrays):
    for array in arrays:
        pid = array.running(2)
        time.sleep(0.3)
        want(not os.path.exists(array.shard(2)), "the task is in the middle of its work")
        os.kill(pid, signal.SIGKILL)


def host(array, number):
    until("the task is placed", 30, lambda: array.job.task(number).get("BatchHost"))
    return array.job.task(number)["BatchHost"]


def crash(cluster, *arrays):
    for array in arrays:
        array.running(1)
    name = host(arrays[1], 1)
    time.sleep(0.3)
    cluster.crash(name)
    until("the tasks run elsewhere", 120, lambda: arrays[1].job.task(1).get("Restarts", "0") != "0")
    cluster.start(name)


def kill_slurmd(cluster, *arrays):
    first = [array.running(1) for array in arrays]
    name = host(arrays[1], 1)
    os.kill(first[0], signal.SIGSTOP)  # so that it does not end before its replacement starts
    cluster.kill_slurmd(name)
    for array in reversed(arrays):
        until(f"two copies of task 1 of {array.out} run", 120, lambda: len(array.processes(1)) == 2)
    os.kill(first[0], signal.SIGCONT)
    until("the copies end", 120, lambda: not any(array.processes(1) for array in arrays))
    cluster.start(name)


def lines(path):
    with open(path, newline="\n") as f:
        return [line.rstrip("\n") for line in f]


def write_dataset():
    """Writes JSON Lines, of which each shard reads its bytes."""
    folder = f"{data}/mt-metrics-eval-v2/wmt22"
    references = [lines(name) for name in sorted(glob.glob(f"{folder}/references/zh-en.ref*.txt"))]
    outputs = {os.path.basename(name)[:-4]: lines(name) for name in sorted(glob.glob(f"{folder}/system-outputs/zh-en/*.txt"))}
    with open(f"{work}/data.jsonl", "w") as to:
        for i, texts in enumerate(zip(*references, strict=True)):
            row = {"id": str(i + 1), "references": texts, "hypotheses": {name: texts[i] for name, texts in outputs.items()}}
            to.write(json.dumps(row) + "\n")


began = time.monotonic()
write_dataset()
with open(f"{data}/mt-metrics-eval-v2/wmt22/references/zh-en.refA.txt") as f, open(f"{work}/ref.txt", "w") as to:
    to.writelines(f"{i} {line}" for i, line in zip(range(SEGMENTS), f))  # all distinct
os.chdir(work)
one_process = f"{work}/{whole(score(), 'whole.jsonl')}"
cluster = Cluster(work, nodes=2, cpus=8)
try:
    scenario("an array and its merge")
    array = Array(score(), "scores.jsonl")
    array.check(one_process)
    want(array.job.wait() == ["COMPLETED"], "all tasks end well")

    scenario("an array without its last task")
    array = Array.__new__(Array)
    array.out, array.words = "scores.jsonl", score("-o", "scores.jsonl")
    array.job = array.submit(f"1-{SHARDS - 1}")
    array.refused(SHARDS)
    array.job = array.submit(str(SHARDS))
    array.check(one_process)

    lose(cluster, "a task of each array is killed", kill_tasks, 2)
    lose(cluster, "a node crashes", crash, 2 * SHARDS)
    cluster.idle()
    lose(cluster, "slurmd dies, and its tasks run next to their replacements", kill_slurmd, 0, delay=2)  # so that they still run when SLURM misses slurmd
finally:
    cluster.stop()
print(f"merged outputs equal one process's ({time.monotonic() - began:.0f} s)")
