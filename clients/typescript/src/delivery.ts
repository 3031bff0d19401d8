import type { Connection } from "./connection.js";
import { ClientError, isBusy, isTemporary, Refused } from "./errors.js";
import type { Outbox, Warn } from "./outbox.js";
import { jittered, pause } from "./pauses.js";

const GATHER = 3;
const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 30_000;
const LASTING_PAUSE = 60_000;
const ADOPT_EVERY = 300_000;
/** Milliseconds for which attempts to reach an unreachable server keep the process alive. */
const GIVEN_UP = 500;

/**
 * Deliver the outboxes in turn, in batches, and retry later if the server is unreachable or busy.
 *
 * Of several outboxes with the same key, the oldest goes first. `unreachable` is why the server cannot be reached now.
 */
export class Delivery {
  unreachable: ClientError | undefined;
  #unreachableSince = 0;
  #outboxes: Outbox[] = [];
  #retryAt = 0;
  #pause = FIRST_PAUSE;
  #adoptedAt = -Infinity;
  #runs = false;
  #interrupt: (() => void) | undefined;
  #waiting = new Set<() => void>();

  constructor(
    private readonly connect: () => Connection,
    private readonly adopted: () => Outbox[],
    private readonly patience: number,
    private readonly warn: Warn,
  ) {}

  get outboxes(): readonly Outbox[] {
    return this.#outboxes;
  }

  /** Milliseconds since the server became unreachable; 0 if it is reachable or busy. */
  get unreachableFor(): number {
    return this.unreachable === undefined || isBusy(this.unreachable) ? 0 : Date.now() - this.#unreachableSince;
  }

  /** Deliver this outbox, too. */
  add(outbox: Outbox): void {
    if (!this.#outboxes.includes(outbox)) this.#outboxes.push(outbox);
    this.wake();
  }

  /** Deliver what was added in the meantime. */
  wake(): void {
    if (!this.#runs) void this.#run();
    else if (Date.now() >= this.#retryAt) this.#interrupt?.();
  }

  /** Retry now. */
  retryNow(): void {
    this.#retryAt = 0;
    this.#pause = FIRST_PAUSE;
    this.#interrupt?.();
    this.wake();
  }

  /** Deliver what ended processes recorded, before our own. */
  adopt(): void {
    this.#adoptedAt = Date.now();
    const found = this.adopted();
    this.#outboxes.splice(this.#outboxes.filter((each) => each.adopted).length, 0, ...found);
  }

  /** Resolves true when a condition holds, which may change with each step of the delivery, and false after the time. */
  until(holds: () => boolean, givesUp: () => boolean, timeout: number, signal?: AbortSignal): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void): void => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        signal?.removeEventListener("abort", abort);
        settle();
      };
      const look = (): void => {
        if (holds()) finish(() => resolve(true));
        else if (givesUp()) finish(() => resolve(false));
      };
      const abort = (): void => finish(() => reject(signal?.reason));
      const timer = setTimeout(() => finish(() => resolve(holds())), timeout);
      this.#waiting.add(look);
      if (signal?.aborted) return abort();
      signal?.addEventListener("abort", abort, { once: true });
      look();
    });
  }

  /** Stop delivering and release the queues; the next process delivers what they contain. */
  close(): void {
    for (const each of this.#outboxes) each.release();
    this.#outboxes = [];
    this.#interrupt?.();
  }

  async #run(): Promise<void> {
    this.#runs = true;
    await pause(GATHER);
    for (;;) {
      const rest = await this.#step().catch((why: unknown) => this.#broken(why));
      for (const look of [...this.#waiting]) look();
      if (rest === undefined) break;
      if (rest > 0) await this.#sleep(rest, this.#keepsAlive);
    }
    this.#runs = false;
  }

  #broken(why: unknown): number {
    this.warn(`The recorder failed to deliver (${String(why)}). It will retry.`);
    return LONGEST_PAUSE;
  }

  get #keepsAlive(): boolean {
    if (this.unreachable === undefined) return false;
    return Date.now() - this.#unreachableSince < (isBusy(this.unreachable) ? this.patience : GIVEN_UP);
  }

  #sleep(milliseconds: number, keepsAlive: boolean): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#interrupt = undefined;
        resolve();
      };
      const timer = setTimeout(done, milliseconds);
      if (!keepsAlive) (timer as { unref?: () => void }).unref?.();
      this.#interrupt = done;
    });
  }

  /** Deliver one batch of each outbox that is due. Returns milliseconds until the next attempt; undefined without work. */
  async #step(): Promise<number | undefined> {
    if (Date.now() - this.#adoptedAt > ADOPT_EVERY) this.adopt();
    if (Date.now() < this.#retryAt) return this.#retryAt - Date.now();
    let worked = false;
    for (const outbox of this.#due()) {
      const isDelivered = await this.#deliver(outbox);
      worked ||= isDelivered;
      if (this.unreachable !== undefined) break;
    }
    this.releaseFinished();
    return worked ? 0 : this.#rest();
  }

  async #deliver(outbox: Outbox): Promise<boolean> {
    try {
      await outbox.deliver(this.connect());
    } catch (why) {
      if (!(why instanceof ClientError)) {
        outbox.notBefore = Date.now() + LASTING_PAUSE;
        this.warn(`Session ${outbox.key} could not be delivered (${String(why)}). It will be retried.`);
      } else if (isTemporary(why)) this.#isAway(why);
      else {
        outbox.notBefore = Date.now() + jittered(LASTING_PAUSE);
        outbox.complain(why);
      }
      return false;
    }
    if (this.unreachable !== undefined && !isBusy(this.unreachable)) this.warn("The server is reachable again. Recordings are being delivered.");
    this.unreachable = undefined;
    this.#pause = FIRST_PAUSE;
    return true;
  }

  #isAway(why: ClientError): void {
    if (this.unreachable === undefined || (isBusy(this.unreachable) && !isBusy(why))) {
      this.#unreachableSince = Date.now();
      if (!isBusy(why)) this.warn(`Recordings wait: ${why.message}`);
    }
    this.unreachable = why;
    const named = why instanceof Refused && why.retryAfter !== undefined ? why.retryAfter * 1_000 : this.#pause / 2;
    this.#retryAt = Date.now() + named + (Math.random() * this.#pause) / 2;
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE);
  }

  /** The outboxes that are due; of several with the same key, the oldest. */
  #due(): Outbox[] {
    const now = Date.now();
    return this.#firsts().filter((each) => each.notBefore <= now);
  }

  #firsts(): Outbox[] {
    const keys = new Set<string>();
    return this.#outboxes.filter((each) => {
      const isFirst = each.hasWork && !keys.has(each.key);
      if (isFirst && each.stuck === undefined) keys.add(each.key);
      return isFirst;
    });
  }

  #rest(): number | undefined {
    const moments = this.#firsts().map((each) => Math.max(each.notBefore, this.#retryAt));
    return moments.length === 0 ? undefined : Math.max(1, Math.min(...moments) - Date.now());
  }

  /** Release the queues of the outboxes to which nothing more can be added. */
  releaseFinished(): void {
    const finished = this.#outboxes.filter((each) => each.isFinished);
    this.#outboxes = this.#outboxes.filter((each) => !each.isFinished);
    for (const each of finished) each.release();
  }
}
