// A runtime in JavaScript that is out to harm whoever drives it: node hostile_runtime.mjs FAULT[:COMMAND[:COUNT]]
// It misbehaves at the COUNT-th message COMMAND of its process and at all later ones (the first apply, where they are
// left out). A fault is a function of the message and the right answer to it.
import { spawn } from "node:child_process";
import { closeSync, readFileSync, readSync, writeSync } from "node:fs";

const PROFILE = { roles: ["runtime"], capabilities: ["abort", "model-input"], policies: { busy: "reject" } };
const IMPLEMENTATION = { name: "hostile-runtime", version: "1", language: "javascript" };
const HELLO = { ok: true, protocol: 1, implementation: IMPLEMENTATION, profile: PROFILE };

let shown = [];
let request = null;
let asked = 0;

function apply({ kind, id, text, item }) {
  const events = [];
  let refused;
  if (kind === "user" && !request) {
    events.push({ type: "user-message", id, text });
    shown.push({ role: "user", text, ids: [id] });
    request = { requestId: `r${++asked}`, input: [...shown] };
    events.push({ type: "model-request", ...request });
  } else if (kind === "user") {
    refused = { why: "rejected", message: "busy" };
  } else if (kind === "model-output" && item.kind === "assistant" && request) {
    events.push({ type: "agent-output", responseId: request.requestId, ...item });
    shown.push({ role: "assistant", text: item.text });
  } else if ((kind === "model-stop" || kind === "abort") && request) {
    events.push({ type: "run-stop", reason: kind === "abort" ? "interrupted" : "completed" });
    request = null;
  } else if (kind === "model-output" || kind === "model-stop") {
    refused = { why: request ? "unsupported" : "not-awaited" };
  } else if (kind !== "abort") {
    refused = { why: "unsupported", message: kind };
  }
  return { events, awaiting: request ? [{ kind: "model", ...request }] : [], ...(refused && { refused }) };
}

function answerTo(message) {
  const { cmd, seq } = message;
  if (cmd === "hello") return HELLO;
  if (cmd === "apply") return { seq, ok: true, ...apply(message.stimulus) };
  if (cmd === "run") return { seq, ok: true, steps: message.word.map(apply) };
  [shown, request, asked] = [[], null, 0];
  return { seq, ok: true, events: [], awaiting: [] };
}

function write(data, descriptor = 1) {
  let rest = Buffer.from(data);
  while (rest.length) rest = rest.subarray(writeSync(descriptor, rest));
}

const say = (...answers) => write(answers.map((one) => `${typeof one === "string" ? one : JSON.stringify(one)}\n`).join(""));
const forever = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
const withField = (answer, value) => write(`${JSON.stringify(answer).slice(0, -1)}, "mood": ${value}}\n`);
const deaf = (options) => spawn("sh", ["-c", "trap '' TERM HUP; sleep 600 & wait"], options);

const FAULTS = {
  behaves: (message, answer) => say(answer),
  never_answers: forever,
  spins() {
    for (;;);
  },
  floods_stdout() {
    for (;;) write("x".repeat(65536));
  },
  floods_stderr() {
    for (;;) write("still working\n".repeat(4096), 2);
  },
  answers_half_a_line() {
    write('{"seq": 2, "ok": tr');
    forever();
  },
  answers_twice: (message, answer) => say(answer, answer),
  answers_the_next_question_too: (message, answer) => say(answer, { ...answer, seq: answer.seq + 1 }),
  answers_with_an_old_seq: (message, answer) => say({ ...answer, seq: 1 }),
  answers_with_a_text_as_seq: (message, answer) => say({ ...answer, seq: String(answer.seq) }),
  logs_to_stdout(message, answer) {
    console.log("asking the model", answer.seq);
    say(answer);
  },
  throws() {
    throw new Error("no such model");
  },
  rejects_a_promise() {
    Promise.reject(new Error("no such model"));
    return "leave"; // the event loop has its turn
  },
  aborts: () => process.abort(),
  is_killed: () => process.kill(process.pid, "SIGKILL"),
  stops_itself() {
    process.kill(process.pid, "SIGSTOP");
    forever();
  },
  exits: () => process.exit(7),
  closes_stdout() {
    closeSync(1);
    forever();
  },
  closes_stdin(message, answer) {
    closeSync(0);
    say(answer);
    forever();
  },
  leaves_a_daemon(message, answer) {
    deaf({ detached: true, stdio: "ignore" }).unref();
    say(answer);
  },
  leaves_a_daemon_with_its_pipes() {
    deaf({ detached: true, stdio: "inherit" }).unref();
    return "leave";
  },
  exhausts_its_heap() {
    const kept = [];
    for (;;) kept.push(new Array(1000).fill(kept.length));
  },
  answers_three_million_values: (message, answer) => withField(answer, `[${Array(3_000_000).fill("{}")}]`),
  nests_deeply: (message, answer) => withField(answer, "[".repeat(500_000) + "]".repeat(500_000)),
  answers_not_a_number: (message, answer) => withField(answer, "NaN"),
  answers_undefined: (message, answer) => withField(answer, undefined),
  hides_half_of_a_surrogate_pair: (message, answer) => say({ ...answer, mood: "\ud800" }),
  begins_with_a_byte_order_mark: (message, answer) => say(`\ufeff${JSON.stringify(answer)}`),
  answers_in_utf_16: (message, answer) => write(Buffer.from(`${JSON.stringify(answer)}\n`, "utf16le")),
  prints_its_answer: (message, answer) => say(JSON.stringify(answer, null, 2)),
  ends_its_lines_with_cr_lf: (message, answer) => say(`${JSON.stringify(answer)}\r`),
  /** Tells the harness, whose process the supervisor's parent is, to end; a daemon of its own is there. */
  ends_the_harness(message, answer) {
    deaf({ detached: true, stdio: "ignore" }).unref();
    const status = readFileSync(`/proc/${process.ppid}/status`, "utf8");
    process.kill(Number(/^PPid:\t(\d+)/m.exec(status)[1]), Number(process.env.TURNCHECK_TEST_SIGNAL));
    if (answer) say(answer);
  },
};

function* lines() {
  let pending = "";
  const chunk = Buffer.alloc(65536);
  for (;;) {
    const end = pending.indexOf("\n");
    if (end >= 0) {
      yield pending.slice(0, end);
      pending = pending.slice(end + 1);
      continue;
    }
    const read = readSync(0, chunk);
    if (!read) return;
    pending += chunk.toString("utf8", 0, read);
  }
}

const [name, command = "apply", count = "1"] = process.argv[2].split(":");
let left = Number(count);
for (const line of lines()) {
  const message = JSON.parse(line);
  const answer = message.cmd === "stop" ? undefined : answerTo(message);
  if (message.cmd === command && --left <= 0) {
    if (FAULTS[name](message, answer) === "leave") break;
  } else if (answer) say(answer);
  else break;
}
