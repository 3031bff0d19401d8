import { BaseTimeMachine, type Options } from "./machine.js";
import { nodePlatform } from "./node/platform.js";

export * from "./index.js";

/** Options in Node. */
export interface NodeOptions extends Options {
  /** The folder of undelivered recordings (TIMEMACHINE_SPOOL). */
  spool?: string | undefined;
  /** False does not wait for the disk: recordings survive the process, but not a power failure. */
  fsync?: boolean | undefined;
}

/**
 * Record, read and replay sessions. `url` and `apiKey` default to TIMEMACHINE_URL and TIMEMACHINE_API_KEY, else to the server on this
 * machine. What is recorded waits in files until it is delivered.
 */
export class TimeMachine extends BaseTimeMachine {
  constructor(options: NodeOptions = {}) {
    super(nodePlatform(options), options);
  }
}
