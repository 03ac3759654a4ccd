// One invoke: picks the runner, builds the body, calls the transport and reads the answer (docs/wire-protocol.md#invoke). If a
// runner could not be reached, that is no outcome: another runner is tried at once. Called by pass-loop.ts.

import { ENGINE_REFUSED, knows } from '@perdure/protocol'
import { runDeadline } from '../../domain/holds/timeouts.ts'
import { isConnectUrl } from '../../domain/model/connect-url.ts'
import { signedRecipient } from '../../domain/model/features.ts'
import type { Run } from '../../domain/model/run.ts'
import { type Runner, runnerKey } from '../../domain/model/workflow.ts'
import { failsWithNextError } from '../../domain/pass/advance.ts'
import type { Outcome } from '../../domain/pass/answer/outcome.ts'
import { serves } from '../../domain/pass/routing.ts'
import { LATE_ANSWER_MS } from '../../domain/run/cleanup/late-window.ts'
import { shownRunId } from '../../domain/text/ids.ts'
import { childTraceparent, runTraceparent, spanIdOf } from '../../domain/text/traceparent.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Span } from '../../ports/tracing.ts'
import type { InvokeCall, Transport } from '../../ports/transport.ts'
import type { RunnerHealth } from '../catalog/runner-health.ts'
import type { RunnerLoad } from '../catalog/runner-load.ts'
import type { Core } from '../commit/core.ts'
import type { CallbackTokens } from '../support/callback-tokens.ts'
import { OncePerMinute } from '../support/once-per-minute.ts'
import { endInvokeSpan, runnerAttributes, startInvokeSpan } from '../support/spans.ts'
import type { ActiveRun, Envelope } from './active-run.ts'
import type { Taken } from './checkpoint.ts'
import type { HttpCheckpoints, OpenedPass } from './http-checkpoints.ts'
import { envelopeOf, invokeBody, isSameOffer } from './invoke-body.ts'
import { NONE_TRIED, type Requested, type RunnerPermits } from './permits/runner-permits.ts'
import { countedAs, failureOf, isOfRunner, type Judged, outcomeOf, withAddress, withoutVerdict } from './reply.ts'
import type { Suspects } from './suspects.ts'

export interface InvokerDeps extends Core {
  transport: Transport
  health: RunnerHealth
  load: Pick<RunnerLoad, 'began' | 'ended' | 'underWay'>
  suspects: Suspects
  /** Deadline of an invoke whose workflow sets none; each transport has its own when this is absent too. */
  invokeTimeoutMs?: number | undefined
  runnerPermits: RunnerPermits
  httpCheckpoints: HttpCheckpoints
  callbackTokens: CallbackTokens
  /** Called when the run is out of time while a pass is under way that may still answer. */
  onTimeout(active: ActiveRun): void
  /** The URL at which the engine is reached from outside, without a slash at its end. */
  engineUrl(): string
}

/** The reports that the runner of a pass sends while the pass continues. */
export interface PassReports {
  take: NonNullable<InvokeCall['onCheckpoint']>
  takeOverHttp(payload: string): Promise<Taken>
  /** Whether the runner has reported anything. */
  haveBegun(): boolean
}

/** A runner that names one of them calls the engine with the token of the pass. */
const TOKEN_FEATURES = ['http-checkpoints', 'another-pass', 'streams'] as const

/** Deadlines where no setting has one. Longer over Connect: heartbeats show whether the runner is alive. */
const HTTP_INVOKE_TIMEOUT_MS = 300_000
const CONNECT_INVOKE_TIMEOUT_MS = 7_200_000
/** How much longer the engine waits for a runner that ends its passes in time: the time for both directions. */
const ANSWER_GRACE_MS = 2_000

export class Invoker {
  readonly #deps: InvokerDeps
  readonly #failuresLogged: OncePerMinute

  constructor(deps: InvokerDeps) {
    this.#deps = deps
    this.#failuresLogged = new OncePerMinute(deps.clock)
  }

  /**
   * `held`: no runner could be reached. `full`: none has room, and too many other runs wait for it. `aborted`: by the caller's
   * signal, or because a report showed that the run has ended or belongs to another engine.
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
    const { transport, health, load, clock, runnerPermits } = this.#deps
    const { now, traceparent, reports, span } = sent
    let tried = NONE_TRIED
    const { trial } = active
    for (;;) {
      // A suspect goes only to the runner that admitted it.
      if (trial && !active.runnerPermit) return 'held'
      const permit = await this.#requestPermit(active, tried)
      if (permit === 'none') return 'held'
      if (permit === 'full') return 'full'
      if (permit === 'withdrawn') return 'aborted'
      const { runner } = permit
      const { url } = runner
      const startedAt = clock.now()
      const negotiated = {
        stepPolicy: knows(runner.features, 'step-policy'),
        waitOrder: knows(runner.features, 'wait-order'),
        attributes: knows(runner.features, 'attributes'),
        endWithSteps: knows(runner.features, 'end-with-steps'),
        continueAs: knows(runner.features, 'continue-as'),
        cleanup: knows(runner.features, 'cleanup'),
        budgets: knows(runner.features, 'budgets'),
      }
      const deadline: Deadline = { restart: () => {} }
      const opened = this.#openFor(runner, active, { reports, deadline })
      const { timeoutMs, invokeTimeoutMs } = this.#timeouts(active.state.run, runner, startedAt)
      const envelope = this.#envelopeOf(active, runner)
      const lastTry = failsWithNextError(active.state.run, this.#deps.catalog.view(active.state.run.namespace))
      const body = invokeBody(active, runner, { envelope, now, traceparent, invokeTimeoutMs, opened, lastTry })
      active.sent = { runnerId: runner.runnerId, sentAt: startedAt, negotiated }
      span?.set(runnerAttributes(runner))
      const call: InvokeCall = { url, body, timeoutMs, signal: active.abort, onCheckpoint: reports.take }
      // A runner that has reported steps of the pass is the only one that may continue it.
      const others = tried
      call.mayMove = () =>
        !reports.haveBegun() && runnerPermits.hasOther(active.state.run, new Set([...others, runner]))
      const recipient = signedRecipient(runner)
      if (recipient !== undefined) call.recipient = recipient
      if (knows(runner.features, 'marked-answers')) call.isMarked = true
      if (opened) {
        call.onDeadline = restart => {
          deadline.restart = restart
        }
      }
      const endLateness = negotiated.cleanup ? this.#beginLateness(active, call) : undefined
      const calledAt = clock.elapsed()
      const promised = transport.invoke(call)
      permit.giveBack()
      load.began(runner)
      const reply = withoutVerdict(await promised)
      endLateness?.()
      opened?.close()
      if (reply.kind === 'answered' && reply.release) active.releaseAnswer = reply.release
      const outcome = outcomeOf(reply, { negotiated, url })
      const durationMs = clock.elapsed() - calledAt
      load.ended(runner, durationMs, failureOf({ reply, outcome }, url))
      this.#count(url, { reply, outcome }, durationMs)
      if (trial) {
        trial.end()
        active.trial = undefined
      }
      if (reply.kind === 'broken' && reply.isLost) return this.#lost(active, runner, { outcome, ranMs: durationMs })
      if (isOfRunner(reply) && reply.status === 404 && !(await this.#isServed(active.state.run, runner))) continue
      if (outcome !== 'refused') {
        if (outcome !== 'aborted' && outcome.kind === 'transportFailed')
          this.#logFailure(active.state.run, runner, outcome.error.message)
        if (isOfRunner(reply)) health.arrived(runner)
        return outcome
      }
      // Another engine took the room that seemed to be free. This engine knows now that there is none.
      if (reply.kind === 'refused' && reply.isFull) continue
      if (reply.kind === ENGINE_REFUSED) this.#logRefusal(runner, reply.message)
      // The transport itself finds out when a silent runner is back.
      if (reply.kind !== 'refused' || !reply.isSilent) health.refused(runner)
      tried = new Set([...tried, runner])
    }
  }

  /** Lets the pass answer even after an outside end of the run. Returns a function that ends this. */
  #beginLateness(active: ActiveRun, call: InvokeCall): () => void {
    const deadline = runDeadline(active.state.run)
    const cancelTimer =
      deadline === undefined ? undefined : this.#deps.clock.at(deadline, () => this.#deps.onTimeout(active))
    active.mayAnswerLate = true
    call.onCancellable = cancel => {
      active.cancelPass = cancel
    }
    return () => {
      cancelTimer?.()
      active.mayAnswerLate = false
      active.cancelPass = undefined
    }
  }

  #envelopeOf(active: ActiveRun, runner: Runner): Envelope {
    const { callbackTokens, engineUrl } = this.#deps
    const { run } = active.state
    const endWithSteps = knows(runner.features, 'end-with-steps')
    const callbacks = knows(runner.features, 'callbacks')
    const batchEvents = run.collected !== undefined && knows(runner.features, 'batch-events')
    const offered = { endWithSteps, callbacks, batchEvents }
    const { envelope } = active
    if (envelope && isSameOffer(envelope, offered)) return envelope
    const { namespace, id } = run
    const urls = callbacks && {
      callbackUrl: `${engineUrl()}/callbacks/${callbackTokens.prefixOf(namespace, id)}`,
      callbackKey: callbackTokens.keyOf(namespace, id),
    }
    active.envelope = envelopeOf(run, { ...offered, ...(urls && { urls }) })
    return active.envelope
  }

  /** Adds to the outcome of a lost pass how many others were lost with it, and the steps that it ran. */
  async #lost(
    { state: { run }, running = [] }: ActiveRun,
    runner: Runner,
    { outcome, ranMs }: { outcome: Judged['outcome']; ranMs: number },
  ): Promise<Outcome | 'aborted'> {
    if (typeof outcome === 'string' || outcome.kind !== 'transportFailed') return 'aborted'
    const { together, suspects } = await this.#deps.suspects.lost(runner, run.lastFailure?.suspicion !== undefined)
    // The runner took the call, so earlier refusals no longer count.
    this.#deps.health.arrived(runner)
    const message = outcome.error.message + whileRunning(running.map(({ name }) => name))
    if (together === 1) this.#logFailure(run, runner, message)
    return { ...outcome, error: { ...outcome.error, message }, loss: { together, suspects, ranMs } }
  }

  /** Opens the pass for reports and streams over HTTP, if its runner sends any or requests another pass with its token. */
  #openFor(
    runner: Runner,
    active: ActiveRun,
    { reports, deadline }: { reports: PassReports; deadline: Deadline },
  ): OpenedPass | undefined {
    const usesToken = TOKEN_FEATURES.some(each => knows(runner.features, each))
    if (isConnectUrl(runner.url) || !usesToken) return undefined
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

  #requestPermit(active: ActiveRun, tried: ReadonlySet<Runner>): Requested | Promise<Requested> {
    const { runnerPermits } = this.#deps
    const { runnerPermit, state, abort } = active
    active.runnerPermit = undefined
    if (runnerPermit) return runnerPermit
    const taken = runnerPermits.tryTake(state.run, tried)
    if (taken !== 'full') return taken
    active.sent = undefined
    return runnerPermits.request(state.run, tried, abort)
  }

  /**
   * How long the call may take, and the time within which the runner should answer. A pass does not outlive its run's timeout.
   * That timeout ends the run and not an attempt of a step, so the runner does not get it.
   */
  #timeouts(run: Run, runner: Runner, now: number): { timeoutMs: number; invokeTimeoutMs: number | undefined } {
    const { catalog, invokeTimeoutMs } = this.#deps
    const workflow = catalog.view(run.namespace).workflow(run.app, run.workflow)
    const leftMs = Math.max(1, (runDeadline(run) ?? Number.POSITIVE_INFINITY) - now)
    const defaultMs = isConnectUrl(runner.url) ? CONNECT_INVOKE_TIMEOUT_MS : HTTP_INVOKE_TIMEOUT_MS
    const setMs = workflow?.invokeTimeoutMs ?? invokeTimeoutMs ?? defaultMs
    const callMs = leftMs + (knows(runner.features, 'cleanup') ? LATE_ANSWER_MS : 0)
    if (!knows(runner.features, 'invoke-timeout') || leftMs <= setMs)
      return { timeoutMs: Math.min(setMs, callMs), invokeTimeoutMs: undefined }
    return { timeoutMs: Math.min(setMs + ANSWER_GRACE_MS, callMs), invokeTimeoutMs: Math.ceil(setMs) }
  }

  /** Logs a pass without a result, once per run and minute. The run itself keeps the last reason (`domain/pass/advance`). */
  #logFailure({ namespace, app, workflow, id: runId, transportTries }: Run, runner: Runner, error: string) {
    if (!this.#failuresLogged.isDue(runId)) return
    const { runnerId } = runner
    // The run has not counted this failure yet.
    const tries = transportTries + 1
    const fields = { namespace, app, workflow, runId: shownRunId(runId), runnerId, tries, error }
    this.#deps.log.warn(fields, 'a pass failed')
  }

  /** Logs that the runner and this engine do not agree on keys or time, once per runner and minute. */
  #logRefusal({ namespace, app, runnerId, url }: Runner, error: string) {
    if (!this.#failuresLogged.isDue(runnerKey({ namespace, app, runnerId }))) return
    const fields = { namespace, app, runnerId, error: withAddress(error, url) }
    this.#deps.log.warn(fields, 'a runner refuses this engine: its runs wait')
  }

  #count(url: string, judged: Judged, durationMs: number): void {
    const transport = isConnectUrl(url) ? 'connect' : 'http'
    this.#deps.metrics.invoked({ transport, outcome: countedAs(judged), durationMs })
  }
}

const STEPS_NAMED_MAX = 3

function whileRunning(steps: readonly string[]): string {
  if (steps.length === 0) return ''
  const named = steps.slice(0, STEPS_NAMED_MAX).map(name => `"${name}"`)
  const more = steps.length > STEPS_NAMED_MAX ? ` and ${steps.length - STEPS_NAMED_MAX} more` : ''
  return `, while it ran step ${named.join(', ')}${more}`
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
