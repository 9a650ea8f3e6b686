// Servers under test in JavaScript, each at its own path: `node server.mjs`, with its model at OPENAI_BASE_URL.
import http from "node:http";
import zlib from "node:zlib";
import { setImmediate as turn } from "node:timers/promises";

const MODEL = process.env.OPENAI_BASE_URL;
const said = (text) => [
  { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" },
  { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: text },
  { type: "TEXT_MESSAGE_END", messageId: "m" },
];
const STARTED = { type: "RUN_STARTED", threadId: "t", runId: "r" };
const FINISHED = { type: "RUN_FINISHED", threadId: "t", runId: "r" };
const sse = (...events) => events.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("");
const RUN = sse(STARTED, ...said("hi"), FINISHED);
const open = (answer, headers = {}) => answer.writeHead(200, { "content-type": "text/event-stream", ...headers });

const ask = (options = {}) =>
  fetch(`${MODEL}/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ messages: [{ role: "user", content: "hi" }] }),
    ...options,
  });

async function packed(answer, name, packer, blocks) {
  open(answer, { "content-encoding": name });
  packer.pipe(answer);
  packer.write(sse(STARTED) + "data: ");
  const block = Buffer.alloc(1 << 20, "x");
  for (let n = 0; n < blocks && !answer.destroyed; n += 1)
    if (!packer.write(block)) await Promise.race([new Promise((go) => packer.once("drain", go)), closed(answer)]);
  packer.end();
}

const closed = (answer) => new Promise((go) => answer.once("close", go));

const WAYS = {
  async "letter-by-letter"(answer) {
    open(answer);
    for (const letter of RUN) {
      answer.write(letter);
      await turn();
    }
    answer.end();
  },
  "gzip-in-flushes"(answer) {
    open(answer, { "content-encoding": "gzip" });
    const packer = zlib.createGzip({ flush: zlib.constants.Z_SYNC_FLUSH });
    packer.pipe(answer);
    for (const event of RUN.split(/(?<=\n\n)/)) packer.write(event);
    packer.end();
  },
  "gzip-bomb": (answer) => packed(answer, "gzip", zlib.createGzip({ level: 9 }), 1024),
  "brotli-bomb": (answer) => packed(answer, "br", zlib.createBrotliCompress({ params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }), 64),
  "destroyed-amid-the-stream"(answer) {
    open(answer);
    answer.write(sse(STARTED, ...said("hi")), () => answer.destroy());
  },
  async "megabytes-without-a-newline"(answer) {
    open(answer);
    answer.write(sse(STARTED) + "data: ");
    for (let n = 0; n < 64 && !answer.destroyed; n += 1) {
      answer.write("x".repeat(1 << 20));
      await turn();
    }
    answer.end();
  },
  "never-ends-after-the-terminal"(answer) {
    open(answer);
    answer.write(RUN);
  },
  "computes-for-ever"(answer) {
    open(answer);
    answer.write(sse(STARTED), () => {
      for (;;);
    });
  },
  "dies-amid-the-stream"(answer) {
    open(answer);
    answer.write(sse(STARTED, ...said("hi")), () => process.exit(1));
  },
  async "gzipped-model-request"(answer) {
    open(answer);
    const refused = await ask({ body: zlib.gzipSync("{}"), headers: { "content-encoding": "gzip" } });
    answer.end(sse(STARTED, ...said(String(refused.status)), FINISHED));
  },
  async "model-asked-without-the-secret"(answer) {
    open(answer);
    const bare = new URL(MODEL);
    const refused = await fetch(`${bare.origin}/v1/chat/completions`, { method: "POST", body: "{}" });
    answer.end(sse(STARTED, ...said(String(refused.status)), FINISHED));
  },
  async "fifty-model-requests-given-up"(answer) {
    open(answer);
    answer.write(sse(STARTED));
    const giveUp = new AbortController();
    const asked = Array.from({ length: 50 }, () => ask({ signal: giveUp.signal }).catch(() => {}));
    setTimeout(() => giveUp.abort(), 100);
    await Promise.all(asked);
    answer.end(sse(...said("given up"), FINISHED));
  },
};

http
  .createServer(async (request, answer) => {
    for await (const _ of request);
    await WAYS[request.url.slice(1)](answer);
  })
  .listen(0, "127.0.0.1", function () {
    console.log(this.address().port);
  });
