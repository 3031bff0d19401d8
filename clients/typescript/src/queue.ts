/** What is known of a session before it is recorded. `suffix` is added to its key if an ended session has it. */
export interface Header {
  readonly url: string | undefined;
  readonly keyId: string | undefined;
  readonly suffix: string;
  readonly session: Readonly<Record<string, unknown>> & { readonly key: string };
}

/** A line of a queue: an action as JSON, or the end of a session. `at` is the position after it. */
export interface Line {
  readonly text: string;
  readonly at: number;
  readonly inMemory: boolean;
}

/** The undelivered lines of one session. */
export interface Queue {
  readonly header: Header;
  readonly hasWaiting: boolean;
  /** Where people find it. */
  readonly place: string;
  /** Add a line; false if there is no space for it. */
  append(text: string): boolean;
  /** Resolves when everything appended so far is as durable as it gets. */
  stored(): Promise<void>;
  /** The first lines, in order. */
  next(mostLines: number, mostBytes: number): Promise<Line[]>;
  /** Remove all lines up to this one. */
  settle(line: Line): void;
  /** Keep a line that the server can never accept, with the reason. Returns whether it is kept. */
  refuse(line: Line, why: string): boolean;
  /** Stop writing: remove it if it is empty, else leave it to the next process. */
  release(): void;
}

const MOST_BYTES = 64 * 1024 * 1024;

/** A queue in memory, for browsers, and for disks that cannot be written. */
export class MemoryQueue implements Queue {
  readonly place: string = "memory";
  #lines: Line[] = [];
  #bytes = 0;
  #end = 0;

  constructor(readonly header: Header) {}

  get hasWaiting(): boolean {
    return this.#lines.length > 0;
  }

  append(text: string): boolean {
    if (this.#bytes + text.length > MOST_BYTES) return false;
    this.#end += 1;
    this.#bytes += text.length;
    this.#lines.push({ text, at: this.#end, inMemory: true });
    return true;
  }

  async stored(): Promise<void> {}

  async next(mostLines: number, mostBytes: number): Promise<Line[]> {
    return this.firstLines(mostLines, mostBytes);
  }

  firstLines(mostLines: number, mostBytes = MOST_BYTES): Line[] {
    return firstOf(this.#lines, mostLines, mostBytes);
  }

  settle(line: Line): void {
    const kept = this.#lines.findIndex((each) => each.at > line.at);
    const gone = this.#lines.splice(0, kept === -1 ? this.#lines.length : kept);
    for (const each of gone) this.#bytes -= each.text.length;
  }

  refuse(_line: Line, _why: string): boolean {
    return false;
  }

  release(): void {}
}

/** The first lines within both limits, at least one. */
export function firstOf(lines: readonly Line[], mostLines: number, mostBytes: number): Line[] {
  let bytes = 0;
  const found: Line[] = [];
  for (const line of lines.slice(0, mostLines)) {
    bytes += line.text.length;
    if (found.length > 0 && bytes > mostBytes) break;
    found.push(line);
  }
  return found;
}
