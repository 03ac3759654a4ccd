// Windows of time in the URL: `1h`, `24h`, `7d`, or an absolute time.

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** The start of a window, in milliseconds since the epoch; undefined for a text that is neither a length nor a time. */
export function startOf(since: string, nowMs: number): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(since) ?? []
  if (count !== undefined) return nowMs - Number(count) * (UNITS[unit] as number)
  // A date without a time begins at local midnight, as times are shown; the language would take it as UTC.
  const at = Date.parse(/^\d{4}-\d\d-\d\d$/.test(since) ? `${since}T00:00` : since)
  return Number.isNaN(at) ? undefined : at
}

/** The start of a window for a query of the engine. A relative window is cut to its minute, so that a query can be cached. */
export function sinceParam(since: string | undefined, nowMs: number): string | undefined {
  if (since === undefined) return undefined
  const at = startOf(since, nowMs)
  if (at === undefined) return undefined
  const isRelative = /^\d+[smhd]$/.test(since)
  return new Date(isRelative ? Math.floor(at / 60_000) * 60_000 : at).toISOString()
}
