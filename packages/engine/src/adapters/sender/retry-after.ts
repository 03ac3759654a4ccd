// Reads the Retry-After header of an answer (RFC 9110, section 10.2.3): seconds, or one of the three forms of a date.

/** The longest wait that a receiver may request. A longer one is a mistake, or meant to keep deliveries for ever. */
export const RETRY_AFTER_MS_MAX = 86_400_000

const TIME = '\\d{2}:\\d{2}:\\d{2}'
const IMF_DATE = new RegExp(`^[A-Z][a-z]{2}, \\d{2} [A-Z][a-z]{2} \\d{4} ${TIME} GMT$`)
const RFC850_DATE = new RegExp(`^[A-Z][a-z]{5,8}, \\d{2}-[A-Z][a-z]{2}-\\d{2} ${TIME} GMT$`)
const ASCTIME_DATE = new RegExp(`^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \\d]\\d ${TIME} \\d{4}$`)

/** How long to wait after `now`; undefined when the header is absent or unreadable. */
export function parseRetryAfterMs(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? ''
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : parseHttpDate(text) - now
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), RETRY_AFTER_MS_MAX)
}

/** Epoch ms, or NaN. The form is checked first: `Date.parse` alone would accept "5 minutes" as a date. */
function parseHttpDate(text: string): number {
  if (ASCTIME_DATE.test(text)) return Date.parse(`${text} GMT`)
  return IMF_DATE.test(text) || RFC850_DATE.test(text) ? Date.parse(text) : Number.NaN
}
