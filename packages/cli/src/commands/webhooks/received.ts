// Verifies a received webhook and formats it for output.

import { verifyWebhook, type WebhookVerdict } from '@perdure/protocol'
import type { Colour, Paint } from '../../output/colour.ts'
import { plain, prettyJson } from '../../output/text.ts'
import { clockTime } from '../../output/time.ts'
import type { Post } from './listener.ts'

/** `unchecked`: the webhook is signed, but no secret was given to verify it. */
type Verdict = WebhookVerdict | 'unchecked'

export interface Received {
  receivedAt: string
  verdict: Verdict
  path: string
  headers: Record<string, string>
  /** The parsed JSON, or the text of a body that is not JSON. */
  body: unknown
}

/** The headers that are shown. Others may contain secrets of the sender. */
const HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'content-type', 'user-agent']

const VERDICTS: Record<Verdict, readonly [text: string, colour: Colour]> = {
  verified: ['verified', 'green'],
  mismatch: ['NOT verified (not signed with this secret)', 'red'],
  stale: ['NOT verified (signed more than 300 s before or after now)', 'red'],
  unsigned: ['unsigned', 'yellow'],
  unchecked: ['NOT verified (there is no --secret)', 'yellow'],
}

/** The post in the form to show, verified at the time `now`. */
export function received({ path, headers, body }: Post, secret: string | undefined, now: number): Received {
  return {
    receivedAt: new Date(now).toISOString(),
    verdict: verdictOf({ headers, body }, secret, now),
    path,
    headers: Object.fromEntries(
      HEADERS.flatMap(name => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
    ),
    body: jsonOrText(body.toString('utf8')),
  }
}

function verdictOf(post: Pick<Post, 'headers' | 'body'>, secret: string | undefined, nowMs: number): Verdict {
  if (secret !== undefined) return verifyWebhook({ ...post, secret, nowMs })
  return post.headers['webhook-signature'] === undefined ? 'unsigned' : 'unchecked'
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Lines for people: time, verdict, event type, path and answer on the first line, then headers and body. */
export function receivedLines(post: Received, answer: string, paint: Paint): string[] {
  const { receivedAt, verdict, path, headers, body } = post
  const [text, colour] = VERDICTS[verdict]
  const type = (body as { type?: unknown } | null)?.type
  const what = typeof type === 'string' ? [paint('bold', plain(type))] : []
  return [
    [paint('dim', clockTime(receivedAt)), paint(colour, text), ...what, plain(path), plain(answer)].join('  '),
    ...Object.entries(headers).map(([name, value]) => `  ${paint('dim', `${name}:`)} ${plain(value)}`),
    ...prettyJson(body)
      .split('\n')
      .map(line => `  ${line}`),
  ]
}
