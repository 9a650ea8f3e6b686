// A toy projector, to be replaced by yours: from the events of a session to the turns that a chat shows.

const absent = (value) => value === null || value === undefined; // null counts as absent
const string = (value) => typeof value === 'string';
const boolean = (value) => typeof value === 'boolean';
const oneOf = (...values) => (value) => values.includes(value);
const optional = (test) => (value) => absent(value) || test(value);

const GROUPS = new Map([
  ...['ls', 'read', 'grep', 'find'].map((tool) => [tool, 'read-group']),
  ...['write', 'edit'].map((tool) => [tool, 'write-group']),
  ['bash', 'bash-group'],
]);
const OBSERVATIONS = ['model-request', 'fault', 'native']; // they hold a position, and change nothing
const MESSAGE = {
  text: optional(string),
  content: optional(Array.isArray),
  id: optional(string),
  delivery: optional(oneOf('steer', 'followUp')),
};
const TEXT = { kind: oneOf('assistant', 'reasoning'), text: string, responseId: optional(string) };
const CALL = { callId: string, tool: string, responseId: optional(string) };
const RESULT = { callId: string, isError: optional(boolean), synthetic: optional(boolean) };
const STOP = { reason: oneOf('completed', 'interrupted', 'error'), detail: optional(string) };

/** Return the fault of an event by itself, null where it has none. */
function flaw(event) {
  if (absent(event) || !string(event.type)) return 'malformed';
  if (OBSERVATIONS.includes(event.type)) return null;
  const output = event.kind === 'tool-call' ? CALL : TEXT;
  const fields = new Map([['user-message', MESSAGE], ['agent-output', output], ['tool-result', RESULT], ['run-stop', STOP]]);
  if (!fields.has(event.type)) return 'unknown-type';
  if (event.type === 'user-message' && absent(event.text) === absent(event.content)) return 'malformed';
  return Object.entries(fields.get(event.type)).every(([name, test]) => test(event[name])) ? null : 'malformed';
}

/** The turns so far, and the waiting messages. `take` returns the anomaly that rejects an event, or null. */
class Turns {
  cycles = [];
  queue = [];
  anomalies = [];
  current = null; // the open turn
  calls = new Map(); // its calls, by their ids

  take(at, event) {
    if (OBSERVATIONS.includes(event.type)) return null;
    if (event.type === 'user-message') return this.message(at, event);
    if (!this.current) return 'outside-run';
    if (event.type === 'tool-result') return this.result(at, event);
    if (event.type === 'run-stop') return this.stop(at, event.reason);
    return event.kind === 'tool-call' ? this.call(at, event) : this.block(at);
  }

  /** Take a message: it opens a turn or, during one, steers it or waits for its end. */
  message(at, event) {
    if (!this.current) this.open('direct', at);
    else if (event.delivery === 'steer') this.current.steps.push({ type: 'steer', at });
    else this.queue.push(at);
    return null;
  }

  open(kind, root) {
    this.current = { root, kind, stop: null, reason: null, steps: [{ type: 'non-steer', at: root }] };
    this.calls = new Map();
    this.cycles.push(this.current);
  }

  block(text) {
    this.current.steps.push({ type: 'ai-block', text, groups: [] });
    return null;
  }

  /** Take a call: it goes into the last block; adjacent calls of a class form one group. */
  call(at, { callId, tool }) {
    if (this.calls.has(callId)) return 'duplicate-call';
    if (this.current.steps.at(-1).type !== 'ai-block') this.block(null);
    const { groups } = this.current.steps.at(-1);
    const type = GROUPS.get(tool) ?? 'other-group';
    if (groups.at(-1)?.type !== type) groups.push({ type, calls: [] });
    const call = { at, result: null };
    this.calls.set(callId, call);
    groups.at(-1).calls.push(call);
    return null;
  }

  result(at, { callId }) {
    const call = this.calls.get(callId);
    if (!call) return 'unknown-call';
    if (call.result !== null) return 'duplicate-result';
    call.result = at;
    return null;
  }

  /** Close the turn; the message that waited longest opens the next one. */
  stop(at, reason) {
    for (const call of this.calls.values()) {
      if (call.result === null) this.anomalies.push({ kind: 'unanswered-call', at: call.at });
    }
    Object.assign(this.current, { stop: at, reason });
    this.current = null;
    if (this.queue.length > 0) this.open('followUp', this.queue.shift());
    return null;
  }
}

/** Project a log, as positions of its events (docs/log-format.md). */
export function project(events) {
  const turns = new Turns();
  events.forEach((event, at) => {
    const kind = flaw(event) ?? turns.take(at, event);
    if (kind) turns.anomalies.push({ kind, at });
  });
  const { cycles, queue, anomalies, current } = turns;
  if (current) anomalies.push({ kind: 'truncated', at: current.root });
  return { cycles, queued: queue, dropped: [], anomalies };
}
