// Record the events of pi's Agent (pi-agent-core) as a subscriber gets them: node record.mjs SCOPE OUT
import "./freeze.mjs";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeTools, MODEL, playModel, SCENARIOS } from "./scenarios.mjs";

const [scope, out] = process.argv.slice(2);
const { Agent } = await import(`${scope}/pi-agent-core`);
const { createAssistantMessageEventStream } = await import(`${scope}/pi-ai`);

const userMessage = (text) => ({ role: "user", content: [{ type: "text", text }], timestamp: Date.now() });

mkdirSync(out, { recursive: true });
for (const [name, scenario] of Object.entries(SCENARIOS)) {
  const lines = [];
  const controls = {
    steer: (text) => agent.steer(userMessage(text)),
    followUp: (text) => agent.followUp(userMessage(text)),
    abort: () => agent.abort(),
  };
  const agent = new Agent({
    initialState: { systemPrompt: "Be brief.", model: MODEL, tools: makeTools(scenario, controls) },
    streamFn: playModel(scenario, controls, createAssistantMessageEventStream),
    toolExecution: scenario.sequential ? "sequential" : "parallel",
  });
  agent.subscribe((event) => void lines.push(JSON.stringify(event)));
  for (const prompt of scenario.prompts) {
    await agent.prompt(prompt);
    await agent.waitForIdle();
  }
  writeFileSync(join(out, `${name}.jsonl`), lines.map((line) => `${line}\n`).join(""));
}
