// Counts what services report, and writes it together with the engine's gauges in the text format of Prometheus. Made by
// compose; `GET /metrics` requests the text.

import type { DeliveryOutcome } from '../../domain/model/delivery.ts'
import type {
  EndedDeliveryStatus,
  EndedRunStatus,
  Gauges,
  InvokeOutcome,
  Metrics,
  RunLabels,
} from '../../ports/metrics.ts'
import { BoundedNames, Buckets, Counts } from './counts.ts'
import { counter, exposition, type Family, histogramOf, single } from './exposition.ts'
import { gaugeFamilies } from './gauge-families.ts'

/** Upper bounds in seconds: from a runner on the engine's machine to one that works for hours. */
const INVOKE_SECONDS = [
  0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200,
]
/** Most namespaces whose workflows are counted by name. */
const NAMED_NAMESPACES_MAX = 1000

/** The runs of one namespace, by workflow. */
class NamedRuns {
  readonly names = new BoundedNames()
  readonly started = new Counts()
  readonly ended = new Counts()
}

export class PrometheusMetrics implements Metrics {
  readonly #namespaces = new Map<string, NamedRuns>()
  readonly #ended = new Counts()
  readonly #invokes = new Counts()
  readonly #invokeSeconds = { http: new Buckets(INVOKE_SECONDS), connect: new Buckets(INVOKE_SECONDS) }
  readonly #attempts = new Counts()
  readonly #deliveries = new Counts()
  #events = 0
  #started = 0
  #checkpoints = 0
  #leasesLost = 0

  eventAccepted(): void {
    this.#events++
  }

  runStarted(of: RunLabels): void {
    this.#started++
    const named = this.#namedRuns(of.namespace)
    named?.started.add(...named.names.admit(of.app, of.workflow))
  }

  runEnded(of: RunLabels, status: EndedRunStatus): void {
    this.#ended.add(status)
    const named = this.#namedRuns(of.namespace)
    named?.ended.add(...named.names.admit(of.app, of.workflow), status)
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

  /** The whole text. The engine's numbers include all namespaces; only apps and workflows of `namespace` are named. */
  text(namespace: string, gauges: Gauges): Promise<string> {
    return exposition([...this.#counters(), ...this.#named(namespace), ...gaugeFamilies(gauges)])
  }

  #namedRuns(namespace: string): NamedRuns | undefined {
    const known = this.#namespaces.get(namespace)
    if (known || this.#namespaces.size >= NAMED_NAMESPACES_MAX) return known
    const named = new NamedRuns()
    this.#namespaces.set(namespace, named)
    return named
  }

  #counters(): Family[] {
    const seconds = 'perdure_invoke_duration_seconds'
    const { http, connect } = this.#invokeSeconds
    return [
      counter('perdure_events_accepted_total', 'Events made durable, sent or emitted.', single(this.#events)),
      counter('perdure_runs_started_total', 'Runs that were sent to a runner first.', single(this.#started)),
      counter('perdure_runs_ended_total', 'Runs that ended, by status.', labelled(this.#ended, 'status')),
      counter(
        'perdure_invokes_total',
        'Calls of runners, by transport and outcome.',
        labelled(this.#invokes, 'transport', 'outcome'),
      ),
      {
        name: seconds,
        help: 'How long calls of runners took, by transport.',
        type: 'histogram',
        values: [
          ...histogramOf(seconds, http, { transport: 'http' }),
          ...histogramOf(seconds, connect, { transport: 'connect' }),
        ],
      },
      counter('perdure_checkpoints_total', 'Checkpoints made durable.', single(this.#checkpoints)),
      counter(
        'perdure_delivery_attempts_total',
        'Webhook posts that were concluded, by outcome.',
        labelled(this.#attempts, 'outcome'),
      ),
      counter(
        'perdure_deliveries_ended_total',
        'Webhook deliveries that ended, by status.',
        labelled(this.#deliveries, 'status'),
      ),
      counter('perdure_leases_lost_total', 'Leases of runs lost to another owner.', single(this.#leasesLost)),
    ]
  }

  #named(namespace: string): Family[] {
    const { started, ended } = this.#namespaces.get(namespace) ?? new NamedRuns()
    return [
      counter(
        'perdure_workflow_runs_started_total',
        "Runs that were sent to a runner first, by workflow, of the key's namespace.",
        labelled(started, 'app', 'workflow'),
      ),
      counter(
        'perdure_workflow_runs_ended_total',
        "Runs that ended, by workflow and status, of the key's namespace.",
        labelled(ended, 'app', 'workflow', 'status'),
      ),
    ]
  }
}

function labelled(counts: Counts, ...names: string[]): Family['values'] {
  return [...counts.entries()].map(([values, value]) => ({
    labels: Object.fromEntries(names.map((name, i) => [name, values[i] ?? ''])),
    value,
  }))
}
