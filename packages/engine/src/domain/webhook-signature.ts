// Signatures of the Standard Webhooks format: HMAC-SHA256 over `id.timestamp.body` (decisions, "Webhooks").

import { createHmac } from 'node:crypto'

export const SECRET_PREFIX = 'whsec_'

/** The key a secret stands for: the bytes its base64 says, as every Standard Webhooks library reads it, else its text. */
export function signingKeyOf(secret: string): Buffer {
  const text = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret
  return isBase64(text) ? Buffer.from(text, 'base64') : Buffer.from(secret, 'utf8')
}

/** Whether the secret claims the standard's form (`whsec_`), and yet is not in it. */
export function isMalformedSecret(secret: string): boolean {
  return secret.startsWith(SECRET_PREFIX) && !isBase64(secret.slice(SECRET_PREFIX.length))
}

/** `v1,<base64>`. `timestamp` is in seconds. */
export function signature(
  secret: string,
  message: { id: string; timestamp: string; body: string | Buffer },
): string {
  const { id, timestamp, body } = message
  const digest = createHmac('sha256', signingKeyOf(secret)).update(`${id}.${timestamp}.`).update(body)
  return `v1,${digest.digest('base64')}`
}

function isBase64(text: string): boolean {
  return text.length > 0 && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text)
}
