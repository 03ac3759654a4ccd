// Counts what services report, and writes it together with the engine's gauges in the text format of Prometheus. Made by
// compose; `GET /metrics` requests the text.

import { RUN_KINDS, TERMINAL_STATUSES } from '@perdure/protocol'
import { DELIVERY_OUTCOMES, type DeliveryOutcome } from '../../domain/model/delivery.ts'
import type { RunKind } from '../../domain/model/run.ts'
import type { Workflow } from '../../domain/model/workflow.ts'
import {
  ENDED_DELIVERY_STATUSES,
  type EndedDeliveryStatus,
  type EndedRunStatus,
  type Gauges,
  INVOKE_OUTCOMES,
  INVOKE_TRANSPORTS,
  type InvokeOutcome,
  type MemoryGauges,
  type Metrics,
  type RunLabels,
} from '../../ports/metrics.ts'
import { Buckets, Counts, type Sample } from './counts.ts'
import { exposition, type Values } from './exposition.ts'

/** Upper bounds in seconds: from a runner on the engine's machine to one that works for hours. */
const INVOKE_SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200]
/** Most namespaces whose workflows are counted by name. */
const NAMED_NAMESPACES_MAX = 1000
/** Most workflows named per namespace; further ones are `other`, since users choose the names. */
export const NAMED_WORKFLOWS_MAX = 100

/** A workflow that has been registered. */
export type KnownWorkflow = Pick<Workflow, 'app' | 'name' | 'onFailure'>

/** The runs of one namespace, by workflow. */
class NamedRuns {
  readonly started = new Counts('app', 'workflow', 'kind')
  readonly ended = new Counts('app', 'workflow', 'kind', 'status')
  readonly #known = new Set<string>()

  /** The labels of a workflow: its names, if it is among the first NAMED_WORKFLOWS_MAX. */
  name({ app, workflow }: Pick<RunLabels, 'app' | 'workflow'>): [app: string, workflow: string] {
    const name = `${app}\n${workflow}`
    if (!this.#known.has(name) && this.#known.size >= NAMED_WORKFLOWS_MAX) return ['other', 'other']
    this.#known.add(name)
    return [app, workflow]
  }

  /** Creates the counts of the workflow. */
  know({ app, name: workflow, onFailure }: KnownWorkflow): void {
    const names = this.name({ app, workflow }).map(name => [name])
    const kinds = RUN_KINDS.filter(kind => kind === 'run' || (kind === 'onFailure' && onFailure))
    this.started.know(...names, kinds)
    this.ended.know(...names, kinds, TERMINAL_STATUSES)
  }
}

export class PrometheusMetrics implements Metrics {
  readonly #namespaces = new Map<string, NamedRuns>()
  readonly #started = Counts.of({ kind: RUN_KINDS })
  readonly #ended = Counts.of({ kind: RUN_KINDS, status: TERMINAL_STATUSES })
  readonly #invokes = Counts.of({ transport: INVOKE_TRANSPORTS, outcome: INVOKE_OUTCOMES })
  readonly #invokeSeconds = {
    http: new Buckets(INVOKE_SECONDS, { transport: 'http' }),
    connect: new Buckets(INVOKE_SECONDS, { transport: 'connect' }),
  }
  readonly #attempts = Counts.of({ outcome: DELIVERY_OUTCOMES })
  readonly #deliveries = Counts.of({ status: ENDED_DELIVERY_STATUSES })
  #events = 0
  #checkpoints = 0
  #leasesLost = 0

  eventAccepted(): void {
    this.#events++
  }

  runStarted(of: RunLabels, kind: RunKind): void {
    this.#started.add(kind)
    const named = this.#namedRuns(of.namespace)
    named?.started.add(...named.name(of), kind)
  }

  runEnded(of: RunLabels, { kind, status }: { kind: RunKind; status: EndedRunStatus }): void {
    this.#ended.add(kind, status)
    const named = this.#namedRuns(of.namespace)
    named?.ended.add(...named.name(of), kind, status)
  }

  invoked(invoke: { transport: 'http' | 'connect'; outcome: InvokeOutcome; durationMs: number }): void {
    const { transport, outcome, durationMs } = invoke
    this.#invokes.add(transport, outcome)
    this.#invokeSeconds[transport].observe(durationMs / 1000)
  }

  checkpointTaken(): void {
    this.#checkpoints++
  }

  deliveryAttempted(outcome: DeliveryOutcome): void {
    this.#attempts.add(outcome)
  }

  deliveryEnded(status: EndedDeliveryStatus): void {
    this.#deliveries.add(status)
  }

  leaseLost(): void {
    this.#leasesLost++
  }

  /**
   * Returns the whole text. The engine's numbers include all namespaces. Only apps and workflows of `namespace` are named; its
   * `known` workflows are named even before their first run.
   */
  text(namespace: string, gauges: Gauges, known: readonly KnownWorkflow[] = []): Promise<string> {
    const named = this.#namedRuns(namespace)
    for (const workflow of known) named?.know(workflow)
    return exposition({ ...this.#counts(namespace), ...gaugeValues(gauges) })
  }

  #namedRuns(namespace: string): NamedRuns | undefined {
    const known = this.#namespaces.get(namespace)
    if (known || this.#namespaces.size >= NAMED_NAMESPACES_MAX) return known
    const named = new NamedRuns()
    this.#namespaces.set(namespace, named)
    return named
  }

  #counts(namespace: string): Values {
    const named = this.#namespaces.get(namespace)
    return {
      perdure_events_accepted_total: this.#events,
      perdure_runs_started_total: this.#started.samples(),
      perdure_runs_ended_total: this.#ended.samples(),
      perdure_invokes_total: this.#invokes.samples(),
      perdure_invoke_duration_seconds: Object.values(this.#invokeSeconds),
      perdure_checkpoints_total: this.#checkpoints,
      perdure_delivery_attempts_total: this.#attempts.samples(),
      perdure_deliveries_ended_total: this.#deliveries.samples(),
      perdure_leases_lost_total: this.#leasesLost,
      perdure_workflow_runs_started_total: named?.started.samples() ?? [],
      perdure_workflow_runs_ended_total: named?.ended.samples() ?? [],
    }
  }
}

/** In the units of Prometheus: seconds, never milliseconds. */
function gaugeValues({ lanes, store, ...gauges }: Gauges): Values {
  const byLane = (value: (lane: Gauges['lanes'][number]) => number | undefined) =>
    labelled('lane', Object.fromEntries(lanes.map(lane => [lane.lane, value(lane)])))
  return {
    perdure_lane_lag_seconds: byLane(({ lagMs }) => lagMs && lagMs / 1000),
    perdure_lane_oldest_ready_timestamp_seconds: byLane(({ oldestReadyAt: at }) => at && at / 1000),
    perdure_lane_under_way: byLane(({ underWay }) => underWay),
    perdure_accepts_waiting: gauges.acceptsWaiting,
    perdure_connect_sockets: gauges.sockets,
    perdure_streams_open: labelled('kind', gauges.streams),
    perdure_dependency_up: labelled(
      'dependency',
      Object.fromEntries(Object.entries(gauges.dependencies).map(([name, state]) => [name, Number(state === 'ok')])),
    ),
    perdure_draining: Number(gauges.draining),
    perdure_held: Number(gauges.held),
    ...memoryValues(gauges.memory),
    perdure_limiter_entries: gauges.limiterEntries,
    perdure_runs_without_runner: gauges.withoutRunner?.map(({ app, runs }) => ({ labels: { app }, value: runs })),
    ...(store && {
      perdure_store_commits_total: store.commits,
      perdure_store_stale_commits_total: labelled('guard', store.stale),
      perdure_store_requests_total: store.requests,
      perdure_store_transactions_total: store.transactions,
      perdure_store_pending_requests: store.pending,
      perdure_store_batch_requests: [store.batchSizes],
    }),
  }
}

function memoryValues({ runs, messages }: MemoryGauges): Values {
  const byUse = (value: (of: MemoryGauges['runs']) => number) =>
    labelled('use', { state: value(runs), messages: value(messages) })
  return {
    perdure_memory_limit_bytes: byUse(({ max }) => max),
    perdure_memory_used_bytes: byUse(({ used }) => used),
    perdure_memory_waiting: byUse(({ waiting }) => waiting),
  }
}

/** One sample for each value of the label, except undefined values. */
function labelled(label: string, values: Readonly<Record<string, number | undefined>>): Sample[] {
  return Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : { labels: { [label]: name }, value },
  )
}
