// Requests to an app, and the error bodies of its answers.

import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'

export const JSON_TYPE = { 'content-type': 'application/json' }

/** Opens a port for the app; returns its number. */
export async function listen(app: FastifyInstance): Promise<number> {
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}

/** Posts a body exactly as given, as JSON. */
export function postJson(app: FastifyInstance, url: string, payload: string | Buffer, headers = {}) {
  return app.inject({ method: 'POST', url, payload, headers: { ...JSON_TYPE, ...headers } })
}

/** Status and code of an error answer, after a check of its body's shape. */
export function refusal(response: { statusCode: number; body: string; headers: object }): string {
  const { error, ...rest } = JSON.parse(response.body)
  const complete = Object.keys(rest).length === 0 && typeof error.message === 'string' && error.message !== ''
  const { 'x-request-id': requestId } = response.headers as Record<string, unknown>
  if (!complete || typeof error.requestId !== 'string' || error.requestId !== requestId) {
    throw new Error(`not an error body: ${response.body}`)
  }
  return `${response.statusCode} ${error.code}`
}

/** The message of an error answer. */
export function messageOf(response: { body: string }): string {
  return JSON.parse(response.body).error.message
}
