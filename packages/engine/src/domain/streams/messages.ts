// The messages of an output stream as readers get them: JSON texts, made from the stream's rows (docs/streams.md#messages).

import type { RunStatus } from '../model/run.ts'
import type { StreamRow } from '../model/stream/stream.ts'
import { shownRunId } from '../text/ids.ts'
import { arrayElements, type JsonText, QUOTE } from '../text/json-text.ts'

/** The number of a message, as the position after the earlier messages. */
export function offsetOf(n: number): string {
  return String(n).padStart(16, '0')
}

/** The messages of the rows from the number `from` on. The first one names its step: a reader may begin anywhere. */
export function messagesOf(rows: readonly StreamRow[], from: number): JsonText[] {
  const messages: JsonText[] = []
  let before: StreamRow | undefined
  for (const row of rows) {
    const { n, step, attempt, chunks, rollback, reason } = row
    const names = `,"step":${JSON.stringify(step)},"attempt":${attempt}`
    if (chunks === undefined) {
      if (n >= from) messages.push(`{"n":${n},"rollback":${rollback}${names},"reason":"${reason}"}`)
    } else {
      let isNamed = messages.length > 0 && before?.step === step && before.attempt === attempt
      for (const [i, chunk] of chunksOf(row).entries()) {
        if (n + i < from) continue
        messages.push(`{"n":${n + i},"chunk":${chunk}${isNamed ? '' : names}}`)
        isNamed = true
      }
    }
    before = row
  }
  return messages
}

/** The last message of a stream. */
export function endMessage(n: number, { status, continuedAs }: { status: RunStatus; continuedAs?: string }): JsonText {
  const next = continuedAs === undefined ? '' : `,"continuedAs":${JSON.stringify(shownRunId(continuedAs))}`
  return `{"n":${n},"end":"${status}"${next}}`
}

export function chunksOf({ chunks = '' }: Pick<StreamRow, 'chunks'>): JsonText[] {
  return arrayElements(`[${chunks}]`)
}

/**
 * The text of those chunks from the number `from` on that are strings, without the chunks that the rollbacks of the stream
 * withdraw. The first row may begin before `from`: rows may have been merged since the previous page was read.
 */
export function countedText(rows: readonly StreamRow[], rollbacks: readonly StreamRow[], from: number): string {
  let text = ''
  for (const row of rows) {
    if (row.chunks === undefined) continue
    const end = Math.max(0, withdrawnFrom(row, rollbacks) - row.n)
    for (const chunk of chunksOf(row).slice(Math.max(0, from - row.n), end))
      if (chunk.charCodeAt(0) === QUOTE) text += JSON.parse(chunk)
  }
  return text
}

/** The first message of the row that a later rollback withdraws, or infinity. */
function withdrawnFrom({ n, step }: StreamRow, rollbacks: readonly StreamRow[]): number {
  const own = rollbacks.filter(rollback => rollback.n > n && rollback.step === step)
  return Math.min(...own.map(({ rollback }) => Math.max(n, rollback ?? n)), Number.POSITIVE_INFINITY)
}
