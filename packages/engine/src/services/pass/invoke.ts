// One invoke: picks the runner, builds the body, calls the transport and reads the answer
// (docs/wire-protocol.md#invoke). A runner that could not be reached is no outcome: another is tried at once. Called by
// pass-loop.ts.

import {
  ATTRIBUTES_FEATURE,
  END_WITH_STEPS_FEATURE,
  HTTP_CHECKPOINTS_FEATURE,
  MEMO_OP_FEATURE,
  RESPONSE_BYTES_MAX,
  STEP_POLICY_FEATURE,
} from '@perdure/protocol'
import { runDeadline } from '../../domain/holds/timeouts.ts'
import { isConnectUrl } from '../../domain/model/connect-url.ts'
import { featuresOfInvoke, knows, signedRecipient } from '../../domain/model/features.ts'
import type { Run } from '../../domain/model/run.ts'
import type { Runner } from '../../domain/model/workflow.ts'
import type { Negotiated } from '../../domain/pass/answer/opcodes.ts'
import { type Outcome, readAnswer, responseTooLarge, transportFailed } from '../../domain/pass/answer/outcome.ts'
import { serves } from '../../domain/pass/routing.ts'
import { shownRunId } from '../../domain/text/ids.ts'
import { childTraceparent, runTraceparent, spanIdOf } from '../../domain/text/traceparent.ts'
import type { Clock } from '../../ports/clock.ts'
import type { InvokeOutcome } from '../../ports/metrics.ts'
import type { Span } from '../../ports/tracing.ts'
import type { InvokeCall, InvokeReply, Transport } from '../../ports/transport.ts'
import type { RunnerHealth } from '../catalog/runner-health.ts'
import type { RunnerLoad } from '../catalog/runner-load.ts'
import type { Core } from '../commit/core.ts'
import { OncePerMinute } from '../support/once-per-minute.ts'
import { endInvokeSpan, runnerAttributes, startInvokeSpan } from '../support/spans.ts'
import type { ActiveRun, Envelope } from './active-run.ts'
import type { Taken } from './checkpoint.ts'
import type { HttpCheckpoints, OpenedPass } from './http-checkpoints.ts'
import { NONE_TRIED, type Reserved, type RunnerQueue } from './runner-queue.ts'

export interface InvokerDeps extends Core {
  transport: Transport
  health: RunnerHealth
  load: Pick<RunnerLoad, 'began' | 'ended'>
  /** Deadline of an invoke whose workflow sets none; each transport has its own when this is absent too. */
  invokeTimeoutMs?: number | undefined
  queue: RunnerQueue
  httpCheckpoints: HttpCheckpoints
}

/** The ways by which the runner of a pass reports steps while the pass goes on. */
export interface PassReports {
  take: NonNullable<InvokeCall['onCheckpoint']>
  takeOverHttp(payload: string): Promise<Taken>
}

/** Deadlines where no setting has one. Longer over Connect: heartbeats show whether the runner is alive. */
const HTTP_INVOKE_TIMEOUT_MS = 300_000
const CONNECT_INVOKE_TIMEOUT_MS = 7_200_000

export class Invoker {
  readonly #deps: InvokerDeps
  readonly #failuresLogged: OncePerMinute

  constructor(deps: InvokerDeps) {
    this.#deps = deps
    this.#failuresLogged = new OncePerMinute(deps.clock)
  }

  /**
   * `held`: no runner could be reached. `full`: none has room, and too many others wait for it. `aborted`: by the caller's
   * signal, or because the run has ended or is another engine's, as a report showed.
   */
  invoke(active: ActiveRun, now: number, reports: PassReports): Promise<Outcome | NoOutcome> {
    const { clock, random, tracing } = this.#deps
    const { run } = active.state
    // All passes of a run share one trace.
    active.trace ??= runTraceparent(run)
    const parent = active.span?.traceparent ?? active.trace
    const span = tracing && startInvokeSpan(tracing, run, parent, now)
    const traceparent = span?.traceparent ?? childTraceparent(parent, spanIdOf(random.next(), random.next()))
    active.passTrace = traceparent
    const outcome = this.#send(active, { now, traceparent, reports, span })
    return span ? endingSpan(span, outcome, clock) : outcome
  }

  async #send(active: ActiveRun, sent: Sent): Promise<Outcome | NoOutcome> {
    const { transport, health, load, clock } = this.#deps
    const { now, traceparent, reports, span } = sent
    let tried = NONE_TRIED
    for (;;) {
      const reserved = await this.#reserve(active, tried)
      if (reserved === 'none') return 'held'
      if (reserved === 'full') return 'full'
      if (reserved === 'withdrawn') return 'aborted'
      const { runner } = reserved
      const { url } = runner
      const startedAt = clock.now()
      const negotiated = {
        stepPolicy: knows(runner, STEP_POLICY_FEATURE),
        attributes: knows(runner, ATTRIBUTES_FEATURE),
        endWithSteps: knows(runner, END_WITH_STEPS_FEATURE),
      }
      const { endWithSteps } = negotiated
      const withOps = knows(runner, MEMO_OP_FEATURE)
      const deadline: Deadline = { restart: () => {} }
      const opened = this.#openFor(runner, active, { reports, deadline })
      const body = invokeBody(active, { now, traceparent, endWithSteps, withOps, opened })
      active.sent = { runnerId: runner.runnerId, sentAt: startedAt, negotiated }
      span?.set(runnerAttributes(runner))
      const timeoutMs = this.#timeoutMs(active.state.run, url, startedAt)
      const call: InvokeCall = { url, body, timeoutMs, signal: active.abort, onCheckpoint: reports.take }
      const recipient = signedRecipient(runner)
      if (recipient !== undefined) call.recipient = recipient
      if (opened) {
        call.onDeadline = restart => {
          deadline.restart = restart
        }
      }
      const calledAt = clock.elapsed()
      const promised = transport.invoke(call)
      reserved.release()
      load.began(runner)
      const reply = await promised
      opened?.close()
      const outcome = outcomeOf(reply, negotiated)
      const durationMs = clock.elapsed() - calledAt
      load.ended(runner, durationMs, failureOf(reply, outcome))
      this.#count(url, outcome, durationMs)
      if (reply.kind === 'answered' && reply.status === 404 && !(await this.#isServed(active.state.run, runner)))
        continue
      if (outcome !== 'refused') {
        if (outcome !== 'aborted' && outcome.kind === 'transportFailed')
          this.#logFailure(active.state.run, runner, outcome.error.message)
        if (reply.kind === 'answered') health.arrived(runner)
        return outcome
      }
      // Another engine took the room that there seemed to be. By now this engine knows that there is none.
      if (reply.kind === 'refused' && reply.isFull) continue
      health.refused(runner)
      tried = new Set([...tried, runner])
    }
  }

  /** Opens the pass for reports over HTTP, if its runner sends such. */
  #openFor(
    runner: Runner,
    active: ActiveRun,
    { reports, deadline }: { reports: PassReports; deadline: Deadline },
  ): OpenedPass | undefined {
    if (isConnectUrl(runner.url) || !knows(runner, HTTP_CHECKPOINTS_FEATURE)) return undefined
    const { id: runId, namespace } = active.state.run
    const { abort } = active
    return this.#deps.httpCheckpoints.open({
      runId,
      namespace,
      take: payload => reports.takeOverHttp(payload),
      onReport: () => deadline.restart(),
      abort: () => abort.abort(),
    })
  }

  /** Whether the runner serves the run's workflow. It may have registered without it while the invoke was under way. */
  async #isServed(run: Run, { app, runnerId }: Runner): Promise<boolean> {
    const { catalog } = this.#deps
    await catalog.refresh()
    const registered = catalog.view(run.namespace).runner(app, runnerId)
    return registered !== undefined && serves(registered, run)
  }

  #reserve(active: ActiveRun, tried: ReadonlySet<Runner>): Reserved | Promise<Reserved> {
    const { queue } = this.#deps
    const { reservation, state, abort } = active
    active.reservation = undefined
    if (reservation) return reservation
    const reserved = queue.tryReserve(state.run, tried)
    if (reserved !== 'full') return reserved
    active.sent = undefined
    return queue.reserve(state.run, tried, abort)
  }

  /** A pass does not outlive its run's timeout. */
  #timeoutMs(run: Run, url: string, now: number): number {
    const { catalog, invokeTimeoutMs } = this.#deps
    const workflow = catalog.view(run.namespace).workflow(run.app, run.workflow)
    const leftMs = (runDeadline(run) ?? Number.POSITIVE_INFINITY) - now
    const setMs = workflow?.invokeTimeoutMs ?? invokeTimeoutMs
    return Math.min(
      setMs ?? (isConnectUrl(url) ? CONNECT_INVOKE_TIMEOUT_MS : HTTP_INVOKE_TIMEOUT_MS),
      Math.max(1, leftMs),
    )
  }

  /** A pass without a result: once per run and minute. The run itself keeps the last reason (`domain/pass/advance`). */
  #logFailure({ namespace, app, workflow, id: runId, transportTries }: Run, runner: Runner, error: string) {
    if (!this.#failuresLogged.isDue(runId)) return
    const { runnerId } = runner
    // The run has not counted this failure yet.
    const tries = transportTries + 1
    const fields = { namespace, app, workflow, runId: shownRunId(runId), runnerId, tries, error }
    this.#deps.log.warn(fields, 'a pass came to nothing')
  }

  #count(url: string, outcome: Outcome | 'refused' | 'aborted', durationMs: number): void {
    const transport = isConnectUrl(url) ? 'connect' : 'http'
    this.#deps.metrics.invoked({ transport, outcome: countedAs(outcome), durationMs })
  }
}

async function endingSpan<T extends Parameters<typeof endInvokeSpan>[1]>(
  span: Span,
  outcome: Promise<T>,
  clock: Clock,
): Promise<T> {
  endInvokeSpan(span, await outcome, clock.now())
  return outcome
}

/** The deadline of an invoke under way. */
interface Deadline {
  restart(): void
}

type NoOutcome = 'held' | 'full' | 'aborted'

interface Sent {
  now: number
  traceparent: string
  reports: PassReports
  span: Span | undefined
}

function outcomeOf(reply: InvokeReply, negotiated: Negotiated): Outcome | 'refused' | 'aborted' {
  switch (reply.kind) {
    case 'answered':
      return readAnswer(reply.status, reply.body, negotiated)
    case 'broken':
      return transportFailed(reply.message)
    case 'tooLarge':
      return responseTooLarge(RESPONSE_BYTES_MAX)
    case 'refused':
    case 'aborted':
      return reply.kind
  }
}

/** The reason why the pass came to nothing on the runner. */
function failureOf(reply: InvokeReply, outcome: Outcome | 'refused' | 'aborted'): string | undefined {
  if (reply.kind === 'refused') return reply.isFull ? undefined : reply.message
  return typeof outcome !== 'string' && outcome.kind === 'transportFailed' ? outcome.error.message : undefined
}

function countedAs(outcome: Outcome | 'refused' | 'aborted'): InvokeOutcome {
  if (typeof outcome === 'string') return outcome
  return outcome.kind === 'transportFailed' ? 'transport_failed' : outcome.kind
}

function envelopeOf(
  { id: runId, workflow, app, runner = '', trigger, input, failure }: Run,
  endWithSteps: boolean,
): Envelope {
  const id = trigger.id === undefined ? '' : `"id":${JSON.stringify(trigger.id)},`
  const data = input === undefined ? '' : `,"data":${input}`
  const features = featuresOfInvoke({ endWithSteps })
  const ctx = {
    runId: shownRunId(runId),
    workflow,
    app,
    runner,
    features,
    ...(failure && { onFailure: true, error: failure }),
  }
  return {
    event: `{"event":{${id}"name":${JSON.stringify(trigger.name)}${data}},"steps":`,
    ctx: `,"ctx":${JSON.stringify(ctx).slice(0, -1)}`,
    endWithSteps,
  }
}

/** The invoke request. Its payloads are spliced in as the text they are stored in. */
function invokeBody(
  active: ActiveRun,
  {
    now,
    traceparent,
    endWithSteps,
    withOps,
    opened,
  }: { now: number; traceparent: string; endWithSteps: boolean; withOps: boolean; opened: OpenedPass | undefined },
): string {
  const { run } = active.state
  if (active.envelope?.endWithSteps !== endWithSteps) active.envelope = envelopeOf(run, endWithSteps)
  const { event, ctx } = active.envelope
  const memo = active.state.memo(now, { withOps })
  const reporting = opened ? `,"checkpointToken":"${opened.token}","checkpointUrl":"${opened.url}"` : ''
  return `${event}${memo}${ctx},"attempt":${run.attempt},"traceparent":"${traceparent}"${reporting}}}`
}
