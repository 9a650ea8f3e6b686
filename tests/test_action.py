"""The GitHub Action and the pre-commit hooks: held to their schemas, and run here as far as that goes."""

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from hostile_text import TEXT, harm
from ruamel.yaml import YAML
from sources import copied

ROOT = Path(__file__).parents[1]
ACTION, HOOKS = ROOT / "action.yml", ROOT / ".pre-commit-hooks.yaml"
LIMIT = 120.0  # seconds; never waited for
SOUND = '{"type":"user-message","text":"red"}\n{"type":"run-stop","reason":"completed"}\n'
BROKEN = SOUND + '{"type":"run-stop","reason":"completed"}\n'


def loaded(path):
    return YAML(typ="safe").load(path)


def run(*arguments, folder=ROOT, **environment):
    known = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        [*map(str, arguments)],
        cwd=folder,
        env=known | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )


# ---- the action ----


def test_the_action_fits_its_schema():
    ran = run(sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-actions", ACTION)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_every_input_is_used():
    action = loaded(ACTION)
    text = ACTION.read_text("utf-8")
    assert [name for name in action["inputs"] if f"inputs.{name} " not in text] == []


@pytest.fixture
def step(tmp_path):
    """Run the step of a name as GitHub's runner does: ``step(name, **inputs)``; what it printed, and the summary."""

    def step(name, **inputs):
        action = loaded(ACTION)
        (found,) = (one for one in action["runs"]["steps"] if one.get("name") == name)
        given = {known: declared["default"] for known, declared in action["inputs"].items()} | inputs
        values = {variable: given[value.strip("${} ").partition(".")[2]] for variable, value in found["env"].items()}
        script, summary = tmp_path / "step.sh", tmp_path / "summary.md"
        script.write_text(found["run"], "utf-8")
        summary.touch()
        ran = run(
            *("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script),
            folder=tmp_path,
            RUNNER_TEMP=str(tmp_path),
            GITHUB_STEP_SUMMARY=str(summary),
            PYTHONPATH=str(ROOT / "tests"),
            **values,
        )
        return ran, summary.read_text("utf-8")

    return step


def test_the_action_installs_turncheck_from_its_own_folder(tmp_path):
    """In an environment as setup-python makes it; what pip would fetch, it finds here: nothing leaves this machine."""
    action, environment = copied(tmp_path / "action"), tmp_path / "environment"
    assert run(sys.executable, "-m", "venv", "--without-pip", environment).returncode == 0
    (site,) = environment.glob("lib/python*/site-packages")
    (site / "here.pth").write_text(sysconfig.get_path("purelib"), "utf-8")
    (script,) = (one["run"] for one in loaded(ACTION)["runs"]["steps"] if one.get("name") == "Install turncheck")
    offline = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_IGNORE_INSTALLED": "1", "PIP_NO_DEPS": "1"}
    path = f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}"
    ran = run("bash", "-ec", script, folder=tmp_path, GITHUB_ACTION_PATH=str(action), PATH=path, **offline)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert run(environment / "bin" / "turncheck", "verify", "reference", "--examples", "1").returncode == 0


def test_a_target_that_keeps_the_laws_passes_the_action(step):
    ran, summary = step("Verify", target="python:projectors.plain:Plain", examples="5")
    assert (ran.returncode, "::error" in ran.stdout) == (0, False)
    assert "projectors.plain" in summary


def test_a_target_that_breaks_a_law_fails_the_action(step):
    ran, summary = step("Verify", target="python:projectors.wrong:LastInFirstOut", examples="5")
    assert (ran.returncode, "::error" in ran.stdout) == (1, True)
    assert "follow-up-fifo" in summary


def test_the_action_writes_the_reports_that_are_asked_for(step, tmp_path):
    step("Verify", target="python:projectors.plain:Plain", examples="5", report="badge=badge.json\nsarif=out/x.sarif\n")
    assert (tmp_path / "badge.json").exists()
    assert (tmp_path / "out" / "x.sarif").exists()


def test_a_baseline_excuses_what_it_lists(step, tmp_path):
    target = "python:projectors.wrong:LastInFirstOut"
    baseline = tmp_path / "baseline.toml"
    ran = run(
        *("turncheck", "verify", target, "--examples", "5", "--baseline", baseline, "--update-baseline"),
        folder=tmp_path,
        PYTHONPATH=str(ROOT / "tests"),
    )
    assert baseline.exists(), ran.stdout + ran.stderr
    assert step("Verify", target=target, examples="5", baseline=str(baseline))[0].returncode == 0


def test_a_target_that_does_not_start_fails_the_action(step):
    assert step("Verify", target="python:nowhere:nothing")[0].returncode == 2


def test_a_runner_obeys_our_annotations_alone(step, tmp_path):
    (tmp_path / "hostile.py").write_text(f"def project(events):\n    raise ValueError({TEXT!r})\n", "utf-8")
    ran, summary = step("Verify", target="python:hostile:project", examples="1")
    ours = re.compile(r"^::(error|warning|notice) (file=[^:,]*,)?title=[\w ()%.,-]*::", re.MULTILINE)
    assert len(ours.findall(ran.stdout)) == len(ran.stdout.splitlines())
    assert harm(ours.sub("", ran.stdout)) + harm(ran.stderr) + harm(summary) == []


@pytest.mark.parametrize(("log", "code"), [(SOUND, 0), (BROKEN, 1)])
def test_logs_are_judged_by_the_action(step, tmp_path, log, code):
    (tmp_path / "my log.jsonl").write_text(log, "utf-8")
    ran, _ = step("Check logs", logs="my log.jsonl\n")
    assert (ran.returncode, "::error" in ran.stdout) == (code, bool(code))


# ---- the hooks ----


def test_the_hooks_fit_their_schema():
    ran = run(sys.executable, "-m", "pre_commit", "validate-manifest", HOOKS)
    assert (ran.returncode, ran.stdout) == (0, "")


def test_the_hook_that_draws_has_the_extra_that_draws():
    assert {hook["id"]: hook.get("additional_dependencies") for hook in loaded(HOOKS)} == {
        "turncheck-diagrams": [".[diagrams]"],
        "turncheck-check": None,
    }


@pytest.fixture
def repository(tmp_path):
    """A repository that uses the hooks, with this environment in place of one that pre-commit would make.

    ``commit(name, text)`` adds a file to it; ``hook(id)`` runs one.
    """
    folder = tmp_path / "repository"
    folder.mkdir()
    local = [
        {key: value for key, value in (declared | {"language": "system"}).items() if key != "additional_dependencies"}
        for declared in loaded(HOOKS)
    ]
    with (folder / ".pre-commit-config.yaml").open("w", encoding="utf-8") as file:
        YAML().dump({"repos": [{"repo": "local", "hooks": local}]}, file)
    assert run("git", "init", "--quiet", folder=folder).returncode == 0

    def add(name, text):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
        assert run("git", "add", "-A", folder=folder).returncode == 0

    def hook(name):
        home = str(tmp_path / "home")
        return run(
            *(sys.executable, "-m", "pre_commit", "run", name, "--all-files"), folder=folder, PRE_COMMIT_HOME=home
        )

    return add, hook


@pytest.mark.parametrize(("log", "code"), [(SOUND, 0), (BROKEN, 1)])
def test_a_log_that_is_committed_is_judged(repository, log, code):
    add, hook = repository
    add("logs/one.jsonl", log)
    ran = hook("turncheck-check")
    assert (ran.returncode, "outside-run" in ran.stdout) == (code, bool(code))


def test_what_is_no_log_is_left_alone(repository):
    add, hook = repository
    add("notes.txt", "rubbish")
    assert "(no files to check)" in hook("turncheck-check").stdout


def test_a_drawing_that_drifted_is_told(repository):
    add, hook = repository
    add("diagrams/turn.mmd", "flowchart")
    ran = hook("turncheck-diagrams")
    assert (ran.returncode, "diagrams/turn.mmd: differs from its source" in ran.stdout) == (1, True)


def test_drawings_in_step_pass(repository, tmp_path):
    add, hook = repository
    for path in (ROOT / "diagrams").iterdir():
        if path.suffix in {".mmd", ".dot", ".svg", ".jsonl"}:
            add(f"diagrams/{path.name}", path.read_text("utf-8"))
    assert hook("turncheck-diagrams").returncode == 0
