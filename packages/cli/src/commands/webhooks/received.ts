// A webhook that came in, judged and made fit to be shown.

import { verifyWebhook, type WebhookVerdict } from '@perdure/protocol'
import type { Colour, Paint } from '../../output/colour.ts'
import { plain, prettyJson } from '../../output/text.ts'
import { clockTime } from '../../output/time.ts'
import type { Post } from './listener.ts'

/** `unchecked`: it is signed, and no secret was given to check it with. */
export type Verdict = WebhookVerdict | 'unchecked'

export interface Received {
  receivedAt: string
  verdict: Verdict
  path: string
  headers: Record<string, string>
  /** JSON where it is JSON, else its text. */
  body: unknown
}

/** Those of interest: what else a sender sends may be a secret. */
const HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'content-type', 'user-agent']

const VERDICTS: Record<Verdict, readonly [text: string, colour: Colour]> = {
  verified: ['verified', 'green'],
  mismatch: ['NOT verified (not signed with this secret)', 'red'],
  stale: ['NOT verified (signed more than 300 s from now)', 'red'],
  unsigned: ['unsigned', 'yellow'],
  unchecked: ['NOT verified (there is no --secret)', 'yellow'],
}

/** The post as it is shown, judged at `now`. */
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

/** For people: when, whether to believe it, what of, and what it was answered; then its headers and its body. */
export function receivedLines(post: Received, answer: string, paint: Paint): string[] {
  const { receivedAt, verdict, path, headers, body } = post
  const [text, colour] = VERDICTS[verdict]
  const type = (body as { type?: unknown } | null)?.type
  const what = typeof type === 'string' ? [paint('bold', plain(type))] : []
  return [
    [paint('dim', clockTime(receivedAt)), paint(colour, text), ...what, plain(path), plain(answer)].join(
      '  ',
    ),
    ...Object.entries(headers).map(([name, value]) => `  ${paint('dim', `${name}:`)} ${plain(value)}`),
    ...prettyJson(body)
      .split('\n')
      .map(line => `  ${line}`),
  ]
}
