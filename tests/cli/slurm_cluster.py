"""A Slurm cluster of one node on this host, in a folder of its own.

It runs munged, slurmctld and slurmd with ports, sockets and state of its own, and an administrator that resumes the node
when Slurm has drained it. (A controller that is killed before it records which jobs it started assigns their numbers again.
It then drains the node that knows these numbers: "Duplicate jobid". Nothing runs there until someone resumes the node.)"""
import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import threading
import time

NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol", "sinfo")


def missing():
    """Why no cluster can run here; "" if one can."""
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    absent = [name for name in NEEDED if not shutil.which(name, path=path)]
    if absent:
        return f"{', '.join(absent)}: not installed (Debian's packages slurm-wlm and munge)"
    if not os.path.ismount("/sys/fs/cgroup"):
        return "no file system at /sys/fs/cgroup, which slurmd wants (in a chroot, perhaps)"
    return "" if os.geteuid() == 0 else "only root starts jobs as another command's user"


def processes_with(text):
    """Processes whose environment contains a text. Processes that end meanwhile are left out.

    This does not use pathlib's glob: it checks whether each file exists, and fails if a process is reaped between two calls.
    """
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if text.encode() in pathlib.Path("/proc", name, "environ").read_bytes():
                found.append(int(name))
    return found


def free_ports(count):
    """Ports on which no program listens now."""
    holders = [socket.socket() for _ in range(count)]
    for holder in holders:
        holder.bind(("127.0.0.1", 0))
    ports = [holder.getsockname()[1] for holder in holders]
    for holder in holders:
        holder.close()
    return ports


class Cluster:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.chmod(0o755)
        for name in ("munge", "state", "spool"):
            (self.folder / name).mkdir(mode=0o755)
        self.environment = {"PATH": os.environ["PATH"] + ":/usr/sbin:/sbin", "SLURM_CONF": str(self.folder / "slurm.conf")}
        self.running = {}
        self.is_closed = threading.Event()
        self.administrator = threading.Thread(target=self.administer, daemon=True)
        self.resumed = 0
        host, (controller, node) = socket.gethostname().split(".")[0], free_ports(2)
        self.node = host
        (self.folder / "slurm.conf").write_text(f"""
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort={controller}
SlurmdPort={node}
AuthType=auth/munge
AuthInfo=socket={self.folder}/munge/socket
CredType=cred/munge
StateSaveLocation={self.folder}/state
SlurmdSpoolDir={self.folder}/spool
SlurmctldPidFile={self.folder}/slurmctld.pid
SlurmdPidFile={self.folder}/slurmd.pid
SlurmctldLogFile={self.folder}/slurmctld.log
SlurmdLogFile={self.folder}/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=5
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SlurmdTimeout=10
KillWait=1
MinJobAge=2
JobRequeue=1
Prolog={self.folder}/prolog
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
""", encoding="utf-8")
        prolog = self.folder / "prolog"  # jobs start unless a test refuses them
        prolog.write_text(f"#!/bin/sh\ntest ! -e {self.folder}/refusing\n", encoding="utf-8")
        prolog.chmod(0o755)
        key = self.folder / "munge" / "key"
        key.write_bytes(os.urandom(64))
        key.chmod(0o600)

    def start(self, name):
        munge = self.folder / "munge"
        words = {"munged": ["munged", "--foreground", "--force", f"--key-file={munge}/key", f"--socket={munge}/socket",
                            f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed"],
                 "slurmctld": ["slurmctld", "-D", "-i"], "slurmd": ["slurmd", "-D"]}[name]
        log = open(self.folder / f"{name}.out", "ab")
        self.running[name] = subprocess.Popen(words, env=self.environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                              start_new_session=True)
        log.close()

    def kill(self, name):
        self.running[name].send_signal(signal.SIGKILL)
        self.running.pop(name).wait()

    def ask(self, *words):
        return subprocess.run(words, env=self.environment, capture_output=True, text=True, check=False, timeout=60).stdout

    def has_saved(self, comment):
        """Whether the controller has saved the jobs that have this comment. A killed controller forgets jobs that it did
        not save."""
        return comment.encode() in (self.folder / "state" / "job_state").read_bytes()

    def administer(self):
        while not self.is_closed.wait(1):
            if self.ask("sinfo", "-h", "-o", "%t").strip().startswith(("drain", "drng")):
                self.ask("scontrol", "update", f"NodeName={self.node}", "State=RESUME")
                self.resumed += 1

    def open(self):
        for name in ("munged", "slurmctld", "slurmd"):
            self.start(name)
        for _ in range(300):
            if self.ask("sinfo", "-h", "-o", "%t").strip() in ("idle", "mix", "alloc"):
                self.administrator.start()
                return self
            time.sleep(0.1)
        logs = "".join((self.folder / name).read_text(errors="replace") for name in ("slurmctld.out", "slurmd.out")
                       if (self.folder / name).exists())
        self.close()
        raise RuntimeError(f"the cluster does not start: {logs[-3000:]}")

    def close(self):
        self.is_closed.set()
        if self.administrator.is_alive():
            self.administrator.join()
        self.ask("scancel", "-u", "root")
        time.sleep(0.5)
        for name in ("slurmd", "slurmctld", "munged"):
            process = self.running.pop(name, None)
            if process:
                process.terminate()
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        self.end_steps()

    def end_steps(self):
        """Kills what outlives its node: a job's step keeps reporting its end to a controller that no longer exists."""
        for process in processes_with(f"SLURM_CONF={self.folder}/slurm.conf\0"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
