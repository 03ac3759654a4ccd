// Decides the writes to the output streams of a run: appends of its steps, and rollbacks of chunks that no longer count. The
// draft does not change the heads that it starts from; they are replaced once its changes are durable.

import { STREAM_BYTES_MAX, STREAM_CHUNKS_MAX, STREAMS_OF_RUN_MAX } from '@perdure/protocol'
import type { Change } from '../model/change.ts'
import type { OpenPart, RollbackReason, StreamHead, StreamRow } from '../model/stream/stream.ts'
import { type Append, type Refusal, tooLarge } from './append.ts'

/** The streams of a run, by name. */
export type Streams = ReadonlyMap<string, StreamHead>

/** A stream may have this many times its maximum if withdrawn chunks are included. */
const WITHDRAWN_FACTOR = 4

interface Written {
  head: StreamHead
  /** `next` of the stored head; absent: the stream is new. */
  before: number | undefined
  rows: StreamRow[]
}

export class StreamsDraft {
  /** Chunks that the changes settle or withdraw: rows from the first of these on may be merged. */
  readonly closed: { name: string; first: number }[] = []
  readonly #runId: string
  readonly #base: Streams
  readonly #now: number
  readonly #written = new Map<string, Written>()

  constructor(runId: string, base: Streams, now: number) {
    this.#runId = runId
    this.#base = base
    this.#now = now
  }

  /** Appends the chunks, or returns why not. Chunks of an earlier, lost execution of the step are withdrawn first. */
  append(sent: Append, { pass, attempt }: Pick<OpenPart, 'pass' | 'attempt'>): Refusal | undefined {
    const { stepId, step, name } = sent
    const refusal = this.#overBounds(sent)
    if (refusal) return refusal
    const earlier = this.#head(name)?.open.find(({ id }) => id === stepId)
    if (earlier && earlier.pass !== pass) this.#rollBack(name, earlier, 'lost')
    const written = this.#write(name)
    const { head } = written
    this.#add(written, { step, attempt, chunks: sent.chunks })
    const own = head.open.find(({ id }) => id === stepId)
    const part = own ?? { id: stepId, step, attempt, pass, first: head.next, chunks: 0, bytes: 0 }
    const grown = { ...part, chunks: part.chunks + sent.chunks.length, bytes: part.bytes + sent.bytes }
    written.head = {
      ...head,
      next: head.next + sent.chunks.length,
      chunks: head.chunks + sent.chunks.length,
      bytes: head.bytes + sent.bytes,
      allChunks: head.allChunks + sent.chunks.length,
      allBytes: head.allBytes + sent.bytes,
      lastAt: this.#now,
      open: own ? head.open.map(one => (one === own ? grown : one)) : [...head.open, grown],
    }
    return undefined
  }

  /** Withdraws the open chunks that `isMeant` selects, in every stream. */
  rollBack(reason: RollbackReason, isMeant: (part: OpenPart) => boolean): void {
    for (const name of this.#base.keys())
      for (const part of this.#head(name)?.open ?? []) if (isMeant(part)) this.#rollBack(name, part, reason)
  }

  /** Settles the open chunks that `isMeant` selects: they count for good. */
  settle(isMeant: (part: OpenPart) => boolean): void {
    for (const name of this.#base.keys()) {
      const head = this.#head(name)
      if (!head?.open.some(isMeant)) continue
      for (const { first } of head.open.filter(isMeant)) this.closed.push({ name, first })
      this.#write(name).head = { ...head, open: head.open.filter(part => !isMeant(part)) }
    }
  }

  get changes(): Change[] {
    return [...this.#written.values()].map(({ head, before, rows }) => ({
      type: 'stream.written',
      head,
      rows,
      ...(before !== undefined && { before }),
    }))
  }

  /** The streams once the changes are durable. */
  get streams(): Streams {
    const streams = new Map(this.#base)
    for (const [name, { head }] of this.#written) streams.set(name, head)
    return streams
  }

  #head(name: string): StreamHead | undefined {
    return this.#written.get(name)?.head ?? this.#base.get(name)
  }

  #write(name: string): Written {
    const known = this.#written.get(name)
    if (known) return known
    const stored = this.#base.get(name)
    const written = { head: stored ?? this.#newHead(name), before: stored?.next, rows: [] }
    this.#written.set(name, written)
    return written
  }

  #newHead(name: string): StreamHead {
    const none = { next: 0, chunks: 0, bytes: 0, allChunks: 0, allBytes: 0 }
    return { runId: this.#runId, name, ...none, firstAt: this.#now, lastAt: this.#now, open: [] }
  }

  /** Adds chunks. Chunks that follow those of the same execution are added to their row. */
  #add(written: Written, { step, attempt, chunks }: Pick<Append, 'step' | 'chunks'> & { attempt: number }): void {
    const text = chunks.join(',')
    const last = written.rows.at(-1)
    if (last?.chunks !== undefined && last.step === step && last.attempt === attempt) {
      last.chunks += `,${text}`
      last.count += chunks.length
      return
    }
    const { next: n, name } = written.head
    written.rows.push({ runId: this.#runId, name, n, count: chunks.length, step, attempt, at: this.#now, chunks: text })
  }

  #rollBack(name: string, part: OpenPart, reason: RollbackReason): void {
    const written = this.#write(name)
    const { head } = written
    const { step, attempt, first: rollback } = part
    this.closed.push({ name, first: part.first })
    written.rows.push({
      runId: this.#runId,
      name,
      n: head.next,
      count: 1,
      step,
      attempt,
      at: this.#now,
      rollback,
      reason,
    })
    written.head = {
      ...head,
      next: head.next + 1,
      chunks: head.chunks - part.chunks,
      bytes: head.bytes - part.bytes,
      lastAt: this.#now,
      open: head.open.filter(one => one !== part),
    }
  }

  #overBounds({ name, chunks, bytes }: Append): Refusal | undefined {
    const head = this.#head(name)
    if (!head) {
      const count = new Set([...this.#base.keys(), ...this.#written.keys()]).size
      if (count < STREAMS_OF_RUN_MAX) return undefined
      return tooLarge(`stream "${name}" would exceed the limit of ${STREAMS_OF_RUN_MAX} streams for one run`)
    }
    const counted = { chunks: head.chunks + chunks.length, bytes: head.bytes + bytes }
    const all = { chunks: head.allChunks + chunks.length, bytes: head.allBytes + bytes }
    if (counted.chunks > STREAM_CHUNKS_MAX) return over(name, `${STREAM_CHUNKS_MAX} chunks`)
    if (counted.bytes > STREAM_BYTES_MAX) return over(name, `${STREAM_BYTES_MAX} bytes`)
    if (all.chunks > WITHDRAWN_FACTOR * STREAM_CHUNKS_MAX)
      return over(name, `${WITHDRAWN_FACTOR * STREAM_CHUNKS_MAX} chunks, including withdrawn ones`)
    if (all.bytes > WITHDRAWN_FACTOR * STREAM_BYTES_MAX)
      return over(name, `${WITHDRAWN_FACTOR * STREAM_BYTES_MAX} bytes, including withdrawn chunks`)
    return undefined
  }
}

function over(name: string, bound: string): Refusal {
  return tooLarge(`stream "${name}" would exceed its limit of ${bound}`)
}
