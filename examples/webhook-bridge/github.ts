// Simulates GitHub: posts a push with GitHub's signature.

import { createHmac } from 'node:crypto'
import type { Push } from './workflows.ts'

export interface Delivery {
  url: string
  secret: string
  /** GitHub's id of the message, which is the same when it repeats the post. */
  id: string
  push: Push
}

export async function postPush({ url, secret, id, push }: Delivery) {
  const body = JSON.stringify(push)
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'push',
      'x-github-delivery': id,
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    },
    body,
  })
  return { status: response.status, answer: (await response.json()) as Record<string, unknown> }
}
