// Answers with a JSON text, which fastify sends unchanged.

import type { FastifyReply } from 'fastify'
import type { JsonText } from '../../domain/text/json-text.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

export function sendJson(reply: FastifyReply, status: number, text: JsonText): FastifyReply {
  return reply.code(status).header('content-type', JSON_TYPE).send(text)
}
