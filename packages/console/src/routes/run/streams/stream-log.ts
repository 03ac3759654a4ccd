// The messages of an output stream and their state: each chunk with its step, and whether a rollback has withdrawn it. Messages
// may arrive twice, because a connection that replaces another repeats some. Pure.

/** A message in the form that the engine sends. If step and attempt are absent, they are those of the previous message. */
export type StreamMessage = { n: number; step?: string; attempt?: number } & (
  | { chunk: unknown }
  | { rollback: number; reason: 'failed' | 'lost' }
  | { end: string; continuedAs?: string }
)

export interface Chunk {
  kind: 'chunk'
  n: number
  value: unknown
  step: string
  attempt: number
  withdrawnBy?: Rollback
}

/** The withdrawal of chunks of an attempt. */
export interface Rollback {
  kind: 'rollback'
  n: number
  step: string
  attempt: number
  reason: 'failed' | 'lost'
  /** Number of withdrawn chunks. */
  count: number
}

export interface StreamEnd {
  kind: 'end'
  n: number
  status: string
  continuedAs?: string
}

export type Entry = Chunk | Rollback | StreamEnd

export class StreamLog {
  readonly entries: Entry[] = []
  end: StreamEnd | undefined
  /** Number of chunks that were not withdrawn. */
  chunks = 0
  #next = 0
  #step = ''
  #attempt = 1

  /** Adds messages in order. Returns whether any of them was new. */
  add(messages: readonly StreamMessage[]): boolean {
    const before = this.#next
    for (const message of messages) {
      this.#step = message.step ?? this.#step
      this.#attempt = message.attempt ?? this.#attempt
      if (message.n < this.#next) continue
      this.#next = message.n + 1
      this.entries.push(this.#entryOf(message))
    }
    return this.#next > before
  }

  #entryOf(message: StreamMessage): Entry {
    const place = { n: message.n, step: this.#step, attempt: this.#attempt }
    if ('chunk' in message) {
      this.chunks++
      return { kind: 'chunk', ...place, value: message.chunk }
    }
    if ('rollback' in message) {
      const rollback: Rollback = { kind: 'rollback', ...place, reason: message.reason, count: 0 }
      this.#withdraw(message.rollback, rollback)
      return rollback
    }
    const { n, end: status, continuedAs } = message
    this.end = { kind: 'end', n, status, ...(continuedAs !== undefined && { continuedAs }) }
    return this.end
  }

  #withdraw(from: number, rollback: Rollback): void {
    for (let i = this.entries.length - 1; i >= 0; i--) {
      const entry = this.entries[i] as Entry
      if (entry.n < from) return
      if (entry.kind !== 'chunk' || entry.step !== rollback.step || entry.withdrawnBy) continue
      entry.withdrawnBy = rollback
      rollback.count++
      this.chunks--
    }
  }
}

/** Consecutive texts of one attempt that are all valid, or were all withdrawn by one rollback. */
export interface TextPart {
  kind: 'text'
  n: number
  step: string
  attempt: number
  withdrawnBy: Rollback | undefined
  text: string
}

/** Returns the texts among the entries, joined where they belong together, with rollbacks and the end between them. */
export function textParts(entries: readonly Entry[]): (TextPart | Rollback | StreamEnd)[] {
  const parts: (TextPart | Rollback | StreamEnd)[] = []
  let texts: string[] = []
  let open: TextPart | undefined
  const close = () => {
    if (open) open.text = texts.join('')
    open = undefined
  }
  for (const entry of entries) {
    if (entry.kind !== 'chunk') {
      close()
      parts.push(entry)
      continue
    }
    const { n, value, step, attempt, withdrawnBy } = entry
    if (typeof value !== 'string') continue
    if (open?.step !== step || open.attempt !== attempt || open.withdrawnBy !== withdrawnBy) {
      close()
      open = { kind: 'text', n, step, attempt, withdrawnBy, text: '' }
      texts = []
      parts.push(open)
    }
    texts.push(value)
  }
  close()
  return parts
}

/** Returns the newest entries, at most this many, with texts of at most this many characters in total; at least one entry. */
export function newest(
  entries: readonly Entry[],
  { count, chars }: { count: number; chars: number },
): readonly Entry[] {
  let from = entries.length
  for (let left = chars; from > 0 && entries.length - from < count && left > 0; from--) {
    const entry = entries[from - 1] as Entry
    if (entry.kind === 'chunk' && typeof entry.value === 'string') left -= entry.value.length
  }
  return entries.slice(from)
}
