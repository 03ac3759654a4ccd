// Gathers why a run is in its present state (`GET /runs/{id}/why`): its row and steps, the runners of its app, and what only
// this engine knows about a pass under way.

import type { RunExplanation } from '@perdure/protocol'
import { EventSubject } from '../../domain/expressions/event-subject.ts'
import { evaluateWaitCondition } from '../../domain/expressions/matching.ts'
import { limitOfOperator } from '../../domain/holds/operator-limits.ts'
import { isConnectUrl } from '../../domain/model/connect-url.ts'
import { isTerminal, type Run, type RunStatus } from '../../domain/model/run.ts'
import type { PassSent, Step } from '../../domain/model/step.ts'
import type { Runner } from '../../domain/model/workflow.ts'
import { triesOf } from '../../domain/pass/advance.ts'
import { serves } from '../../domain/pass/routing.ts'
import { shownRunId } from '../../domain/text/ids.ts'
import { awaitedChildren, type Facts, runWhy, settledLast } from '../../domain/why/run-why.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Store } from '../../ports/store.ts'
import type { Reads } from '../../ports/store-reads.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { decideInTurns } from '../commit/turns.ts'
import type { EngineHold } from '../support/engine-hold.ts'
import { waitCircle } from './wait-circle.ts'

export interface RunWhyDeps {
  store: Pick<Store, 'in'>
  hold: Pick<EngineHold, 'isHeld'>
  catalog: Catalog
  clock: Pick<Clock, 'now'>
  isLive(runner: Runner): boolean
  /** The newest pass that failed on the runner. */
  lastFailureOf(runner: Runner): { at: number; message: string } | undefined
  /** The pass that is under way here, if one is. */
  passOf(runId: string): PassSent | undefined
  /** Its steps that the runner reported as running. */
  runningOf(runId: string): readonly { name: string }[] | undefined
  /** Whether the run waits for room on a runner. */
  waitsForRunnerRoom(run: Run): boolean
  /** The size of the run's state in bytes, if the run waits for memory of this engine. */
  waitsForMemory(runId: string): number | undefined
}

export class RunWhy {
  readonly #deps: RunWhyDeps

  constructor(deps: RunWhyDeps) {
    this.#deps = deps
  }

  /** Why the run is in its present state; undefined when the namespace has no such run. */
  async of(namespace: string, runId: string): Promise<RunExplanation | undefined> {
    const reads = this.#deps.store.in(namespace)
    const [run, moved, steps] = await Promise.all([
      reads.run(runId),
      reads.status(runId),
      reads.steps(runId, { status: OPEN, withoutData: true }),
    ])
    if (!run) return undefined
    const turns = await turnsOf(reads, run, steps, this.#deps.clock.now())
    const isHeld = run.status === 'queued' && (run.waitsForSlot ?? run.startQueue) !== undefined
    return runWhy({
      run,
      // The frame is read at the same time as the run and may be of a later status: then the run's own times are better.
      since: moved?.status === run.status ? moved.ts : (run.finishedAt ?? run.startedAt ?? run.createdAt),
      steps: [...steps, ...(await failedStep(reads, run))],
      generationsMax: this.#deps.catalog.generationsMax,
      triesMax: triesOf(run, run.lastFailure, this.#deps.catalog.view(namespace)),
      ...this.#runners(run),
      limitOfOperator: limitOfOperator(run, this.#deps.catalog.view(namespace).workflow(run.app, run.workflow)),
      blockedBy: await holders(reads, run),
      position: isHeld ? await reads.heldBefore(run) : turns?.ahead,
      turns,
      bytesWithoutMemory:
        isTerminal(run.status) || run.leaseOwner !== undefined ? undefined : this.#deps.waitsForMemory(run.id),
      isInRunnerQueue: this.#deps.waitsForRunnerRoom(run),
      waitFault: await this.#waitFault(run, steps),
      settledLast: await settledSince(reads, run, steps),
      pass: run.status === 'running' ? this.#deps.passOf(runId) : undefined,
      runningStep: this.#deps.runningOf(runId)?.at(-1)?.name,
      isEngineHeld: this.#deps.hold.isHeld,
      circle: run.status === 'waiting' ? await waitCircle(reads, run, steps) : undefined,
      deliveredTo: await deliveredTo(reads, run),
      started: await startedBy(reads, run),
      childStatuses: isTerminal(run.status) ? new Map() : await statusesOf(reads, steps),
    })
  }

  /** Compares only the newest events: a wait whose expression fails does so for nearly every event. */
  async #waitFault(
    { namespace, status, waitingFor, trigger, input }: Run,
    steps: readonly Step[],
  ): Promise<Facts['waitFault']> {
    if (status !== 'waiting' || waitingFor?.kind !== 'event') return undefined
    const {
      condition,
      match,
      eventName: name,
      startedAt: since,
    } = steps.find(step => step.name === waitingFor.stepName) ?? {}
    if (condition === undefined || name === undefined) return undefined
    const found = await this.#deps.store.in(namespace).events({ name, since, limit: COMPARED_MAX })
    return decideInTurns(namespace, () => {
      for (const { event } of found) {
        const met = evaluateWaitCondition(
          { filter: condition, ...(match === undefined ? {} : { match }), trigger: { ...trigger, data: input } },
          new EventSubject(event),
        )
        if (!met.ok) return { eventId: event.id, expression: condition, error: met.error }
      }
      return undefined
    })
  }

  #runners(run: Run): Pick<Facts, 'runners' | 'lastFailure'> {
    const all = this.#deps.catalog.view(run.namespace).runners(run.app)
    const allowed = run.runner === undefined ? all : all.filter(({ runnerId }) => runnerId === run.runner)
    const able = allowed.filter(runner => serves(runner, run))
    const away = able.filter(runner => !this.#deps.isLive(runner))
    const disconnected = away.filter(({ url }) => isConnectUrl(url)).length
    const without = allowed.length - able.length
    const runners = { live: able.length - away.length, stale: away.length - disconnected, disconnected, without }
    return run.waitingFor?.kind === 'runner' ? { runners, lastFailure: this.#lastFailure(able) } : { runners }
  }

  #lastFailure(runners: readonly Runner[]): Facts['lastFailure'] {
    const failures = runners.flatMap(runner => {
      const { runnerId } = runner
      const failure = this.#deps.lastFailureOf(runner)
      return failure ? [{ runnerId, ...failure }] : []
    })
    return failures.sort((a, b) => b.at - a.at)[0]
  }
}

/** Maximum runs that steps wait for whose statuses are read. */
const AWAITED_READ_MAX = 20

/**
 * The run to which a singleton delivered the event of this run. Only for a run that started when another ended without the
 * event.
 */
async function deliveredTo(reads: Reads, { id, inbox, eventId, workflow, app }: Run): Promise<string | undefined> {
  if (inbox === undefined || inbox === id || eventId === undefined) return undefined
  const { triggered = [] } = (await reads.event(eventId)) ?? {}
  return triggered.find(entry => entry.delivered && entry.workflow === workflow && entry.app === app)?.liveRunId
}

/** The runs that steps of the run started, oldest first. */
async function startedBy(reads: Reads, { id }: Run): Promise<NonNullable<Facts['started']>> {
  const steps = await reads.steps(id, { hasStarted: true, limit: STARTED_SHOWN_MAX, withoutData: true })
  const started = steps.map(async ({ name: stepName, startedRunId: runId = '' }) => {
    const frame = await reads.status(runId)
    return frame && { stepName, runId, status: frame.status }
  })
  return (await Promise.all(started)).filter(found => found !== undefined)
}

const STARTED_SHOWN_MAX = 20

async function statusesOf(reads: Reads, steps: readonly Step[]): Promise<Map<string, RunStatus>> {
  const children = awaitedChildren(steps).map(async ({ childRunId }) => {
    const frame = await reads.status(childRunId as string)
    return frame && ([childRunId as string, frame.status] as const)
  })
  const awaited = steps
    .flatMap(({ awaitedRunId }) => awaitedRunId ?? [])
    .slice(0, AWAITED_READ_MAX)
    .map(async id => {
      const newest = (await reads.newestOfChain(id)) ?? (await reads.run(id))
      return newest && ([shownRunId(id), newest.status] as const)
    })
  const found = await Promise.all([...children, ...awaited])
  return new Map(found.filter(entry => entry !== undefined))
}

const OPEN = ['running', 'waiting', 'retrying'] as const satisfies readonly Step['status'][]

/** Steps that are read to find the one that settled last: a race is not longer. */
const RACERS_MAX = 100

/** The step that settled last, if the run is parked and has gained no step since. */
async function settledSince(reads: Reads, { id, status, waitingFor }: Run, open: readonly Step[]) {
  const [first] = open
  if (status !== 'waiting' || !first || waitingFor?.stepName === undefined) return undefined
  const after = Math.max(-1, first.index - RACERS_MAX)
  const query = { status: ['succeeded', 'failed'], after, limit: 2 * RACERS_MAX, withoutData: true } as const
  return settledLast(open, await reads.steps(id, query))?.name
}

/** The step whose failure is the reason why the run is paused. */
async function failedStep(reads: Reads, { id, waitingFor }: Run): Promise<Step[]> {
  const stepId = waitingFor?.kind === 'failure' ? waitingFor.stepIds?.[0] : undefined
  const found = stepId === undefined ? undefined : await reads.step(id, stepId)
  return found ? [found.step] : []
}

/** The runs that hold the slot for which the run waits, each with the time of its last change of status. */
async function holders(reads: Reads, { status, waitsForSlot }: Run): Promise<{ runId: string; since: number }[]> {
  if (status !== 'queued' || waitsForSlot === undefined) return []
  const ids = await reads.holdersOf(waitsForSlot, HOLDERS_SHOWN_MAX)
  const found = await Promise.all(
    ids.map(async runId => {
      const frame = await reads.status(runId)
      return frame && { runId, since: frame.ts }
    }),
  )
  return found.filter(holder => holder !== undefined)
}

/** The turns at the limit where the run waits. */
async function turnsOf(
  reads: Reads,
  { id: runId, status, waitingFor }: Run,
  open: readonly Step[],
  now: number,
): Promise<Facts['turns']> {
  if (status !== 'waiting' || waitingFor?.kind !== 'limit') return undefined
  const step = open.find(({ name, limit }) => limit && name === waitingFor.stepName)
  if (!step) return undefined
  const [pool] = await reads.turnPools({ now, step: { runId, index: step.index }, limit: 1 })
  return pool
}

const HOLDERS_SHOWN_MAX = 10
/** Maximum events that the expression of a wait is compared with. */
const COMPARED_MAX = 10
