// Hands on what `perdure webhooks listen` takes, to the byte, so that whoever gets it can verify it too.

/** Just below the 15 s that the engine waits for an answer. */
const TIMEOUT_MS = 14_000
const BAD_GATEWAY = 502

export interface Answer {
  /** Of the destination; 502 when it has not answered. */
  status: number
  /** Why there is none of the destination. */
  error?: string
}

/** Posts it to `url`. Redirects are not followed, as the engine follows none. Never rejects. */
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
