"""A page on another origin in a real browser: Debian's Chromium (debian.txt), beside a run that awaits its model."""

import pytest
from playwright.sync_api import sync_playwright
from serving import SECRET, free_port, serve
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route
from words import ONE, STOP, TWO, say

from turncheck.adapters.protocol.connection import Connection
from turncheck.adapters.targets.http.model_endpoint.guard import RELEASE
from turncheck.adapters.targets.http.options import worker_command
from turncheck.adapters.targets.remote_runtime import RemoteRuntime

BROWSER = "/usr/bin/chromium"
REBOUND = "rebound.example"
"""A name that the browser resolves to this machine, as an attacker's name server would do."""
WORD = [ONE, say("hello"), STOP, TWO]
BODY = '{"messages": [{"role": "user", "content": "one"}]}'
FETCHES = {
    "fetch-get": {},
    "fetch-get-no-cors": {"mode": "no-cors"},
    "fetch-post-no-cors": {"mode": "no-cors", "method": "POST", "body": BODY},
    "fetch-post-cors": {"method": "POST", "body": BODY},
    "fetch-post-json": {"method": "POST", "body": BODY, "headers": {"content-type": "application/json"}},
    "fetch-with-credentials": {"method": "POST", "body": BODY, "mode": "no-cors", "credentials": "include"},
    "fetch-with-a-header": {"method": "POST", "headers": {"turncheck-model-secret": SECRET}},
    "fetch-delete": {"method": "DELETE"},
    "fetch-same-origin-only": {"mode": "same-origin"},
}
LOADED = "await new Promise((done) => {{ {0}; }})"
ELEMENT = """
    const one = document.createElement("{0}");
    one.onload = () => done("loaded"); one.onerror = () => done("failed");
    one.{1} = url; {2} document.body.append(one)
"""
WAYS = {
    **{name: f"(await fetch(url, {options})).type" for name, options in FETCHES.items()},
    "beacon": f"navigator.sendBeacon(url, {BODY!r}) ? 'sent' : 'failed'",
    "event-source": LOADED.format(
        "const one = new EventSource(url); one.onmessage = one.onopen = () => done('open');"
        " one.onerror = () => {{ one.close(); done('failed') }}"
    )
    .replace("{{", "{")
    .replace("}}", "}"),
    "web-socket": LOADED.format(
        "const one = new WebSocket(url.replace('http', 'ws')); one.onopen = () => done('open');"
        " one.onerror = () => done('failed')"
    ),
    "image": LOADED.format(ELEMENT.format("img", "src", "")),
    "script": LOADED.format(ELEMENT.format("script", "src", "")),
    "stylesheet": LOADED.format(ELEMENT.format("link", "href", "one.rel = 'stylesheet';")),
    "frame": LOADED.format(ELEMENT.format("iframe", "src", "")),
    "form": LOADED.format(
        "const frame = document.createElement('iframe'); frame.name = url; document.body.append(frame);"
        " const form = document.createElement('form'); form.method = 'POST'; form.action = url; form.target = url;"
        " form.enctype = 'text/plain'; document.body.append(form); frame.onload = () => done('loaded'); form.submit()"
    ),
    "hundred-fetches": "String((await Promise.allSettled(Array.from({length: 100}, () => fetch(url)))).length)",
}
"""Ways in which a page can ask, each a JavaScript expression for the answer."""
SEEN = {"failed", "opaque", "sent", "loaded", "100"}
"""Results that a page may see: never ``basic`` or ``cors``, which are readable answers, nor an open channel."""


@pytest.fixture(scope="module")
def awaited(endpoints):
    """A runtime, its model's port, and the steps of a word while no browser asks."""
    port = free_port()
    target = f"{endpoints}/right?model={port}#model-port={port}&patience=10"
    with RemoteRuntime(Connection(target, command=worker_command(target), timeout=30)) as runtime:
        runtime.reset()
        yield runtime, port, [runtime.apply(stimulus) for stimulus in WORD]


@pytest.fixture(scope="module")
def page():
    """A page on another origin."""
    routes = [Route("/", lambda _: HTMLResponse("<title>evil</title><body>"))]
    with serve(Starlette(routes=routes)) as address, sync_playwright() as playwright:
        rules = f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1"
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", rules])
        opened = browser.new_page()
        opened.goto(address)
        yield opened
        browser.close()


@pytest.mark.parametrize(
    "path",
    [f"/{SECRET}/v1/chat/completions", "/v1/chat/completions", RELEASE],
    ids=["with-the-secret", "without", "release"],
)
@pytest.mark.parametrize("way", WAYS)
def test_a_page_is_refused_even_with_the_secret_and_changes_no_step(awaited, page, way, path):
    runtime, port, undisturbed = awaited
    runtime.reset()
    steps = [runtime.apply(ONE)]
    asks = f"(async () => {{ try {{ return {WAYS[way]} }} catch (error) {{ return 'failed' }} }})()"
    script = f"(url) => Promise.race([{asks}, new Promise((done) => setTimeout(() => done('no end'), 20000))])"
    came = [page.evaluate(script, f"http://{host}:{port}{path}") for host in ("127.0.0.1", REBOUND)]
    steps += [runtime.apply(stimulus) for stimulus in WORD[1:]]
    assert ({*came} <= SEEN, steps) == (True, undisturbed), came


def test_a_page_of_a_name_that_is_bound_anew_to_this_machine_is_refused(awaited, page):
    runtime, port, undisturbed = awaited
    runtime.reset()
    other = page.context.browser.new_page()
    steps = []
    for stimulus in WORD:
        answer = other.goto(f"http://{REBOUND}:{port}/{SECRET}/v1/chat/completions")
        body = f"{{method: 'POST', body: {BODY!r}}}"
        again = other.evaluate(f"async () => (await fetch(location.href, {body})).status")  # its own origin
        assert (answer.status, again) == (403, 403)
        steps.append(runtime.apply(stimulus))
    other.close()
    assert steps == undisturbed
