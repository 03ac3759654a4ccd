// Describes in one line why a call failed, for the replies of the HTTP transport and of the webhook sender.

/** Passed to undici to drop a call that already has its reply. */
export const CALL_OVER = new Error('the call is over')

/** Replaces messages of undici that do not describe what the other side did. */
const UNDICI_MESSAGES: Readonly<Record<string, string>> = {
  'bad response': 'the answer is not HTTP/1.1',
  'bad upgrade': 'the answer changes the protocol',
}

/** The message of an error. After several attempts at one connection (IPv6, then IPv4) it contains all their messages. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof AggregateError && error.errors.length > 0) {
    return [...new Set(error.errors.map(describeFailure))].join('; ')
  }
  // An assertion inside undici, whose text is code.
  if (errorCode(error) === 'ERR_ASSERTION') return UNDICI_MESSAGES['bad response'] as string
  return UNDICI_MESSAGES[error.message] || error.message || errorCode(error) || error.name
}

export function errorCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : ''
  return typeof code === 'string' ? code : ''
}

const LOST_CODES = ['UND_ERR_SOCKET', 'ECONNRESET', 'ECONNABORTED', 'EPIPE']

/** Whether the other side, or the network, ended the connection. */
export function isConnectionLost(error: unknown): boolean {
  return LOST_CODES.includes(errorCode(error))
}
