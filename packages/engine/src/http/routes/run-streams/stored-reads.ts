// Answers with what is stored of an output stream: its messages up to the tail, or the text that counts. Used by run-streams.ts.

import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isTerminal } from '../../../domain/model/run.ts'
import { countedText } from '../../../domain/streams/messages.ts'
import type { StreamName, StreamPage, StreamReads } from '../../../ports/stream-reads.ts'
import { partOf } from '../../live/stream-feed.ts'
import { asOf, hasTag, putPosition, tailOf } from './stream-answers.ts'

/** The offsets of the first message, and of messages written from now on. */
export const START = '-1'
export const NOW = 'now'

/** A read of a stream. */
export interface OpenedStream {
  stream: StreamName
  offset: string
  /** The position of the first message. */
  from: number
  /** The page at that position. */
  page: StreamPage
}

export interface Exchange {
  request: FastifyRequest
  reply: FastifyReply
}

/** Sends every message up to the tail: a client that does not follow the stream reads once. */
export async function sendMessages(streams: StreamReads, { request, reply }: Exchange, opened: OpenedStream) {
  const { from, page, offset } = opened
  const tail = tailOf(page)
  const isClosed = isTerminal(page.status)
  putPosition(reply, { next: tail, isUpToDate: true, isClosed })
  if (offset === NOW) reply.header('cache-control', 'no-store')
  else {
    const etag = `"${from}:${tail}${isClosed ? ':c' : ''}"`
    reply.headers({ etag, 'cache-control': 'private, no-cache' })
    if (hasTag(request, etag)) return reply.code(304).send()
  }
  reply.code(200).header('content-type', 'application/json')
  return reply.send(Readable.from(jsonOf(streams, opened, tail)))
}

/** The JSON array of the messages that existed when the first page was read. */
async function* jsonOf(streams: StreamReads, { stream, from, page: first }: OpenedStream, tail: number) {
  let separator = '['
  let position = from
  for (let page: StreamPage | undefined = first; page; page = await streams.page(stream, position)) {
    const part = partOf(asOf(page, first), position)
    if (part.count > 0) {
      yield Buffer.from(`${separator}${part.text.slice(1, -1)}`)
      separator = ','
    }
    position = part.next
    if (position >= tail || part.isUpToDate) break
  }
  yield Buffer.from(separator === '[' ? '[]' : ']')
}

/** The text that counts, as it was when the first page was read. */
export async function sendText(streams: StreamReads, reply: FastifyReply, { stream, from, page: first }: OpenedStream) {
  const end = first.head?.next ?? 0
  const rollbacks = (await streams.rollbacks(stream)).filter(({ n }) => n < end)
  reply.code(200).headers({ 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'private, no-cache' })
  async function* texts() {
    let position = from
    for (let page: StreamPage | undefined = first; page; page = await streams.page(stream, position)) {
      const { rows } = asOf(page, first)
      yield Buffer.from(countedText(rows, rollbacks, position))
      const last = rows.at(-1)
      position = last ? last.n + last.count : end
      if (position >= end) return
    }
  }
  return reply.send(Readable.from(texts()))
}
