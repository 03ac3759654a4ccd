// Parts of the answers about output streams. Used by run-streams.ts.

import { type RunStream, STREAM_NAME_PATTERN } from '@perdure/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { invalid } from '../../../domain/model/errors.ts'
import { isTerminal } from '../../../domain/model/run.ts'
import type { StreamHead } from '../../../domain/model/stream/stream.ts'
import { chunksOf, offsetOf } from '../../../domain/streams/messages.ts'
import { timestamp } from '../../../domain/text/timestamp.ts'
import type { StreamPage } from '../../../ports/stream-reads.ts'
import type { StreamPart } from '../../live/stream-feed.ts'

const NAME = new RegExp(STREAM_NAME_PATTERN)

/** The `:name` of the path. */
export function pathName(request: FastifyRequest): string {
  const { name } = request.params as { name: string }
  if (!NAME.test(name)) throw invalid('name', `must match pattern "${STREAM_NAME_PATTERN}"`)
  return name
}

export function presentStream(head: StreamHead, ended: boolean): RunStream {
  const { name, chunks, bytes, firstAt, lastAt, dropped } = head
  return {
    name,
    chunks,
    bytes,
    firstAt: timestamp(firstAt),
    lastAt: timestamp(lastAt),
    ended,
    ...(dropped && { dropped }),
  }
}

/** The position after every message that existed when the page was read, including the end of the run. */
export function tailOf({ head, status }: Pick<StreamPage, 'head' | 'status'>): number {
  return (head?.next ?? 0) + (isTerminal(status) ? 1 : 0)
}

/** Returns the page as it would have been when `first` was read, without later messages. */
export function asOf(page: StreamPage, first: StreamPage): StreamPage {
  const end = first.head?.next ?? 0
  const rows = page.rows.filter(({ n }) => n < end)
  const last = rows.at(-1)
  // Rows may have been merged meanwhile.
  if (last?.chunks !== undefined && last.n + last.count > end) {
    const count = end - last.n
    rows[rows.length - 1] = { ...last, count, chunks: chunksOf(last).slice(0, count).join(',') }
  }
  return { ...first, rows }
}

type Position = Pick<StreamPart, 'next' | 'isUpToDate' | 'isClosed'>

/** Sets the headers with the reader's position. */
export function putPosition(reply: FastifyReply, { next, isUpToDate, isClosed }: Position, cursor?: string): void {
  reply.header('stream-next-offset', offsetOf(next))
  if (isUpToDate) reply.header('stream-up-to-date', 'true')
  if (isClosed) reply.header('stream-closed', 'true')
  if (cursor !== undefined) reply.header('stream-cursor', cursor)
}

/** Whether the client already has the answer with this tag. */
export function hasTag(request: FastifyRequest, etag: string): boolean {
  const given = request.headers['if-none-match'] ?? ''
  return given === '*' || given.split(',').some(tag => tag.trim().replace(/^W\//, '') === etag)
}

/** Writes the part as two server-sent events, in the form that the protocol's suite expects: no space after a field's colon. */
export function sseBytes({ text, count, next, isUpToDate, isClosed }: StreamPart, cursor: string): Buffer {
  const control = {
    streamNextOffset: offsetOf(next),
    ...(isClosed ? { streamClosed: true } : { streamCursor: cursor }),
    ...(isUpToDate && { upToDate: true }),
  }
  const data = count === 0 ? '' : `event: data\ndata:${text}\n\n`
  return Buffer.from(`${data}event: control\ndata:${JSON.stringify(control)}\n\n`)
}
