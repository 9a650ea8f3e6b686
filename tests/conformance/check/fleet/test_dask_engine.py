"""Logs judged by a Dask cluster: the output is that of one process, and a lost worker loses no log."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any, Final
from uuid import uuid4

import pytest
from processes import living

from turncheck.adapters.logs.reading import MAX_LINE
from turncheck.conformance.check.fleet import dask_engine, sharing
from turncheck.conformance.check.fleet.one import How, judged
from turncheck.model import extras

SOUND: Final = b'{"type":"user-message","text":"red"}\n{"type":"run-stop","reason":"completed"}\n'
STOP: Final = b'{"type":"run-stop","reason":"completed"}\n'
HOW: Final = How(None, MAX_LINE)
judge_all: Final[Callable[..., Iterator[Any]]] = dask_engine.judged


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A cluster of two worker processes."""
    own = import_module("distributed").LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50
    )
    yield own
    own.close()


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder of logs: sound, broken, empty, rubbish."""
    folder = tmp_path / "logs"
    folder.mkdir()
    for name, text in {"a": SOUND, "b": SOUND + STOP * 1200, "c": b"", "d": b"rubbish"}.items():
        (folder / f"{name}.jsonl").write_bytes(text)
    return folder


def test_a_cluster_says_what_one_process_says(cluster: Any, logs: Path, invoke: Any, tmp_path: Path) -> None:
    alone = invoke(tmp_path, "check", "logs", "nowhere", "--json")
    shared = invoke(tmp_path, "check", str(logs), "nowhere", "--json", "--engine", f"dask={cluster.scheduler_address}")
    assert (shared.code, shared.out.replace(str(logs), "logs")) == (alone.code, alone.out)


def test_without_an_address_a_cluster_is_started_and_ended(logs: Path, invoke: Any, tmp_path: Path) -> None:
    alone = invoke(tmp_path, "check", "logs", "--json")
    mark = str(uuid4())
    command = [sys.executable, "-m", "turncheck.conformance", "check", "logs", "--json", "--engine", "dask", "-j", "1"]
    environment = {**os.environ, "TURNCHECK_TEST": mark}
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (alone.code, alone.out, "")
    assert living(mark.encode()) == []


def test_the_log_of_a_lost_worker_is_judged_by_another(cluster: Any, tmp_path: Path) -> None:
    pipe = str(tmp_path / "log.jsonl")
    os.mkfifo(pipe)
    killed: list[int] = []

    def write() -> None:
        with open(pipe, "wb", buffering=0) as file:  # noqa: PTH123 - waits for a reader
            killed.append(_readers(pipe)[0])
            os.kill(killed[0], signal.SIGKILL)
            file.write(SOUND)
        Path(pipe).unlink()
        Path(pipe).write_bytes(SOUND + STOP)

    thread = Thread(target=write, daemon=True)
    thread.start()
    (result,) = judge_all([pipe], HOW, cluster.scheduler_address, 2)
    thread.join(60)
    assert (len(killed), [found.law for found in result.findings]) == (1, ["outside-run"])


def test_a_range_of_a_lost_worker_is_judged_by_another(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LEAST", "_SMALLEST", "_LARGEST"):
        monkeypatch.setattr(sharing, name, 200)
    monkeypatch.setattr(dask_engine, "done", partial(_dies_once, str(tmp_path / "died")))
    log = tmp_path / "log.jsonl"
    log.write_bytes((SOUND + STOP) * 10)
    assert len(sharing.ranges_of(str(log), HOW, 2)) > 4
    (result,) = sharing.shared([str(log)], HOW, 2, lambda tasks: judge_all(tasks, HOW, cluster.scheduler_address, 2))
    assert (result, (tmp_path / "died").exists()) == (judged(str(log), HOW), True)


def test_a_log_that_costs_worker_after_worker_is_an_error(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    config = import_module("dask.config")
    cluster.scheduler.allowed_failures = 0
    monkeypatch.setattr(dask_engine, "done", _dies)
    with config.set({"distributed.scheduler.allowed-failures": 0}):
        (result,) = judge_all(["a.jsonl"], HOW, cluster.scheduler_address, 2)
    why = "1 workers of the cluster were lost while they judged this log; is there enough memory?"
    assert (result.verdict, result.why) == ("error", why)


def test_results_come_in_the_order_of_the_logs(cluster: Any, logs: Path) -> None:
    tasks = [str(path) for path in sorted(logs.iterdir(), reverse=True)]
    here = judged(tasks[0], HOW)
    every = [*judge_all([*tasks, lambda: here, *tasks], HOW, cluster.scheduler_address, 2)]
    assert every == [*map(_alone, tasks), here, *map(_alone, tasks)]


def test_a_scheduler_that_is_not_there_is_named(
    logs: Path, invoke: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_engine, "_PATIENCE", 0.2)
    ran = invoke(tmp_path, "check", str(logs), "--engine", "dask=tcp://127.0.0.1:1")
    assert (ran.code, ran.out, "dask=tcp://127.0.0.1:1" in ran.err) == (2, "", True)


@pytest.mark.parametrize("value", ["spark", "processes=2", ""])
def test_an_unknown_engine_is_named(invoke: Any, tmp_path: Path, value: str) -> None:
    ran = invoke(tmp_path, "check", "a.jsonl", "--engine", value)
    assert (ran.code, f"no engine {value!r}; there are processes, dask and dask=ADDRESS" in ran.err) == (2, True)


def test_findings_that_are_told_at_once_and_dask_exclude_each_other(invoke: Any, tmp_path: Path) -> None:
    ran = invoke(tmp_path, "check", "a.jsonl", "--all", "--engine", "dask")
    assert (ran.code, "leave one of them out" in ran.err) == (2, True)


def test_without_the_extra_it_is_named(
    invoke: Any, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "_is_there", lambda module: module != "distributed")
    ran = invoke(tmp_path, "check", str(logs), "--engine", "dask")
    assert (ran.code, "--engine dask needs the extra 'dask'" in ran.err) == (2, True)


def _alone(path: str) -> Any:
    return judged(path, HOW)


def _dies_once(mark: str, work: Any, how: How) -> Any:
    from turncheck.conformance.check.fleet.one import done

    if not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return done(work, how)


def _dies(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _readers(path: str) -> list[int]:
    """The processes that have *path* open, except this one."""
    found: list[int] = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                opened = [str(one.readlink()) for one in (folder / "fd").iterdir()]
            except OSError:
                continue
            found += [int(folder.name)] if path in opened else []
    return found
