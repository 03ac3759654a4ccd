// Gives a parked run another pass because its handler continued after the answer of the last pass
// (docs/wire-protocol.md#another-pass). Any engine of the store may get the request. Called by http/connect and
// http-checkpoints.ts.

import type { Decision } from '../../domain/model/decision.ts'
import { EngineError } from '../../domain/model/errors.ts'
import { wake } from '../../domain/run/control.ts'
import { RunState } from '../../domain/run/state.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'

/** A request for another pass of a run. */
export interface AskedPass {
  /** The id under which the run is stored. */
  runId: string
  /** How many settled steps the engine had sent for the answered pass; absent if the runner did not report it. */
  settled?: number | undefined
}

export interface AnotherPassDeps extends Pick<Core, 'store' | 'clock' | 'announcer'> {
  /** Resolves when the run is not under way at this engine. */
  untilParked(runId: string): Promise<void> | undefined
}

/**
 * How long a request waits for the commit of the answered pass. If a run is leased for longer, it has a newer pass, or gets one
 * when the lease runs out.
 */
const COMMIT_MS_MAX = 10_000
const POLL_MS_MIN = 20
const POLL_MS_MAX = 1000
/** Maximum requests that wait at this engine. */
const WAITING_MAX = 1000
/** Delays of the next pass of a run that requests passes repeatedly and gained no step in the last ones. */
const BACKOFF_MS_MIN = 250
const BACKOFF_MS_MAX = 60_000
/** Maximum runs whose last request is remembered for these delays. */
const REMEMBERED_MAX = 10_000

/** The steps of a run when it was given a pass, and the number of passes in a row with these same steps. */
interface Given {
  steps: number
  settled: number
  inVain: number
}

export class AnotherPass {
  readonly #deps: AnotherPassDeps
  readonly #given = new Map<string, Given>()
  #waiting = 0

  constructor(deps: AnotherPassDeps) {
    this.#deps = deps
  }

  /** The same for a run that a Connect runner names by its shown id. The run must belong to the runner's app. */
  async requestFor({ namespace, app }: { namespace: string; app: string }, asked: AskedPass): Promise<void> {
    const [runId = asked.runId] = await this.#deps.store.in(namespace).storedIds([asked.runId])
    await this.request({ ...asked, runId }, run => run.namespace === namespace && run.app === app)
  }

  /**
   * Resolves when the run is woken, or has continued without that.
   * @throws EngineError `rate_limited` when too many requests wait.
   */
  async request(asked: AskedPass, isOwn: (run: RunState['run']) => boolean = () => true): Promise<void> {
    if (this.#waiting >= WAITING_MAX)
      throw new EngineError('rate_limited', `${WAITING_MAX} requests for another pass wait, the maximum`)
    this.#waiting++
    try {
      const state = await this.#parked(asked, isOwn)
      if (state) await this.#wake(state, asked)
    } finally {
      this.#waiting--
    }
  }

  /** The run when it has no lease; undefined if the request may not name the run, or the run has continued. */
  async #parked(
    { runId, settled = Number.POSITIVE_INFINITY }: AskedPass,
    isOwn: (run: RunState['run']) => boolean,
  ): Promise<RunState | undefined> {
    const { clock, store, untilParked } = this.#deps
    const giveUpAt = clock.elapsed() + COMMIT_MS_MAX
    // The commit of the answer is usually under way: the run is loaded once it is over.
    if (untilParked(runId)) await this.#underWay(runId, COMMIT_MS_MAX)
    for (let pollMs = POLL_MS_MIN; ; pollMs = Math.min(POLL_MS_MAX, pollMs * 2)) {
      const loaded = await store.loadRun(runId)
      if (!loaded || !isOwn(loaded.run)) return undefined
      const state = RunState.loaded(loaded)
      if (state.settledCount > settled) return undefined
      if (loaded.run.leaseOwner === undefined) return state
      if (clock.elapsed() > giveUpAt) return undefined
      await this.#underWay(runId, pollMs)
    }
  }

  /** Resolves when the run is not under way here; at the latest after `pollMs`, since another engine may have it. */
  #underWay(runId: string, pollMs: number): Promise<void> {
    const { clock, untilParked } = this.#deps
    return new Promise(resolve => {
      const cancelTimer = clock.after(pollMs, resolve)
      void untilParked(runId)?.then(() => {
        cancelTimer()
        resolve()
      })
    })
  }

  async #wake(parked: RunState, asked: AskedPass): Promise<void> {
    const { store, clock, announcer } = this.#deps
    let state = parked
    const backoffMs = this.#backoffMs(state)
    const decision = await decideAndCommit<Decision>({
      store,
      decide: () => {
        const now = clock.now()
        return wake(state, { now, at: now + backoffMs, settled: asked.settled })
      },
      onStale: async () => {
        const loaded = await store.loadRun(asked.runId)
        if (loaded) state = RunState.loaded(loaded)
        return loaded !== undefined
      },
    })
    if (decision) announcer.announce(decision.changes)
  }

  #backoffMs({ run, steps, settledCount: settled }: RunState): number {
    const before = this.#given.get(run.id)
    const isInVain = before?.steps === steps.size && before.settled === settled
    const inVain = isInVain ? before.inVain + 1 : 0
    this.#given.delete(run.id)
    this.#given.set(run.id, { steps: steps.size, settled, inVain })
    const [oldest] = this.#given.keys()
    if (this.#given.size > REMEMBERED_MAX && oldest !== undefined) this.#given.delete(oldest)
    return inVain === 0 ? 0 : Math.min(BACKOFF_MS_MAX, BACKOFF_MS_MIN * 2 ** (inVain - 1))
  }
}
