// A projector in plain JavaScript: from the log of one session to its request cycles, over the adapter protocol.
//
//     turncheck verify 'cmd:node tests/projectors/js/projector.mjs'
//
// Four parts: what an event must be, the machine, the two views of a cycle, and the protocol. Copy it and put your own
// runtime's code in place of the second and third.

import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// ---- 1. What an event must be ------------------------------------------------------------------------------------

const present = (value) => value !== null && value !== undefined;
const string = (value) => typeof value === 'string';
const boolean = (value) => typeof value === 'boolean';
const oneOf = (...values) => (value) => values.includes(value);
const optional = (test) => (value) => !present(value) || test(value); // null counts as absent

// Maps, not objects: a log may well speak of a kind or a tool named "constructor".
const FIELDS = new Map([
  [
    'user-message',
    {
      text: optional(string),
      content: optional(Array.isArray),
      id: optional(string),
      delivery: optional(oneOf('steer', 'followUp')),
    },
  ],
  ['agent-output', { kind: oneOf('assistant', 'reasoning', 'tool-call'), responseId: optional(string) }],
  ['tool-result', { callId: string, isError: optional(boolean), synthetic: optional(boolean) }],
  ['run-stop', { reason: oneOf('completed', 'interrupted', 'error'), detail: optional(string) }],
  ['model-request', {}],
  ['fault', {}],
  ['native', {}],
]);
const FIELDS_OF_KIND = new Map([
  ['assistant', { text: string }],
  ['reasoning', { text: string }],
  ['tool-call', { callId: string, tool: string }],
]);

/** What is wrong with the event itself: 'malformed', 'unknown-type' or null. */
function defect(event) {
  if (event === null || typeof event !== 'object' || !string(event.type)) return 'malformed';
  if (!FIELDS.has(event.type)) return 'unknown-type';
  const ofKind = event.type === 'agent-output' ? FIELDS_OF_KIND.get(event.kind) : {};
  const tests = Object.entries({ ...FIELDS.get(event.type), ...ofKind });
  const oneBody = event.type !== 'user-message' || present(event.text) !== present(event.content);
  return oneBody && tests.every(([field, test]) => test(event[field])) ? null : 'malformed';
}

// ---- 2. The machine ----------------------------------------------------------------------------------------------

const DEFAULTS = { whileActive: 'followUp', queueAfterInterrupted: 'promote', queueAfterError: 'promote' };

export class Projector {
  constructor(policies = {}) {
    this.policies = { ...DEFAULTS, ...policies };
    this.next = 0; // the position of the next event
    this.cycles = []; // closed ones, both views built
    this.current = null; // the open cycle; null while idle
    this.queue = [];
    this.dropped = [];
    this.anomalies = [];
  }

  feed(events) {
    for (const event of events) {
      const at = this.next++;
      const kind = defect(event) ?? this.take(event, at);
      if (kind) this.anomalies.push({ kind, at });
    }
  }

  /** Take a well-formed event; the anomaly that rejects it, if any. */
  take(event, at) {
    switch (event.type) {
      case 'user-message':
        return this.hear(event, at);
      case 'agent-output':
      case 'tool-result':
      case 'run-stop':
        if (!this.current) return 'outside-run';
        if (event.type === 'run-stop') return this.stop(event, at);
        return event.type === 'tool-result' ? this.answer(event, at) : this.output(event, at);
      default:
        return null; // an observation: it only holds its position
    }
  }

  hear(event, at) {
    if (!this.current) this.open('direct', at);
    else if ((event.delivery ?? this.policies.whileActive) === 'steer') this.current.items.push({ at, event });
    else this.queue.push(at);
    return null;
  }

  output(event, at) {
    const { calls, items } = this.current;
    if (event.kind === 'tool-call') {
      if (calls.has(event.callId)) return 'duplicate-call';
      calls.set(event.callId, { at, result: null });
    }
    items.push({ at, event });
    return null;
  }

  answer(event, at) {
    const call = this.current.calls.get(event.callId);
    if (!call) return 'unknown-call';
    if (call.result !== null) return 'duplicate-result';
    call.result = at;
    this.current.items.push({ at, event });
    return null;
  }

  stop({ reason }, at) {
    for (const call of this.current.calls.values()) {
      if (call.result === null) this.anomalies.push({ kind: 'unanswered-call', at: call.at });
    }
    this.cycles.push(views(this.current, at, reason));
    this.current = null;
    const { queueAfterInterrupted, queueAfterError } = this.policies;
    const fate = { completed: 'promote', interrupted: queueAfterInterrupted, error: queueAfterError }[reason];
    if (fate === 'drop') this.dropped.push(...this.queue.splice(0));
    if (fate === 'promote' && this.queue.length > 0) this.open('followUp', this.promoted());
    return null;
  }

  open(kind, root) {
    this.current = { root, kind, items: [], calls: new Map() };
  }

  /** The follow-up whose turn it is. */
  promoted() {
    return this.queue.shift();
  }

  /** The projection as if the log ended here; nothing is changed. */
  report() {
    const { cycles, current, queue, dropped, anomalies } = this;
    if (!current) return { cycles, queued: queue, dropped, anomalies };
    const truncated = { kind: 'truncated', at: current.root };
    const withOpen = [...cycles, views(current, null, null)];
    return { cycles: withOpen, queued: queue, dropped, anomalies: [...anomalies, truncated] };
  }
}

// ---- 3. The two views of a cycle ---------------------------------------------------------------------------------

const GROUPS = new Map([
  ...['ls', 'read', 'grep', 'find'].map((tool) => [tool, 'read-group']),
  ...['write', 'edit'].map((tool) => [tool, 'write-group']),
  ['bash', 'bash-group'],
]);

function views(cycle, stop, reason) {
  const { root, kind } = cycle;
  return { root, kind, stop, reason, steps: steps(cycle), rounds: rounds(cycle) };
}

/** Root, steers and ai-blocks: a text opens a block; a call joins the last block, unless a root or steer came since. */
function steps({ root, items, calls }) {
  const found = [{ type: 'non-steer', at: root }];
  const open = (text) => found[found.push({ type: 'ai-block', text, groups: [] }) - 1];
  for (const { at, event } of items) {
    if (event.type === 'tool-result') continue; // no step: it hangs on its call
    if (event.type === 'user-message') found.push({ type: 'steer', at });
    else if (event.kind !== 'tool-call') open(at);
    else {
      const { groups } = found.at(-1).type === 'ai-block' ? found.at(-1) : open(null);
      const type = GROUPS.get(event.tool) ?? 'other-group';
      if (groups.at(-1)?.type !== type) groups.push({ type, calls: [] });
      groups.at(-1).calls.push({ ...calls.get(event.callId) }); // a copy: a result may still come
    }
  }
  return found;
}

/** Outputs of one response, or without any id those between two inputs; each with the inputs that came before it. */
function rounds({ root, items }) {
  const found = [];
  let inputs = [root]; // not fed to a round yet
  let last = null; // the output before this one
  let inputSince = false;
  for (const { at, event } of items) {
    if (event.type !== 'agent-output') {
      inputs.push(at);
      inputSince = true;
      continue;
    }
    const id = event.responseId ?? null;
    const goesOn = last && (last.responseId ?? null) === id && !(id === null && inputSince);
    if (goesOn) found.at(-1).outputs.push(at);
    else {
      found.push({ inputs, outputs: [at] });
      inputs = [];
    }
    last = event;
    inputSince = false;
  }
  if (inputs.length > 0) found.push({ inputs, outputs: [] });
  return found;
}

// ---- 4. The protocol: JSON lines on stdin and stdout ---------------------------------------------------------------

const CAPABILITIES = ['policies', 'feed', 'steps', 'rounds'];

/** Answer every line of stdin with a line on stdout, until told to stop. Whatever you log, log it to stderr. */
export function serve(Kind, name) {
  let fed = new Kind();
  const commands = {
    hello: () => ({
      protocol: 1,
      implementation: { name, version: '1.0.0', language: 'javascript' },
      profile: { roles: ['projector'], machine: 'request_cycle', capabilities: CAPABILITIES },
    }),
    reset: () => void (fed = new Kind()),
    feed: ({ events }) => fed.feed(events),
    project: ({ events, policies }) => {
      const projector = events.length > 0 ? new Kind(policies) : fed;
      if (projector !== fed) projector.feed(events);
      return { projection: projector.report() };
    },
    stop: () => process.exit(0),
  };
  const done = (message) => {
    const command = Object.hasOwn(commands, message.cmd) ? commands[message.cmd] : null;
    if (!command) return { ok: false, error: { kind: 'unsupported', message: `no command ${message.cmd}` } };
    try {
      return { ok: true, ...command(message) };
    } catch (error) {
      return { ok: false, error: { kind: 'failed', message: String(error), detail: error.stack } };
    }
  };
  // Lines end in LF alone. node:readline also splits at U+2028, which may stand unescaped in a JSON string.
  let rest = '';
  process.stdin.setEncoding('utf8').on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      const message = JSON.parse(line);
      process.stdout.write(`${JSON.stringify({ seq: message.seq, ...done(message) })}\n`);
    }
  });
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) serve(Projector, 'projector.mjs');
