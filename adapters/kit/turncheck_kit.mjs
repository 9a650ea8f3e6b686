/**
 * turncheck's helper library for adapters in JavaScript and TypeScript: one file, no dependencies, Node 20 or later.
 *
 * An adapter is an object with `implementation`, `profile`, `reset`, `user` and what else its runtime can do; see
 * {@link Adapter}. The kit speaks the protocol (docs/protocol.md), plays the model and the tools, knows when the runtime
 * is quiet, and owns the clock:
 *
 *     import { serve } from "./turncheck_kit.mjs";        // first: it replaces timers, clock, randomness and stdout
 *     const { Agent } = await import("my-agent");
 *
 *     serve({
 *       implementation: { name: "my-agent", version: "1.0", language: "javascript" },
 *       profile: { capabilities: ["abort", "tools"], policies: { busy: "reject" } },
 *       reset(env) { this.env = env; this.agent = new Agent({ model: (input, signal) => env.model(input, { signal }) }); },
 *       user({ id, text }) { this.env.log({ type: "user-message", id, text }); this.agent.prompt(text); },
 *       abort() { this.agent.abort(); },
 *     });
 *
 * Quiet. Node emits `beforeExit` when its event loop has run dry; only then is stdin read, synchronously. Handles that
 * keep the loop alive (a socket, a worker, a child process) are really waited for, up to the patience (2 s); then the
 * step is `unsettled`. Handles without a reference (`unref()`) are not seen; only the harness can stop an endless loop.
 *
 * Clock. Timers, `Date` and `performance.now()` are virtual. Timers fire by themselves, the earliest first, while no model
 * and no tool is awaited and the clock is not manual; else `advance` fires them, in due order, quiet after each. A timer
 * of at most 1 ms, as `setImmediate`, is a turn of the event loop and no time. A timer without a reference fires only
 * when the clock passes it for another reason: nothing waits for it. Timers that repeat and never lead to an event are
 * housekeeping: they fire at most 1,000 times per step. Worker threads have the real clock.
 *
 * Determinism. `Math.random`, `crypto.randomUUID`, `randomBytes` and `getRandomValues` start anew at each reset.
 *
 * Faults. An uncaught exception or unhandled rejection of the runtime would end its process: it is logged as a `fault`
 * event, and the process goes on. An error that the adapter throws or rejects with is answered as `failed`, with its
 * stack; in a listener, where the runtime would swallow it, report it with `env.fail`.
 * stdout belongs to the protocol: printed text goes to stderr.
 */
import { AsyncResource } from "node:async_hooks";
import crypto from "node:crypto";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { Readable } from "node:stream";
import timers from "node:timers";
import timersPromises from "node:timers/promises";
import { promisify } from "node:util";

/**
 * @typedef {"rejected" | "unsupported" | "not-awaited"} Why
 * @typedef {{role: "system" | "user" | "assistant" | "tool", text?: string, ids?: string[], images?: number,
 *   callId?: string, tool?: string, isError?: boolean}} Shown  one entry of the context that the model is shown
 * @typedef {{kind: "assistant" | "reasoning", text: string} | {kind: "tool-call", callId: string, tool: string,
 *   arguments?: unknown}} Item  an item of the model; `arguments` that are a string must reach the runtime as that text
 * @typedef {{kind: "user", id: string, text: string, delivery?: "steer" | "followUp", content?: unknown[], sessionId?: string,
 *   sender?: unknown, meta?: unknown}} User
 * @typedef {{tools: {name: string, schema?: object}[], limits: {maxRounds?: number, contextWindow?: number}, policies: Record<string, unknown>,
 *   clock: "auto" | "manual", deafTools: boolean, deafModel: boolean, observer: "throws" | "slow" | null,
 *   stateDir: string | null}} Options  of a reset, with the defaults filled in
 * @typedef {object} Adapter
 * @property {{name: string, version: string, language: string, homepage?: string}} implementation
 * @property {{capabilities: string[], policies?: Record<string, unknown>, machine?: string}} profile
 * @property {Record<string, Partial<Adapter["profile"]>>} [variants]  the names of variants, the default first, and what
 *   each changes of the profile (its policies are merged); `env.variant` says which one to be
 * @property {(env: Environment) => unknown} reset  start a new, empty runtime in *env*; forget the one before
 * @property {(stimulus: User) => unknown} user  take a message, start its run, and return: the kit runs to quiet
 * @property {(stimulus: {kind: "abort", sessionId?: string, agentId?: string}) => unknown} [abort]
 * @property {(stimulus: {kind: "compact", sessionId?: string}) => unknown} [compact]
 * @property {(stimulus: {kind: "client", clientId: string, action: "join" | "leave", cursor?: string, sessionId?: string}) => unknown} [client]
 * @property {(stimulus: {kind: "store-fail", times: number, sessionId?: string}) => unknown} [storeFail]
 */

const DOCUMENT = "docs/protocol.md";
const PATIENCE = 2; // seconds
const IDLE_FIRES = 1000; // timers that fire by themselves in one step without an event: 3 to 40 ms of work (measured)
const EPOCH = Date.UTC(2026, 0, 1); // the virtual date at a reset: any fixed date will do
const LONGEST = 2 ** 31 - 1; // ms: a longer delay counts as 1, as in Node
const real = { Date, setImmediate, setTimeout, clearImmediate, now: performance.now.bind(performance) };

// The virtual clock

class Clock {
  /** Milliseconds since the reset. */
  now = 0;
  /** The time up to which `advance` lets the clock go. */
  goal = 0;
  manual = false;
  /** @type {Map<number, Timer>} */
  timers = new Map();
  last = 0;

  /** The timer to fire next: the first, if within the goal, or if the clock may go by itself and a timer is awaited. */
  next(byItself) {
    let first, waited;
    for (const timer of this.timers.values()) {
      if (!first || timer.due < first.due || (timer.due === first.due && timer.turn < first.turn)) first = timer;
      waited ||= timer.kept;
    }
    return first && (first.due <= this.goal || (byItself && waited && !this.manual)) ? first : undefined;
  }

  /** Advance the goal by *seconds*, rounded to the microsecond: else 1.005 s would not reach a timer of 1005 ms. */
  advance(seconds) {
    this.goal = Math.round((this.now + seconds * 1000) * 1000) / 1000;
  }

  /** Set the clock to the time of *timer*, and run it in a turn of its own. */
  fire(timer) {
    this.now = Math.max(this.now, timer.due);
    this.goal = Math.max(this.goal, this.now);
    if (timer.repeats) timer.refresh();
    else timer.close();
    real.setImmediate(timer.call);
  }

  /** Go to the goal: no timer is due before it. */
  arrive() {
    this.now = this.goal;
  }

  restart(manual) {
    this.timers.clear();
    Object.assign(this, { now: 0, goal: 0, manual });
  }
}

const clock = new Clock();

/** The result of setTimeout and setInterval: Node's Timeout, on the virtual clock. */
class Timer {
  constructor(call, delay, repeats, values) {
    if (typeof call !== "function") throw new TypeError(`a timer's callback must be a function, not ${excerpt(call)}`);
    this.call = AsyncResource.bind(() => call.apply(this, values));
    this.delay = delay >= 1 && delay <= LONGEST ? Math.trunc(delay) : 1;
    this.repeats = repeats;
    this.kept = true;
    this.id = ++clock.last;
    this.refresh();
  }

  refresh() {
    this.close();
    if (this.delay === 1 && !this.repeats) {
      this.soon = real.setImmediate(this.call);
      if (!this.kept) this.soon.unref();
    } else {
      this.due = clock.now + this.delay;
      this.turn = ++clock.last;
      clock.timers.set(this.id, this);
    }
    return this;
  }

  close() {
    real.clearImmediate(this.soon);
    clock.timers.delete(this.id);
    return this;
  }

  ref() {
    this.kept = true;
    this.soon?.ref();
    return this;
  }

  unref() {
    this.kept = false;
    this.soon?.unref();
    return this;
  }

  hasRef() {
    return this.kept;
  }

  [Symbol.toPrimitive]() {
    byId.set(this.id, new WeakRef(this));
    return this.id;
  }
}

/** Timers that were converted to a number, which clearTimeout takes too. @type {Map<number, WeakRef<Timer>>} */
const byId = new Map();

function clear(timer) {
  if (typeof timer === "number" || typeof timer === "string") timer = byId.get(Number(timer))?.deref();
  if (timer instanceof Timer) timer.close();
}

function sleep(delay, value, { signal, ref = true } = {}) {
  return new Promise((resolve, reject) => {
    const refuse = () =>
      reject(new DOMException("The operation was aborted", { name: "AbortError", cause: signal.reason }));
    if (signal?.aborted) return refuse();
    const stop = () => (timer.close(), refuse());
    const timer = new Timer(() => (signal?.removeEventListener("abort", stop), resolve(value)), delay, false, []);
    if (!ref) timer.unref();
    signal?.addEventListener("abort", stop, { once: true });
  });
}

function installClock() {
  const virtual = {
    setTimeout: (call, delay, ...values) => new Timer(call, delay, false, values),
    setInterval: (call, delay, ...values) => new Timer(call, delay, true, values),
    clearTimeout: clear,
    clearInterval: clear,
  };
  virtual.setTimeout[promisify.custom] = sleep;
  Object.assign(globalThis, virtual);
  Object.assign(timers, virtual);
  timersPromises.setTimeout = sleep;
  timersPromises.setInterval = async function* setInterval(delay, value, options) {
    for (;;) yield await sleep(delay, value, options);
  };
  timersPromises.scheduler.wait = (delay, options) => sleep(delay, undefined, options);
  AbortSignal.timeout = (delay) => {
    const controller = new AbortController();
    const expire = () => controller.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError"));
    new Timer(expire, delay, false, []).unref();
    return controller.signal;
  };
  const now = () => EPOCH + Math.trunc(clock.now);
  // Its prototype is the real one's, so that a date from elsewhere (structuredClone) is an instance of it too.
  function Date(...values) {
    if (!new.target) return new real.Date(now()).toString();
    return Reflect.construct(real.Date, values.length ? values : [now()], new.target === Date ? real.Date : new.target);
  }
  Object.setPrototypeOf(Date, real.Date);
  Date.prototype = real.Date.prototype;
  Date.prototype.constructor = Date;
  Date.now = now;
  globalThis.Date = Date;
  performance.now = () => clock.now;
}

// Randomness that is the same in each word

let seed = 0;

/** Mulberry32: 32 bits of state, which is ample for ids. @returns {number} 32 random bits */
function bits() {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return (mixed ^ (mixed >>> 14)) >>> 0;
}

function installRandomness() {
  const fill = (array) => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    for (let at = 0; at < bytes.length; at++) bytes[at] = bits();
    return array;
  };
  const later = (call, value) => (call ? void real.setImmediate(call, null, value) : value);
  Math.random = () => bits() / 2 ** 32;
  crypto.randomBytes = (size, call) => later(call, fill(Buffer.alloc(size)));
  const part = (array, from = 0, size = array.length - from) => (fill(array.subarray(from, from + size)), array);
  crypto.randomFillSync = (array, from, size) => (from === undefined ? fill(array) : part(array, from, size));
  crypto.webcrypto.getRandomValues = fill;
  const uuid = () => {
    const hex = fill(Buffer.alloc(16)).toString("hex");
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
  };
  crypto.randomUUID = uuid;
  crypto.webcrypto.randomUUID = uuid;
}

// stdin and stdout, for the protocol only

const block = Buffer.allocUnsafe(1 << 16);
const doze = new Int32Array(new SharedArrayBuffer(4));
let unread = block.subarray(0, 0);

/** Do *transfer* on a descriptor; a non-blocking one without data is tried again after a millisecond. */
function blocking(transfer) {
  for (;;) {
    try {
      return transfer();
    } catch (error) {
      if (error.code === "EOF") return 0; // Windows
      if (error.code !== "EAGAIN") throw error;
      Atomics.wait(doze, 0, 0, 1);
    }
  }
}

/** Return the next line that is not blank, undefined at stdin's end. */
function readLine() {
  for (let pieces = []; ; ) {
    const end = unread.indexOf(10);
    if (end >= 0) {
      pieces.push(unread.subarray(0, end));
      const line = (pieces.length > 1 ? Buffer.concat(pieces) : pieces[0]).toString();
      unread = unread.subarray(end + 1);
      if (line.trim()) return line;
      pieces = [];
      continue;
    }
    if (unread.length) pieces.push(Buffer.from(unread)); // a copy: the next read overwrites the block
    unread = block.subarray(
      0,
      blocking(() => fs.readSync(0, block)),
    );
    if (!unread.length) return undefined;
  }
}

function writeLine(text) {
  for (let rest = Buffer.from(`${text}\n`); rest.length; ) {
    try {
      rest = rest.subarray(blocking(() => fs.writeSync(1, rest)));
    } catch (error) {
      if (error.code === "EPIPE") process.exit(0); // the harness has gone
      throw error;
    }
  }
}

function installPipes() {
  process.stdout.write = process.stderr.write.bind(process.stderr);
  Object.defineProperty(process, "stdin", { configurable: true, value: Readable.from([]) });
}

installPipes();
installClock();
installRandomness();
syncBuiltinESMExports();

// The objects that an adapter works with

/** The scripted model failed: `kind` is `retryable`, `fatal` (before or instead of a stream) or `stream` (it broke). */
export class ModelFailure extends Error {
  constructor(failure) {
    super(`the model failed: ${failure}`);
    this.name = "ModelFailure";
    /** @type {"retryable" | "fatal" | "stream"} */
    this.kind = failure;
  }
}

/** The scripted tool failed, with the stimulus's message. */
export class ToolFailure extends Error {
  constructor(message) {
    super(message);
    this.name = "ToolFailure";
  }
}

/**
 * Return the arguments of a tool-call item as the text that a model sends: a string unchanged, all else as JSON.
 * @param {Item} item
 * @returns {string}
 */
export function rawArguments(item) {
  return typeof item.arguments === "string" ? item.arguments : JSON.stringify(item.arguments ?? {});
}

/** An awaited answer: it reacts to a signal, unless it is deaf, and is settled once. */
class Awaited {
  cancelled = false;

  constructor(env, signal, deaf, shown) {
    this.env = env;
    this.signal = signal;
    this.shown = shown; // its entry under `awaiting`, as JSON without the closing brace
    if (signal?.aborted && !deaf) return;
    env.awaited.add(this);
    this.cancelled = signal?.aborted ?? false;
    this.hear = () => {
      this.cancelled = true;
      if (!deaf) this.settle(() => this.reject(signal.reason));
    };
    signal?.addEventListener("abort", this.hear, { once: true });
  }

  settle(how) {
    this.env.awaited.delete(this);
    this.signal?.removeEventListener("abort", this.hear);
    how();
  }

  show() {
    return `${this.shown}${this.cancelled ? ',"cancelled":true' : ""}}`;
  }
}

/**
 * One request to the scripted model: an async iterable of its items. It ends at the model's stop, and then has `reason`
 * and `usage`; it throws ModelFailure if the model fails, and the signal's reason if the signal is aborted.
 * @implements {AsyncIterableIterator<Item>}
 */
class Request extends Awaited {
  /** @type {string} the requestId */ id;
  /** @type {"end-turn" | "tool-use" | "length" | undefined} */ reason;
  /** @type {unknown} */ usage;
  arrived = [];

  [Symbol.asyncIterator]() {
    return this;
  }

  async next() {
    for (;;) {
      if (this.arrived.length) return { value: this.arrived.shift(), done: false };
      if (this.failed) throw this.failure;
      if (this.reason) return { value: undefined, done: true };
      await new Promise((resolve) => (this.wake = resolve));
    }
  }

  /** End the iteration early: the consumer left its loop. */
  async return() {
    this.settle(() => {});
    return { value: undefined, done: true };
  }

  take(stimulus) {
    if (stimulus.kind === "model-output") this.arrived.push(stimulus.item);
    else if (stimulus.kind === "model-fail") return this.settle(() => this.reject(new ModelFailure(stimulus.class)));
    else this.settle(() => Object.assign(this, { reason: stimulus.reason, usage: stimulus.usage }));
    return this.wake?.();
  }

  reject(failure) {
    Object.assign(this, { failed: true, failure });
    this.wake?.();
  }
}

/** One run of a scripted tool. */
class Execution extends Awaited {
  take(stimulus) {
    if (stimulus.kind === "tool-return") this.settle(() => this.resolve(stimulus.output));
    else this.settle(() => this.reject(new ToolFailure(stimulus.message)));
  }
}

/** A call that waits for a person or the client. */
class Decision extends Awaited {
  take(stimulus) {
    this.settle(() => this.resolve(stimulus));
  }
}

const DECISIONS = { approve: "approval", deny: "approval", "client-result": "client-tool" };
const REFUSALS = ["rejected", "unsupported", "not-awaited"];
const EVENTS = new Set(["user-message", "agent-output", "tool-result", "run-stop", "model-request", "fault", "native", "run-pause", "run-resume"]);

/** The environment of a runtime from one reset to the next. Events of an environment that is over are lost. */
export class Environment {
  awaited = new Set();
  live = true;
  /** The name of the variant to be, undefined without any. @type {string | undefined} */ variant;
  requests = 0;
  executions = 0;

  /** @param {Options} options */
  constructor(options) {
    this.options = options;
    this.clear();
  }

  clear() {
    this.events = [];
    /** @type {Map<string, string[]>} */ this.told = new Map();
    this.refused = undefined;
    this.failure = undefined;
  }

  /**
   * Log *event*, as it is at this moment; `source: "adapter"` marks an inferred event. `via` says how a `run-stop` was
   * seen: `event` (the default), `exception` or `close`, a stream or call that just ended. Log each that you see:
   * turncheck knows which are one end. Throws TypeError if it is no event of the log (docs/log-format.md), or no JSON.
   * @param {{type: string, sessionId?: string, [field: string]: unknown}} event
   * @param {{source?: "observed" | "adapter", via?: "event" | "exception" | "close"}} [how]
   */
  log(event, { source, via } = {}) {
    if (!this.live) return;
    try {
      if (!EVENTS.has(event?.type))
        throw new TypeError(`no event of the log: expected type ${[...EVENTS].join(", ")}, came ${excerpt(event)}`);
      this.events.push(json({ ...event, ...(source && { source }), ...(via && { via }) }));
    } catch (error) {
      this.fail(error);
      throw error;
    }
  }

  /**
   * Note that a client was told *event*: one of the log, or `{type: "snapshot", events}`, which takes the place of all
   * that it was told before; `active` of a snapshot says if a run is open. `cursor`, a string, is the place from which
   * the client could go on. Throws TypeError if it is no JSON.
   * @param {string} clientId
   * @param {{type: string, cursor?: string, [field: string]: unknown}} event
   */
  tell(clientId, event) {
    if (!this.live) return;
    if (!this.told.has(clientId)) this.told.set(clientId, []);
    this.told.get(clientId).push(json(event));
  }

  /**
   * Report that the adapter failed, and the step with it; the first error counts.
   * @param {unknown} error
   */
  fail(error) {
    this.failure ??= error instanceof Error ? error : new Error(`the adapter threw ${excerpt(error)}`);
  }

  /**
   * Send a request to the model: log `model-request`, and await the model until it ends. If the signal is aborted
   * already, nothing is sent and the request throws at once, as fetch does (a deaf model still gets the request).
   * @param {Shown[]} input  the whole context that the model is shown
   * @param {{signal?: AbortSignal, sessionId?: string, runId?: string, agentId?: string, parentCallId?: string,
   *   tools?: boolean, purpose?: "compaction"}} [how]  runId: the event's, where runs of one session are concurrent;
   *   agentId: the sub-agent that asks, and parentCallId the call that started it; tools: false if the request offers
   *   none (a last summary): the model then calls none; purpose: "compaction" if it asks for a summary of the history
   * @returns {Request}
   */
  model(input, { signal, sessionId, runId, agentId, parentCallId, tools = true, purpose } = {}) {
    if (purpose !== undefined && purpose !== "compaction")
      throw new TypeError(`the purpose of a request is a compaction, not ${excerpt(purpose)}`);
    const requestId = `r${this.requests + 1}`;
    const entry = { kind: "model", requestId, purpose, input, sessionId, agentId, ...(tools ? {} : { tools }) };
    const shown = json(entry).slice(0, -1);
    const request = new Request(this, signal, this.options.deafModel, shown);
    if (!this.awaited.has(request)) request.reject(signal.reason);
    else {
      this.requests++;
      Object.assign(request, { id: requestId, sessionId });
      this.log({ type: "model-request", requestId, purpose, input, sessionId, runId, agentId, parentCallId });
    }
    return request;
  }

  /**
   * Run a tool: it is awaited until it returns its output, throws ToolFailure, or after an abort throws the signal's
   * reason (a deaf tool ignores the signal).
   * @param {string} callId
   * @param {string} tool
   * @param {unknown} args  as executed
   * @param {{signal?: AbortSignal, sessionId?: string, agentId?: string}} [how]  agentId: the sub-agent whose call it is
   * @returns {Promise<any>}
   */
  tool(callId, tool, args, { signal, sessionId, agentId } = {}) {
    return new Promise((resolve, reject) => {
      const id = `e${this.executions + 1}`;
      const shown = json({ kind: "tool", callId, execution: id, tool, arguments: args, sessionId, agentId }).slice(0, -1);
      const execution = new Execution(this, signal, this.options.deafTools, shown);
      if (!this.awaited.has(execution)) return reject(signal.reason);
      this.executions++;
      Object.assign(execution, { callId, id, sessionId, resolve, reject });
    });
  }

  /**
   * Ask about a call: resolve to the stimulus that decides about it, `{kind: "approve"}`, `{kind: "deny", message?}` or
   * `{kind: "client-result", output}`. Rejects with the signal's reason, and is no longer awaited, when that is aborted.
   * @param {string} callId
   * @param {"approval" | "client-tool"} kind a person approves or denies the call, or the client executes it
   * @param {{signal?: AbortSignal, sessionId?: string}} [options]
   * @returns {Promise<{kind: string, callId: string, message?: string, output?: unknown}>}
   */
  decision(callId, kind = "approval", { signal, sessionId } = {}) {
    return new Promise((resolve, reject) => {
      if (!Object.values(DECISIONS).includes(kind))
        throw new TypeError(`a decision is an approval or a client-tool, not ${excerpt(kind)}`);
      const decision = new Decision(this, signal, false, json({ kind, callId, sessionId }).slice(0, -1));
      if (!this.awaited.has(decision)) return reject(signal.reason);
      Object.assign(decision, { callId, decides: kind, sessionId, resolve, reject });
    });
  }

  /**
   * Refuse the stimulus: it did not take place; the first refusal counts. Throws TypeError if *why* is no {@link Why}.
   * @param {Why} why
   * @param {string} message
   */
  refuse(why, message) {
    if (!REFUSALS.includes(why))
      throw new TypeError(`a stimulus is refused as ${REFUSALS.join(", ")}, not ${excerpt(why)}`);
    this.refused ??= { why, message };
  }

  /** Act as an observer of the runtime's events, by `options.observer`: throw, wait for a loop turn, or nothing. */
  observe() {
    if (this.options.observer === "throws") throw new Error("the observer throws");
    if (this.options.observer === "slow") return new Promise((resolve) => real.setImmediate(resolve));
    return undefined;
  }

  /** Hand a stimulus of the model or of a tool to the oldest request or execution that awaits it in its session. */
  answer(stimulus) {
    const { kind, callId } = stimulus;
    const model = kind.startsWith("model-");
    const id = (model ? stimulus.requestId : stimulus.execution) ?? undefined;
    const sessionId = stimulus.sessionId ?? undefined;
    const decides = DECISIONS[kind];
    for (const awaited of this.awaited) {
      const wanted = model ? Request : decides ? Decision : Execution;
      const fits = awaited instanceof wanted && awaited.decides === decides && awaited.sessionId === sessionId;
      if (fits && (id === undefined || awaited.id === id) && (model || awaited.callId === callId))
        return awaited.take(stimulus);
    }
    const what = model ? "the model" : `${decides ? "a decision about " : ""}call ${callId}`;
    return this.refuse("not-awaited", `nothing waits for ${what}${id === undefined ? "" : ` (${id})`}`);
  }

  /** Return the step's answer, as the inside of a JSON object. */
  step(unsettled) {
    const waiting = [...this.awaited].map((awaited) => awaited.show());
    const kept = [...clock.timers.values()]
      .filter((timer) => timer.kept)
      .sort((a, b) => a.due - b.due || a.turn - b.turn);
    for (const timer of kept) waiting.push(`{"kind":"timer","in":${(timer.due - clock.now) / 1000}}`);
    const refused = this.refused ? `,"refused":${json(this.refused)}` : "";
    const told = [...this.told].map(([name, events]) => `${json(name)}:[${events.join()}]`);
    const clients = told.length ? `,"clients":{${told.join()}}` : "";
    return `"events":[${this.events.join()}],"awaiting":[${waiting.join()}]${refused}${unsettled ? ',"unsettled":true' : ""}${clients}`;
  }
}

/** Encode as JSON; lone surrogates (an emoji that a delta split) become U+FFFD, since a reader may refuse them. */
function json(value) {
  const text = JSON.stringify(value);
  if (!/\\ud[89a-f]/i.test(text)) return text;
  return JSON.stringify(value, (_, part) => (typeof part === "string" ? part.toWellFormed() : part));
}

// The messages

class BadMessage extends Error {}

function excerpt(value) {
  const text = (typeof value === "string" ? value : JSON.stringify(value)) ?? String(value);
  return text.length > 300 ? `${text.slice(0, 300)}… (${text.length} characters)` : text;
}

const TYPES = {
  any: () => true,
  "a string": (value) => typeof value === "string",
  "a number, 0 or more": (value) => typeof value === "number" && value >= 0,
  "an integer": Number.isInteger,
  "true or false": (value) => typeof value === "boolean",
  "a list": Array.isArray,
  "an object": (value) => typeof value === "object" && value !== null && !Array.isArray(value),
};

/** The fields of each shape; a name with ? may be absent or null. A value's type is a name of TYPES, or one of a list. */
const SHAPES = {
  hello: { protocol: "an integer", "variant?": "a string" },
  reset: { seq: "an integer", "options?": "an object" },
  apply: { seq: "an integer", stimulus: "an object" },
  run: { seq: "an integer", word: "a list" },
  stop: {},
  options: {
    "tools?": "a list",
    "limits?": "an object",
    "policies?": "an object",
    "clock?": ["auto", "manual"],
    "deafTools?": "true or false",
    "deafModel?": "true or false",
    "observer?": ["throws", "slow"],
    "stateDir?": "a string",
  },
  tool: { name: "a string", "schema?": "an object", "needs?": ["approval", "client", "agent"] },
  limits: { "maxRounds?": "an integer", "contextWindow?": "an integer" },
  assistant: { text: "a string" },
  reasoning: { text: "a string" },
  "tool-call": { callId: "a string", tool: "a string", "arguments?": "any" },
};
const STIMULI = {
  user: {
    id: "a string",
    text: "a string",
    "delivery?": ["steer", "followUp"],
    "content?": "a list",
    "sender?": "any",
    "meta?": "any",
  },
  abort: {},
  "model-output": { item: "an object", "requestId?": "a string" },
  "model-stop": { reason: ["end-turn", "tool-use", "length"], "usage?": "any", "requestId?": "a string" },
  "model-fail": { class: ["retryable", "fatal", "stream"], "requestId?": "a string" },
  "tool-return": { callId: "a string", "output?": "any", "data?": "any", "metadata?": "any", "execution?": "a string" },
  "tool-fail": { callId: "a string", message: "a string", "execution?": "a string" },
  approve: { callId: "a string" },
  deny: { callId: "a string", "message?": "a string" },
  "client-result": { callId: "a string", "output?": "any" },
  compact: {},
  advance: { seconds: "a number, 0 or more" },
  client: { clientId: "a string", action: ["join", "leave"], "cursor?": "a string" },
  "store-fail": { times: "a number, 0 or more" },
  together: { stimuli: "a list" },
};
const fields = new Map();
for (const [name, shape] of Object.entries({ ...SHAPES, ...STIMULI })) {
  const whole = name in STIMULI ? { ...shape, "sessionId?": "a string", "agentId?": "a string" } : shape;
  const rules = Object.entries(whole).map(([key, type]) => [
    key.replace("?", ""),
    { optional: key.endsWith("?"), type },
  ]);
  fields.set(name, new Map(rules));
}

/** Throw BadMessage if *value* is not of *shape*; *where* names the value, *tag* is the field that names its shape. */
function check(shape, value, where, tag) {
  if (!TYPES["an object"](value)) throw new BadMessage(`${where}: expected an object, came ${excerpt(value)}`);
  const rules = fields.get(shape);
  for (const [name, { optional, type }] of rules) {
    const field = value[name];
    if (optional && (field === undefined || field === null)) continue;
    if (Array.isArray(type) ? type.includes(field) : field !== undefined && TYPES[type](field)) continue;
    const expected = Array.isArray(type) ? type.join(" or ") : type;
    throw new BadMessage(
      `${where}.${name}: expected ${expected}, came ${field === undefined ? "nothing" : excerpt(field)}`,
    );
  }
  for (const name in value) {
    if (name === tag || rules.has(name)) continue;
    throw new BadMessage(
      `${where}.${name}: expected no such field, but ${[...rules.keys()].join(", ") || "none"}; came ${excerpt(value)}`,
    );
  }
}

function checkTagged(shapes, value, where, tag) {
  const shape = value?.[tag];
  if (!shapes.includes(shape))
    throw new BadMessage(`${where}.${tag}: expected ${shapes.join(", ")}, came ${excerpt(value)}`);
  check(shape, value, where, tag);
}

const ANY_STIMULUS = Object.keys(STIMULI);
const ALONE = ["compact", "advance", "client", "store-fail", "together"];
const IN_TOGETHER = ANY_STIMULUS.filter((kind) => !ALONE.includes(kind));
const ITEMS = ["assistant", "reasoning", "tool-call"];

function checkStimulus(stimulus, where, kinds = ANY_STIMULUS) {
  checkTagged(kinds, stimulus, where, "kind");
  if (stimulus.kind === "model-output") checkTagged(ITEMS, stimulus.item, `${where}.item`, "kind");
  if (stimulus.kind === "together")
    stimulus.stimuli.forEach((each, at) => checkStimulus(each, `${where}.stimuli[${at}]`, IN_TOGETHER));
}

/** Return the options of a reset, checked and complete. @returns {Options} */
function readOptions(given) {
  check("options", given, "options");
  given.tools?.forEach((tool, at) => check("tool", tool, `options.tools[${at}]`));
  if (given.limits) check("limits", given.limits, "options.limits");
  return {
    tools: given.tools ?? [],
    limits: given.limits ?? {},
    policies: given.policies ?? {},
    clock: given.clock ?? "auto",
    deafTools: given.deafTools ?? false,
    deafModel: given.deafModel ?? false,
    observer: given.observer ?? null,
    stateDir: given.stateDir ?? null,
  };
}

const COMMANDS = ["hello", "reset", "apply", "run", "stop"];

function readMessage(line) {
  let message;
  try {
    message = JSON.parse(line);
  } catch (error) {
    throw new BadMessage(`expected a message, came no JSON (${error.message}): ${excerpt(line)}`);
  }
  if (typeof message?.cmd !== "string") throw new BadMessage(`expected an object with cmd, came ${excerpt(message)}`);
  const { cmd } = message;
  if (!COMMANDS.includes(cmd)) return message;
  check(cmd, message, cmd, "cmd");
  if (cmd === "apply") checkStimulus(message.stimulus, "stimulus");
  if (cmd === "run") message.word.forEach((stimulus, at) => checkStimulus(stimulus, `word[${at}]`));
  if (cmd === "reset") message.options = readOptions(message.options ?? {});
  return message;
}

const NEEDS = {
  abort: "abort",
  "model-fail": "model-failure",
  "tool-return": "tools",
  "tool-fail": "tool-failure",
  approve: "approval",
  deny: "approval",
  "client-result": "client-tools",
  compact: "compaction",
  advance: "clock",
  client: "clients",
  "store-fail": "store-faults",
  together: "together",
};

/** Return a capability that *stimulus* needs and that is missing from *can*, those of the adapter. */
function missing(can, { kind, item, sessionId, agentId, content }) {
  const needs = [NEEDS[kind], sessionId != null && "sessions", agentId != null && "sub-agents", content != null && "images"];
  if (item) needs.push({ reasoning: "reasoning", "tool-call": "tools" }[item.kind]);
  return needs.find((capability) => capability && !can.has(capability));
}

function missingOption(can, options) {
  const needs = {
    tools: options.tools.length,
    limits: options.limits.maxRounds != null,
    "context-limit": options.limits.contextWindow != null,
    observer: options.observer,
    persistence: options.stateDir,
    clock: options.clock === "manual",
    deaf: options.deafTools || options.deafModel,
  };
  return Object.keys(needs).find((capability) => needs[capability] && !can.has(capability));
}

/** Answers messages for one adapter; each reset makes a new environment. */
class Server {
  /** @type {Environment | undefined} */ env;
  /** The command under way: `{seq}`, for `run` with its `word` and the finished `steps`. */
  command;
  began = 0; // of the step under way, by the real clock
  fired = 0; // timers that it fired by itself since something was logged
  heard = 0; // events that were logged by then

  constructor(adapter, patience) {
    this.adapter = adapter;
    this.patience = patience * 1000;
    this.be(Object.keys(adapter.variants ?? {})[0]);
  }

  /** Take the profile of *variant*, the adapter's own where that is undefined. */
  be(variant) {
    const { profile, variants } = this.adapter;
    const changed = variant === undefined ? {} : variants[variant];
    const policies = { ...profile.policies, ...changed.policies };
    this.variant = variant;
    this.profile = { roles: ["runtime"], ...profile, ...changed, ...(Object.keys(policies).length && { policies }) };
    this.can = new Set(this.profile.capabilities);
  }

  start() {
    process.on("uncaughtException", (error) => this.fault(error));
    process.on("unhandledRejection", (error) => this.fault(error));
    process.on("beforeExit", () => this.dry());
    this.own = process.getActiveResourcesInfo(); // resources that do not keep the loop alive: stdout
    this.watch(this.patience);
  }

  // The event loop

  /** Handle an event loop that has run dry: let time pass if it may; else the runtime is quiet. */
  dry() {
    if (this.command) {
      const { env } = this;
      if (env.events.length !== this.heard) [this.heard, this.fired] = [env.events.length, 0];
      const timer = env.failure ? undefined : clock.next(env.awaited.size === 0 && this.fired < IDLE_FIRES);
      if (timer) {
        if (timer.due > clock.goal) this.fired++;
        clock.fire(timer);
        return;
      }
      clock.arrive();
      this.end(false);
    }
    this.listen();
  }

  watch(delay) {
    real.setTimeout(() => this.expired(), delay).unref();
  }

  expired() {
    // The loop's cached time is as old as its turn, which included the wait for a message: read the clock.
    const left = this.command ? this.patience - (real.now() - this.began) : this.patience;
    if (left > 1) return this.watch(left);
    const alive = process.getActiveResourcesInfo();
    for (const name of this.own) if (alive.includes(name)) alive.splice(alive.indexOf(name), 1);
    process.stderr.write(
      `turncheck: unsettled: after ${this.patience / 1000} s the event loop is kept alive by ${alive.join(", ") || "timers"}\n`,
    );
    this.end(true);
    this.listen();
    return this.watch(this.patience);
  }

  /** Begin a step, in a turn of the event loop of its own. */
  begin(work) {
    this.began = real.now();
    this.fired = this.heard = 0;
    real.setImmediate(work);
  }

  /** End the step: answer, unless more of its word is to come. */
  end(unsettled) {
    const { env } = this;
    const { failure } = env;
    const { seq, word, steps } = this.command;
    const step = env.step(unsettled);
    env.clear();
    if (failure) {
      this.command = undefined;
      return refuse(seq, "failed", `${failure.name}: ${failure.message}`, failure.stack, steps);
    }
    steps?.push(`{${step}}`);
    if (word && word.length > steps.length && !unsettled) return this.begin(() => this.apply(word[steps.length]));
    this.command = undefined;
    return answer(seq, word ? `"steps":[${steps.join()}]` : step);
  }

  /** Log an error that escaped from the runtime. */
  fault(error) {
    const message = error instanceof Error ? `${error.name}: ${error.message}` : excerpt(error);
    process.stderr.write(`turncheck: fault: ${error?.stack ?? message}\n`);
    this.env?.log({ type: "fault", message });
  }

  // Messages

  /** Take messages until one has begun a step. */
  listen() {
    while (!this.command) {
      const line = readLine();
      if (line === undefined) process.exit(0);
      try {
        this.take(readMessage(line));
      } catch (error) {
        if (!(error instanceof BadMessage)) throw error;
        refuse(seqOf(line), "failed", `not a message that a runtime takes: ${error.message}; see ${DOCUMENT}`);
      }
    }
  }

  take({ cmd, seq, protocol, variant, options, stimulus, word }) {
    const { implementation, variants } = this.adapter;
    switch (cmd) {
      case "stop":
        return process.exit(0);
      case "hello":
        if (protocol !== 1) return refuse(seq, "unsupported", `this adapter speaks protocol 1, not ${protocol}`);
        if (typeof variant === "string") {
          const names = Object.keys(variants ?? {});
          if (!names.includes(variant)) {
            const there = names.join(", ") || "none";
            return refuse(seq, "unsupported", `there is no variant ${excerpt(variant)}; this adapter has ${there}`);
          }
          this.be(variant);
        }
        return writeLine(
          json({
            ...{ ok: true, protocol: 1, implementation, profile: this.profile },
            ...(variants && { variants: Object.keys(variants) }),
          }),
        );
      case "reset":
        this.command = { seq };
        return this.begin(() => this.reset(options));
      case "apply":
      case "run":
        if (!this.env) throw new BadMessage(`${cmd}: expected a reset before it`);
        if (word?.length === 0) return answer(seq, '"steps":[]');
        this.command = { seq, word, steps: word && [] };
        return this.begin(() => this.apply(word ? word[0] : stimulus));
      default:
        return refuse(seq, "unsupported", `unknown command ${excerpt(cmd)}; a runtime knows ${COMMANDS.join(", ")}`);
    }
  }

  reset(options) {
    if (this.env) this.env.live = false;
    clock.restart(options.clock === "manual");
    seed = 0;
    this.env = new Environment(options);
    this.env.variant = this.variant;
    const lacks = missingOption(this.can, options);
    if (lacks) this.env.refuse("unsupported", `the options need ${lacks}, which is not declared`);
    this.call("reset", this.env);
  }

  apply(stimulus) {
    const { env } = this;
    const { kind } = stimulus;
    const lacks = missing(this.can, stimulus);
    if (lacks) return env.refuse("unsupported", `${kind} needs ${lacks}, which is not declared`);
    switch (kind) {
      case "user":
      case "abort":
      case "compact":
      case "client":
      case "store-fail": {
        const method = kind === "store-fail" ? "storeFail" : kind;
        return this.adapter[method]
          ? this.call(method, stimulus)
          : env.refuse("unsupported", `the adapter has no method ${method}`);
      }
      case "advance":
        return clock.advance(stimulus.seconds);
      case "together":
        return stimulus.stimuli.forEach((each) => this.apply(each));
      default:
        return env.answer(stimulus);
    }
  }

  /** Call the adapter. It may return a promise that lasts as long as the run. */
  call(name, value) {
    const { env } = this; // a failure after the next reset is lost with it
    try {
      Promise.resolve(this.adapter[name](value)).catch((error) => env.fail(error));
    } catch (error) {
      env.fail(error);
    }
  }
}

/** Return the seq of a value that is no message, -1 where it has none. */
function seqOf(line) {
  try {
    return JSON.parse(line).seq;
  } catch {
    return undefined;
  }
}

const answer = (seq, body) => writeLine(`{"seq":${seq},"ok":true,${body}}`);

function refuse(seq, kind, message, detail, steps) {
  const done = steps?.length ? `,"steps":[${steps.join()}]` : "";
  writeLine(`{"seq":${Number.isInteger(seq) ? seq : -1},"ok":false,"error":${json({ kind, message, detail })}${done}}`);
}

/**
 * Serve *adapter* on stdin and stdout until `stop`: call it once, at the end of the adapter's script.
 * Throws TypeError if *adapter* lacks something.
 * @param {Adapter} adapter
 * @param {{patience?: number}} [how]  seconds that a step may take before it is unsettled
 */
export function serve(adapter, { patience = PATIENCE } = {}) {
  const needed = { implementation: "object", profile: "object", reset: "function", user: "function" };
  for (const [name, type] of Object.entries(needed)) {
    if (typeof adapter[name] === type) continue;
    throw new TypeError(
      `the adapter's ${name}: expected ${type}, came ${typeof adapter[name]}; see ${DOCUMENT}#runtimes`,
    );
  }
  if (!Array.isArray(adapter.profile.capabilities))
    throw new TypeError(`the adapter's profile.capabilities: expected a list; see ${DOCUMENT}#runtimes`);
  new Server(adapter, patience).start();
}
