"""Logs at URLs: moto's S3 on loopback, a web server, and what a store that fails is called."""

import gzip
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from typing import Any, Final

import pytest

from turncheck.adapters.logs import places
from turncheck.adapters.logs.reading import MAX_LINE
from turncheck.conformance.check.fleet import sharing
from turncheck.conformance.check.fleet.one import How, done, judged
from turncheck.model import extras

SOUND: Final = b'{"type":"user-message","text":"red"}\n{"type":"run-stop","reason":"completed"}\n'
BROKEN: Final = SOUND + b'{"type":"run-stop","reason":"completed"}\n'
FILES: Final = {
    "logs/a.jsonl": SOUND,
    "logs/deep/b.jsonl.gz": gzip.compress(BROKEN, mtime=0),
    "logs/deep/notes.txt": b"of no interest",
    "other/c.sse": SOUND * 2000,  # several ranges
}
SECRETS: Final = "http://me:word@{}/c.jsonl?signature=f00&token=b4r"


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """A bucket of S3 with ``FILES``."""
    boto3 = import_module("boto3")
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", url)
        patch.setenv("AWS_ACCESS_KEY_ID", "x")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "x")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        client = boto3.client("s3")
        client.create_bucket(Bucket="fleet")
        for name, data in FILES.items():
            client.put_object(Bucket="fleet", Key=name, Body=data)
        yield "s3://fleet"
    server.stop()


class Web(BaseHTTPRequestHandler):
    """A web server without ranges; under ``/cut`` it breaks off, and elsewhere it knows one file."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        data = {"/c.jsonl": BROKEN, "/cut.jsonl": SOUND}.get(self.path.partition("?")[0])
        self.send_response(404 if data is None else 200)
        self.send_header("content-length", str(len(data or b"") + 10 * (self.path == "/cut.jsonl")))
        self.send_header("connection", "close")
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data or b"")

    def do_HEAD(self) -> None:
        self.do_GET()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def web() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Web)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def checked(invoke: Any, tmp_path: Any) -> Any:
    """Check; the exit code, and of each log the laws that it breaks, or why it is an error."""

    def checked(*arguments: str) -> tuple[int, dict[str, Any]]:
        ran = invoke(tmp_path, "check", *arguments, "--json")
        assert "Traceback" not in ran.err
        said = [json.loads(line) for line in ran.out.splitlines()]
        return ran.code, {one["log"]: one.get("why") or [found["law"] for found in one["findings"]] for one in said}

    return checked


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_folder_of_a_bucket_is_searched(checked: Any, s3: str, jobs: str) -> None:
    found = {"s3://fleet/logs/a.jsonl": [], "s3://fleet/logs/deep/b.jsonl.gz": ["outside-run"]}
    assert checked(f"{s3}/logs", "-j", jobs) == (1, found)


def test_a_glob_names_objects(checked: Any, s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "_BLOCK", 1 << 16)
    assert checked(f"{s3}/*/?.*s*") == (0, {"s3://fleet/logs/a.jsonl": [], "s3://fleet/other/c.sse": []})


def test_a_large_object_is_judged_in_ranges(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LEAST", "_SMALLEST", "_LARGEST"):
        monkeypatch.setattr(sharing, name, 40_000)
    path, how = f"{s3}/other/c.sse", How(None, MAX_LINE)
    assert len(sharing.ranges_of(path, how, 2)) > 2

    def here(tasks: Any) -> Iterator[Any]:
        return (done(task, how) for task in tasks)

    assert [*sharing.shared([path], how, 2, here)] == [judged(path, how)]


def test_an_object_is_named(checked: Any, s3: str) -> None:
    assert checked(f"{s3}/logs/a.jsonl") == (0, {"s3://fleet/logs/a.jsonl": []})


def test_what_is_not_there_is_named(checked: Any, s3: str) -> None:
    assert checked(f"{s3}/nowhere.jsonl") == (2, {"s3://fleet/nowhere.jsonl": "there is nothing at this URL"})


def test_a_folder_without_logs_is_named(checked: Any, s3: str) -> None:
    code, said = checked(f"{s3}/logs/*.txt")
    assert (code, *said) == (2, "s3://fleet/logs/*.txt")
    assert said["s3://fleet/logs/*.txt"].startswith("no log here: looked for .jsonl")


def test_a_missing_credential_is_named(checked: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    import_module("s3fs").S3FileSystem.clear_instance_cache()
    why = "NoCredentialsError: Unable to locate credentials"
    assert checked("s3://fleet/logs") == (2, {"s3://fleet/logs": why})


def test_a_web_server_gives_a_log_and_its_secrets_are_not_told(checked: Any, web: str) -> None:
    assert checked(SECRETS.format(web)) == (1, {f"http://…@{web}/c.jsonl?…": ["outside-run"]})


def test_secrets_are_not_told_where_the_log_is_not_there(checked: Any, web: str) -> None:
    code, said = checked(SECRETS.format(web).replace("c.jsonl", "d.jsonl"))
    assert (code, said) == (2, {f"http://…@{web}/d.jsonl?…": "there is nothing at this URL"})


def test_secrets_are_not_told_where_nobody_listens(checked: Any) -> None:
    code, said = checked(SECRETS.format("127.0.0.1:1"))
    assert code == 2
    assert "f00" not in str(said)
    assert "b4r" not in str(said)
    assert "ClientConnectorError: " in str(said)


def test_an_answer_that_breaks_off_is_an_error(checked: Any, web: str) -> None:
    code, said = checked(f"http://{web}/cut.jsonl")
    assert code == 2
    assert said[f"http://{web}/cut.jsonl"].startswith("ClientPayloadError: ")


def test_an_unknown_kind_of_place_is_named(checked: Any) -> None:
    assert checked("nope://x/y") == (2, {"nope://x/y": "ValueError: Protocol not known: nope"})


def test_a_package_that_a_store_needs_is_named(checked: Any) -> None:
    assert checked("gs://x/y") == (2, {"gs://x/y": "ImportError: Please install gcsfs to access Google Storage"})


def test_without_the_extra_it_is_named(invoke: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "_is_there", lambda module: module != "fsspec")
    ran = invoke(tmp_path, "check", "s3://fleet/logs")
    assert (ran.code, ran.out) == (2, "")
    assert "a log at s3:// needs the extra 'fleet': pip install 'turncheck[fleet]'" in ran.err


def test_a_path_that_looks_like_a_url_can_be_written_otherwise(checked: Any, tmp_path: Any) -> None:
    (tmp_path / "s3:").mkdir()
    (tmp_path / "s3:" / "a.jsonl").write_bytes(SOUND)
    assert checked("./s3://a.jsonl") == (0, {"./s3://a.jsonl": []})


@pytest.mark.parametrize("command", ["project", "redact"])
def test_other_commands_read_urls_too(invoke: Any, tmp_path: Any, web: str, command: str) -> None:
    ran = invoke(tmp_path, command, f"http://{web}/c.jsonl")
    assert ran.code == 0
    assert ran.out


def test_a_store_that_keeps_silent_is_given_up(monkeypatch: pytest.MonkeyPatch, checked: Any) -> None:
    monkeypatch.setattr(places, "_SILENCE", 0.2)
    with ThreadingHTTPServer(("127.0.0.1", 0), None) as server:  # type: ignore[arg-type]
        code, said = checked(f"http://127.0.0.1:{server.server_port}/c.jsonl")
    assert (code, "Timeout" in str(said)) == (2, True)
