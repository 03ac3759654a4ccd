// Compresses long JSON answers for clients that accept it (docs/concepts.md#lists-and-cursors). Node's thread pool does the work,
// so the event loop continues. Used by reply.ts.

import type { Transform } from 'node:stream'
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib'

/** A shorter answer is sent uncompressed: compressing it would save no packet. */
export const COMPRESSED_CHARS_MIN = 8192
/** At this level lists of runs shrink to a tenth; higher levels take several times as long for little gain. */
const LEVEL = 4

export type Encoding = 'br' | 'gzip'

/** The best encoding that the `Accept-Encoding` header accepts and that the engine supports (RFC 9110, section 12.5.3). */
export function acceptedEncoding(header: string | string[] | undefined): Encoding | undefined {
  if (header === undefined) return undefined
  const weights = new Map<string, number>()
  for (const item of String(header).toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map(part => part.trim())
    const q = parameters.find(parameter => parameter.startsWith('q='))
    weights.set(name, q === undefined ? 1 : Number(q.slice(2)))
  }
  const weightOf = (name: Encoding) => weights.get(name) ?? weights.get('*') ?? 0
  const [br, gz] = [weightOf('br'), weightOf('gzip')]
  if (!(br > 0) && !(gz > 0)) return undefined
  return br >= gz ? 'br' : 'gzip'
}

export function compress(text: string, encoding: Encoding, done: (error: Error | null, bytes: Buffer) => void): void {
  const bytes = Buffer.from(text)
  if (encoding === 'gzip') gzip(bytes, { level: LEVEL }, done)
  else {
    const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants
    brotliCompress(bytes, { params: { [BROTLI_PARAM_QUALITY]: LEVEL, [BROTLI_PARAM_SIZE_HINT]: bytes.length } }, done)
  }
}

/** Compresses a stream. */
export function compressor(encoding: Encoding): Transform {
  if (encoding === 'gzip') return createGzip({ level: LEVEL })
  return createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: LEVEL } })
}
