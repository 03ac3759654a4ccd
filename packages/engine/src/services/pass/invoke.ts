// One invoke: picks the runner, builds the body, calls the transport and reads the answer (contract §2.11). A runner
// that could not be reached at all is not an outcome: another is tried at once.

import { runDeadline } from '../../domain/holds/timeouts.ts'
import { isConnectUrl } from '../../domain/model/connect-url.ts'
import type { Run } from '../../domain/model/run.ts'
import type { Runner } from '../../domain/model/workflow.ts'
import { type Outcome, readAnswer, responseTooLarge, transportFailed } from '../../domain/pass/outcome.ts'
import type { RunState } from '../../domain/run/state.ts'
import {
  childTraceparent,
  runTraceparent,
  spanIdOf,
  type Traceparent,
} from '../../domain/text/traceparent.ts'
import type { Clock, Random } from '../../ports/clock.ts'
import type { InvokeOutcome, Metrics } from '../../ports/metrics.ts'
import type { Span, Tracing } from '../../ports/tracing.ts'
import {
  type InvokeCall,
  type InvokeReply,
  type InvokeSignal,
  RESPONSE_BYTES_MAX,
  type Transport,
} from '../../ports/transport.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { RunnerHealth } from '../catalog/runner-health.ts'
import { endInvokeSpan, serverAttributes, startInvokeSpan } from '../support/spans.ts'
import type { PassLog } from './pass-log.ts'
import type { Reservation, Reserved, RunnerQueue } from './runner-queue.ts'

/** A run under way here. */
export interface Active {
  state: RunState
  /** Aborts the invoke in flight. */
  abort: { readonly signal: InvokeSignal; abort(): void }
  /** What its spans are below. */
  trace?: Traceparent
  /** Of this stretch of it, where spans are made. */
  span?: Span | undefined
  /** What the runner of the newest pass was told. */
  passTrace?: Traceparent
  /** Made with the first pass. */
  envelope?: Envelope
  /** Where its last pass was sent, and when; undefined while the next one waits in line. */
  sent?: { runnerId: string; sentAt: number } | undefined
  /** Kept for its next pass. */
  seat?: Reservation | undefined
}

export interface InvokerDeps {
  transport: Transport
  catalog: Catalog
  health: RunnerHealth
  clock: Clock
  random: Random
  metrics: Metrics
  tracing?: Tracing | undefined
  /** Of a workflow that sets none; each transport has its own when this is absent too. */
  invokeTimeoutMs?: number | undefined
  line: RunnerQueue
  passLog: PassLog
}

/** Runners that refused this pass. */
export const NONE_TRIED: ReadonlySet<Runner> = new Set()

export class Invoker {
  readonly #deps: InvokerDeps

  constructor(deps: InvokerDeps) {
    this.#deps = deps
  }

  /**
   * `held`: no runner could be reached. `aborted`: by the caller's signal, or since `onCheckpoint` answered that the
   * pass is of no use.
   */
  invoke(
    active: Active,
    now: number,
    onCheckpoint?: InvokeCall['onCheckpoint'],
  ): Promise<Outcome | 'held' | 'aborted'> {
    const { clock, random, tracing } = this.#deps
    const { run } = active.state
    // All passes of a run share one trace.
    active.trace ??= runTraceparent(run)
    const parent = active.span?.traceparent ?? active.trace
    const span = tracing && startInvokeSpan(tracing, run, parent, now)
    const traceparent = span?.traceparent ?? childTraceparent(parent, spanIdOf(random.next(), random.next()))
    active.passTrace = traceparent
    const body = invokeBody(active, now, traceparent)
    const outcome = this.#send(active, { body, onCheckpoint, span })
    return span ? told(span, outcome, clock) : outcome
  }

  async #send(active: Active, sent: Sent): Promise<Outcome | 'held' | 'aborted'> {
    const { transport, health, clock, passLog } = this.#deps
    const { body, onCheckpoint, span } = sent
    let tried = NONE_TRIED
    for (;;) {
      const seat = await this.#seated(active, tried)
      if (seat === 'none') return 'held'
      if (seat === 'left') return 'aborted'
      const { runner } = seat
      const { url } = runner
      const startedAt = clock.now()
      active.sent = { runnerId: runner.runnerId, sentAt: startedAt }
      span?.set(serverAttributes(url))
      const timeoutMs = this.#timeoutMs(active.state.run, url, startedAt)
      const call: InvokeCall = { url, body, timeoutMs, signal: active.abort.signal }
      if (onCheckpoint) call.onCheckpoint = onCheckpoint
      const promised = transport.invoke(call)
      seat.release()
      const reply = await promised
      const outcome = outcomeOf(reply)
      this.#count(url, outcome, clock.now() - startedAt)
      if (outcome !== 'refused') {
        if (outcome !== 'aborted' && outcome.kind === 'transportFailed')
          passLog(active.state.run, { runnerId: runner.runnerId, error: outcome.error.message })
        if (reply.kind === 'answered') health.arrived(runner)
        return outcome
      }
      // The room that there seemed to be was taken by another engine: it is known by now that there is none.
      if (reply.kind === 'refused' && reply.isFull) continue
      health.refused(runner)
      tried = new Set([...tried, runner])
    }
  }

  #seated(active: Active, tried: ReadonlySet<Runner>): Reserved | Promise<Reserved> {
    const { line } = this.#deps
    const { seat, state, abort } = active
    active.seat = undefined
    if (seat) return seat
    const taken = line.take(state.run, tried)
    if (taken !== 'full') return taken
    active.sent = undefined
    return line.wait(state.run, tried, abort.signal)
  }

  /** A pass does not outlive its run's timeout. */
  #timeoutMs(run: Run, url: string, now: number): number {
    const { catalog, invokeTimeoutMs } = this.#deps
    const workflow = catalog.view(run.namespace).workflow(run.app, run.workflow)
    const leftMs = (runDeadline(run) ?? Number.POSITIVE_INFINITY) - now
    const setMs = workflow?.invokeTimeoutMs ?? invokeTimeoutMs
    return Math.min(setMs ?? defaultTimeoutMs(url), Math.max(1, leftMs))
  }

  #count(url: string, outcome: Outcome | 'refused' | 'aborted', durationMs: number): void {
    const transport = isConnectUrl(url) ? 'connect' : 'http'
    this.#deps.metrics.invoked({ transport, outcome: countedAs(outcome), durationMs })
  }
}

async function told<T extends Parameters<typeof endInvokeSpan>[1]>(
  span: Span,
  outcome: Promise<T>,
  clock: Clock,
): Promise<T> {
  endInvokeSpan(span, await outcome, clock.now())
  return outcome
}

interface Sent {
  body: string
  onCheckpoint: InvokeCall['onCheckpoint']
  span: Span | undefined
}

function outcomeOf(reply: InvokeReply): Outcome | 'refused' | 'aborted' {
  switch (reply.kind) {
    case 'answered':
      return readAnswer(reply.status, reply.body)
    case 'broken':
      return transportFailed(reply.message)
    case 'tooLarge':
      return responseTooLarge(RESPONSE_BYTES_MAX)
    default:
      return reply.kind
  }
}

function countedAs(outcome: Outcome | 'refused' | 'aborted'): InvokeOutcome {
  if (typeof outcome === 'string') return outcome
  return outcome.kind === 'transportFailed' ? 'transport_failed' : outcome.kind
}

/** What all invokes of a run have in common, as text. */
export interface Envelope {
  event: string
  ctx: string
}

function envelopeOf({ id: runId, workflow, app, runner = '', trigger, input, failure }: Run): Envelope {
  const id = trigger.id === undefined ? '' : `"id":${JSON.stringify(trigger.id)},`
  const data = input === undefined ? '' : `,"data":${input}`
  const ctx = { runId, workflow, app, runner, ...(failure && { onFailure: true, error: failure }) }
  return {
    event: `{"event":{${id}"name":${JSON.stringify(trigger.name)}${data}},"steps":`,
    ctx: `,"ctx":${JSON.stringify(ctx).slice(0, -1)}`,
  }
}

/** The invoke request, its payloads spliced in as the text they are stored in. */
function invokeBody(active: Active, now: number, traceparent: string): string {
  const { run } = active.state
  active.envelope ??= envelopeOf(run)
  const { event, ctx } = active.envelope
  return `${event}${active.state.memo(now)}${ctx},"attempt":${run.attempt},"traceparent":"${traceparent}"}}`
}

/** A Connect runner is watched by heartbeats, so that a long pass on it is no dead one. */
function defaultTimeoutMs(url: string): number {
  return isConnectUrl(url) ? 7_200_000 : 300_000
}
