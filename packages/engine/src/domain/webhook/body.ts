// What the body of a verified webhook means: the data of an event, or the first of a handshake (contract §4.6). Called
// by services/webhook/receivers.

import { isUtf8 } from 'node:buffer'
import { EngineError, invalid } from '../model/errors.ts'
import type { ReceiverScheme } from '../model/receiver.ts'
import { isDeeperThan, JSON_DEPTH_MAX, type JsonText } from '../text/json-text.ts'
import type { WebhookPost } from './schemes.ts'

const FORM = /^application\/x-www-form-urlencoded\s*(;|$)/i

/**
 * The body as JSON: to the letter when it is JSON, whatever its type says; of a form its fields; of other text a
 * string; undefined of an empty body. Throws when it is no text, or nests too deep.
 */
export function webhookData({ headers, rawBody }: WebhookPost): JsonText | undefined {
  if (rawBody.length === 0) return undefined
  if (!isUtf8(rawBody)) throw invalid('body', 'must be UTF-8')
  const text = rawBody.toString('utf8')
  const data = FORM.test(String(headers['content-type'])) ? formData(text) : textData(text)
  if (isDeeperThan(data, JSON_DEPTH_MAX))
    throw new EngineError('invalid_json', `the body nests deeper than ${JSON_DEPTH_MAX} levels`)
  return data
}

/**
 * What the provider wants to hear when it only tries out the URL: no event then. Slack sends a challenge, GitHub a
 * ping.
 */
export function handshakeReply(
  scheme: ReceiverScheme,
  { headers }: WebhookPost,
  data: JsonText | undefined,
): JsonText | undefined {
  if (scheme === 'github' && headers['x-github-event'] === 'ping') return '{}'
  if (scheme !== 'slack' || !data?.includes('url_verification')) return undefined
  const { type, challenge } = JSON.parse(data) as { type?: unknown; challenge?: unknown }
  if (type !== 'url_verification' || typeof challenge !== 'string') return undefined
  return JSON.stringify({ challenge })
}

function textData(text: string): JsonText {
  return isJson(text) ? text.trim() : JSON.stringify(text)
}

/** GitHub's forms and Slack's buttons have one field, `payload`, that carries the JSON. */
function formData(text: string): JsonText {
  const fields = new URLSearchParams(text)
  const payload = fields.get('payload')
  if (payload !== null && fields.size === 1 && isJson(payload)) return payload.trim()
  const names = [...new Set(fields.keys())]
  return JSON.stringify(Object.fromEntries(names.map(name => [name, oneOrAll(fields.getAll(name))])))
}

function oneOrAll(values: string[]): string | string[] {
  return values.length === 1 ? (values[0] as string) : values
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
