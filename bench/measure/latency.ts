// Percentiles of measured durations.

export interface Percentiles {
  p50: number
  p95: number
  p99: number
  max: number
}

/** Returns nearest-rank percentiles; all are NaN if nothing was measured. */
export function percentiles(values: readonly number[]): Percentiles {
  const sorted = Float64Array.from(values).sort()
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) }
}

/** Returns how long the work takes, in ms. */
export async function msOf(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now()
  await work()
  return performance.now() - from
}

interface Sampling {
  /** Maximum number of samples. */
  samples?: number
  /** Takes no further sample once all of them together took this long. */
  spentMsMax?: number
}

/** Returns percentiles of the times of `work` in ms, one after the other, and the number of samples; at least one. */
export async function timed(
  work: () => Promise<unknown>,
  { samples = Number.POSITIVE_INFINITY, spentMsMax = Number.POSITIVE_INFINITY }: Sampling,
): Promise<Percentiles & { count: number }> {
  const times: number[] = []
  let spentMs = 0
  do {
    const ms = await msOf(work)
    times.push(ms)
    spentMs += ms
  } while (times.length < samples && spentMs < spentMsMax)
  return { ...percentiles(times), count: times.length }
}
