// One invoke: picks the runner, builds the body, calls the transport and reads the answer (contract §2.11). A runner
// that could not be reached at all is not an outcome: another is tried at once.

import { createHash } from 'node:crypto'
import { isConnectUrl } from '../domain/connect-url.ts'
import { runDeadline } from '../domain/flow/deadline.ts'
import { type Outcome, readAnswer, responseTooLarge, transportFailed } from '../domain/outcome.ts'
import type { Route } from '../domain/routing.ts'
import type { Run } from '../domain/run.ts'
import type { RunState } from '../domain/run-state.ts'
import type { Runner } from '../domain/workflow.ts'
import type { Random } from '../ports/clock.ts'
import { type InvokeCall, RESPONSE_BYTES_MAX, type Transport } from '../ports/transport.ts'
import type { Catalog } from './catalog.ts'
import type { RunnerHealth } from './runner-health.ts'

/** A run under way here. */
export interface Active {
  state: RunState
  /** Aborts the invoke in flight. */
  abort: AbortController
  traceId?: string
  /** Where its last pass was sent, and when. */
  sent?: { runnerId: string; sentAt: number }
}

export interface InvokerDeps {
  transport: Transport
  catalog: Catalog
  health: RunnerHealth
  random: Random
  /** Of a workflow that sets none; each transport has its own when this is absent too. */
  invokeTimeoutMs?: number | undefined
  route(run: Run, tried: ReadonlySet<Runner>): Route
}

export class Invoker {
  readonly #deps: InvokerDeps

  constructor(deps: InvokerDeps) {
    this.#deps = deps
  }

  /**
   * `held`: no runner could be reached. `aborted`: by the caller's signal, or since `onCheckpoint` answered that the
   * pass is of no use.
   */
  async invoke(
    active: Active,
    now: number,
    onCheckpoint?: InvokeCall['onCheckpoint'],
  ): Promise<Outcome | 'held' | 'aborted'> {
    const { transport, catalog, health, random, invokeTimeoutMs, route } = this.#deps
    const { state, abort } = active
    const { run } = state
    const tried = new Set<Runner>()
    const workflow = catalog.view(run.namespace).workflow(run.app, run.workflow)
    // A pass does not outlive its run's timeout.
    const leftMs = (runDeadline(run) ?? Number.POSITIVE_INFINITY) - now
    const setMs = workflow?.invokeTimeoutMs ?? invokeTimeoutMs
    // All passes of a run share one trace.
    active.traceId ??= traceId(run.id)
    const body = invokeBody(state, now, `00-${active.traceId}-${spanId(random)}-01`)
    for (;;) {
      const chosen = route(run, tried)
      if (chosen.kind !== 'runner') return 'held'
      active.sent = { runnerId: chosen.runner.runnerId, sentAt: now }
      const { url } = chosen.runner
      const timeoutMs = Math.min(setMs ?? defaultTimeoutMs(url), Math.max(1, leftMs))
      const call = { url, body, timeoutMs, signal: abort.signal }
      const reply = await transport.invoke(onCheckpoint ? { ...call, onCheckpoint } : call)
      switch (reply.kind) {
        case 'answered':
          health.arrived(chosen.runner)
          return readAnswer(reply.status, reply.body)
        case 'broken':
          return transportFailed(reply.message)
        case 'tooLarge':
          return responseTooLarge(RESPONSE_BYTES_MAX)
        case 'aborted':
          return 'aborted'
        case 'refused':
          health.refused(chosen.runner)
          tried.add(chosen.runner)
      }
    }
  }
}

/** The invoke request, its payloads spliced in as the text they are stored in. */
function invokeBody(state: RunState, now: number, traceparent: string): string {
  const { run } = state
  const id = run.trigger.id === undefined ? '' : `"id":${JSON.stringify(run.trigger.id)},`
  const data = run.input === undefined ? '' : `,"data":${run.input}`
  const ctx = {
    runId: run.id,
    workflow: run.workflow,
    attempt: run.attempt,
    app: run.app,
    runner: run.runner ?? '',
    ...(run.failure === undefined ? {} : { onFailure: true, error: run.failure }),
    traceparent,
  }
  const event = `{${id}"name":${JSON.stringify(run.trigger.name)}${data}}`
  return `{"event":${event},"steps":${state.memo(now)},"ctx":${JSON.stringify(ctx)}}`
}

/** A Connect runner is watched by heartbeats, so that a long pass on it is no dead one. */
function defaultTimeoutMs(url: string): number {
  return isConnectUrl(url) ? 7_200_000 : 300_000
}

function traceId(runId: string): string {
  return createHash('sha256').update(runId).digest('hex').slice(0, 32)
}

function spanId(random: Random): string {
  const half = () => (Math.floor(random.next() * 0xffffffff) + 1).toString(16).padStart(8, '0').slice(-8)
  return half() + half()
}
