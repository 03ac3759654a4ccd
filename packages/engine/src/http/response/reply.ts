// Answers with a JSON text, whole or as a stream, which fastify sends unchanged. A long text is compressed if the client accepts
// that.

import { pipeline, type Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { JsonText } from '../../domain/text/json-text.ts'
import { acceptedEncoding, COMPRESSED_CHARS_MIN, compress, compressor } from './encoding.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

/** A handler returns the reply, so that fastify waits for an answer that is still being compressed. */
export function sendJson(reply: FastifyReply, status: number, text: JsonText): FastifyReply {
  reply.code(status).header('content-type', JSON_TYPE)
  if (text.length < COMPRESSED_CHARS_MIN) return reply.send(text)
  const encoding = encodingOf(reply)
  // As bytes, which are outside the heap: a client that reads slowly must not hold a long text there.
  if (!encoding) return reply.send(Buffer.from(text))
  compress(text, encoding, (error, bytes) => {
    if (error) reply.send(error)
    else reply.header('content-encoding', encoding).send(bytes)
  })
  return reply
}

/** Sends the texts of the stream as they arrive. */
export function sendStream(reply: FastifyReply, texts: Readable): FastifyReply {
  reply.code(200).header('content-type', JSON_TYPE)
  const encoding = encodingOf(reply)
  if (!encoding) return reply.send(texts)
  // A fault of one end destroys the other; fastify sees the fault of the compressed stream.
  const compressed = pipeline(texts, compressor(encoding), () => {})
  return reply.header('content-encoding', encoding).send(compressed)
}

function encodingOf(reply: FastifyReply) {
  // A cache must not give the compressed answer to a client that cannot read it.
  const vary = reply.getHeader('vary')
  reply.header('vary', vary === undefined ? 'Accept-Encoding' : `${vary}, Accept-Encoding`)
  return acceptedEncoding(reply.request.headers['accept-encoding'])
}
