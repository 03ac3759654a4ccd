// Reads the body of a verified webhook: the data of an event (docs/webhooks.md#the-event), or a handshake of the provider.
// Called by services/webhook/inbound.

import { isUtf8 } from 'node:buffer'
import { EngineError, invalid } from '../model/errors.ts'
import type { ReceiverScheme } from '../model/receiver.ts'
import { isDeeperThan, JSON_DEPTH_MAX, type JsonText } from '../text/json-text.ts'
import type { WebhookPost } from './schemes.ts'

const FORM = /^application\/x-www-form-urlencoded\s*(;|$)/i

/**
 * The body as JSON: unchanged if it is JSON, whatever its content type; for a form an object of its fields; for any other
 * text a string; undefined for an empty body. Throws if the body is not UTF-8 or nests too deeply.
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

/** The reply to a request of a provider that only checks the URL and so is no event: Slack sends a challenge, GitHub a ping. */
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

/** The fields of a form. The forms of GitHub and Slack have one field, `payload`, with the JSON in it. */
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
