// The steps of runs that are running now. The engine that drives a run knows this from the run's runner. Any other engine asks
// that engine over the bus, and answers without it if no answer comes in time. Called by reads of runs and steps.

import type { Run } from '../../domain/model/run.ts'
import type { RunningStep } from '../../domain/view/running-step.ts'
import type { Bus } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'

/** Engines of different versions share a bus, so neither topics nor texts may change. */
const TOPICS = {
  /** JSON `[id, ...runIds]`. */
  ask: 'runningSteps',
  /** JSON `[id, [[runId, steps], ...]]`. */
  answer: 'runningStepsAnswer',
} as const

/** Maximum time that a read waits for another engine. */
const ANSWER_MS_MAX = 250
/** Maximum questions of this engine that wait. */
const ASKED_MAX = 1000

export interface RunningStepsDeps {
  /** This engine's name in leases and on the bus. */
  owner: string
  /** Absent where no other engine can be reached. */
  bus: Bus | undefined
  clock: Pick<Clock, 'after'>
  /** The running steps of a run that this engine drives. */
  here(runId: string): readonly RunningStep[] | undefined
}

type Found = [runId: string, steps: readonly RunningStep[]]
type AskedRun = Pick<Run, 'id' | 'status' | 'leaseOwner'>

export class RunningSteps {
  readonly #deps: RunningStepsDeps
  readonly #waiting = new Map<string, (found: Found[]) => void>()
  #count = 0

  constructor(deps: RunningStepsDeps) {
    this.#deps = deps
    const { bus } = deps
    bus?.on(TOPICS.ask, (text, from) => {
      const [id, ...runIds] = JSON.parse(text) as [string, ...string[]]
      bus.publish(TOPICS.answer, JSON.stringify([id, this.#knownHere(runIds)]), from)
    })
    bus?.on(TOPICS.answer, text => {
      const [id, found] = JSON.parse(text) as [string, Found[]]
      this.#waiting.get(id)?.(found)
    })
  }

  /** Whether an engine other than this one may know of running steps. */
  get isShared(): boolean {
    return this.#deps.bus !== undefined
  }

  /** The running steps of one run that this engine drives. */
  here(runId: string): readonly RunningStep[] | undefined {
    return this.#deps.here(runId)
  }

  /** The running steps by run id, of the runs that have any. */
  async of(runs: readonly AskedRun[]): Promise<ReadonlyMap<string, readonly RunningStep[]>> {
    const { owner } = this.#deps
    const running = runs.filter(({ status }) => status === 'running')
    const found = this.#knownHere(running.map(({ id }) => id))
    const elsewhere = new Map<string, string[]>()
    if (this.isShared)
      for (const { id, leaseOwner } of running) {
        if (leaseOwner === undefined || leaseOwner === owner) continue
        elsewhere.set(leaseOwner, [...(elsewhere.get(leaseOwner) ?? []), id])
      }
    const answers = await Promise.all([...elsewhere].map(([engine, runIds]) => this.#ask(engine, runIds)))
    return new Map([...found, ...answers.flat()])
  }

  #knownHere(runIds: readonly string[]): Found[] {
    return runIds.flatMap(runId => {
      const steps = this.#deps.here(runId)
      return steps && steps.length > 0 ? [[runId, steps] satisfies Found] : []
    })
  }

  #ask(engine: string, runIds: readonly string[]): Promise<Found[]> {
    const { bus, clock, owner } = this.#deps
    if (!bus || this.#waiting.size >= ASKED_MAX) return Promise.resolve([])
    const id = `${owner}#${++this.#count}`
    return new Promise(resolve => {
      const settle = (found: Found[]) => {
        cancel()
        this.#waiting.delete(id)
        resolve(found)
      }
      const cancel = clock.after(ANSWER_MS_MAX, () => settle([]))
      this.#waiting.set(id, settle)
      bus.publish(TOPICS.ask, JSON.stringify([id, ...runIds]), engine)
    })
  }
}
