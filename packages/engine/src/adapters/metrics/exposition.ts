// Families of metrics as Prometheus' text, written by prom-client. It is loaded at the first scrape, so an engine that is
// never scraped does not load it.

import type { Metric, Registry } from 'prom-client'
import type { Buckets } from './counts.ts'

type Labels = Record<string, string | number>

interface Sample {
  labels: Labels
  value: number
  metricName?: string
}

/** One metric with all its values. */
export interface Family {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  values: Sample[]
}

export function counter(name: string, help: string, values: Sample[]): Family {
  return { name, help, type: 'counter', values }
}

export function gauge(name: string, help: string, values: Sample[]): Family {
  return { name, help, type: 'gauge', values }
}

export function single(value: number): Sample[] {
  return [{ labels: {}, value }]
}

/** The samples of a histogram. A family may have several, distinguished by labels. */
export function histogramOf(
  name: string,
  { bounds, counts, sum }: Readonly<Pick<Buckets, 'bounds' | 'sum'>> & { counts: readonly number[] },
  labels: Labels = {},
): Sample[] {
  const samples: Sample[] = []
  let count = 0
  for (const [i, bound] of [...bounds, '+Inf'].entries()) {
    count += counts[i] ?? 0
    samples.push({ labels: { ...labels, le: bound }, value: count, metricName: `${name}_bucket` })
  }
  samples.push({ labels, value: sum, metricName: `${name}_sum` })
  samples.push({ labels, value: count, metricName: `${name}_count` })
  return samples
}

/** The text of the families, followed by node's metrics of this process. */
export async function exposition(families: readonly Family[]): Promise<string> {
  const { Registry } = await import('prom-client')
  const registry = new Registry()
  for (const { values, ...family } of families) {
    // The values are ready, and a registry uses no more of a metric than these members.
    const metric = { ...family, aggregator: 'sum', get: async () => ({ ...family, values }) }
    registry.registerMetric(metric as unknown as Metric)
  }
  const ofProcess = await processRegistry()
  return (await registry.metrics()) + (await ofProcess.metrics())
}

let ofProcess: Promise<Registry> | undefined

/** One for all engines of the process: its observers of the event loop and of garbage collection cannot be stopped. */
function processRegistry(): Promise<Registry> {
  ofProcess ??= import('prom-client').then(({ Registry, collectDefaultMetrics }) => {
    const registry = new Registry()
    collectDefaultMetrics({ register: registry })
    return registry
  })
  return ofProcess
}
