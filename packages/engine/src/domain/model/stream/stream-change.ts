// The changes of output streams. None of them changes the row of the run.

import type { StreamHead, StreamRow } from './stream.ts'

export type StreamChange =
  /** Adds these rows to the stream. `head` is the stream afterwards, `before` its `next` until now; absent: the stream is new. */
  | { type: 'stream.written'; head: StreamHead; rows: readonly StreamRow[]; before?: number }
  /** Merges the rows from `n` up to `end` into one: consecutive chunks of one attempt. */
  | { type: 'stream.merged'; runId: string; name: string; n: number; end: number }
