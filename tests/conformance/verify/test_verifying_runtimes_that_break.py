"""Runtimes that break while they are verified: no law is judged by it, what was found stands, and nothing runs on."""

import json
import shlex
import sys
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import pytest
from processes import living

from turncheck.adapters.targets.registry import open_runtime
from turncheck.adapters.targets.remote_runtime import RemoteRuntime
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.verify.exploring.words import RuntimeCourse
from turncheck.conformance.verify.outcome.results import UNDECIDED
from turncheck.conformance.verify.subjects.subject import HASH_SEED
from turncheck.conformance.verify.verification import verify_runtime

DOUBLE = Path(__file__).parents[2] / "adapters" / "doubles" / "misbehaving_runtime.py"
LAWS = selected(["runtime"])
SHORT = 0.5
LONG = 20.0  # never waited for
HANGING = ("never_answers", "spins", "ignores_sigterm", "hides_behind_a_child", "answers_half_a_line")
FAULTS = {
    "never_answers": "hangs: no answer",
    "spins": "hangs: no answer",
    "ignores_sigterm": "hangs: no answer",
    "hides_behind_a_child": "hangs: no answer",
    "answers_half_a_line": "hangs: no end of the answer",
    "dies_in_the_middle_of_an_answer": "SIGSEGV",
    "dies_after_its_answer": "exit code 3",
    "exits": "exit code 7",
    "exits_elsewhere": "exit code 7",
    "closes_stdin": "closed its stdin",
    "closes_stdout": "closed its stdout",
    "leaves_children_behind": "SIGKILL",
    "answers_twice": "already given",
    "answers_out_of_turn": "already given",
    "answers_with_another_seq": "wrong seq",
    "floods_a_line": "more than 67,108,864 bytes",
    "floods_lines": "not JSON",
    "prints_between_lines": "not JSON",
    "prints_empty_lines": "not JSON",
    "has_events_that_are_no_list": "Expected `array`",
    "has_no_events": "no events",
    "has_no_awaiting": "no awaiting",
    "awaits_what_nobody_knows": "'telepathy'",
    "answers_hugely": "more than 67,108,864 bytes",
    "answers_what_is_no_utf_8": "not JSON",
    "answers_not_a_number": "NaN is no number of JSON",
    "fails": "the adapter failed: KeyError",
    "does_not_know_the_command": "a runtime must know this",
}


def double(*arguments):
    return "cmd:" + shlex.join([sys.executable, str(DOUBLE), *map(str, arguments)])


def verified(*arguments, timeout=LONG, words=0, laws=LAWS):
    with open_runtime(double(*arguments), timeout=timeout) as runtime:
        return verify_runtime(runtime, laws, words=words, hash_seed=HASH_SEED)


# ---- each way to misbehave, from the command line ----


class Broken(NamedTuple):
    """The exit code of ``turncheck verify --json``, its output, and the processes left."""

    code: object
    result: dict[str, object]
    verdicts: set[str]
    left: list[str]


@pytest.fixture(scope="module", params=FAULTS)
def fault(request):
    return request.param


@pytest.fixture(scope="module")
def broken(fault, invoke, tmp_path_factory):
    mark = str(uuid4())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TURNCHECK_TEST", mark)
        timeout = SHORT if fault in HANGING else LONG
        when = "run" if fault == "exits_elsewhere" else "apply"
        target = double(f"{fault}:{when}")
        ran = invoke(tmp_path_factory.mktemp("broken"), "verify", target, "--timeout", timeout, "--json")
    result = json.loads(ran.out)
    judged = [law for law in result["laws"] if law["verdict"] != "skipped"]
    return Broken(
        ran.code,
        result,
        {law["verdict"] for law in judged},
        living(mark.encode()),
    )


def test_a_runtime_that_breaks_exits_2(broken):
    assert broken.code == 2


def test_a_runtime_that_breaks_is_an_error_of_each_law(broken):
    assert broken.verdicts == {"error"}


def test_what_broke_is_said_once(fault, broken):
    assert FAULTS[fault] in broken.result["crash"]["message"]
    assert {law["why"] for law in broken.result["laws"] if law["verdict"] == "error"} == {UNDECIDED}


def test_the_last_lines_of_its_stderr_are_shown(broken):
    assert "about to misbehave" in json.dumps(broken.result)


def test_text_shows_them_in_lines_of_their_own(invoke, tmp_path):
    assert "    about to misbehave" in invoke(tmp_path, "verify", double("exits")).out.splitlines()


def test_a_runtime_that_breaks_leaves_no_process(broken):
    assert broken.left == []


def test_after_one_that_broke_the_next_is_verified(broken):
    result, _ = verified("behaves", laws=LAWS[:3])
    assert result.cut is None


# ---- how often, and what stands ----


def test_a_runtime_that_behaves_passes():
    result, _ = verified("behaves", words=5)
    assert {verdict for verdict, count in result.summary.items() if count} <= {"pass", "skipped", "inconclusive"}
    assert result.exit_code == 0


@pytest.mark.parametrize("when", ["reset:1", "reset:5", "apply:1", "apply:10", "run:1"])
def test_a_hanging_runtime_costs_its_timeout_once(tmp_path, when):
    verified(f"never_answers:{when}", tmp_path / "marker", timeout=SHORT)
    assert (tmp_path / "marker").read_text().split() == ["never_answers"]


@pytest.mark.parametrize("when", ["reset:1", "reset:3", "apply:1", "apply:30"])
def test_a_runtime_that_hangs_amid_generated_words_costs_its_timeout_once(monkeypatch, tmp_path, when):
    monkeypatch.setattr(RuntimeCourse, "directed", ())
    verified(f"never_answers:{when}", tmp_path / "marker", timeout=SHORT, words=100)
    assert (tmp_path / "marker").read_text().split() == ["never_answers"]


def test_a_runtime_that_hangs_amid_generated_words_is_told_as_one_that_hangs(monkeypatch):
    monkeypatch.setattr(RuntimeCourse, "directed", ())
    result, _ = verified("never_answers:apply:30", timeout=SHORT, words=100)
    assert result.crash.message == f"hangs: no answer within {SHORT:g} s"


def test_a_runtime_that_breaks_amid_generated_words_prints_nothing(monkeypatch, capfd):
    monkeypatch.setattr(RuntimeCourse, "directed", ())
    verified("exits:apply:30", words=100)
    assert capfd.readouterr() == ("", "")


def test_the_same_seed_breaks_at_the_same_word(monkeypatch):
    monkeypatch.setattr(RuntimeCourse, "directed", ())
    first, second = (verified("exits:apply:300", words=100)[0].coverage for _ in range(2))
    assert first == second


def test_a_broken_law_stands_when_the_runtime_hangs_later():
    result, counterexamples = verified("logs_no_message_then_hangs", timeout=SHORT)
    assert result.exit_code == 1
    assert counterexamples.keys() == {law.law for law in result.laws if law.verdict == "fail"}
    assert result.summary["error"]


def test_a_runtime_whose_twin_does_not_start_exits_2(invoke, tmp_path):
    ran = invoke(tmp_path, "verify", double("exits_elsewhere:hello"), "--json")
    assert (ran.code, ran.out) == (2, "")
    assert "cannot start: the process ended with exit code 7" in ran.err


def test_a_runtime_that_never_gets_quiet_ends_after_three_words(tmp_path):
    result, _ = verified("is_never_quiet", tmp_path / "marker")
    assert (result.exit_code, result.summary["error"], result.coverage["unsettled"]) == (2, 0, 3)
    assert len((tmp_path / "marker").read_text().split()) == 3


@pytest.mark.parametrize("target", [double("answers_late"), "reference"])
def test_a_run_that_is_not_over_in_time_is_an_error_and_incomplete(invoke, tmp_path, target):
    ran = invoke(tmp_path, "verify", target, "--run-timeout", 6, "--json", "--examples", 1_000_000)
    result = json.loads(ran.out)
    why = {law["why"] for law in result["laws"] if law["verdict"] == "error"}
    assert (ran.code, result["incomplete"], why) == (2, True, {"the time of the whole run is over (--run-timeout)"})
    assert "crash" not in result
    assert [law["law"] for law in result["laws"] if law["verdict"] == "pass"] == []


def test_a_run_whose_budget_is_used_up_is_complete(invoke, tmp_path):
    ran = invoke(tmp_path, "verify", "reference", "--budget", 0.5, "--json", "--examples", 1_000_000)
    result = json.loads(ran.out)
    assert (ran.code, result["cut"], "incomplete" in result) == (0, "the time budget was used up", False)


def test_an_interrupt_amid_generated_words_exits_130(invoke, tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(RuntimeCourse, "directed", ())
    monkeypatch.setattr(RemoteRuntime, "apply", interrupt)
    ran = invoke(tmp_path, "verify", double("behaves"), "--json")
    assert (ran.code, json.loads(ran.out)["cut"]) == (130, "interrupted")


# ---- adapters in Python, in the worker ----

ADAPTERS = """
import sys
import threading
from turncheck_kit import Adapter, ModelFailure, SyncAdapter

class Right(Adapter):
    implementation = {"name": "right", "version": "1", "language": "python"}
    profile = {
        "roles": ["runtime"],
        "capabilities": ["model-failure", "model-input"],
        "policies": {"busy": "reject", "retries": 0},
    }
    patience = 0.2

    def reset(self, env):
        self.env, self.shown, self.active = env, [], False

    async def user(self, stimulus):
        if self.active:
            self.env.refuse("rejected", "busy")
            return
        self.active = True
        self.env.log({"type": "user-message", "id": stimulus["id"], "text": stimulus["text"]})
        self.shown.append({"role": "user", "text": stimulus["text"], "ids": [stimulus["id"]]})
        reason = "completed"
        try:
            async with self.env.model(self.shown) as request:
                async for item in request:
                    self.env.log({"type": "agent-output", "responseId": request.id, **item})
                    self.shown.append({"role": "assistant", "text": item["text"]})
        except ModelFailure:
            reason = "error"
        self.active = False
        self.env.log({"type": "run-stop", "reason": reason})

class Prints(Right):
    async def user(self, stimulus):
        print("asked", stimulus["text"], flush=True)
        sys.stdout.write("{")
        await super().user(stimulus)

class Hangs(Right):
    def user(self, stimulus):
        print("about to misbehave", flush=True)
        threading.Event().wait()

class Spins(Right):
    async def user(self, stimulus):
        while True:
            pass

class Raises(Right):
    async def user(self, stimulus):
        raise KeyError("callId")

class Leaves(Right):
    async def user(self, stimulus):
        sys.exit(5)

class Waits(SyncAdapter):
    implementation, profile, patience = Right.implementation, Right.profile, 0.2

    def reset(self, env):
        pass

    def user(self, stimulus):
        lock = threading.Lock()
        lock.acquire()
        lock.acquire()  # a bare lock is not seen as waiting

class Nobody(Right):
    implementation = {}
"""


@pytest.fixture
def adapter(tmp_path, monkeypatch):
    """Verify an adapter of ADAPTERS."""
    (tmp_path / "mine.py").write_text(ADAPTERS)
    monkeypatch.chdir(tmp_path)

    def verified(name, timeout=LONG):
        with open_runtime(f"python:mine:{name}", timeout=timeout) as runtime:
            return verify_runtime(runtime, LAWS, words=3, hash_seed=HASH_SEED)[0]

    return verified


def reasons(result, verdict="error"):
    return {law.why for law in result.laws if law.verdict == verdict}


@pytest.mark.parametrize("name", ["Right", "Prints"])
def test_an_adapter_class_is_verified_in_the_worker(adapter, name):
    result = adapter(name)
    assert (result.exit_code, result.cut) == (0, None), reasons(result, "fail")


def test_an_adapter_in_the_worker_sees_the_failures_of_its_own_library(adapter):
    law = next(law for law in adapter("Right").laws if law.law == "model-failure-survived")
    assert (law.verdict, law.evidence.observed > 0) == ("pass", True)


@pytest.mark.parametrize("name", ["Hangs", "Spins"])
def test_an_adapter_whose_method_hangs_is_an_error_of_each_law(adapter, name):
    result = adapter(name, timeout=SHORT)
    assert (result.exit_code, result.crash.message) == (2, f"hangs: no answer within {SHORT:g} s")
    assert reasons(result) == {UNDECIDED}


def test_an_adapter_whose_method_raises_is_an_error_of_each_law(adapter):
    result = adapter("Raises")
    assert (result.crash.message, reasons(result)) == ("the adapter failed: KeyError: 'callId'", {UNDECIDED})


def test_an_adapter_that_leaves_is_an_error_of_each_law(adapter):
    result = adapter("Leaves")
    assert result.crash.message == "the process ended with exit code 5 where an answer was due"
    assert (result.crash.exit, reasons(result)) == (5, {UNDECIDED})


def test_a_synchronous_adapter_whose_method_hangs_is_unsettled(adapter):
    result = adapter("Waits")
    assert (result.coverage["unsettled"], result.summary["error"], result.exit_code) == (3, 0, 2)


def test_an_adapter_without_a_name_cannot_start(invoke, tmp_path):
    (tmp_path / "mine.py").write_text(ADAPTERS)
    ran = invoke(tmp_path, "verify", "python:mine:Nobody")
    assert (ran.code, "Nobody.implementation lacks name, version, language" in ran.err) == (2, True)
