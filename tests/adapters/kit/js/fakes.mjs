// Runtimes that do one odd thing each when a message comes: node fakes.mjs NAME [PATIENCE]
import { ModelFailure, serve, ToolFailure } from "../../../../adapters/kit/turncheck_kit.mjs";
import { AsyncLocalStorage } from "node:async_hooks";
import { execFile } from "node:child_process";
import crypto, { randomUUID } from "node:crypto";
import http from "node:http";
import net from "node:net";
import { setTimeout as importedTimeout } from "node:timers";
import { setInterval as ticks, setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";

const [name, patience] = process.argv.slice(2);
const note = (env, text) => env.log({ type: "native", text: String(text) });
const forEver = (env) => setImmediate(() => forEver(env));
let firstEnv;

const FAKES = {
  // the clock
  timer: (env) => setTimeout(() => note(env, `after ${Date.now() - Date.UTC(2026, 0, 1)} ms`), 5000),
  timers: (env) => [30, 10, 20, 20].forEach((delay, at) => setTimeout(() => note(env, `${delay}/${at}`), delay)),
  "cleared timers": (env) => {
    clearTimeout(setTimeout(() => note(env, "an object"), 10));
    clearTimeout(+setTimeout(() => note(env, "a number"), 10));
    clearTimeout(setTimeout(() => note(env, "a turn"), 0));
  },
  "imported timers": async (env) => {
    importedTimeout((text) => note(env, text), 1000, "node:timers");
    note(env, await sleep(2000, "node:timers/promises"));
    await promisify(setTimeout)(3000);
    note(env, `promisify ${performance.now()}`);
    for await (const text of ticks(10, "tick")) return note(env, text);
  },
  "aborted sleep": (env) =>
    sleep(1000, undefined, { signal: AbortSignal.abort() }).catch((error) => note(env, error.name)),
  "signal of a timeout": (env) => {
    const signal = AbortSignal.timeout(1000);
    signal.addEventListener("abort", () => note(env, signal.reason.name));
    setTimeout(() => {}, 2000);
  },
  interval: (env) => {
    let left = 3;
    const timer = setInterval(() => (note(env, `at ${performance.now()}`), --left || clearInterval(timer)), 1000);
  },
  housekeeping: () => setInterval(() => {}, 60_000),
  "unreferenced timer": (env) => setTimeout(() => note(env, "swept"), 1000).unref(),
  "chatty interval": (env) => setInterval(() => note(env, "tick"), 1000),
  "a request that names its run": (env) => env.model([], { runId: "run1" }).next(),
  "timer beside a request": (env) => {
    env.model([]).next();
    setTimeout(() => note(env, "late"), 5000);
    setTimeout(() => note(env, "at once"), 0);
  },
  dates: (env) => {
    note(env, new Date().toISOString());
    note(env, [new Date(0).getTime(), Date() === new Date().toString(), structuredClone(new Date()) instanceof Date]);
    note(env, class extends Date {}.now() === Date.now() && new (class Mine extends Date {})().constructor.name);
  },
  random: (env) => {
    note(env, [
      Math.random(),
      randomUUID(),
      crypto.randomBytes(4).toString("hex"),
      crypto.getRandomValues(new Uint8Array(4)),
    ]);
  },
  "context of a timer": (env) =>
    new AsyncLocalStorage().run("kept", () => {
      const storage = new AsyncLocalStorage();
      storage.run("kept", () => setTimeout(() => note(env, storage.getStore()), 10));
    }),
  // quiet
  immediates: (env) => {
    let left = 100;
    const turn = () => (--left ? setImmediate(turn) : note(env, "done"));
    turn();
  },
  promises: async (env) => {
    for (let turn = 0; turn < 1000; turn++) await undefined;
    note(env, "done");
  },
  worker: (env) =>
    new Worker('require("worker_threads").parentPort.postMessage(6 * 7)', { eval: true }).on("message", (text) =>
      note(env, text),
    ),
  child: (env) => execFile(process.execPath, ["-p", "6 * 7"], (_, text) => note(env, text.trim())),
  socket: (env) => {
    const server = net
      .createServer((peer) => peer.pipe(peer))
      .listen(0, "127.0.0.1", () => {
        const client = net.connect(server.address().port, "127.0.0.1", () => client.end("echo"));
        client.on("data", (text) => (note(env, text), server.close()));
      });
  },
  fetch: (env) => {
    const server = http
      .createServer((_, response) => response.end("served"))
      .listen(0, "127.0.0.1", async () => {
        const response = await fetch(`http://127.0.0.1:${server.address().port}`);
        note(env, await response.text());
        server.close();
      });
  },
  "open server": () => net.createServer().listen(0, "127.0.0.1"),
  "endless immediates": forEver,
  "endless promises": async () => {
    for (;;) await undefined;
  },
  // what must not happen
  prints: (env) => {
    console.log("rubbish");
    process.stdout.write("more rubbish\n");
    process.stdin.on("data", (text) => note(env, text)).on("end", () => note(env, "stdin is empty"));
  },
  throws: () => {
    throw new RangeError("the adapter broke");
  },
  rejects: async (env) => {
    note(env, "before");
    throw new RangeError("the adapter broke");
  },
  "rejects later": async (env) => {
    for await (const item of env.model([])) throw new RangeError(`the adapter broke on ${item.text}`);
  },
  "unhandled rejection": () => void Promise.reject(new RangeError("nobody looks")),
  "uncaught exception": () =>
    void setImmediate(() => {
      throw new RangeError("nobody catches");
    }),
  "no event": (env) => env.log({ type: "user_message" }),
  exits: () => process.exit(3),
  "old environment": (env) => ((firstEnv ??= env), note(firstEnv, "heard"), firstEnv.model([])),
  // the model and the tools
  surrogate: (env) => note(env, "a\ud83d"),
  snapshot: (env) => {
    const input = [{ role: "user", text: "then" }];
    env.model(input).next();
    input[0].text = "now";
  },
  "without tools": (env) => void env.model([], { tools: false }),
  "walks away": async (env) => {
    for await (const item of env.model([])) return note(env, item.text);
  },
  "aborted before": async (env) => {
    const signal = AbortSignal.abort(new Error("too late"));
    await env
      .model([], { signal })
      .next()
      .catch((error) => note(env, `model: ${error.message}`));
    await env.tool("c1", "read", {}, { signal }).catch((error) => note(env, `tool: ${error.message}`));
  },
  failures: async (env) => {
    await env
      .model([])
      .next()
      .catch((error) => note(env, [error instanceof ModelFailure, error.kind]));
    await env.tool("c1", "read", {}).catch((error) => note(env, [error instanceof ToolFailure, error.message]));
  },
  decisions: async (env) => {
    const asked = [env.decision("c1"), env.decision("c1", "client-tool")];
    for (const one of await Promise.all(asked)) note(env, JSON.stringify(one));
  },
  "decision of an aborted run": async (env) => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(new Error("stopped")), 1000);
    await env.decision("c1", "approval", { signal: stop.signal }).catch((error) => note(env, error.message));
  },
  summary: (env) => void env.model([], { tools: false, purpose: "compaction" }),
  "asks badly": (env) => env.decision("c1", "vote"),
  request: async (env) => {
    const request = env.model([]);
    for await (const item of request) note(env, item.text);
    note(env, [request.id, request.reason, JSON.stringify(request.usage)]);
  },
  options: (env) => note(env, JSON.stringify(env.options)),
  attended: () => {},
  echo: (env, { text }) => note(env, text),
};

serve(
  {
    implementation: { name: `fake: ${name}`, version: "0", language: "javascript" },
    profile: { capabilities: [...(name === "attended" ? ["clients"] : []), "clock", "tools", "tool-failure", "model-failure", "model-input", "observer", "approval", "client-tools", "compaction"] },
    reset(env) {
      this.env = env;
    },
    user(stimulus) {
      return FAKES[name](this.env, stimulus);
    },
    ...(name === "attended" && {
      client({ clientId, cursor }) {
        this.env.tell(clientId, { type: "snapshot", events: [], cursor });
      },
    }),
    ...(name === "compacts" && {
      compact() {
        this.env.model([], { purpose: "compaction" });
      },
    }),
  },
  patience === undefined ? {} : { patience: Number(patience) },
);
