// Receives every webhook that the engine sends, records it, and returns the answer that the test has set. No request
// leaves the process. Created by test-engine.ts.

import type { SendCall, Sender, SendReply } from '@perdure/engine'

/** The answer to a webhook: a status, a whole response, or a failed connection. */
export type WebhookAnswer =
  | number
  | { status: number; body?: string; retryAfterMs?: number }
  | 'timeout'
  | 'connection-error'

/** One POST of the engine. */
export interface SentWebhook {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The parsed body. */
  readonly body: unknown
  /** The delivery that this POST is an attempt of. */
  readonly deliveryId: string | undefined
  /** Virtual time of the POST. */
  readonly at: Date
  readonly answer: WebhookAnswer
}

/** Answers to the POSTs to one URL: one for all, or several in order. The last one repeats. */
export type WebhookAnswers = WebhookAnswer | readonly WebhookAnswer[]

export class WebhookRecorder implements Sender {
  readonly sent: SentWebhook[] = []
  readonly #answers = new Map<string, WebhookAnswer[]>()
  readonly #now: () => number

  constructor(now: () => number, answers: Readonly<Record<string, WebhookAnswers>> = {}) {
    this.#now = now
    for (const [url, list] of Object.entries(answers)) this.answer(url, list)
  }

  /** Sets the answers to POSTs to a URL. */
  answer(url: string, answers: WebhookAnswers): void {
    this.#answers.set(url, typeof answers === 'object' && 'length' in answers ? [...answers] : [answers])
  }

  async send({ url, headers, body, timeoutMs }: SendCall): Promise<SendReply> {
    const answers = this.#answers.get(url) ?? []
    const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? 200
    this.sent.push({
      url,
      headers,
      body: parse(body),
      deliveryId: headers['webhook-id'],
      at: new Date(this.#now()),
      answer,
    })
    if (answer === 'timeout') return { kind: 'timeout', error: 'timeout', durationMs: timeoutMs }
    if (answer === 'connection-error') return { kind: 'connectionError', error: 'connection reset', durationMs: 0 }
    const { status, body: text = '', retryAfterMs } = typeof answer === 'number' ? { status: answer } : answer
    const retry = retryAfterMs === undefined ? {} : { retryAfterMs }
    return { kind: 'answered', status, responseSnippet: text, durationMs: 0, ...retry }
  }

  /** Required by the port; there is nothing to close. */
  async close(): Promise<void> {}
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}
