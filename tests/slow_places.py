"""The places whose tests ``make quick`` leaves out."""

from collections.abc import Mapping
from typing import Final

SLOW: Final[Mapping[str, str]] = {
    "model/checking": "210 s, spin and gcc: each machine explored to its bound, proved and refined; edits refuted",
    "teeth/museum": "160 s: 40 real defects, faulty and mended, each held to all laws",
    "docs": "160 s: every tutorial's commands are run, and the site is built",
    "teeth/variants": "120 s: 170 conforming variants, each held to all laws",
    "adapters/targets/test_known_runtimes.py": "65 s, and every known runtime's environment",
    "conformance/cli/test_init_command.py": "65 s: the tests of every starter are run as written",
    "conformance/test_pytest_plugin.py": "60 s: 50 runs of pytest",
    "conformance/verify/test_hostile_adapters.py": "110 s: processes that hang, die, flood or fork",
    "conformance/cli/test_signals.py": "70 s: processes that are ended at 36 moments",
    "conformance/report/formats/html/test_html_browser.py": "55 s, a browser, and axe from npm",
    "test_action.py": "50 s: the action's steps and pre-commit's hooks, each a process that starts anew",
    "conformance/automata/n_complete": "40 s: models explored and learned",
    "conformance/verify/test_reference_targets.py": "32 s: every reference is held to all laws in processes of its own",
    "conformance/verify/exploring": "75 s: doubles are verified by one, two and three processes",
    "conformance/automata/mutation": "30 s: a sample of edited rows, each against every method",
    "conformance/verify/test_verify_baseline.py": "40 s: a double is verified under each kind of baseline",
    "conformance/verify/test_verifying_runtimes_that_break.py": "35 s: processes that hang, die or flood",
    "adapters/targets/http/hostile": "90 s: servers that flood and hang, Node, and a browser",
    "adapters/targets/http/test_misbehaving.py": "25 s: servers that hang, die or break the stream",
    "adapters/references/test_interaction.py": "30 s: under every policy on a history, it is held to all laws",
    "conformance/cli/test_places_to_write.py": "21 s: the matrix is made again in each way to fail",
    "adapters/kit/test_python_kit_quiet.py": "20 s: event loops, threads and executors, each in a process of its own",
    "adapters/references/test_engine_wire.py": "20 s: a real server, and clients that leave",
    "adapters/targets/test_remote_runtime.py": "18 s: processes that hang, die or print rubbish",
    "conformance/report/test_report_option.py": "13 s: a double is verified for each kind of report",
    "conformance/check/fleet/test_dask_engine.py": "12 s: clusters of processes",
    "conformance/check/fleet/test_places.py": "12 s: moto's S3 on loopback, and two workers",
    "adapters/targets/test_worker.py": "11 s: workers that are killed",
    "conformance/report/formats/html/test_html_page.py": "17 s: pages of doubles that are verified first",
    "conformance/cli/test_replay_command.py": "9 s: processes that are started for each replay",
    "conformance/cli/test_redact_command.py": "8 s: every recording is redacted and judged again",
    "adapters/references/test_turn_runtime.py": "8 s: hundreds of turns on real files, each folder opened anew",
    "conformance/cli/test_learn_command.py": "7 s: machines are learned",
    "projectors/test_plain.py": "7 s: the plain projector is held to every law",
    "adapters/targets/http/test_driving.py": "7 s: a server on loopback",
    "conformance/cli/test_suite_command.py": "10 s: suites of doubles in processes of their own",
    "adapters/references/test_turn_crashes.py": "25 s: a journal is cut at each byte, and processes are killed",
    "conformance/cli/test_smoke_command.py": "12 s: doubles are walked through an adapter's life",
    "adapters/targets/test_environments.py": "12 s, pip and npm",
    "adapters/targets/http/test_pydantic_ai_server.py": "12 s, and the environment of the server of docs/http.md",
    "teeth/wild": "20 s: a runtime is mutated and verified, and acorn from npm",
    "teeth/mutation": "5 s: the bench needs the whole model of the checkout for itself",
    "test_packaging.py": "3 s: a wheel is built",
}
"""Folder or file → why it is slow: its seconds in a full run on two busy cores (2026-11-23), and what it needs.

Workers take files in this order, the longest first: none begins a long one when the others end.
"""
