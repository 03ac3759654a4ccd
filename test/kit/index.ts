// The test kit: engines, a runner without the SDK, a client, and the waits between them.

export { type Accepted, type Answer, Api } from './api.ts'
export { openBarrier } from './barrier.ts'
export { cut, hang, plain, reset } from './behaviour.ts'
export { onCleanup } from './cleanup.ts'
export { type CliOptions, type CliProcess, jsonLines, linesOf, perdure } from './cli-process.ts'
export { openDatabase } from './database.ts'
export { newStoreFile, type OpenEngine, openEngine } from './engine-in-process.ts'
export {
  EngineProcess,
  type Exit,
  type ProcessOptions,
  serveToTheEnd,
  startEngine,
} from './engine-process.ts'
export { JumpClock } from './jump-clock.ts'
export { type Executed, type Invoke, Ledger } from './ledger.ts'
export { type Handler, PlainRunner, type PlainRunnerOptions } from './plain-runner.ts'
export { freshSchema, POSTGRES_URL } from './postgres.ts'
export { type Post, postWebhook, type Scheme, signedHeaders } from './provider.ts'
export { REDIS_URL } from './redis.ts'
export { openRunner, overHttp } from './runner.ts'
export { type Seeded, seeded } from './seeded.ts'
export { openSink, type Received, type Sink } from './sink.ts'
export { readSse, type SseMessage, type SseResult } from './sse.ts'
export { child, emit, flow, type Results, run, type Step, StepFailure, sleep, step, wait } from './steps.ts'
export { tempStoreFile, unique, uniqueHere } from './temp.ts'
export { skipWait, waitsFor, wakesAt } from './travel.ts'
export { gate, until, within } from './until.ts'
export { discovered, type LogLine, type Opcode, opcode, type Reply, returned, stepId } from './wire.ts'
