// Every metric of the engine, and its values as Prometheus' text, written by prom-client. The client is loaded at the first
// scrape, so an engine that is never scraped does not load it.

import type { Metric, Registry } from 'prom-client'
import type { Histogram, Sample } from './counts.ts'

/** The help of every metric, by type. */
const METRICS = {
  counter: {
    perdure_events_accepted_total: 'Events made durable, sent or emitted.',
    perdure_runs_started_total: 'Runs sent to a runner for the first time, by kind.',
    perdure_runs_ended_total: 'Runs that ended, by kind and status.',
    perdure_invokes_total: 'Calls of runners, by transport and outcome.',
    perdure_checkpoints_total: 'Checkpoints made durable.',
    perdure_delivery_attempts_total: 'Webhook posts that have ended, by outcome.',
    perdure_deliveries_ended_total: 'Webhook deliveries that ended, by status.',
    perdure_leases_lost_total: 'Leases of runs lost to another owner.',
    perdure_workflow_runs_started_total:
      "Runs sent to a runner for the first time, by workflow and kind, of the key's namespace.",
    perdure_workflow_runs_ended_total: "Runs that ended, by workflow, kind and status, of the key's namespace.",
    perdure_store_commits_total: 'Units that became durable.',
    perdure_store_stale_commits_total: 'Units refused because their guard no longer held, by the kind of guard.',
    perdure_store_requests_total: 'Requests to the store: units, claims and others.',
    perdure_store_transactions_total: 'Durable transactions.',
  },
  histogram: {
    perdure_invoke_duration_seconds: 'How long calls of runners took, by transport.',
    perdure_store_batch_requests: 'Requests that went to the writer together.',
  },
  gauge: {
    perdure_lane_lag_seconds: 'How long the oldest due row has waited, by lane; 0 when none is due.',
    perdure_lane_oldest_ready_timestamp_seconds:
      'When the oldest due row became due, by lane; absent when none is due.',
    perdure_lane_under_way: 'Rows of the lane that this engine works on: passes, deliveries, timers.',
    perdure_runs_without_runner:
      "Runs for which no runner could be reached, by app, of the key's namespace; the same on every engine of a store.",
    perdure_accepts_waiting: 'Events and starts that wait to be processed.',
    perdure_connect_sockets: 'Sockets of Connect runners that are registered.',
    perdure_streams_open: 'Open event streams, by kind.',
    perdure_dependency_up: '1 while the dependency answers.',
    perdure_draining: '1 while the engine shuts down.',
    perdure_held: '1 until an engine that was started held is released.',
    perdure_memory_limit_bytes:
      'Bytes that work under way may have in memory, by use: states of runs, messages of runners.',
    perdure_memory_used_bytes: 'Bytes that work under way has in memory, by use.',
    perdure_memory_waiting: 'Runs and messages that wait for memory, by use.',
    perdure_limiter_entries: 'Numbers the limiter keeps in memory.',
    perdure_store_pending_requests: 'Writes that are not durable yet.',
  },
} as const

/** By metric: its one value, its samples, or its histograms. Undefined leaves the metric out. */
export type Values = {
  [Name in keyof (typeof METRICS.counter & typeof METRICS.gauge)]?: number | Sample[] | undefined
} & { [Name in keyof typeof METRICS.histogram]?: Histogram[] }

/** The text of the metrics, followed by node's metrics of this process. */
export async function exposition(values: Values): Promise<string> {
  const { Registry } = await import('prom-client')
  const registry = new Registry()
  for (const [type, metrics] of Object.entries(METRICS)) {
    for (const [name, help] of Object.entries(metrics)) {
      const value = values[name as keyof Values]
      if (value === undefined) continue
      const samples = typeof value === 'number' ? [{ labels: {}, value }] : value
      const family = {
        name,
        help,
        type,
        values: samples.flatMap(one => ('sum' in one ? buckets(name, one) : one)),
      }
      // The values are ready, and a registry uses no more of a metric than these members.
      registry.registerMetric({ name, aggregator: 'sum', get: async () => family } as unknown as Metric)
    }
  }
  const ofProcess = await processRegistry()
  return (await registry.metrics()) + observed(await ofProcess.metrics())
}

/**
 * Leaves out the delays of the event loop when none was observed, as in the first scrape and in one right after another:
 * prom-client then gives the limits of an empty histogram, a minimum of 292 years.
 */
function observed(text: string): string {
  if (!/^nodejs_eventloop_lag_mean_seconds NaN$/im.test(text)) return text
  return text.replaceAll(/^nodejs_eventloop_lag_(?:min|max|mean|stddev|p\d+)_seconds .*\n/gm, '')
}

function buckets(name: string, { bounds, counts, sum, labels = {} }: Histogram): (Sample & { metricName: string })[] {
  let count = 0
  const samples = [...bounds, '+Inf'].map((bound, i) => {
    count += counts[i] ?? 0
    return { labels: { ...labels, le: bound }, value: count, metricName: `${name}_bucket` }
  })
  return [
    ...samples,
    { labels, value: sum, metricName: `${name}_sum` },
    { labels, value: count, metricName: `${name}_count` },
  ]
}

let ofProcess: Promise<Registry> | undefined

/** Gauges named like counters: sums of `nodejs_active_handles`, `nodejs_active_requests` and `nodejs_active_resources` by type. */
const SUMS_OF_GAUGES = ['handles', 'requests', 'resources'].map(name => `nodejs_active_${name}_total`)

/** One for all engines of the process: its observers of the event loop and of garbage collection cannot be stopped. */
function processRegistry(): Promise<Registry> {
  ofProcess ??= import('prom-client').then(({ Registry, collectDefaultMetrics }) => {
    const registry = new Registry()
    collectDefaultMetrics({ register: registry })
    for (const name of SUMS_OF_GAUGES) registry.removeSingleMetric(name)
    return registry
  })
  return ofProcess
}
