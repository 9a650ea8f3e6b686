// Parse each file that is named with mermaid itself; exits 1 and says where one does not parse.
import { readFileSync } from "node:fs";
import { JSDOM } from "jsdom";

globalThis.window = new JSDOM("<body></body>").window;
globalThis.document = globalThis.window.document;
const { default: mermaid } = await import("mermaid");

for (const file of process.argv.slice(2)) {
  try {
    const { diagramType } = await mermaid.parse(readFileSync(file, "utf8"));
    console.log(`${file}: ${diagramType}`);
  } catch (error) {
    console.error(`${file}: ${error.message}`);
    process.exitCode = 1;
  }
}
