// Stores the appends of one pass to the output streams of its run: each is durable before it is acknowledged. Appends that wait
// are committed together. Used by checkpoint.ts, which makes the commits of the pass one after the other.

import { StaleError } from '../../../domain/model/errors.ts'
import { isSettled, nextAttempt } from '../../../domain/model/step.ts'
import type { RunState } from '../../../domain/run/state.ts'
import { type Append, type Refusal, readAppend } from '../../../domain/streams/append.ts'
import { type Streams, StreamsDraft } from '../../../domain/streams/streams-draft.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Store } from '../../../ports/store.ts'
import type { Announcer } from '../../commit/announce.ts'

/** A leased run. */
export interface StreamingRun {
  state: RunState
  /** Its output streams as they are stored, once a step of this lease has written to one. */
  streams?: Streams | undefined
}

export interface StreamAppendsDeps {
  store: Pick<Store, 'commit' | 'streams'>
  announcer: Pick<Announcer, 'announce'>
  clock: Pick<Clock, 'now'>
  owner: string
}

/** An append that was received, with its acknowledgement once that is known. */
export interface ReceivedAppend {
  payload: string
  ack: string
}

/** Loads the streams of a leased run, once per lease. */
export async function loadStreams(store: Pick<Store, 'streams'>, active: StreamingRun): Promise<Streams> {
  active.streams ??= new Map((await store.streams.heads(active.state.run.id)).map(head => [head.name, head]))
  return active.streams
}

export class StreamAppends {
  readonly #deps: StreamAppendsDeps
  readonly #active: StreamingRun
  readonly #pass: number
  /** The highest seq that is stored, by step and stream. */
  readonly #stored = new Map<string, number>()
  #waiting: ReceivedAppend[] = []

  constructor(deps: StreamAppendsDeps, active: StreamingRun, pass: number) {
    this.#deps = deps
    this.#active = active
    this.#pass = pass
  }

  /** Adds the append to the next `flush`, which sets its acknowledgement. */
  receive(payload: string): ReceivedAppend {
    const received = { payload, ack: '' }
    this.#waiting.push(received)
    return received
  }

  /** Makes everything that was received durable. False if the run has ended, or belongs to another engine. */
  async flush(): Promise<boolean> {
    const received = this.#waiting
    this.#waiting = []
    const { store, announcer, clock, owner } = this.#deps
    const active = this.#active
    const runId = active.state.run.id
    const draft = new StreamsDraft(runId, await loadStreams(store, active), clock.now())
    const stored = new Map<string, number>()
    for (const one of received) one.ack = this.#append(draft, one.payload, stored)
    const { changes } = draft
    if (changes.length === 0) return true
    try {
      await store.commit({ guards: [{ type: 'leased', runId, owner }], changes })
    } catch (error) {
      // The heads are read again, whether or not the commit succeeded.
      active.streams = undefined
      if (error instanceof StaleError) return false
      throw error
    }
    active.streams = draft.streams
    for (const [key, seq] of stored) this.#stored.set(key, seq)
    announcer.announce(changes)
    return true
  }

  #append(draft: StreamsDraft, payload: string, stored: Map<string, number>): string {
    const read = readAppend(payload)
    if ('refusal' in read) return ackText(read, read.refusal)
    const key = `${read.stepId}\n${read.name}`
    const newest = stored.get(key) ?? this.#stored.get(key) ?? 0
    // The append is stored, but its acknowledgement was lost.
    if (read.seq <= newest) return ackText(read)
    const refusal = this.#refusalOf(read, newest) ?? draft.append(read, this.#executionOf(read))
    if (!refusal) stored.set(key, read.seq)
    return ackText(read, refusal)
  }

  #refusalOf({ stepId, seq }: Append, newest: number): Refusal | undefined {
    if (isSettled(this.#active.state.steps.get(stepId)?.status ?? 'running'))
      return { code: 'gone', message: 'the step has settled' }
    if (seq === newest + 1) return undefined
    return { code: 'conflict', message: `seq ${seq} follows ${newest}: an append is missing` }
  }

  #executionOf({ stepId }: Append): { pass: number; attempt: number } {
    const step = this.#active.state.open.get(stepId)
    return { pass: this.#pass, attempt: step ? nextAttempt(step) : 1 }
  }
}

/** The payload of a `stream.ack`. */
function ackText({ stepId, name, seq }: { stepId?: unknown; name?: unknown; seq?: unknown }, error?: Refusal): string {
  return JSON.stringify({ stepId, name, seq, ...(error && { error }) })
}
