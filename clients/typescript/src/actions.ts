import type { components } from "./generated/schema.js";
import { counts, type Usage } from "./usage.js";
import { plain } from "./values.js";

/** The types of the API by name: `Schemas["SessionOut"]`. */
export type Schemas = components["schemas"];

export const KINDS = ["put", "find", "ask", "llm_call", "tool_call", "tool_result", "memory_op", "message", "event", "checkpoint"] as const;
export const LAYERS = ["agent", "tool", "sys"] as const;
export const ROLES = ["user", "agent", "system", "tool"] as const;
export const SIGNIFICANCES = ["normal", "hypothesis", "error", "decision", "solution", "breakthrough"] as const;

export type Kind = (typeof KINDS)[number];
export type Layer = (typeof LAYERS)[number];
export type Role = (typeof ROLES)[number];
export type Significance = (typeof SIGNIFICANCES)[number];

/** Names of roles in chats and models. */
const SAME_ROLE: Readonly<Record<string, Role>> = { assistant: "agent", model: "agent", human: "user", developer: "system" };
export type RoleName = Role | "assistant" | "model" | "human" | "developer";

type Loose = "kind" | "layer" | "role" | "significance" | "started_at" | "usage" | "error";

/** The fields of an action that can be set for any step, named as in the API. */
export interface Fields extends Omit<Partial<Schemas["ActionIn"]>, Loose> {
  layer?: Layer | null;
  role?: RoleName | null;
  significance?: Significance | null;
  started_at?: string | Date | null;
  /** Token counts in our names, or as OpenAI, Anthropic, Gemini or Ollama report them. */
  usage?: Usage | object | null;
  /** What went wrong: an `Error`, a message, or an object of the API. */
  error?: unknown;
}

/** An action to record. */
export interface NewAction extends Fields {
  kind: Kind;
}

const FIELDS: ReadonlySet<string> = new Set([
  "kind", "id", "layer", "role", "agent", "name", "tool", "call_id", "parent", "copied_from", "significance", "importance", "iteration", "tags",
  "metadata", "started_at", "duration_ms", "input", "output", "error", "model", "parameters", "usage", "cost_usd", "prices", "cached",
  "saved_usd", "cached_from", "grounding", "retrieval",
] satisfies (keyof Schemas["ActionIn"])[]);

type Plain = Record<string, unknown>;

/** The line of an action, with its values copied; an event with the failure if it cannot be written. `warn` hears what does not fit. */
export function lineOf(action: NewAction, warn: (message: string) => void): string {
  try {
    return JSON.stringify(fitted(plain(action) as Plain, warn));
  } catch (why) {
    return eventLine("recorder.failed", String(action.id), String(why));
  }
}

/** The line of an event of the recorder itself. */
export function eventLine(name: string, id: string, output: unknown, more: Plain = {}): string {
  return JSON.stringify({ ...more, kind: "event", layer: "agent", role: "system", name, id, significance: "error", output });
}

/** The event in place of an action that the server can never accept. */
export function refusedLine(line: string, why: string): string {
  const { kind, tool, id, parent, started_at } = JSON.parse(line) as Plain;
  const output = { action: { kind, tool, id }, bytes: line.length, why: why.slice(0, 1_000) };
  return eventLine("recorder.refused", `${String(id).slice(0, 200)}:refused`, output, { parent, started_at });
}

function fitted(action: Plain, warn: (message: string) => void): Plain {
  const unknown = Object.keys(action).filter((name) => !FIELDS.has(name));
  if (unknown.length > 0) {
    warn(`An action has no field ${unknown.join(", ")}. It is stored in the parameters.`);
    moveToParameters(action, unknown);
  }
  if (typeof action["role"] === "string") action["role"] = SAME_ROLE[action["role"]] ?? action["role"];
  for (const [field, words] of [["role", ROLES], ["layer", LAYERS], ["significance", SIGNIFICANCES]] as const) {
    asTag(action, field, words, warn);
  }
  fitUsage(action);
  fitError(action);
  return action;
}

/** The server would refuse an action with an unknown word, so the word becomes a tag. */
function asTag(action: Plain, field: string, words: readonly string[], warn: (message: string) => void): void {
  const word = action[field];
  if (word === undefined || word === null || words.includes(String(word))) return;
  delete action[field];
  action["tags"] = [...((action["tags"] as string[] | undefined) ?? []), `${field}:${String(word)}`];
  warn(`\`${field}\` cannot be ${JSON.stringify(word)}. It is recorded as a tag.`);
}

/** Usage in our names; the original is kept if it says more. */
function fitUsage(action: Plain): void {
  const given = action["usage"];
  if (given === undefined || given === null) return;
  const found = counts(given);
  if (JSON.stringify(found) !== JSON.stringify(given)) moveToParameters(action, ["usage"]);
  if (Object.keys(found).length > 0) action["usage"] = found;
}

function fitError(action: Plain): void {
  const given = action["error"];
  if (given === undefined || given === null) return;
  if (typeof given === "string") {
    action["error"] = { message: given };
    return;
  }
  const { type, message, ...more } = given as Plain;
  const texts = Object.entries({ type, message }).filter(([, each]) => typeof each === "string");
  if (texts.length === 0 || Object.keys(more).length > 0) moveToParameters(action, ["error"]);
  action["error"] = texts.length > 0 ? Object.fromEntries(texts) : { type: "unknown" };
}

function moveToParameters(action: Plain, names: readonly string[]): void {
  const moved = Object.fromEntries(names.map((name) => [name, action[name]]));
  for (const name of names) delete action[name];
  const parameters = (action["parameters"] ?? {}) as Plain;
  const there = (parameters["as_given"] ?? {}) as Plain;
  action["parameters"] = { ...parameters, as_given: { ...there, ...moved } };
}
