// Deadlines of calls over real sockets. They run on timers, not on the Clock port: a wall clock that jumps must neither
// end nor extend a call.

/** The longest delay of `setTimeout` (24.8 days); it fires at once beyond it. */
const SET_TIMEOUT_MS_MAX = 2 ** 31 - 1

/** Calls `call.expire` after `ms`, at the earliest in the next millisecond. Creates no closure per call. */
export function startDeadline(call: { expire(): void }, ms: number): NodeJS.Timeout {
  return setTimeout(expire, Math.min(Math.max(1, ms), SET_TIMEOUT_MS_MAX), call)
}

function expire(call: { expire(): void }): void {
  call.expire()
}

/** The message of a call that got no complete answer before its deadline. */
export function missedDeadline(timeoutMs: number): string {
  const remedy = 'a step that takes longer needs a longer timeouts.invoke of its workflow, or ENGINE_INVOKE_TIMEOUT'
  return `no complete answer within ${timeoutMs} ms: ${remedy}`
}
