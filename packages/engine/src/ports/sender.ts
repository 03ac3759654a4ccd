// The Sender port: one POST of a webhook delivery to a customer's server.

export interface SendCall {
  url: string
  headers: Record<string, string>
  body: string
  timeoutMs: number
}

export type SendReply =
  /** `responseSnippet` is a bounded prefix of the body; `retryAfterMs` is the wait in Retry-After. */
  | { kind: 'answered'; status: number; responseSnippet: string; retryAfterMs?: number; durationMs: number }
  | { kind: 'timeout'; error: string; durationMs: number }
  | { kind: 'connectionError'; error: string; durationMs: number }
  /** The address may not be called (it is not public unicast): no connection was made. */
  | { kind: 'refusedAddress'; error: string }

export interface Sender {
  /** Never rejects. Follows no redirect. */
  send(call: SendCall): Promise<SendReply>
  close(): Promise<void>
}
