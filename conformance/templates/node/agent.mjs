// A toy agent, to be replaced by yours: it sends a request to its model, runs the called tools, and sends the next.

/** One conversation. It reports `text`, `call`, `result` and, once per run, `end`. */
export class Agent {
  /** `ask(history, signal)` yields the model's items, `execute(call, arguments, signal)` returns a tool's output. */
  constructor({ ask, execute, tell }) {
    Object.assign(this, { ask, execute, tell });
    this.history = [];
    this.stop = null; // the AbortController of the run under way
  }

  get busy() {
    return this.stop !== null;
  }

  /** Answer a message of the user. There is one run at a time. */
  async run(text) {
    this.stop = new AbortController();
    const { signal } = this.stop;
    this.open = []; // calls without a result
    this.history.push({ role: 'user', text });
    let reason = 'completed';
    try {
      while (await this.respond(signal)) {
        while (this.open.length > 0) await this.attempt(this.open[0], signal);
      }
    } catch {
      reason = signal.aborted ? 'interrupted' : 'error';
    }
    // A call without a result would spoil every later request.
    while (this.open.length > 0) this.answer(this.open[0], `not executed: the run was ${reason}`, 'skipped');
    this.stop = null;
    this.tell('end', { reason });
  }

  abort() {
    this.stop?.abort();
  }

  /** Send one request to the model; return whether it called a tool. */
  async respond(signal) {
    for await (const item of this.ask(this.history, signal)) {
      this.history.push({ role: 'assistant', ...item });
      if (item.tool) this.open.push(item);
      this.tell(item.tool ? 'call' : 'text', item);
    }
    return this.open.length > 0;
  }

  async attempt(call, signal) {
    let output;
    let status = 'ok';
    try {
      output = await this.execute(call, JSON.parse(call.arguments), signal);
    } catch (error) {
      if (signal.aborted) throw error;
      output = error.message;
      status = 'failed';
    }
    this.answer(call, output, status);
  }

  answer(call, output, status) {
    this.open.splice(this.open.indexOf(call), 1);
    this.history.push({ role: 'tool', id: call.id, text: output, failed: status !== 'ok' });
    this.tell('result', { id: call.id, output, status });
  }
}
