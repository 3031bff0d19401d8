import { eventLine, refusedLine } from "./actions.js";
import type { Connection } from "./connection.js";
import { ClientError, isTemporary, Refused } from "./errors.js";
import type { Line, Queue } from "./queue.js";

const MOST_ACTIONS = 1_000;
const LARGEST_BATCH = 8 * 1024 * 1024;
const END = "!end ";
/** Milliseconds between attempts with an action that makes the server fail; after the last one it counts as refused. */
const FAULT_PAUSES = [1_000, 5_000, 15_000, 30_000];

export type Warn = (message: string) => void;

/** The line that ends a session now. */
export function endLine(): string {
  return END + new Date().toISOString();
}

/**
 * The delivery of one session: start it on the server, send its actions in order, and end it.
 *
 * `key` is the key of the session on the server; another one if a session with the requested key had already ended. `stuck` is why the
 * server refuses the session for now. An `adopted` one was recorded by a process that has ended.
 */
export class Outbox {
  key: string;
  begun = false;
  stuck: ClientError | undefined;
  notBefore = 0;
  closed: boolean;
  refused = 0;
  lost = 0;
  #lostUntold = 0;
  #started = false;
  #faults = 0;
  #complained = false;
  readonly adopted: boolean;
  readonly #queue: Queue;
  readonly #warn: Warn;

  constructor(queue: Queue, warn: Warn, adopted = false) {
    this.#queue = queue;
    this.#warn = warn;
    this.key = queue.header.session.key;
    this.adopted = this.closed = adopted;
  }

  /** Whether there is anything to deliver; a session without actions is started, too. */
  get hasWork(): boolean {
    return this.#queue.hasWaiting || !(this.begun || this.adopted);
  }

  get isFinished(): boolean {
    return this.closed && !this.hasWork;
  }

  /** Whether anything can no longer arrive. */
  get fellShort(): boolean {
    return this.refused + this.lost > 0;
  }

  get place(): string {
    return this.#queue.place;
  }

  /** Add a line; it resolves when the line is stored. */
  add(line: string): Promise<void> {
    if (this.#lostUntold > 0 && this.#queue.append(eventLine("recorder.lost", `lost:${crypto.randomUUID()}`, { actions: this.#lostUntold }))) {
      this.#lostUntold = 0;
    }
    if (this.#queue.append(line)) return this.#queue.stored();
    if (this.lost === 0) this.#warn(`Session ${this.key}: no space is left. Actions without space are lost and counted.`);
    this.lost += 1;
    this.#lostUntold += 1;
    return Promise.resolve();
  }

  release(): void {
    this.#queue.release();
  }

  /** Log once why the server does not accept the session; what was recorded stays in the queue. */
  complain(why: ClientError): void {
    if (!this.#complained) this.#warn(`Session ${this.key} is not delivered: ${why.message} The recording stays in ${this.place}.`);
    this.#complained = true;
    this.stuck = why;
  }

  /** Deliver the next batch. Throws `ClientError`; nothing is lost, and a part may have been delivered. */
  async deliver(connection: Connection): Promise<void> {
    if (!this.#started) await this.#start(connection);
    const lines = this.#queue.hasWaiting ? await this.#queue.next(MOST_ACTIONS, LARGEST_BATCH) : [];
    const [first] = lines;
    if (first?.text.startsWith(END)) {
      await this.#end(connection, first.text.slice(END.length));
      this.#queue.settle(first);
    } else if (first) {
      const end = lines.findIndex((line) => line.text.startsWith(END));
      const actions = end === -1 ? lines : lines.slice(0, end);
      await this.#try(connection, this.#faults > 0 ? actions.slice(0, 1) : actions);
    }
    this.stuck = undefined;
  }

  async #start(connection: Connection): Promise<void> {
    try {
      await connection.post("/api/sessions", JSON.stringify({ ...this.#session, key: this.key }));
    } catch (why) {
      if (!(why instanceof Refused) || why.code !== "key_taken") throw why;
      await this.#continueTaken(connection);
    }
    this.#started = this.begun = true;
  }

  /** Another recording has the key: continue its session, or start one with another key if it ended before anything was recorded here. */
  async #continueTaken(connection: Connection): Promise<void> {
    if (this.adopted || this.begun) {
      if ((await this.#state(connection, this.#otherKey)) !== undefined) this.key = this.#otherKey;
    } else if ((await this.#state(connection, this.key)) === "ended") {
      await this.#startOther(connection);
    }
  }

  async #startOther(connection: Connection): Promise<void> {
    const metadata = { ...(this.#session["metadata"] as object | undefined), asked_key: this.key };
    try {
      await connection.post("/api/sessions", JSON.stringify({ ...this.#session, key: this.#otherKey, metadata }));
    } catch (why) {
      if (!(why instanceof Refused) || why.code !== "key_taken") throw why;
    }
    this.#warn(`Session ${this.key} has ended. Recording continues in a new session, ${this.#otherKey}.`);
    this.key = this.#otherKey;
  }

  get #session(): Record<string, unknown> & { key: string } {
    return this.#queue.header.session;
  }

  get #otherKey(): string {
    return `${this.#session.key.slice(0, 191)}-${this.#queue.header.suffix}`;
  }

  get #path(): string {
    return `/api/sessions/${encodeURIComponent(this.key)}`;
  }

  /** Whether a session is open or has ended; undefined if the server does not have it. */
  async #state(connection: Connection, key: string): Promise<"open" | "ended" | undefined> {
    try {
      await connection.post(`/api/sessions/${encodeURIComponent(key)}/actions`, '{"actions":[]}');
      return "open";
    } catch (why) {
      if (why instanceof Refused && why.code === "session_ended") return "ended";
      if (why instanceof Refused && why.status === 404) return undefined;
      throw why;
    }
  }

  /** End the session at the time it ended here; now if another machine's clock makes that earlier than its start. */
  async #end(connection: Connection, at: string): Promise<void> {
    try {
      await connection.post(`${this.#path}/end`, JSON.stringify({ ended_at: at }));
    } catch (why) {
      if (!(why instanceof Refused) || why.status !== 422) throw why;
      await connection.post(`${this.#path}/end`, "{}");
    }
  }

  async #try(connection: Connection, lines: readonly Line[]): Promise<void> {
    try {
      await this.#send(connection, lines);
    } catch (why) {
      if (!(why instanceof Refused) || why.status !== 500) throw why;
      this.notBefore = Date.now() + (FAULT_PAUSES[this.#faults] ?? 0);
      this.#faults += 1;
    }
  }

  /** Send lines in one request. If the server cannot accept one, the request is split in halves until this one is alone and refused. */
  async #send(connection: Connection, lines: readonly Line[]): Promise<void> {
    const last = lines.at(-1);
    if (last === undefined) return;
    let differing: number[];
    try {
      differing = await this.#post(connection, lines.map((line) => line.text));
    } catch (why) {
      if (!(why instanceof Refused)) throw why;
      return this.#afterRefusal(connection, lines, why);
    }
    this.#faults = 0;
    const others = lines.filter((_, at) => differing.includes(at));
    this.#refuse(others, "The session already has another action with this id. Use a unique id for each action.");
    this.#queue.settle(last);
  }

  async #afterRefusal(connection: Connection, lines: readonly Line[], why: Refused): Promise<void> {
    if (why.code === "session_ended") return this.#giveUp(lines, why);
    const isFault = why.status === 500;
    if (!isFault && why.status !== 413 && why.status !== 422) throw why;
    if (lines.length > 1) {
      const half = lines.length >> 1;
      await this.#send(connection, lines.slice(0, half));
      return this.#send(connection, lines.slice(half));
    }
    if (isFault && this.#faults < FAULT_PAUSES.length) throw why;
    if (!isFault) await this.#recordRefusal(connection, lines[0] as Line, why);
    this.#giveUp(lines, why);
  }

  async #post(connection: Connection, lines: readonly string[]): Promise<number[]> {
    const found = await connection.post(`${this.#path}/actions`, `{"actions":[${lines.join(",")}]}`);
    return (found as { differing?: number[] }).differing ?? [];
  }

  /** Record an event in the session in place of a refused action; repeating it is safe. */
  async #recordRefusal(connection: Connection, line: Line, why: Refused): Promise<void> {
    try {
      await this.#post(connection, [refusedLine(line.text, why.message)]);
    } catch (refused) {
      if (isTemporary(refused)) throw refused;
    }
  }

  #giveUp(lines: readonly Line[], why: Refused): void {
    this.#refuse(lines, why.message);
    this.#faults = 0;
    this.#queue.settle(lines.at(-1) as Line);
  }

  #refuse(lines: readonly Line[], why: string): void {
    if (lines.length === 0) return;
    for (const line of lines) {
      if (this.#queue.refuse(line, why)) this.refused += 1;
      else this.lost += 1;
    }
    this.#warn(`${lines.length} actions of session ${this.key} were refused: ${why}`);
  }
}
