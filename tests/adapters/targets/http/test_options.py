"""The worker's command line, and the target's text that it comes from."""

import subprocess
import sys

import pytest
from serving import listen

from turncheck.adapters.protocol.connection import Connection
from turncheck.adapters.protocol.errors import StartError
from turncheck.adapters.targets.http.options import (
    LULL,
    MODEL_PORT,
    PATIENCE,
    RETRIES,
    Options,
    parse,
    worker_command,
)


def test_an_endpoint_alone_has_the_defaults():
    assert parse(["http://127.0.0.1:8000/agent"]) == Options(
        "http://127.0.0.1:8000/agent", MODEL_PORT, RETRIES, PATIENCE, LULL
    )


def test_a_targets_fragment_is_the_workers_options():
    command = worker_command("http://localhost:8000/agent?a=b#model-port=9000&patience=5")
    assert command[3:] == (
        "turncheck.adapters.targets.http",
        "http://localhost:8000/agent?a=b",
        "--model-port=9000",
        "--patience=5",
    )


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "localhost", "[::1]"])
def test_this_machine_is_allowed(host):
    assert parse([f"http://{host}:8000/"]).address[1] == 8000


@pytest.mark.parametrize(
    "host", ["example.com", "10.0.0.1", "0.0.0.0", "127.0.0.1.example.com", "localhost.example.com"]
)
def test_another_machine_is_refused_and_told_how_to_allow_it(host):
    with pytest.raises(ValueError, match="#allow-remote in a target"):
        worker_command(f"http://{host}:8000/")


def test_another_machine_can_be_allowed():
    assert "--allow-remote" in worker_command("http://example.com/#allow-remote")


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/", "http:///agent", "http://127.0.0.1:99999/", "agent"])
def test_what_is_no_endpoint_is_refused(url):
    with pytest.raises(ValueError, match="is no endpoint"):
        parse([url])


@pytest.mark.parametrize(
    ("fragment", "told"),
    [
        ("port=1", "there are model-port, retries, patience, lull, allow-remote"),
        ("model-port=x", "'x' is no port"),
        ("model-port=70000", "'70000' is no port"),
        ("retries=-1", "'-1' is no number of retries"),
        ("patience=-1", "no number of seconds above 0"),
        ("lull=inf", "no number of seconds above 0"),
    ],
)
def test_an_option_that_is_none_is_refused_with_what_was_expected(fragment, told):
    with pytest.raises(ValueError, match=told):
        worker_command(f"http://127.0.0.1:8000/#{fragment}")


def test_a_bad_command_line_ends_with_the_usage_and_no_traceback():
    ran = subprocess.run(
        [sys.executable, "-m", "turncheck.adapters.targets.http"], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr.startswith("turncheck: ")) == (1, True)
    assert "Traceback" not in ran.stderr


def start(target):
    return Connection(target, command=worker_command(target), timeout=20)


def test_an_endpoint_where_nobody_listens_cannot_be_started():
    with listen() as listener:
        port = listener.getsockname()[1]
    with pytest.raises(StartError) as error:
        start(f"http://127.0.0.1:{port}/#model-port=0")
    assert "Start the server first" in str(error.value)


def test_a_model_port_that_is_taken_cannot_be_started(endpoints):
    with pytest.raises(StartError) as error:
        start(f"{endpoints}/right#model-port={endpoints.rpartition(':')[2]}")
    assert "Choose another: #model-port=N" in str(error.value)


def test_the_worker_names_the_endpoint_and_what_it_can_do(drive):
    runtime = drive("right")
    assert runtime.implementation.name.startswith("AG-UI endpoint http://127.0.0.1:")
    assert (runtime.profile.roles, runtime.profile.can("tools"), runtime.profile.can("steer")) == (
        ("runtime",),
        True,
        False,
    )
