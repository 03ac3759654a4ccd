// The runner under test as the suite sees it: a way to send it one invoke, and what it answers. http-runner.ts and
// connect-runner.ts implement it.

import type { InvokeContext, InvokeRequest, MemoEntry } from '@perdure/protocol'

/** The answer to an invoke, as the engine would receive it. */
export interface Answer {
  status: number
  /** The parsed body; undefined if it is not JSON. */
  body: unknown
}

/** One pass, in the few words that a check is about. */
export interface PassRequest {
  workflow: string
  data?: unknown
  /** The memo by names of steps (`roll:1` is the second `roll`), in the order in which they settled. */
  memo?: Record<string, MemoEntry>
  attempt?: number
  /** Further fields of `ctx`. */
  ctx?: Partial<InvokeContext> & Record<string, unknown>
  /** Changes the request before it is sent. */
  change?: (request: InvokeRequest) => object
}

export interface RunnerUnderTest {
  pass(request: PassRequest): Promise<Answer>
}

/** A rule of the protocol that the runner broke. The message says what was expected and what came. */
export class Fault extends Error {}
