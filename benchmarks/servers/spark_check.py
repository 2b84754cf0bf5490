"""Runs the job of deploy/spark on a standalone cluster that loses a worker, and expects the result of one
process: spark_check.py JOB DATA WORK (see spark.sh)."""

import glob
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request

import pyspark

PORT, SEGMENTS = 18080, 200
LOCAL = "127.0.0.1"
job, data, work = sys.argv[1:]
home = os.path.dirname(pyspark.__file__)
began = time.monotonic()


def main():
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    os.environ.update(SPARK_HOME=home, SPARK_SCALA_VERSION="2.13", SPARK_LOCAL_IP=LOCAL, SPARK_LOCAL_HOSTNAME=LOCAL,
                      SPARK_DAEMON_MEMORY="256m", SPARK_NO_DAEMONIZE="1")
    os.chdir(work)
    refract("select", f"mtme:{data}/mt-metrics-eval-v2/wmt22/zh-en", "--references",
            f"div-ref:{data}/div-ref/wmt22.zh-en.refA.diversified", "-k", "all", "--by", "order", "-o", "whole.jsonl")
    with open("whole.jsonl") as f, open("part.jsonl", "w") as to:
        for i, line in zip(range(SEGMENTS), f):
            s = json.loads(line)
            # All prompts differ, so each is asked once.
            to.write(json.dumps({"id": s["id"], "references": [f"{i} {s['references'][0]}"]}) + "\n")
    scoring = ["-m", "bleu", "-m", "chrf", "-m", "ter"]
    refract("score", "jsonl:whole.jsonl", *scoring, "-f", "jsonl", "-o", "one.jsonl")
    cluster = Cluster()

    say("scoring")
    want(scores(cluster.submit("score-1", "whole.jsonl", "score", *scoring)) == scores("one.jsonl"), "the scores equal one process's")
    say("scoring, while a worker and its executor are killed")
    out = cluster.submit("score-2", "whole.jsonl", "score", *scoring, killing=True)
    want(scores(out) == scores("one.jsonl"), "after a kill, the scores equal one process's")
    print(f"   {len(scores(out))} scores, equal to the last bit")

    say("rows of segments")
    rows = ["-m", "chrf", "-a", "max", "--per", "segment"]
    with open("whole.jsonl") as f, open("rows.jsonl", "w") as to:
        subprocess.run(["refract", "score", "jsonl:-", *rows, "-f", "jsonl", "-q"], stdin=f, stdout=to, check=True)
    want(text(cluster.submit("rows", "whole.jsonl", "score", *rows)) == text("rows.jsonl"), "the rows equal one process's, in order")

    for killing in False, True:
        say("expanding" + (", while a worker and its executor are killed" if killing else ""))
        server = serve()
        expanding = ["--model", "counting", "--prompts", "plain", "--checks", "none", "--form", "text", "--concurrency", "2",
                     "--base-url", f"http://{LOCAL}:{PORT}/v1", "--cache", f"{work}/answers-{killing}.sqlite"]
        out = cluster.submit(f"expand-{killing}", "part.jsonl", "expand", *expanding, killing=killing)
        count = calls()
        want(count["prompts"] == SEGMENTS, f"each prompt is asked: {count}")
        want(count["again"] <= (2 if killing else 0), f"no stored answer is asked for again: {count}")
        refract("expand", "jsonl:part.jsonl", *expanding, "--offline", "-o", "expanded.jsonl")
        want(text(out) == text("expanded.jsonl"), "the segments equal one process's, in order")
        print(f"   calls: {count['calls']} of {SEGMENTS} prompts, {count['again']} lost in flight and made again")
        server.kill()
    cluster.stop()
    print(f"Spark gives what one process gives ({time.monotonic() - began:.0f} s)")


class Cluster:
    def __init__(self):
        self.log = f"{work}/master.log"
        self.master = self.start(self.log, "master.Master", "--host", LOCAL, "--port", "7077", "--webui-port", "8080")
        self.workers = []
        self.settle()

    def start(self, log, name, *words):
        with open(log, "ab") as to:
            return subprocess.Popen([f"{home}/bin/spark-class", "org.apache.spark.deploy." + name, *words], stdout=to, stderr=to)

    def settle(self):
        """Makes sure that two workers run."""
        self.workers = [w for w in self.workers if w.poll() is None]
        while len(self.workers) < 2:
            n = 1 + len(glob.glob(f"{work}/worker-*.log"))
            self.workers.append(self.start(f"{work}/worker-{n}.log", "worker.Worker", "--host", LOCAL, "--webui-port", "0", "--cores", "1",
                                           "--memory", "768m", "--work-dir", f"{work}/worker-{n}", f"spark://{LOCAL}:7077"))
            until("a worker registers", 60, lambda: count(self.log, "Registering worker") >= n)

    def submit(self, name, data, *words, killing=False):
        self.settle()
        with open(f"{work}/{name}.log", "ab") as log:
            driver = subprocess.Popen(
                [f"{home}/bin/spark-submit", "--master", f"spark://{LOCAL}:7077", "--files", f"{work}/bin/refract",
                 "--conf", "spark.driver.host=" + LOCAL, "--conf", "spark.driver.bindAddress=" + LOCAL, "--conf", "spark.ui.enabled=false",
                 "--executor-memory", "512m", "--driver-memory", "512m", job,
                 "--refract", "./refract", "--partitions", "16", f"file://{work}/{data}", f"file://{work}/{name}", *words, "-q"],
                stdout=log, stderr=log)
        if killing:
            self.kill()
        if driver.wait(240) != 0:
            raise SystemExit(f"{name}: the job failed\n" + text(f"{work}/{name}.log")[-3000:])
        want(os.path.exists(f"{work}/{name}/_SUCCESS"), f"{name} is committed")
        if killing:
            want("Lost executor" in text(f"{work}/{name}.log"), "the job lost an executor")
        return f"{work}/{name}"

    def kill(self):
        """Kills a worker and its executor in the middle of a task."""
        worker = self.workers[0]
        until("an executor runs a stage", 90, lambda: [s for e in children(worker.pid) for s in children(e)])
        time.sleep(2)
        until("it runs a stage again", 60, lambda: [s for e in children(worker.pid) for s in children(e)])
        for pid in [worker.pid, *children(worker.pid)]:
            os.kill(pid, signal.SIGKILL)
        worker.wait()

    def stop(self):
        for p in [*self.workers, self.master]:
            p.kill()
            p.wait()


def children(pid):
    out = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout
    return [int(p) for p in out.split()]


def scores(path):
    rows = [json.loads(line) for line in text(path).split("\n") if line]
    return {(r["system"], r["metric"]): (r["score"], r["segments"], r["references"]) for r in rows}


def text(path):
    """A file, or the files of a folder in order."""
    paths = sorted(glob.glob(path + "/part-*")) if os.path.isdir(path) else [path]
    return "".join(open(p, encoding="utf-8").read() for p in paths)


def count(path, what):
    return text(path).count(what)


def refract(*words):
    subprocess.run(["refract", *words, "-q"], check=True)


def serve():
    server = subprocess.Popen([sys.executable, os.path.join(os.path.dirname(__file__), "counting_server.py"), str(PORT), "0.2"])
    until("the model server answers", 20, lambda: calls() is not None)
    return server


def calls():
    try:
        with urllib.request.urlopen(f"http://{LOCAL}:{PORT}/calls") as r:
            return json.load(r)
    except OSError:
        return None


def say(what):
    print("==", what, f"({time.monotonic() - began:.0f} s)", flush=True)


def until(what, seconds, true):
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise SystemExit(f"waited {seconds} s until {what}")
        time.sleep(0.2)


def want(true, what):
    if not true:
        raise SystemExit("not so: " + what)


main()
