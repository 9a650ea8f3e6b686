"""`turncheck targets` from the outside."""

import json
from dataclasses import replace

import pytest

from turncheck.adapters.protocol.collator import COLLATOR_CAPABILITIES
from turncheck.adapters.protocol.messages import CAPABILITIES, RUNTIME_CAPABILITIES
from turncheck.adapters.targets import runtime_catalog as registry
from turncheck.adapters.targets.environments import Environment, Need
from turncheck.adapters.targets.registry import KINDS


class Shell(Environment):
    """An environment that the shell makes, by what its lock file says."""

    need = Need("sh", (1, 0), lambda: "1.0")
    _tag = ""

    @property
    def _files(self):
        return (self.lock,)

    def _commands(self, folder):
        return (("sh", "-c", self.lock.read_text()),)

    def command(self, script):
        return ("sh", str(script)), {}


class Nowhere(Shell):
    need = Need("abacus", (3, 1), lambda: None)


@pytest.fixture(autouse=True)
def runtimes(monkeypatch, tmp_path):
    """Known are two versions of `tidy`, one of `messy`, which cannot be made, and `old`, whose program is missing."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    pattern = next(iter(registry.known().values()))

    def runtime(name, version, text, environment=Shell):
        lock = tmp_path / f"{name}-{version}.lock"
        lock.write_text(text)
        whole = replace(pattern, name=name, version=version, environment=environment(f"{name}-{version}", lock))
        return str(whole), whole

    runtimes = dict(
        [
            runtime("tidy", "1.0", "true"),
            runtime("tidy", "2.0", "echo"),
            runtime("messy", "1.0", "echo no such package; false"),
            runtime("old", "1.0", "true", Nowhere),
        ]
    )
    monkeypatch.setattr(registry, "_KNOWN", runtimes)
    return runtimes


def test_every_kind_of_target_is_listed(invoke, tmp_path):
    ran = invoke(tmp_path, "targets")
    assert ran.code == 0
    assert [kind.form for kind in KINDS.values() if f"{kind.form}  " not in ran.out] == []


def test_every_capability_is_listed(invoke, tmp_path):
    out = invoke(tmp_path, "targets").out
    capabilities = {**CAPABILITIES, **RUNTIME_CAPABILITIES, **COLLATOR_CAPABILITIES}
    assert [name for name, what in capabilities.items() if f"{name:28}  {what}" not in out] == []


def test_every_known_runtime_is_listed_with_what_it_needs_and_whether_it_is_there(invoke, tmp_path):
    invoke(tmp_path, "targets", "--make", "tidy@1.0")
    lines = invoke(tmp_path, "targets").out.splitlines()
    states = {line.split()[0]: line.rpartition("(")[2] for line in lines if "@" in line.strip().split(" ")[0]}
    assert states == {
        "tidy@1.0": "sh>=1; made)",
        "tidy@2.0": "sh>=1; to be made)",
        "messy@1.0": "sh>=1; to be made)",
        "old@1.0": "abacus>=3.1; abacus>=3.1 is missing)",
    }


def test_make_makes_the_newest_version_of_a_name_and_prints_its_folder(invoke, tmp_path, runtimes):
    ran = invoke(tmp_path, "targets", "--make", "tidy")
    folder = runtimes["tidy@2.0"].environment.folder
    assert (ran.code, ran.out.split()) == (0, ["tidy@2.0", str(folder)])
    assert [name for name, runtime in runtimes.items() if runtime.environment.made] == ["tidy@2.0"]


def test_make_says_on_stderr_what_lasts(invoke, tmp_path):
    err = invoke(tmp_path, "targets", "--make", "tidy").err
    assert err.startswith("making the environment of tidy-2.0 in ")


def test_make_all_goes_on_after_a_failure_and_exits_with_2(invoke, tmp_path, runtimes):
    ran = invoke(tmp_path, "targets", "--make", "all")
    made = [name for name, runtime in runtimes.items() if runtime.environment.made]
    assert (ran.code, made) == (2, ["tidy@1.0", "tidy@2.0"])
    assert "cannot make the environment of messy-1.0: sh ended with 1\n" in ran.err
    assert "\n    no such package\n" in ran.err
    assert "old-1.0 needs abacus>=3.1\n" in ran.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--make"], "--make which? tidy@1.0, tidy@2.0, messy@1.0, old@1.0, or all"),
        (["--make", "tidi"], "no known runtime 'tidi': there is tidy@1.0, tidy@2.0, messy@1.0, old@1.0"),
        (["--make", "tidy@1.5"], "no target 'tidy@1.5': of tidy there is tidy@1.0, tidy@2.0"),
        (["tidy"], "names are for --make"),
    ],
)
def test_a_usage_error_says_what_there_is(invoke, tmp_path, arguments, told):
    ran = invoke(tmp_path, "targets", *arguments)
    assert ran.code == 2
    assert told in ran.err


def test_json_has_the_kinds_the_runtimes_and_the_capabilities(invoke, tmp_path, runtimes):
    told = json.loads(invoke(tmp_path, "targets", "--json").out)
    assert told["kinds"] == [{"form": kind.form, "description": kind.description} for kind in KINDS.values()]
    assert told["capabilities"] == {
        "projector": CAPABILITIES,
        "runtime": RUNTIME_CAPABILITIES,
        "collator": COLLATOR_CAPABILITIES,
    }
    assert [(row["name"], row["needs"], row["found"], row["made"]) for row in told["runtimes"]] == [
        ("tidy@1.0", "sh>=1", "1.0", False),
        ("tidy@2.0", "sh>=1", "1.0", False),
        ("messy@1.0", "sh>=1", "1.0", False),
        ("old@1.0", "abacus>=3.1", None, False),
    ]


def test_json_after_make_says_what_is_made_now(invoke, tmp_path):
    told = json.loads(invoke(tmp_path, "targets", "--make", "tidy@1.0", "--json").out)
    assert [row["name"] for row in told["runtimes"] if row["made"]] == ["tidy@1.0"]
