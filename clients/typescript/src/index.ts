export type { Fields, Kind, Layer, NewAction, Role, RoleName, Schemas, Significance } from "./actions.js";
export type { Api, Fetch } from "./connection.js";
export { ClientError, NoServer, NotRecorded, NotUnderstood, Refused, Unreachable, type Facts } from "./errors.js";
export type { paths } from "./generated/schema.js";
export type { Context, Options, RecallOptions, Resumed, SessionFilter, SessionOptions, Transcript, TurnFilter } from "./machine.js";
export { ReplayResult, RunningReplay, type ReplayOptions } from "./replays.js";
export { Session, type AskOptions, type Call, type FindOptions, type PutOptions, type State, type Waiting } from "./session.js";
export type { Usage } from "./usage.js";
