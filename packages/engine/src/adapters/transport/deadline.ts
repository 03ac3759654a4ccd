// Deadlines of calls over real sockets run on real time: a wall clock that jumps must neither end nor extend them.

/** `setTimeout` takes no more (24.8 days) and fires at once beyond it. */
const TIMER_MS_MAX = 2 ** 31 - 1

/** Calls `onDeadline(call)` after `ms`, at the soonest in the next millisecond. Holds no closure per call. */
export function startDeadline<Call>(
  ms: number,
  onDeadline: (call: Call) => void,
  call: Call,
): NodeJS.Timeout {
  return setTimeout(onDeadline, Math.min(Math.max(1, ms), TIMER_MS_MAX), call)
}
