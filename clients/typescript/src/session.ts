import { lineOf, type Fields, type Layer, type NewAction, type RoleName, type Schemas } from "./actions.js";
import { answer, type Api } from "./connection.js";
import type { Delivery } from "./delivery.js";
import { NotRecorded } from "./errors.js";
import { endLine, type Outbox, type Warn } from "./outbox.js";
import type { Platform } from "./platform.js";
import { plain } from "./values.js";

const FLUSH = 30_000;
const GIVEN_UP = 500;
const SECRET = /key|token|secret|passw|credential|auth|cookie|private/i;
const WITHHELD = "[withheld: secret]";

/** How long to wait, and what stops waiting. */
export interface Waiting {
  /** Milliseconds. */
  timeout?: number;
  signal?: AbortSignal | undefined;
}

/** A running call: set what its answer does not say, or `error` for a failure without an exception. */
export interface Call extends Fields {
  /** The id of the step, to name it as `parent`. Where Node runs, steps recorded in the call have it as their parent already. */
  readonly id: string;
}

/** The state of an agent at a checkpoint; other parts are stored, too. */
export interface State {
  messages?: unknown;
  system_prompt?: unknown;
  working_directory?: unknown;
  tools?: unknown;
  last_query?: unknown;
  last_result?: unknown;
  model?: unknown;
  environment?: unknown;
  [part: string]: unknown;
}

export type PutOptions = Omit<Schemas["SessionPutIn"], "text">;
export type FindOptions = Omit<Schemas["SessionFindIn"], "query">;
export type AskOptions = Omit<Schemas["SessionAskIn"], "question" | "stream">;

/** What a session needs of its `TimeMachine`. */
export interface Machine {
  readonly api: Api;
  readonly url: string;
  readonly patience: number;
  readonly platform: Platform;
  readonly delivery: Delivery;
  readonly warn: Warn;
}

/**
 * One session that is being recorded, created with `TimeMachine.session`. It has its `key` from the start, with or without a server.
 *
 * A method that records returns when the step is in the queue, and its promise resolves when it is stored there. It never rejects.
 * `put`, `find` and `ask` are done by the server, after everything that was recorded before, and reject if that fails.
 */
export class Session {
  readonly name: string;
  readonly #machine: Machine;
  readonly #outbox: Outbox;
  readonly #ends: boolean;
  readonly #prefix = crypto.randomUUID().replaceAll("-", "").slice(0, 12);
  #number = 0;
  #hasEnded = false;

  constructor(machine: Machine, outbox: Outbox, name: string, ends: boolean) {
    this.#machine = machine;
    this.#outbox = outbox;
    this.name = name;
    this.#ends = ends;
    machine.delivery.add(outbox);
  }

  /** The key of the session. It changes once if a session with the requested key had already ended. */
  get key(): string {
    return this.#outbox.key;
  }

  /** The URL of its page. */
  get url(): string {
    return `${this.#machine.url}/sessions/${encodeURIComponent(this.key)}/`;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Record a message. */
  record(role: RoleName, content: unknown, fields: Fields = {}): Promise<void> {
    return this.add({ kind: "message", layer: "agent", role, output: content, ...fields });
  }

  /** Record an event. */
  event(name: string, data?: unknown, fields: Fields & { layer?: Layer } = {}): Promise<void> {
    return this.add({ kind: "event", layer: "agent", role: "system", name, output: data, ...fields });
  }

  /** Record an operation on the agent's own memory. */
  memory(name: string, data?: unknown, fields: Fields = {}): Promise<void> {
    return this.add({ kind: "memory_op", layer: "agent", role: "agent", name, output: data, ...fields });
  }

  /** Call a tool and record the call: `await s.toolCall("search", { q }, () => search(q))`. Returns or throws what the function does. */
  toolCall<T>(tool: string, input: unknown, run: (call: Call) => T | Promise<T>, fields: Fields = {}): Promise<T> {
    return this.#call({ kind: "tool_call", layer: "tool", role: "agent", tool, input, ...fields }, run);
  }

  /** Record the result of a tool as a step of its own, for agents that report it separately from the call (`call_id`). */
  toolResult(tool: string, output: unknown, fields: Fields = {}): Promise<void> {
    return this.add({ kind: "tool_result", layer: "tool", role: "tool", tool, output, ...fields });
  }

  /** Call a model and record the call. Usage is read from the answer, unless the function sets `call.usage`. */
  llmCall<T>(model: string, input: unknown, run: (call: Call) => T | Promise<T>, fields: Fields = {}): Promise<T> {
    return this.#call({ kind: "llm_call", layer: "agent", role: "agent", model, input, ...fields }, run);
  }

  /** Set a checkpoint to resume from. Values of `environment` whose names look like secrets do not leave this process. */
  checkpoint(name: string | undefined, state: State): Promise<void> {
    const environment = state.environment === undefined ? {} : { environment: withoutSecrets(state.environment) };
    return this.add({ kind: "checkpoint", layer: "agent", role: "agent", name: name ?? null, output: { ...state, ...environment } });
  }

  /** Record an action in the form of the API. Its values are copied now. */
  add(action: NewAction): Promise<void> {
    if (this.#hasEnded) {
      this.#machine.warn(`Session ${this.key} has ended. Later steps are not recorded.`);
      this.#outbox.lost += 1;
      return Promise.resolve();
    }
    const parent = action.parent ?? this.#machine.platform.around() ?? null;
    const made = { id: this.#nextId(), started_at: new Date(), ...action, ...(parent === null ? {} : { parent }) };
    const stored = this.#outbox.add(lineOf(made, this.#machine.warn));
    this.#machine.delivery.add(this.#outbox);
    return stored;
  }

  /** Put a passage into the session's collection. */
  async put(text: string, options: PutOptions = {}, signal?: AbortSignal): Promise<Schemas["PutOut"]> {
    const call = await this.#prepared(signal);
    return answer(this.#machine.api.POST("/api/sessions/{session_id}/put", { ...call, body: { text, ...options } }));
  }

  /** Find passages. */
  async find(query: string, options: FindOptions = {}, signal?: AbortSignal): Promise<Schemas["FindOut"]> {
    const call = await this.#prepared(signal);
    return answer(this.#machine.api.POST("/api/sessions/{session_id}/find", { ...call, body: { query, ...options } }));
  }

  /** Find passages and ask a model over them. */
  async ask(question: string, options: AskOptions = {}, signal?: AbortSignal): Promise<Schemas["AskOut"]> {
    const call = await this.#prepared(signal);
    return answer(this.#machine.api.POST("/api/sessions/{session_id}/ask", { ...call, body: { question, ...options } }));
  }

  /** Wait until everything recorded so far is delivered. False if it is not, or if anything was refused or lost. */
  async flush({ timeout = FLUSH, signal }: Waiting = {}): Promise<boolean> {
    return this.#flushed(timeout, () => this.#outbox.stuck !== undefined, signal);
  }

  /** End the session, and wait some seconds for the delivery, but not for an unreachable server. Returns what `flush` does. */
  async end(): Promise<boolean> {
    if (!this.#hasEnded) {
      this.#hasEnded = true;
      if (this.#ends) void this.#outbox.add(endLine());
    }
    const { delivery, patience } = this.#machine;
    const began = Date.now();
    const isAway = (): boolean => delivery.unreachable !== undefined && Date.now() - began > GIVEN_UP && delivery.unreachableFor > 0;
    const done = await this.#flushed(patience, () => isAway() || this.#outbox.stuck !== undefined);
    this.#outbox.closed = true;
    delivery.releaseFinished();
    return done;
  }

  /** `await using s = tm.session("…")` ends it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }

  /** Record that the code of the session failed. */
  failed(why: unknown): void {
    void this.add({ kind: "event", layer: "agent", role: "system", name: "session.failed", significance: "error", error: asError(why) });
  }

  async #flushed(timeout: number, givesUp: () => boolean, signal?: AbortSignal): Promise<boolean> {
    const { delivery } = this.#machine;
    if (this.#outbox.hasWork) delivery.add(this.#outbox);
    delivery.retryNow();
    const done = await delivery.until(() => !this.#outbox.hasWork, givesUp, timeout, signal);
    return done && !this.#outbox.fellShort;
  }

  /** Wait until the server has everything recorded so far; the parameters of a request to do something next. */
  async #prepared(signal?: AbortSignal) {
    if (!(await this.flush({ signal }))) {
      const why = this.#outbox.stuck ?? this.#machine.delivery.unreachable;
      const reason = why?.message ?? "The server did not accept all of it.";
      throw new NotRecorded(`Session ${this.key} is not delivered yet and waits in ${this.#outbox.place}: ${reason}`, why);
    }
    const header = { "Idempotency-Key": crypto.randomUUID() };
    return { params: { path: { session_id: this.key }, header }, ...(signal ? { signal } : {}) };
  }

  async #call<T>(action: NewAction, run: (call: Call) => T | Promise<T>): Promise<T> {
    const { platform } = this.#machine;
    const call: Call = { id: this.#nextId() };
    const parent = action.parent ?? platform.around() ?? null;
    const begun = { ...action, parent, started_at: new Date(), input: copied(action.input) };
    const began = performance.now();
    try {
      const result = await platform.within(call.id, () => run(call));
      this.#finish(begun, call, began, { output: result, ...usageOf(action, result) });
      return result;
    } catch (why) {
      this.#finish(begun, call, began, { error: asError(why) });
      throw why;
    }
  }

  #finish(begun: NewAction, call: Call, began: number, outcome: Fields): void {
    void this.add({ ...begun, duration_ms: performance.now() - began, ...outcome, ...call });
  }

  #nextId(): string {
    this.#number += 1;
    return `${this.#prefix}:${this.#number}`;
  }
}

/** The usage in the answer of a model. */
function usageOf(action: NewAction, result: unknown): Fields {
  if (action.kind !== "llm_call" || result === null || typeof result !== "object") return {};
  const { usage, usageMetadata } = result as Record<string, unknown>;
  const found = usage ?? usageMetadata;
  return found !== null && typeof found === "object" ? { usage: found } : {};
}

function asError(why: unknown): unknown {
  return why instanceof Error ? why : { type: "unknown", message: String(why) };
}

/** A copy of what a call was given: it may change while the call runs. */
function copied(value: unknown): unknown {
  try {
    return plain(value);
  } catch {
    return value;
  }
}

function withoutSecrets(environment: unknown): unknown {
  if (environment === null || typeof environment !== "object") return environment;
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, SECRET.test(name) ? WITHHELD : value]));
}
