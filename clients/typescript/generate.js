// Writes src/generated/schema.ts from an OpenAPI document, or with `--check` compares it:
//   node generate.js openapi.json [--check]
// Left out are the answers to refused requests, which the client throws as errors of one form, and other forms of answers that exist as JSON.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import openapiTS, { astToString } from "openapi-typescript";

const TARGET = fileURLToPath(new URL("src/generated/schema.ts", import.meta.url));
const JSON_TYPE = "application/json";
const METHODS = new Set(["get", "post", "put", "patch", "delete"]);

function withoutErrors(document) {
  for (const path of Object.values(document.paths)) {
    for (const [method, operation] of Object.entries(path)) {
      if (!METHODS.has(method)) continue;
      const successes = Object.entries(operation.responses).filter(([status]) => status.startsWith("2"));
      operation.responses = Object.fromEntries(successes);
      for (const [, { content }] of successes) onlyJson(content);
    }
  }
  return document;
}

function onlyJson(content = {}) {
  if (!content[JSON_TYPE]) return;
  for (const type of Object.keys(content)) if (type !== JSON_TYPE) delete content[type];
}

function withoutTitles(node) {
  if (Array.isArray(node)) return node.map(withoutTitles);
  if (node === null || typeof node !== "object") return node;
  const kept = Object.entries(node).filter(([name, value]) => name !== "title" || typeof value !== "string");
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutTitles(value)]));
}

async function generated(text) {
  const hash = createHash("sha256").update(text).digest("hex");
  const document = withoutTitles(withoutErrors(JSON.parse(text)));
  const nodes = await openapiTS(document, { defaultNonNullable: false });
  return `// Generated from the OpenAPI document by \`make client\`.\n// SHA-256 of the document: ${hash}\n\n${astToString(nodes)}`;
}

const [source, option] = process.argv.slice(2);
const made = await generated(readFileSync(source));
if (option !== "--check") {
  writeFileSync(TARGET, made);
} else if (readFileSync(TARGET, "utf8") !== made) {
  console.error("The generated types are out of date. Run `make client`.");
  process.exitCode = 1;
}
