"""The worker process: no orphan, no hang, whatever ends."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from collocate import Index, WorkerError, shutdown
from collocate._worker import call, worker

from .conftest import workers


def gone(pid: int, within: float = 10) -> bool:
    """Whether a process has ended, or ends soon."""
    until = time.monotonic() + within
    while time.monotonic() < until:
        try:
            with open(f"/proc/{pid}/stat") as f:
                if f.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return True
        except FileNotFoundError:
            if sys.platform == "linux":
                return True
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                return True
        time.sleep(0.02)
    return False


def python(code: str, **options) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, **options
    )


def test_a_killed_worker_is_an_error_and_then_replaced(index):
    before = index.search("cat").ids.tolist()
    pid = worker().process.pid
    killed = threading.Timer(0.2, os.kill, (pid, signal.SIGKILL))

    def endless():
        killed.start()
        while True:
            yield "some words"

    with pytest.raises(WorkerError, match="SIGKILL"):
        Index.build(endless())
    assert gone(pid)
    assert index.search("cat").ids.tolist() == before  # by a new worker
    idle = worker().process
    idle.kill()
    idle.wait()
    assert index.search("cat").ids.tolist() == before


def test_shutdown_and_again(index):
    pid = worker().process.pid
    shutdown()
    assert gone(pid)
    assert index.search("cat").ids.tolist() == ["0"]


WAITING = """
import collocate, sys, time
from collocate._worker import worker
ix = collocate.Index.build(["a cat", "a dog"])
print(worker().process.pid, ix.path, flush=True)
"""


@pytest.mark.parametrize(
    "how", ["exit", "exception", "os._exit", "SIGKILL", "SIGTERM", "in a call"]
)
def test_no_orphan(how):
    code = WAITING + {
        "exit": "",
        "exception": "raise SystemExit(3)",
        "os._exit": "import os; os._exit(0)",
        "in a call": """
def endless():
    print("busy", flush=True)
    while True:
        yield "some words"
collocate.Index.build(endless())
""",
    }.get(how, "time.sleep(60)")
    p = python(code, stderr=subprocess.DEVNULL)
    pid, path = p.stdout.readline().split()
    if how == "in a call":
        p.stdout.readline()
        p.kill()
    elif how.startswith("SIG"):
        p.send_signal(getattr(signal, how))
    p.wait(timeout=20)
    assert gone(int(pid)), how
    if how in ("exit", "exception"):
        assert not os.path.exists(path)
    else:
        subprocess.run(["rm", "-rf", path], check=True)
    p.stdout.close()


def test_ctrl_c_cancels_the_call_and_keeps_the_worker(index, tmp_path):
    pid = worker().process.pid

    def endless():
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        while True:
            yield "some words"

    with pytest.raises(KeyboardInterrupt):
        Index.build(endless(), tmp_path / "index")
    assert not list(tmp_path.iterdir())  # unfinished files are removed
    assert worker().process.pid == pid
    assert index.search("cat").ids.tolist() == ["0"]


def test_ctrl_c_on_a_terminal_does_not_reach_the_worker(index):
    assert os.getsid(worker().process.pid) != os.getsid(0)


def _search_in_child(path: str) -> tuple[list[str], int]:
    return Index.open(path).search("cat").ids.tolist(), worker().process.pid


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_pools(tmp_path, method, docs):
    ix = Index.build(docs, tmp_path / "index")
    mine = worker().process.pid
    with multiprocessing.get_context(method).Pool(2) as pool:
        found = pool.map(_search_in_child, [ix.path] * 4)
    assert all(ids == ["0"] for ids, _ in found)
    theirs = {pid for _, pid in found}
    assert mine not in theirs
    assert all(gone(pid) for pid in theirs)
    assert worker().process.pid == mine
    assert ix.search("cat").ids.tolist() == ["0"]


def test_a_forked_child_uses_the_same_index_through_its_own_worker(index):
    mine = worker().process.pid
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            found = index.search("cat").ids.tolist()
            os.write(w, f"{found} {worker().process.pid != mine}".encode())
        finally:
            os._exit(0)
    os.close(w)
    os.waitpid(pid, 0)
    assert os.read(r, 100) == b"['0'] True"
    os.close(r)
    assert index.search("cat").ids.tolist() == ["0"]
    assert os.path.isdir(index.path)


def test_threads_call_at_the_same_time(index):
    errors = []

    def ask():
        try:
            for _ in range(50):
                assert index.search("cat").ids.tolist() == ["0"]
                assert len(index.search(["dog", "bird"])) == 2
        except BaseException as err:  # noqa: BLE001
            errors.append(err)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors


def test_an_unknown_call_is_an_error():
    with pytest.raises(ValueError, match="dance"):
        call("dance")


def test_no_port_is_opened(index):
    pid = worker().process.pid
    if sys.platform != "linux":
        pytest.skip("needs /proc")
    inodes = {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
    sockets = {i[8:-1] for i in inodes if i.startswith("socket:[")}
    for table in ("tcp", "tcp6", "udp", "udp6"):
        with open(f"/proc/{pid}/net/{table}") as f:
            assert not sockets & {line.split()[9] for line in f.readlines()[1:]}


def test_zz_no_worker_is_left():
    mine = worker().process.pid
    assert workers() <= {mine}


def test_the_command(command):
    out = subprocess.run(
        [sys.executable, "-c", "from collocate._binary import main; main()", "version"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert out.returncode == 0 and out.stdout.startswith("collocate ")
