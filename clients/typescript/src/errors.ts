/** Facts of an error for programs. */
export type Facts = Readonly<Record<string, unknown>>;

/** A request failed: `message` says why and what to do next, `code` and `facts` are for programs. */
export class ClientError extends Error {
  override name = "ClientError";
  readonly code: string;
  readonly facts: Facts;

  constructor(message: string, code: string, options: { facts?: Facts; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.facts = options.facts ?? {};
  }
}

/** No server or API key is known, or they cannot be used. */
export class NoServer extends ClientError {
  override name = "NoServer";
}

/** The server did not answer, not in time (`timeout`), or not completely. */
export class Unreachable extends ClientError {
  override name = "Unreachable";

  constructor(message: string, code: "unreachable" | "timeout" = "unreachable", cause?: unknown) {
    super(message, code, { cause });
  }
}

/** The answer is not one of the API. */
export class NotUnderstood extends ClientError {
  override name = "NotUnderstood";

  constructor(message: string, cause?: unknown) {
    super(message, "not_understood", { cause });
  }
}

/** What was recorded is not delivered yet, so the server cannot work with it. */
export class NotRecorded extends ClientError {
  override name = "NotRecorded";

  constructor(message: string, cause?: unknown) {
    super(message, "not_recorded", { cause });
  }
}

/** The API refused the request; `status` is the HTTP status, `retryAfter` the seconds to wait if the server names them. */
export class Refused extends ClientError {
  override name = "Refused";
  readonly status: number;
  readonly retryAfter: number | undefined;

  constructor(status: number, document: { code: string; message: string; facts?: Facts }, retryAfter?: number) {
    super(document.message, document.code, { facts: document.facts ?? {} });
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** Whether the server is busy and asks to retry. */
export function isBusy(why: unknown): boolean {
  return why instanceof Refused && why.status === 429;
}

/** Whether the failure can be temporary: the server is unreachable, unknown or busy. */
export function isTemporary(why: unknown): boolean {
  if (why instanceof Refused) return isBusy(why) || [502, 503, 504].includes(why.status);
  return why instanceof Unreachable || why instanceof NotUnderstood || why instanceof NoServer;
}
