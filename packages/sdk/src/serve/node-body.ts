// The raw body of a Node request, bounded, also when the framework around has read it before. Called by the
// adapters that are given Node's own request: node, express, fastify, and Next's API routes.

import { Buffer } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { REQUEST_BYTES_MAX } from '../limits.ts'

/** A request as a framework hands it over: its body may have been read and parsed already. */
export interface NodeRequest extends IncomingMessage {
  /** The parsed body; bytes if the framework was told to leave it raw. */
  body?: unknown
  /** The bytes, where a framework or its user keeps them beside the parsed body. */
  rawBody?: unknown
}

/** `parsed`: the bytes are gone, and with them what the signature is over. */
export type BodyRead = Uint8Array | 'too large' | 'parsed'

export const BODY_PARSED =
  'The body of this request was parsed before the invoke handler saw it, and the raw body is needed. Mount the ' +
  'handler before the body parser, exempt its path, or keep the bytes in `request.rawBody`'

/** Collects a body and hands it over, once; hands over nothing when the client goes away. */
export function readNodeBody(request: NodeRequest, done: (body: BodyRead) => void): void {
  const kept = keptBytes(request)
  if (kept) done(kept.byteLength > REQUEST_BYTES_MAX ? 'too large' : kept)
  else if (request.readableEnded) done('parsed')
  else if (Number(request.headers['content-length']) > REQUEST_BYTES_MAX) done('too large')
  else collect(request, done)
}

function keptBytes({ rawBody, body }: NodeRequest): Uint8Array | undefined {
  if (typeof rawBody === 'string') return Buffer.from(rawBody)
  if (rawBody instanceof Uint8Array) return rawBody
  return body instanceof Uint8Array ? body : undefined
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
