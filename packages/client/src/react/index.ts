// `perdure/react`: hooks that show one run in a browser, by a run token (docs/react.md).

export type { FollowedRun, FollowedRunError } from '../run-stream/follow-run.ts'
export type { RunStreamChunk } from '../run-stream/messages.ts'
export type { RunOptions } from './use-reader.ts'
export { type RunView, useRun } from './use-run.ts'
export { type ChainChunk, type StreamOptions, type StreamView, useStream } from './use-stream.ts'
