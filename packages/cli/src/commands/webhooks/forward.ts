// Forwards the webhooks of `perdure webhooks listen` byte for byte, so that their receiver can verify them too.

/** Just below the 15 s that the engine waits for an answer. */
const TIMEOUT_MS = 14_000
const BAD_GATEWAY = 502

export interface Answer {
  /** Status of the destination; 502 when it did not answer. */
  status: number
  /** Why the destination did not answer. */
  error?: string
}

/** Posts the webhook to `url`. Like the engine, it follows no redirects. Never rejects. */
export async function forward(
  url: string,
  post: { headers: Record<string, string>; body: Buffer },
  signal: AbortSignal,
): Promise<Answer> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: post.headers,
      body: new Uint8Array(post.body),
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    })
    await response.body?.cancel()
    return { status: response.status }
  } catch (error) {
    const { message, cause } = error as Error
    return { status: BAD_GATEWAY, error: cause instanceof Error ? cause.message : message }
  }
}
