// The test kit: engines, runners without the SDK, a client, and the waits between them.

export { onCleanup } from './cleanup.ts'
export { type CliOptions, CommandHost, jsonLines, linesOf, perdure } from './engine/cli-process.ts'
export { openDatabase } from './engine/database.ts'
export { newStoreFile, type OpenEngine, openEngine } from './engine/engine-in-process.ts'
export {
  EngineProcess,
  type Exit,
  type ProcessOptions,
  serveToTheEnd,
  startEngine,
} from './engine/engine-process.ts'
export { JumpClock } from './engine/jump-clock.ts'
export { skipWait, waitsFor, waitsForStart, wakesAt } from './engine/parked-runs.ts'
export { openEngines, openKeyed, PLACES, STORES } from './engine/stores.ts'
export { type Accepted, type Answer, Api } from './http/api.ts'
export { apiKeys, keyOf } from './http/keys.ts'
export { readSse, type SseMessage, type SseResult } from './http/sse.ts'
export { cut, hang, plain, reset } from './runner/behaviour.ts'
export { undoing } from './runner/cleanup-handler.ts'
export { type Handler, PlainRunner, type PlainRunnerOptions } from './runner/plain-runner.ts'
export { openRunner, overHttp } from './runner/runner.ts'
export { type Executed, type Invoke, RunnerRecord } from './runner/runner-record.ts'
export {
  child,
  emit,
  flow,
  run,
  type Step,
  StepFailure,
  sleep,
  step,
  wait,
} from './runner/steps.ts'
export { discovered, ENGINE_FEATURES, type LogLine, opcode, type Reply, returned, stepId } from './runner/wire.ts'
export { scenario } from './scenario.ts'
export { type Seeded, seeded } from './seeded.ts'
export { freshSchema, POSTGRES_URL } from './servers/postgres.ts'
export { REDIS_URL } from './servers/redis.ts'
export { tempStoreFile, unique } from './temp.ts'
export { type Gate, gate, until, within } from './until.ts'
export { acts, type Destination, openDestination } from './webhook/destination.ts'
export { postWebhook, type Scheme, signedHeaders } from './webhook/provider.ts'
