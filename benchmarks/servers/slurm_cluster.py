"""A private SLURM of a few nodes on one machine, for a process that is alone in its namespaces of network, host
name, mounts and processes (see slurm.sh). Each node has its own host name and processes, so that killing its
first process is like a loss of power."""

import os
import re
import signal
import subprocess
import time

SETTINGS = """
ClusterName=refract
SlurmctldHost=head(127.0.0.1)
SlurmctldPort=16817
SlurmUser=root
AuthType=auth/munge
CredType=cred/munge
# A requeued job waits as long as its credential lasts.
AuthInfo=socket={work}/munge.sock,cred_expire=5
StateSaveLocation={work}/state
SlurmdSpoolDir={work}/spool-%n
SlurmctldPidFile={work}/slurmctld.pid
SlurmdPidFile={work}/slurmd-%n.pid
SlurmctldLogFile={work}/slurmctld.log
SlurmdLogFile={work}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
JobRequeue=1
ReturnToService=2
# A lost node is noticed within seconds.
SlurmdTimeout=5
MessageTimeout=4
TCPTimeout=2
BatchStartTimeout=1
KillWait=2
MinJobAge=3600
SchedulerParameters=bf_interval=1,sched_interval=1,sched_min_interval=0,batch_sched_delay=0
"""


class Cluster:
    def __init__(self, work, nodes=2, cpus=2):
        self.work, self.running, self.init = work, [], {}
        names = [f"n{i}" for i in range(1, nodes + 1)]
        run("ip", "link", "set", "lo", "up")
        # A machine whose only address is 127.0.0.1 counts as one without IPv4.
        run("ip", "addr", "add", "127.0.0.2/8", "dev", "lo")
        run("hostname", "head")
        with open(f"{work}/hosts", "w") as f:
            f.write("127.0.0.1 localhost head " + " ".join(names) + "\n")
        run("mount", "--bind", f"{work}/hosts", "/etc/hosts")
        os.makedirs(f"{work}/state")
        os.chmod(work, 0o755)  # munge requires access for everyone
        with open(f"{work}/munge.key", "wb") as f:
            os.fchmod(f.fileno(), 0o400)
            f.write(os.urandom(128))
        with open(f"{work}/slurm.conf", "w") as f:
            f.write(SETTINGS.format(work=work))
            for i, name in enumerate(names):
                f.write(f"NodeName={name} NodeAddr=127.0.0.1 Port={17001 + i} CPUs={cpus} RealMemory=16000\n")
            f.write("PartitionName=main Nodes=ALL Default=YES State=UP\n")
        os.environ["SLURM_CONF"] = f"{work}/slurm.conf"
        self.daemon("munged", "--foreground", f"--key-file={work}/munge.key", f"--socket={work}/munge.sock",
                    f"--pid-file={work}/munge.pid", f"--seed-file={work}/munge.seed")
        until("munge answers", 20, lambda: succeeds("munge", "-n", "-S", f"{work}/munge.sock"))
        self.daemon("slurmctld", "-D", "-i")
        until("slurmctld answers", 30, lambda: succeeds("scontrol", "ping"))
        for name in names:
            self.start(name)
        until("all nodes are idle", 60, lambda: output("sinfo", "-hN", "-t", "idle", "-o", "%n").split() == names)

    def daemon(self, *words):
        with open(f"{self.work}/{words[0]}.out", "ab") as log:
            self.running.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    def start(self, name):
        """Starts a node, or slurmd on one that lives."""
        if name not in self.init:
            os.makedirs(f"{self.work}/spool-{name}", exist_ok=True)
            # The first process reaps orphans and outlives slurmd.
            holder = subprocess.Popen(
                ["unshare", "--uts", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "bash", "-c",
                 f"hostname {name}; echo ready; while sleep 60; do :; done"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            holder.stdout.readline()
            self.running.append(holder)
            self.init[name] = int(output("ps", "-o", "pid=", "--ppid", str(holder.pid)))
        self.inside(name, "slurmd", "-N", name)

    def inside(self, name, *words):
        run("nsenter", "-t", str(self.init[name]), "-p", "-m", "-u", *words)

    def crash(self, name):
        """Kills a node and everything that runs on it."""
        os.kill(self.init.pop(name), signal.SIGKILL)

    def kill_slurmd(self, name):
        """Kills only slurmd: tasks go on."""
        with open(f"{self.work}/slurmd-{name}.pid") as f:
            self.inside(name, "kill", "-9", f.read().strip())

    def idle(self):
        """Waits until all nodes are back and idle."""
        until("the nodes are idle", 90, lambda: len(output("sinfo", "-hN", "-t", "idle", "-o", "%n").split()) == len(self.init))

    def stop(self):
        for p in reversed(self.running):
            p.kill()
            p.wait()


class Job:
    def __init__(self, *words):
        self.id = output("sbatch", "--parsable", *words).strip()

    def tasks(self):
        """scontrol's description of each task that is running or pending."""
        out = output("scontrol", "-o", "show", "job", self.id)
        return [dict(re.findall(r"(\w+)=(\S*)", line)) for line in out.splitlines()]

    def task(self, number):
        return next((t for t in self.tasks() if t.get("ArrayTaskId") == str(number)), {})

    def wait(self, seconds=180):
        over = {"COMPLETED", "FAILED", "CANCELLED", "NODE_FAIL", "TIMEOUT"}
        until(f"job {self.id} ends", seconds, lambda: all(t["JobState"] in over for t in self.tasks()))
        return sorted({t["JobState"] for t in self.tasks()})


def run(*words):
    subprocess.run(words, check=True)


def output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def succeeds(*words):
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True).returncode == 0


def until(what, seconds, true):
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise SystemExit(f"waited {seconds} s until {what}")
        time.sleep(0.1)
