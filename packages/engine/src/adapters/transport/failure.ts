// Says in one line why a call failed, for the messages that the transports and the sender answer with.

/** Why undici is told to drop a call that has its reply already. */
export const CALL_OVER = new Error('the call is over')

/** What the other side did, where undici has no words for it but its own. */
const UNDICI_MESSAGES: Readonly<Record<string, string>> = {
  'bad response': 'the answer is no HTTP/1.1',
  'bad upgrade': 'the answer changes the protocol',
}

/** The message of an error; of several attempts at one connection (IPv6, then IPv4), all of them. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof AggregateError && error.errors.length > 0) {
    return [...new Set(error.errors.map(describeFailure))].join('; ')
  }
  // An assertion inside undici: its text is code.
  if (errorCode(error) === 'ERR_ASSERTION') return UNDICI_MESSAGES['bad response'] as string
  return UNDICI_MESSAGES[error.message] || error.message || errorCode(error) || error.name
}

export function errorCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : ''
  return typeof code === 'string' ? code : ''
}
