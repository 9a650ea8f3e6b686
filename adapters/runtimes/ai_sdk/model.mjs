// The AI SDK, version 6, from node_modules under the folder TURNCHECK_ENVIRONMENT, and the scripted model in the shape
// of its language model interface: what a provider's package would make of it.
import { rawArguments } from "../../kit/turncheck_kit.mjs";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const environment = resolve(process.env.TURNCHECK_ENVIRONMENT ?? ".");
const folder = join(environment, "node_modules/ai");
if (!existsSync(folder)) {
  console.error(`no AI SDK in ${folder}: TURNCHECK_ENVIRONMENT must be a folder in which npm installed ai`);
  process.exit(2);
}
export const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
export const ai = await import(pathToFileURL(join(folder, "dist/index.mjs")));
/** Load a CommonJS package that is beside it. */
export const require = createRequire(join(environment, "package.json"));
globalThis.AI_SDK_LOG_WARNINGS = false;

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const STOPS = { "end-turn": "stop", "tool-use": "tool-calls", length: "length" };

export const textOf = (value) => (typeof value === "string" ? value : JSON.stringify(value));

/**
 * Return a language model. *ask(context, signal)* is called for each request, with the context as the protocol shows it,
 * and returns the kit's request; *answered(requestId)* is called when its answer begins.
 */
export function scriptedModel(ask, answered) {
  return {
    specificationVersion: "v3",
    provider: "scripted",
    modelId: "scripted",
    supportedUrls: {},
    async doStream({ prompt, abortSignal }) {
      const request = ask(shown(prompt), abortSignal);
      const first = request.next();
      try {
        await first;
      } catch (error) {
        if (error.kind === undefined) throw error;
        if (error.kind !== "stream") throw refusal(error);
      }
      answered(request.id);
      return { stream: streamOf(parts(request, first), () => request.return()) };
    },
  };
}

/** Return the prompt that the model is shown, as {role, text or callId} entries. */
function shown(prompt) {
  return prompt.flatMap(({ role, content }) => {
    if (role === "system") return [{ role, text: content }];
    return content.flatMap((part) => {
      if (part.type === "text") return [{ role, text: part.text }];
      if (part.type === "tool-call")
        return [{ role, callId: part.toolCallId, tool: part.toolName, arguments: part.input }];
      if (part.type !== "tool-result") return []; // reasoning
      const { type, value, reason } = part.output;
      return [
        {
          role: "tool",
          callId: part.toolCallId,
          text: textOf(value ?? reason ?? null),
          isError: type.startsWith("error") || undefined,
        },
      ];
    });
  });
}

/** Make the error of a failed call, as the provider's package throws it for 503 and for 401. */
function refusal(failure) {
  const retryable = failure.kind === "retryable";
  return new ai.APICallError({
    message: failure.message,
    url: "http://127.0.0.1:9",
    requestBodyValues: {},
    statusCode: retryable ? 503 : 401,
    isRetryable: retryable,
  });
}

/** Yield the parts of the language model interface that a provider makes from the scripted items. */
async function* parts(request, first) {
  const finish = (unified) => ({ type: "finish", finishReason: { unified, raw: undefined }, usage: USAGE });
  yield { type: "stream-start", warnings: [] };
  try {
    for (let { value: item, done } = await first, n = 0; !done; { value: item, done } = await request.next(), n++) {
      const id = `${request.id}.${n}`;
      if (item.kind === "tool-call") {
        const input = rawArguments(item);
        yield { type: "tool-input-start", id: item.callId, toolName: item.tool };
        yield { type: "tool-input-delta", id: item.callId, delta: input };
        yield { type: "tool-input-end", id: item.callId };
        yield { type: "tool-call", toolCallId: item.callId, toolName: item.tool, input };
      } else {
        const kind = item.kind === "assistant" ? "text" : "reasoning";
        yield { type: `${kind}-start`, id };
        yield { type: `${kind}-delta`, id, delta: item.text };
        yield { type: `${kind}-end`, id };
      }
    }
    yield finish(STOPS[request.reason]);
  } catch (error) {
    if (error.kind === undefined || error.kind === "stream") throw error; // aborted, or broken like the body
    yield { type: "error", error: refusal(error) }; // a provider's error amid its stream
    yield finish("error");
  }
}

function streamOf(generator, walkAway) {
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { value, done } = await generator.next();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          controller.error(error);
        }
      },
      cancel: walkAway,
    },
    { highWaterMark: 0 },
  );
}
