import type { Schemas, Significance } from "./actions.js";
import { answer, Connection, type Api, type Fetch } from "./connection.js";
import { Delivery } from "./delivery.js";
import { ClientError } from "./errors.js";
import { Outbox, type Warn } from "./outbox.js";
import type { paths } from "./generated/schema.js";
import type { Platform } from "./platform.js";
import type { Header, Queue } from "./queue.js";
import { every, RunningReplay, type ReplayOptions } from "./replays.js";
import { keyId, type Server } from "./server.js";
import { Session, type Waiting } from "./session.js";

const KEY = /^[A-Za-z0-9._:@-]{1,200}$/;
const TIMEOUT = 600_000;
const BATCH_TIMEOUT = 60_000;
const LONGEST_WAIT = 60_000;
const PATIENCE = 5_000;
const MOST_WARNED = 1_000;
const DECISIONS: readonly Significance[] = ["decision", "solution", "breakthrough"];

/** Options of a `TimeMachine`, wherever it runs. */
export interface Options {
  /** The URL of the server. */
  url?: string | undefined;
  apiKey?: string | undefined;
  /** Instead of the global `fetch`, for example one that uses a proxy. */
  fetch?: Fetch | undefined;
  /** Milliseconds to wait for an answer (600,000). */
  timeout?: number | undefined;
  /** Milliseconds that the end of a session waits for the delivery (5,000). */
  patience?: number | undefined;
  /** Hears each problem of the recorder once; default: the console. */
  warn?: Warn | undefined;
}

/** Options of a session. */
export interface SessionOptions extends Omit<Schemas["SessionIn"], "name" | "started_at"> {
  /** False leaves the session open after `end`. */
  end?: boolean;
}

/** A filter of turns. */
export interface TurnFilter {
  significance?: readonly Significance[] | undefined;
  role?: string;
  kind?: string;
  tag?: string;
  min_importance?: number;
  /** Tokens: the most important turns that fit, in their order. */
  budget?: number;
}

/** Turns of a session in their order. `tokens` are those of the turns and of the marks where others are left out. */
export interface Transcript {
  turns: Schemas["TurnOut"][];
  tokens: number;
  tokensSaved: number;
  document: Schemas["TranscriptOut"];
}

/** The state of an agent at a checkpoint, and a new session that branches from it. `state` is the document of the API. */
export interface Resumed {
  session: Session;
  messages: unknown[];
  state: Schemas["ResumedOut"];
}

/** What earlier sessions say about a first message: the `results`, best first, and `text` for a prompt, empty without results. */
export interface Context {
  results: Schemas["TurnRecalled"][];
  text: string;
  times: Schemas["TimeReadOut"][];
  /** Nothing matched the times in the message, so the results are of any time. */
  timesLeftOut: boolean;
  document: Schemas["RecallOut"];
}

export type RecallOptions = Omit<Schemas["RecallIn"], "queries" | "besides"> & { besides?: string | Session };
export type SessionFilter = Omit<NonNullable<paths["/api/sessions"]["get"]["parameters"]["query"]>, "after" | "limit">;

/** Record, read and replay sessions of one server. */
export class BaseTimeMachine {
  readonly platform: Platform;
  readonly patience: number;
  readonly delivery: Delivery;
  readonly #options: Options;
  readonly #warned = new Set<string>();
  #api: Api | undefined;
  #sender: Connection | undefined;

  constructor(platform: Platform, options: Options = {}) {
    this.platform = platform;
    this.#options = options;
    this.patience = options.patience ?? PATIENCE;
    this.delivery = new Delivery(() => (this.#sender ??= this.#connection(BATCH_TIMEOUT, 0)), () => this.#adopted(), this.patience, this.warn);
  }

  /** The calls of the API, typed: `await tm.api.GET("/api/costs")`. Throws `NoServer`. */
  get api(): Api {
    return (this.#api ??= this.#connection(this.#options.timeout ?? TIMEOUT, LONGEST_WAIT).api);
  }

  /** The URL of the server. Throws `NoServer`. */
  get url(): string {
    return this.#server().url;
  }

  /** Report a problem of the recorder, once. */
  readonly warn: Warn = (message) => {
    if (this.#warned.has(message) || this.#warned.size >= MOST_WARNED) return;
    this.#warned.add(message);
    (this.#options.warn ?? ((text) => console.warn(`timemachine: ${text}`)))(message);
  };

  /** Start a session, and `end` it yourself. With the `key` of an open session, it continues that one. */
  session(name: string, { end = true, ...options }: SessionOptions = {}): Session {
    const key = this.#checkedKey(options.key);
    const server = this.#known();
    const header: Header = {
      url: server?.url,
      keyId: keyId(server),
      suffix: crypto.randomUUID().slice(0, 8),
      session: { ...options, name: name.trim() || "unnamed", key, started_at: new Date().toISOString() },
    };
    return new Session(this, new Outbox(this.platform.queue(header), this.warn), name, end);
  }

  /** Start a session, run a function with it, and end it: also if the function fails, which the session then records. */
  async inSession<T>(name: string, run: (session: Session) => T | Promise<T>, options: SessionOptions = {}): Promise<T> {
    const session = this.session(name, options);
    try {
      return await run(session);
    } catch (why) {
      session.failed(why);
      throw why;
    } finally {
      await session.end();
    }
  }

  /** Wait until all sessions are delivered. False if they are not. */
  async flush({ timeout = 30_000, signal }: Waiting = {}): Promise<boolean> {
    const listed = [...this.delivery.outboxes];
    this.delivery.retryNow();
    const isStuck = (): boolean => listed.every((each) => !each.hasWork || each.stuck !== undefined);
    const done = await this.delivery.until(() => listed.every((each) => !each.hasWork), isStuck, timeout, signal);
    return done && !listed.some((each) => each.fellShort);
  }

  /** Deliver what ended processes on this machine recorded for this server and key. A recording process does this when it starts. */
  async deliverSpooled(waiting: Waiting = { timeout: 60_000 }): Promise<boolean> {
    this.delivery.adopt();
    return this.flush(waiting);
  }

  /** Deliver what is possible within `patience` and release the queues; what is left waits for the next process. */
  async close(): Promise<boolean> {
    const done = await this.flush({ timeout: this.patience });
    this.delivery.close();
    return done;
  }

  /** The sessions that match, newest first. */
  sessions(filter: SessionFilter = {}): AsyncGenerator<Schemas["SessionOut"]> {
    return every((page) => answer(this.api.GET("/api/sessions", { params: { query: { ...filter, ...page } } })));
  }

  /** The turns of a session in order, or those that match. */
  async transcript(session: string | Session, filter: TurnFilter = {}): Promise<Transcript> {
    const params = { path: { session_id: await delivered(session) }, query: queryOf(filter) };
    const found = await answer(this.api.GET("/api/sessions/{session_id}/transcript", { params }));
    const document = found as Schemas["TranscriptOut"];
    const tokens = document.tokens.kept + document.tokens.marks;
    return { turns: document.items, tokens, tokensSaved: document.tokens.recorded - tokens, document };
  }

  /** The same as text for a prompt. */
  async transcriptText(session: string | Session, filter: TurnFilter = {}): Promise<string> {
    const params = { path: { session_id: await delivered(session) }, query: { ...queryOf(filter), as: "text" as const } };
    const call = this.api.GET("/api/sessions/{session_id}/transcript", { params, parseAs: "text", headers: { accept: "text/plain" } });
    return answer(call as Promise<{ data?: string }>);
  }

  /** Every turn of a session, in order. */
  replayFull(session: string | Session): Promise<Transcript> {
    return this.transcript(session);
  }

  /** Only the decisions, solutions and breakthroughs of a session, with the tokens that this saves. */
  replayDecisionsOnly(session: string | Session, filter: TurnFilter = {}): Promise<Transcript> {
    return this.transcript(session, { significance: DECISIONS, ...filter });
  }

  /** Launch a replay: an `audit` (with a `reason`) over the frozen passages, else a new retrieval. `wait` returns its result. */
  async replay(session: string | Session, { use_model, ...options }: ReplayOptions = {}): Promise<RunningReplay> {
    const params = { path: { session_id: await delivered(session) } };
    const body = { ...options, use_models: use_model === undefined ? [] : [use_model] };
    const launched = await answer(this.api.POST("/api/sessions/{session_id}/replays", { params, body }));
    return new RunningReplay(this.api, (launched as Schemas["ReplayLaunched"]).replay_id);
  }

  /** The state of the agent at a checkpoint (default: the last one), and a new session that branches from it. */
  async resume(session: string | Session, checkpoint?: number | string, options: SessionOptions = {}): Promise<Resumed> {
    const params = { path: { session_id: await delivered(session) } };
    const body = { checkpoint: checkpoint ?? null };
    const state = await answer(this.api.POST("/api/sessions/{session_id}/resume", { params, body }));
    const before = await answer(this.api.GET("/api/sessions/{session_id}", { params }));
    const same = { agent: before.agent, collection: before.collection, parent: state.parent as Schemas["ParentIn"] };
    const branch = this.session(before.name, { ...same, ...options });
    return { session: branch, messages: Array.isArray(state.messages) ? state.messages : [], state };
  }

  /** What earlier sessions say about each question, best first. `besides` is the current session, which is left out. */
  async recall(queries: string | string[], { besides, ...options }: RecallOptions = {}): Promise<Schemas["RecallOut"]> {
    const others = besides === undefined ? {} : { besides: await delivered(besides) };
    return answer(this.api.POST("/api/recall", { body: { queries: [queries].flat(), ...options, ...others } }));
  }

  /** What earlier sessions say about the first message of a conversation, as `text` of at most `budget` tokens (2,000). */
  async contextFor(firstMessage: string, options: RecallOptions = {}): Promise<Context> {
    const given = { budget: 2_000, past_times: true, ...options };
    let document = await this.recall(firstMessage, given);
    const times = document.items[0]?.times ?? [];
    const isNothing = times.length > 0 && document.items[0]?.results.length === 0;
    if (isNothing) document = await this.recall(firstMessage, { ...given, time_words: false });
    const results = document.items[0]?.results ?? [];
    return { results, text: document.text ?? "", times, timesLeftOut: isNothing && results.length > 0, document };
  }

  #server(): Server {
    return this.platform.server(this.#options.url, this.#options.apiKey);
  }

  #known(): Server | undefined {
    try {
      return this.#server();
    } catch (why) {
      this.warn((why as ClientError).message);
      return undefined;
    }
  }

  #connection(timeout: number, longestWait: number): Connection {
    return new Connection(this.#server(), { fetch: this.#options.fetch, timeout, longestWait });
  }

  #adopted(): Outbox[] {
    const server = this.#known();
    if (server === undefined) return [];
    const isOurs = (header: Header): boolean => header.url === undefined || (header.url === server.url && header.keyId === keyId(server));
    return this.platform.abandoned(isOurs).map((queue: Queue) => new Outbox(queue, this.warn, true));
  }

  #checkedKey(key: string | null | undefined): string {
    if (key !== null && key !== undefined && KEY.test(key)) return key;
    if (key) this.warn(`The key ${key.slice(0, 60)} is invalid, so a different one is used. Keys are 1–200 characters: letters, digits, and . _ : @ -.`);
    return `sess-${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}`;
  }
}

function queryOf({ significance, ...filter }: TurnFilter): Record<string, unknown> {
  return { ...filter, ...(significance === undefined ? {} : { significance: significance.join(",") }) };
}

/** The key of a session, when the server has everything recorded so far. */
async function delivered(session: string | Session): Promise<string> {
  if (typeof session === "string") return session;
  await session.flush();
  return session.key;
}
