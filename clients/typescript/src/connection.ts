import createClient, { type Client } from "openapi-fetch";
import { NoServer, NotUnderstood, Refused, Unreachable, type Facts } from "./errors.js";
import type { paths } from "./generated/schema.js";
import { jittered, pause } from "./pauses.js";
import type { Server } from "./server.js";

/** What fetches: the global `fetch`, or one that uses a proxy. It is called with a URL as text. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The calls of the API, typed by its OpenAPI document. They throw what `Connection` throws. */
export type Api = Client<paths>;

export interface ConnectionOptions {
  fetch?: Fetch | undefined;
  /** Milliseconds to wait for an answer. */
  timeout: number;
  /** Milliseconds that one request waits for a busy server (429). */
  longestWait: number;
}

interface Sent {
  method: string;
  headers: Record<string, string>;
  body?: BodyInit | undefined;
  signal?: AbortSignal | undefined;
  keepalive?: boolean;
}

const REPEATABLE = new Set(["GET", "HEAD", "PUT", "DELETE"]);
const LOST_PAUSES = [200, 1_000];
const LONGEST_KEPT_ALIVE = 16_000; // bytes; browsers refuse a request if all of a page have more than 64 KiB
const encoder = new TextEncoder();
const CUT_OFF = '\n{"cut off": "This file is incomplete; download it again."';

/**
 * Requests to one server. Throws `NoServer`, `Unreachable`, `NotUnderstood`, `Refused`, and the reason of an aborted signal.
 *
 * Requests that are safe to repeat are repeated if the connection is lost or the server is busy: reads, deletions, requests with an
 * idempotency key, and those for which a busy server reports that it did nothing.
 */
export class Connection {
  readonly url: string;
  readonly api: Api;
  readonly #key: string;
  readonly #options: ConnectionOptions;

  constructor(server: Server, options: ConnectionOptions) {
    if (server.key === undefined) {
      throw new NoServer(`No API key for ${server.url}. Create one there under Settings and set TIMEMACHINE_API_KEY to it.`, "no_key");
    }
    this.url = server.url;
    this.#key = server.key;
    this.#options = options;
    this.api = createClient<paths>({ baseUrl: server.url, fetch: (request) => this.#fetch(request) });
  }

  /** Send a JSON body once and return the document; for the recorder, which has its own way to retry. */
  async post(path: string, body: string): Promise<unknown> {
    const headers = this.#headers({ "content-type": "application/json" });
    const keepalive = body.length < LONGEST_KEPT_ALIVE && encoder.encode(body).length < LONGEST_KEPT_ALIVE; // survives the page that sent it
    const response = await this.#once(this.url + path, { method: "POST", headers, body, keepalive });
    return JSON.parse(await response.text());
  }

  #headers(more: Record<string, string>): Record<string, string> {
    return { accept: "application/json", ...more, authorization: `Bearer ${this.#key}` };
  }

  async #fetch(request: Request): Promise<Response> {
    const headers = this.#headers(Object.fromEntries(request.headers));
    const body = request.body === null ? undefined : await request.arrayBuffer();
    return this.#repeated(request.url, { method: request.method, headers, body, signal: request.signal });
  }

  async #repeated(url: string, sent: Sent): Promise<Response> {
    const repeatable = REPEATABLE.has(sent.method) || sent.headers["idempotency-key"] !== undefined;
    const lost = repeatable ? [...LOST_PAUSES] : [];
    let left = this.#options.longestWait;
    for (;;) {
      try {
        return await this.#once(url, sent);
      } catch (why) {
        const wait = pauseAfter(why, repeatable, lost);
        if (wait === undefined || wait > left) throw why;
        left -= wait;
        await pause(wait, { signal: sent.signal });
      }
    }
  }

  async #once(url: string, sent: Sent): Promise<Response> {
    const timeout = AbortSignal.timeout(this.#options.timeout);
    const signal = sent.signal ? AbortSignal.any([sent.signal, timeout]) : timeout;
    const { body, ...rest } = sent;
    try {
      const use = this.#options.fetch ?? globalThis.fetch;
      const init: RequestInit = { ...rest, signal, redirect: "manual" };
      const response = await use(url, body === undefined ? init : { ...init, body });
      return await this.#answer(response);
    } catch (why) {
      throw sent.signal?.aborted ? sent.signal.reason : this.#failed(why, timeout);
    }
  }

  #failed(why: unknown, timeout: AbortSignal): unknown {
    if (why instanceof NotUnderstood || why instanceof Refused || why instanceof Unreachable) return why;
    if (timeout.aborted) {
      const waited = `${this.url} did not respond within ${this.#options.timeout / 1_000} s and may still be working.`;
      return new Unreachable(`${waited} Check the result there before you try again.`, "timeout", why);
    }
    return new Unreachable(`No answer from ${this.url} (${reason(why)}). Start the server, or use the URL of another one.`, "unreachable", why);
  }

  /** The response if it is one of the API; text is read to its end. */
  async #answer(response: Response): Promise<Response> {
    const type = response.headers.get("content-type") ?? "";
    if (response.ok && !/json|text\/plain/.test(type)) return response;
    const text = await response.text();
    if (text.endsWith(CUT_OFF)) {
      throw new Unreachable("The server could not complete the answer: its content was deleted in the meantime, or the database failed. Try again.");
    }
    if (response.ok) return new Response(text, { status: response.status, headers: { "content-type": type } });
    throw refusal(response, text) ?? this.#notOurs(response);
  }

  #notOurs(response: Response): NotUnderstood {
    if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
      const elsewhere = response.headers.get("location") ?? "another URL";
      return new NotUnderstood(`${this.url} redirects to ${elsewhere}. Use the final URL.`);
    }
    const isFault = response.status >= 500;
    const advice = isFault ? "without a reason. See the server's log." : "but is not Time Machine. Check the URL.";
    return new NotUnderstood(`${this.url} answered ${response.status}, ${advice}`);
  }
}

/** The document of a call of the API. */
export async function answer<T>(call: Promise<{ data?: T }>): Promise<T> {
  return (await call).data as T;
}

/** Milliseconds after which a failed request is repeated; undefined if it is not. */
function pauseAfter(why: unknown, repeatable: boolean, lost: number[]): number | undefined {
  if (why instanceof Unreachable && why.code === "unreachable") return lost.shift();
  if (!(why instanceof Refused) || why.status !== 429 || !(repeatable || why.code === "busy")) return undefined;
  return jittered((why.retryAfter ?? 1) * 1_000);
}

function refusal(response: Response, text: string): Refused | undefined {
  let document: { code?: unknown; message?: unknown; facts?: Facts };
  try {
    document = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { code, message, facts } = document ?? {};
  if (typeof code !== "string" || typeof message !== "string") return undefined;
  return new Refused(response.status, { code, message, facts: facts ?? {} }, retryAfter(response));
}

function retryAfter(response: Response): number | undefined {
  const written = response.headers.get("retry-after")?.trim() ?? "";
  if (/^\d+$/.test(written)) return Number(written);
  const at = Date.parse(written);
  return Number.isNaN(at) ? undefined : Math.max(0, (at - Date.now()) / 1_000);
}

function reason(why: unknown): string {
  const cause = why instanceof Error && why.cause instanceof Error ? why.cause : why;
  const code = (cause as { code?: unknown } | undefined)?.code;
  return typeof code === "string" ? code : cause instanceof Error ? cause.message : String(cause);
}
