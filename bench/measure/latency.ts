// Percentiles of measured durations.

export interface Percentiles {
  p50: number
  p95: number
  p99: number
  max: number
}

/** Nearest-rank percentiles; all NaN when nothing was measured. */
export function percentiles(values: readonly number[]): Percentiles {
  const sorted = Float64Array.from(values).sort()
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) }
}
