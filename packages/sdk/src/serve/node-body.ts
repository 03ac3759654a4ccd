// Reads the raw body of a Node request, bounded, even if a framework has read it before. Called by the adapters that get Node's
// request: node, express, fastify, and the API routes of Next.js; the other adapters use its messages.

import { Buffer } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { REQUEST_BYTES_MAX } from '../wire/limits.ts'

/** A request from a framework, which may have read and parsed the body already. */
export interface NodeRequest extends IncomingMessage {
  /** The parsed body; bytes or text if the framework is configured not to parse it. */
  body?: unknown
  /** The raw body, if a framework or its user keeps it next to the parsed body. */
  rawBody?: unknown
}

/** The raw body. `parsed`: a framework has parsed the body and not kept its bytes, which the signature covers. */
type BodyRead = Uint8Array | 'too large' | 'parsed'

export const BODY_PARSED_MESSAGE =
  'The body of this request was parsed before the invoke handler saw it, and the raw body is needed. Mount the ' +
  'handler before the body parser, exempt its path, or keep the bytes in `request.rawBody`'

/** The same for a web-standard `Request`. */
export const BODY_READ_MESSAGE =
  'The body of this request was read before the invoke handler saw it, and the raw body is needed. Mount the handler ' +
  'before the code that reads the body, exempt its path, or read a copy there (`request.clone()`)'

/** Reads a body and calls `done` once. Does not call it when the client disconnects. */
export function readNodeBody(request: NodeRequest, done: (body: BodyRead) => void): void {
  const kept = keptBytes(request)
  if (kept) done(kept.byteLength > REQUEST_BYTES_MAX ? 'too large' : kept)
  // A part of the body is gone as soon as other code has read.
  else if (request.readableEnded || request.readableDidRead) done('parsed')
  else if (Number(request.headers['content-length']) > REQUEST_BYTES_MAX) done('too large')
  else collect(request, done)
}

function keptBytes({ rawBody, body }: NodeRequest): Uint8Array | undefined {
  return asBytes(rawBody) ?? asBytes(body)
}

/** Returns the bytes of a body that is kept as bytes or as text; undefined for a parsed body. */
export function asBytes(kept: unknown): Uint8Array | undefined {
  if (typeof kept === 'string') return Buffer.from(kept)
  if (kept instanceof ArrayBuffer) return new Uint8Array(kept)
  return kept instanceof Uint8Array ? kept : undefined
}

function collect(request: IncomingMessage, done: (body: BodyRead) => void): void {
  const chunks: Buffer[] = []
  let bytes = 0
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.byteLength
    if (bytes <= REQUEST_BYTES_MAX) {
      chunks.push(chunk)
      return
    }
    chunks.length = 0
    request.removeAllListeners('data').removeAllListeners('end').resume()
    done('too large')
  })
  request.on('end', () => done(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)))
  request.on('error', () => undefined)
}
