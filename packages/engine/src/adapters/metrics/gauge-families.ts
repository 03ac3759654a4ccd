// The engine's gauges as families of metrics, in the units of Prometheus: seconds, never milliseconds.

import type { Gauges } from '../../ports/metrics.ts'
import type { StoreStats } from '../../ports/store.ts'
import { counter, type Family, gauge, histogramOf, single } from './exposition.ts'

export function gaugeFamilies(gauges: Gauges): Family[] {
  const { lanes, sockets, streams, dependencies, draining, limiterEntries, store } = gauges
  return [
    gauge(
      'perdure_lane_lag_seconds',
      'How long the oldest due row has waited, by lane; 0 when none is due.',
      lanes.flatMap(({ lane, lagMs }) =>
        lagMs === undefined ? [] : [{ labels: { lane }, value: lagMs / 1000 }],
      ),
    ),
    gauge(
      'perdure_lane_oldest_ready_timestamp_seconds',
      'When the oldest due row became due, by lane; absent when none is due.',
      lanes.flatMap(({ lane, oldestReadyAt: at }) =>
        at === undefined ? [] : [{ labels: { lane }, value: at / 1000 }],
      ),
    ),
    gauge(
      'perdure_lane_under_way',
      'Rows of the lane that this engine works on: passes, deliveries, timers.',
      lanes.map(({ lane, underWay }) => ({ labels: { lane }, value: underWay })),
    ),
    gauge('perdure_connect_sockets', 'Sockets of Connect runners that are registered.', single(sockets)),
    gauge(
      'perdure_streams_open',
      'Event streams that are being read, by kind.',
      Object.entries(streams).map(([kind, value]) => ({ labels: { kind }, value })),
    ),
    gauge(
      'perdure_dependency_up',
      '1 while the dependency answers.',
      Object.entries(dependencies).map(([dependency, state]) => ({
        labels: { dependency },
        value: state === 'ok' ? 1 : 0,
      })),
    ),
    gauge('perdure_draining', '1 while the engine shuts down.', single(draining ? 1 : 0)),
    ...(limiterEntries === undefined
      ? []
      : [gauge('perdure_limiter_entries', 'Numbers the limiter keeps in memory.', single(limiterEntries))]),
    ...(store ? storeFamilies(store) : []),
  ]
}

function storeFamilies(stats: StoreStats): Family[] {
  const { commits, stale, requests, transactions, pending, batchSizes } = stats
  const sizes = 'perdure_store_batch_requests'
  return [
    counter('perdure_store_commits_total', 'Units that became durable.', single(commits)),
    counter(
      'perdure_store_stale_commits_total',
      'Units refused because their guard no longer held, by the kind of guard.',
      Object.entries(stale).map(([guard, value]) => ({ labels: { guard }, value })),
    ),
    counter(
      'perdure_store_requests_total',
      'Requests to the store: units, claims and others.',
      single(requests),
    ),
    counter('perdure_store_transactions_total', 'Durable transactions.', single(transactions)),
    gauge('perdure_store_pending_requests', 'Writes that are not durable yet.', single(pending)),
    {
      name: sizes,
      help: 'Requests that went to the writer together.',
      type: 'histogram',
      values: histogramOf(sizes, batchSizes),
    },
  ]
}
