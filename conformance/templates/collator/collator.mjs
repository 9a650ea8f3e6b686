// What stands between turncheck and the collator in blocks.mjs: a line of JSON comes on stdin, and its answer goes to stdout
// (docs/protocol.md). Whatever you log, log it to stderr.

import { collate } from './blocks.mjs';

const commands = {
  hello: () => ({
    protocol: 1,
    implementation: { name: 'toy-collator', version: '1.0', language: 'javascript' },
    // What it claims: a claim that it does not keep is a failure, what is missing here is skipped.
    profile: { roles: ['collator'], capabilities: ['streaming', 'tool-status'] },
  }),
  reset: () => ({}),
  collate: ({ frames }) => ({ blocks: collate(frames) }),
  stop: () => process.exit(0),
};

function answer(message) {
  const command = commands[message.cmd];
  if (!command) return { ok: false, error: { kind: 'unsupported', message: `no command ${message.cmd}` } };
  try {
    return { ok: true, ...command(message) };
  } catch (error) {
    return { ok: false, error: { kind: 'failed', message: String(error), detail: error.stack } };
  }
}

let rest = '';
for await (const chunk of process.stdin.setEncoding('utf8')) {
  const lines = (rest + chunk).split('\n'); // lines end in a line feed, and in nothing else
  rest = lines.pop();
  for (const line of lines) {
    const message = JSON.parse(line);
    process.stdout.write(`${JSON.stringify({ seq: message.seq, ...answer(message) })}\n`);
  }
}
