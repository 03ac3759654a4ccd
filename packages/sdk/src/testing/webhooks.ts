// The world outside: takes every webhook the engine sends, notes it, and answers as told. Nothing leaves the process.

import type { SendCall, Sender, SendReply } from '@perdure/engine'

/** How a webhook is answered: a status, all of an answer, or a failure on the way. */
export type WebhookAnswer =
  | number
  | { status: number; body?: string; retryAfterMs?: number }
  | 'timeout'
  | 'connection-error'

/** One POST, as it arrived. */
export interface SentWebhook {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The body, parsed. */
  readonly body: unknown
  /** The delivery it is an attempt of. */
  readonly deliveryId: string | undefined
  /** Virtual time. */
  readonly at: Date
  readonly answer: WebhookAnswer
}

/** Answers to one URL: for every POST, or one after the other, the last for all that follow. */
export type WebhookAnswers = WebhookAnswer | readonly WebhookAnswer[]

export class WebhookRecorder implements Sender {
  readonly sent: SentWebhook[] = []
  readonly #answers = new Map<string, WebhookAnswer[]>()
  readonly #now: () => number

  constructor(now: () => number, answers: Readonly<Record<string, WebhookAnswers>> = {}) {
    this.#now = now
    for (const [url, list] of Object.entries(answers)) this.answer(url, list)
  }

  /** From now on that URL answers so. */
  answer(url: string, answers: WebhookAnswers): void {
    this.#answers.set(url, typeof answers === 'object' && 'length' in answers ? [...answers] : [answers])
  }

  async send({ url, headers, body, timeoutMs }: SendCall): Promise<SendReply> {
    const answer = this.#next(url)
    this.sent.push({
      url,
      headers,
      body: parse(body),
      deliveryId: headers['webhook-id'],
      at: new Date(this.#now()),
      answer,
    })
    if (answer === 'timeout') return { kind: 'timeout', error: 'timeout', durationMs: timeoutMs }
    if (answer === 'connection-error')
      return { kind: 'connectionError', error: 'connection reset', durationMs: 0 }
    const { status, body: text = '', retryAfterMs } = typeof answer === 'number' ? { status: answer } : answer
    const retry = retryAfterMs === undefined ? {} : { retryAfterMs }
    return { kind: 'answered', status, responseSnippet: text, durationMs: 0, ...retry }
  }

  /** Part of the port; there is nothing to close. */
  async close(): Promise<void> {}

  #next(url: string): WebhookAnswer {
    const answers = this.#answers.get(url) ?? []
    return (answers.length > 1 ? answers.shift() : answers[0]) ?? 200
  }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}
