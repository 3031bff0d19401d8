import type { Schemas } from "./actions.js";
import { answer, type Api } from "./connection.js";
import { Unreachable } from "./errors.js";
import { pause } from "./pauses.js";
import type { Waiting } from "./session.js";

const FINISHED = ["done", "failed", "cancelled"];
const FIRST_PAUSE = 50;
const LONGEST_PAUSE = 1_000;
const GRACE = 60_000;

export type ReplayOptions = Omit<Schemas["ReplayIn"], "use_models"> & { use_model?: string };

/** A replay that was launched. */
export class RunningReplay {
  constructor(
    private readonly api: Api,
    readonly id: string,
  ) {}

  /** Wait for the replay; `seen` hears each state. The server may be away for a minute. Rejects with `Unreachable`, `timeout` or the signal's reason. */
  async wait({ timeout = Infinity, signal, seen }: Waiting & { seen?: (state: Schemas["ReplayOut"]) => void } = {}): Promise<ReplayResult> {
    const until = Date.now() + timeout;
    let away = Infinity;
    for (let rest = FIRST_PAUSE; ; rest = Math.min(rest * 1.3, LONGEST_PAUSE)) {
      try {
        const state = await this.#state(signal);
        away = Infinity;
        seen?.(state);
        if (FINISHED.includes(state.status)) return new ReplayResult(this.api, state);
      } catch (why) {
        away = Math.min(away, Date.now());
        if (!(why instanceof Unreachable) || Date.now() - away > GRACE) throw why;
      }
      if (Date.now() + rest > until) throw new Unreachable(`Replay ${this.id} has not finished within ${timeout / 1_000} s.`, "timeout");
      await pause(rest, { signal });
    }
  }

  /** Cancel it: no further step starts. */
  async cancel(): Promise<void> {
    await this.api.POST("/api/replays/{replay_id}/cancel", { params: { path: { replay_id: this.id } } });
  }

  #state(signal?: AbortSignal): Promise<Schemas["ReplayOut"]> {
    const params = { path: { replay_id: this.id } };
    return answer(this.api.GET("/api/replays/{replay_id}", { params, ...(signal ? { signal } : {}) }));
  }
}

/** A finished replay; `document` is that of the API. */
export class ReplayResult {
  constructor(
    private readonly api: Api,
    readonly document: Schemas["ReplayOut"],
  ) {}

  get id(): string {
    return this.document.id;
  }

  /** `done`, `failed` or `cancelled`. */
  get status(): string {
    return this.document.status;
  }

  /** The number of new answers by verdict. */
  get verdicts(): Schemas["ReplayOut"]["verdicts"] {
    return this.document.verdicts;
  }

  /** Every step, in the order of the recording. */
  async steps(): Promise<Schemas["ReplayStepOut"][]> {
    const path = { replay_id: this.id };
    const found: Schemas["ReplayStepOut"][] = [];
    const pages = every((query) => answer(this.api.GET("/api/replays/{replay_id}/steps", { params: { path, query } })));
    for await (const step of pages) found.push(step);
    return found;
  }
}

/** The items of all pages of a list. */
export async function* every<Item>(
  page: (query: { limit: number; after?: string }) => Promise<{ items: Item[]; next: string | null }>,
): AsyncGenerator<Item> {
  for (let after: string | null | undefined; after !== null; ) {
    const found = await page({ limit: 200, ...(after === undefined ? {} : { after }) });
    yield* found.items;
    after = found.next;
  }
}
