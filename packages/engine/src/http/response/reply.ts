// Answers with a JSON text, which fastify sends unchanged. A long one is compressed if the client accepts that.

import type { FastifyReply } from 'fastify'
import type { JsonText } from '../../domain/text/json-text.ts'
import { acceptedEncoding, COMPRESSED_CHARS_MIN, compress } from './encoding.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

/** A handler returns the reply: fastify then waits for an answer that is still being compressed. */
export function sendJson(reply: FastifyReply, status: number, text: JsonText): FastifyReply {
  reply.code(status).header('content-type', JSON_TYPE)
  if (text.length < COMPRESSED_CHARS_MIN) return reply.send(text)
  // A cache must not hand the compressed answer to a client that cannot read it.
  const vary = reply.getHeader('vary')
  reply.header('vary', vary === undefined ? 'Accept-Encoding' : `${vary}, Accept-Encoding`)
  const encoding = acceptedEncoding(reply.request.headers['accept-encoding'])
  if (!encoding) return reply.send(text)
  compress(text, encoding, (error, bytes) => {
    if (error) reply.send(error)
    else reply.header('content-encoding', encoding).send(bytes)
  })
  return reply
}
