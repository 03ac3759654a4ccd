// Waits without sleeping: for a condition with a deadline, or for a signal.

/**
 * How long a test waits for something that must come. It is not a measurement: a busy machine may be slow, and only a hung
 * engine exceeds it.
 */
export const PATIENCE_MS = 60_000
const POLL_MS_MIN = 2
const POLL_MS_MAX = 40

export interface UntilOptions {
  /** Names the condition in the error when the deadline passes. */
  what?: string
  deadlineMs?: number
}

/** Polls until `look` returns a truthy value, and resolves with that value. An error of `look` counts as "not yet". */
export async function until<T>(
  look: () => T | Promise<T>,
  { what = 'the condition', deadlineMs = PATIENCE_MS }: UntilOptions = {},
): Promise<Exclude<T, undefined | null | false | 0 | ''>> {
  const deadline = performance.now() + deadlineMs
  let pause = POLL_MS_MIN
  for (;;) {
    let last: unknown
    try {
      last = await look()
      if (last) return last as never
    } catch (error) {
      last = error
    }
    if (performance.now() > deadline) {
      throw new Error(`${what} did not come within ${deadlineMs} ms; last seen: ${show(last)}`)
    }
    await new Promise(resolve => setTimeout(resolve, pause))
    pause = Math.min(POLL_MS_MAX, pause * 1.5)
  }
}

function show(value: unknown): string {
  return value instanceof Error ? String(value.stack) : JSON.stringify(value)
}

export interface Gate<T = void> {
  readonly opened: Promise<T>
  open(value: T): void
}

/** A promise that the test resolves. */
export function gate<T = void>(): Gate<T> {
  let open: (value: T) => void = () => {}
  const opened = new Promise<T>(resolve => {
    open = resolve
  })
  return { opened, open: value => open(value) }
}

/** Rejects when `promise` has not settled in time. */
export function within<T>(promise: Promise<T>, what: string, deadlineMs = PATIENCE_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not come within ${deadlineMs} ms`)), deadlineMs)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
