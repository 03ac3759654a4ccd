// A server with the write half of the Durable Streams protocol, in front of an engine that has only the read half. Used by the
// suite of the protocol, which creates the streams that it reads.
//
// A PUT starts a run whose step is under way, a POST appends chunks to its stream, and a close ends the run. Reads go to the
// engine, and its answers return with their status and headers. Only the messages are unpacked: `{"n":0,"chunk":x}` becomes `x`,
// and the message with the end of the run is left out. In streams of text and bytes, chunks are strings.

import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Transform } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { StreamMessage } from '@perdure/protocol'
import { onCleanup } from '../cleanup.ts'
import type { Api } from '../http/api.ts'
import { openStreamWriter } from '../runner/stream-writer.ts'

/** A chunk has at most 64 KiB as JSON; base64 turns three bytes into four characters. */
const PIECE_BYTES_MAX = 45_000

interface Codec {
  chunksOf(body: Buffer): unknown[]
  bodyOf(chunks: readonly unknown[]): Buffer
}

const JSON_CODEC: Codec = {
  chunksOf: body => [JSON.parse(String(body))].flat(),
  bodyOf: chunks => Buffer.from(JSON.stringify(chunks)),
}
const TEXT_CODEC: Codec = {
  chunksOf: body => [String(body)],
  bodyOf: chunks => Buffer.from(chunks.join('')),
}
const BYTES_CODEC: Codec = {
  chunksOf: body =>
    Array.from({ length: Math.ceil(body.length / PIECE_BYTES_MAX) }, (_, piece) =>
      body.subarray(piece * PIECE_BYTES_MAX, (piece + 1) * PIECE_BYTES_MAX).toString('base64'),
    ),
  bodyOf: chunks => Buffer.concat(chunks.map(chunk => Buffer.from(String(chunk), 'base64'))),
}

function codecOf(contentType: string): Codec {
  if (/^application\/json\b/i.test(contentType)) return JSON_CODEC
  return /^text\//i.test(contentType) ? TEXT_CODEC : BYTES_CODEC
}

interface BridgedStream {
  path: string
  contentType: string
  codec: Codec
  append(chunks: readonly unknown[]): Promise<unknown>
  end(): Promise<void>
  /** Resolves when all writes so far are stored. */
  written: Promise<unknown>
}

/** Opens a bridge to the engine. Resolves with its URL. */
export async function openWriteBridge(engineUrl: string, api: Api): Promise<string> {
  const bridge = new WriteBridge(engineUrl, api)
  const server = createServer((incoming, response) => {
    bridge.take(incoming, response).catch(error => response.destroy(error as Error))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onCleanup(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

class WriteBridge {
  readonly #streams = new Map<string, BridgedStream>()
  readonly #engineUrl: string
  readonly #api: Api

  constructor(engineUrl: string, api: Api) {
    this.#engineUrl = engineUrl
    this.#api = api
  }

  async take(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = '', query] = (incoming.url ?? '').split('?')
    const stream = this.#streams.get(path)
    if (incoming.method === 'PUT') return this.#create(path, incoming, response)
    if (incoming.method === 'POST') return this.#write(stream, incoming, response)
    if (incoming.method !== 'DELETE') return this.#read(stream, query, { incoming, response })
    response.writeHead(this.#streams.delete(path) ? 204 : 404).end()
  }

  async #create(path: string, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const isNew = !this.#streams.has(path)
    if (isNew) {
      const { path: opened, append, end } = await openStreamWriter(this.#engineUrl, this.#api)
      const contentType = incoming.headers['content-type'] ?? 'application/octet-stream'
      const writes = { append, end, written: Promise.resolve() }
      this.#streams.set(path, { path: opened, contentType, codec: codecOf(contentType), ...writes })
    }
    await this.#write(this.#streams.get(path), incoming, response, isNew ? 201 : 200)
  }

  async #write(stream: BridgedStream | undefined, incoming: IncomingMessage, response: ServerResponse, status = 204) {
    const body = await buffer(incoming)
    if (!stream) {
      response.writeHead(404).end()
      return
    }
    // Writers of one stream run one at a time: the engine expects the appends of a step in order.
    stream.written = stream.written.then(async () => {
      const isEnd = incoming.headers['stream-closed'] === 'true'
      const chunks = body.length === 0 ? [] : stream.codec.chunksOf(body)
      // A stream begins with its first chunk. A stream that ends without one gets a chunk that no reader sees.
      if (isEnd && chunks.length === 0) chunks.push('')
      if (chunks.length > 0) await stream.append(chunks)
      if (isEnd) await stream.end()
    })
    await stream.written
    const { headers } = await this.#api.request('HEAD', stream.path)
    response.writeHead(status, {
      'content-type': stream.contentType,
      'stream-next-offset': headers.get('stream-next-offset') ?? '',
      ...(headers.has('stream-closed') && { 'stream-closed': 'true' }),
    })
    response.end()
  }

  #read(
    stream: BridgedStream | undefined,
    query: string | undefined,
    { incoming, response }: { incoming: IncomingMessage; response: ServerResponse },
  ): void {
    const url = `${this.#engineUrl}${stream?.path ?? '/runs/run_none/streams/answer'}${query === undefined ? '' : `?${query}`}`
    const { method, headers } = incoming
    const passed = request(url, { method, headers }, answer => {
      const isEvents = answer.headers['content-type'] === 'text/event-stream'
      const isMessages = answer.statusCode === 200 && stream !== undefined && !isEvents
      const { 'content-length': _, ...kept } = answer.headers
      response.writeHead(answer.statusCode ?? 502, {
        ...(isMessages ? kept : answer.headers),
        ...(isMessages && { 'content-type': stream.contentType }),
      })
      response.flushHeaders()
      if (isMessages && method === 'GET') void unpackBody(answer, stream.codec).then(body => response.end(body))
      else if (isEvents && stream) answer.pipe(eventsUnpacked(stream.codec)).pipe(response)
      else answer.pipe(response)
    })
    passed.on('error', () => response.destroy())
    response.on('close', () => passed.destroy())
    passed.end()
  }
}

async function unpackBody(answer: IncomingMessage, codec: Codec): Promise<Buffer> {
  return codec.bodyOf(chunksIn(String(await buffer(answer))))
}

function chunksIn(messages: string): unknown[] {
  return (JSON.parse(messages) as StreamMessage[]).flatMap(message => ('chunk' in message ? [message.chunk] : []))
}

/** Unpacks each `data` event as it arrives, and forwards all other bytes. */
function eventsUnpacked(codec: Codec): Transform {
  let rest = ''
  return new Transform({
    transform(bytes: Buffer, _, done) {
      const events = (rest + bytes).split('\n\n')
      rest = events.pop() ?? ''
      for (const event of events) {
        const [, messages] = /^event: data\ndata:(.*)$/.exec(event) ?? []
        const chunks = messages === undefined ? undefined : chunksIn(messages)
        if (chunks === undefined) this.push(`${event}\n\n`)
        else if (chunks.length > 0) this.push(`event: data\n${dataLines(String(codec.bodyOf(chunks)))}\n\n`)
      }
      done()
    },
  })
}

function dataLines(text: string): string {
  return text
    .split('\n')
    .map(line => `data:${line}`)
    .join('\n')
}
