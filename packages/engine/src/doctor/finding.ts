// The findings of `perdure doctor`, which every examination yields.

export type Verdict = 'ok' | 'warning' | 'error'

export interface Finding {
  /** The name of the check, such as `store.fsync`. */
  check: string
  verdict: Verdict
  /** One line, without secrets. */
  message: string
}

export type Findings = AsyncGenerator<Finding>

export const ok = (check: string, message: string): Finding => ({ check, verdict: 'ok', message })
export const warning = (check: string, message: string): Finding => ({ check, verdict: 'warning', message })
export const error = (check: string, message: string): Finding => ({ check, verdict: 'error', message })

/** Describes a caught error in one line. */
export function reasonOf(cause: unknown): string {
  const { message, code } = cause as NodeJS.ErrnoException
  return (message || code || String(cause)).replace(/\s+/g, ' ')
}

const SKEW_MS_WARN = 1000

/** Engines that share a store use its clock; logs and people use the machine's. */
export function judgedSkew(check: string, server: string, skewMs: number): Finding {
  const text = `the clock of ${server} is ${Math.abs(Math.round(skewMs))} ms ${skewMs < 0 ? 'behind' : 'ahead of'} this machine's`
  return Math.abs(skewMs) > SKEW_MS_WARN ? warning(check, text) : ok(check, text)
}
