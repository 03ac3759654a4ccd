// The permits of runners with a maximum of invokes (Connect's `maxConcurrency`), and the queue for them. A run under way gets a
// permit for its next pass, or waits in the queue of its app; it stays leased, and keeps its engine permit. Runs that have not
// begun wait in the store instead (claim-permits.ts).

import { runDeadline } from '../../../domain/holds/timeouts.ts'
import { connectUrlOwner } from '../../../domain/model/connect-url.ts'
import { appKey, type Run, type RunnersOfRun } from '../../../domain/model/run.ts'
import type { Runner } from '../../../domain/model/workflow.ts'
import type { Route } from '../../../domain/pass/routing.ts'
import { type Clock, every } from '../../../ports/clock.ts'
import type { InvokeSignal, Transport } from '../../../ports/transport.ts'
import { KeyPermits } from '../../support/permits.ts'

/** How often every waiting run is tried again. Nothing reports that an HTTP runner registered, or is no longer avoided. */
const RUNNER_QUEUE_POLL_MS = 1000

/** Maximum runs in the queue of one app; a further run waits in the store. */
const QUEUED_PER_APP_MAX = 32

/** How long a permit is kept for another engine: the time for one message there, and an invoke back. */
const PEER_PERMIT_MS = 100

/**
 * The right to send one invoke to a runner. It is given back right after the invoke was sent: the transport counts the invoke
 * from then on.
 */
export interface RunnerPermit {
  runner: Runner
  /** Does nothing the second time. */
  giveBack(): void
}

/**
 * `none`: no runner can be reached. `withdrawn`: taken out of the queue before there was room. `full`: no runner has room, and
 * the queue is full.
 */
export type Requested = RunnerPermit | 'none' | 'withdrawn' | 'full'

export interface RunnerPermitsDeps {
  clock: Clock
  route(run: RunnersOfRun, tried: ReadonlySet<Runner>): Route
  transport: Pick<Transport, 'room' | 'reaches' | 'requestRoom'>
}

interface QueuedRun {
  run: Run
  tried: ReadonlySet<Runner>
  end(requested: Requested): void
}

/** The `tried` runners of a pass before its first try. */
export const NONE_TRIED: ReadonlySet<Runner> = new Set()

export class RunnerPermits {
  readonly #deps: RunnerPermitsDeps
  /** By app, in the order in which they get room. */
  readonly #queues = new Map<string, QueuedRun[]>()
  readonly #byRunId = new Map<string, QueuedRun>()
  /** By the URL of the runner. */
  readonly #permits = new KeyPermits()
  #stopPolling: (() => void) | undefined

  constructor(deps: RunnerPermitsDeps) {
    this.#deps = deps
  }

  /** Whether the runner would take one more invoke beyond the given permits. */
  hasRoom(url: string): boolean {
    const room = this.roomOf(url)
    return room === undefined || room > 0
  }

  /** How many invokes the runner would take beyond the given permits; undefined: any number. */
  roomOf(url: string): number | undefined {
    const room = this.#deps.transport.room?.(url)
    return room === undefined ? undefined : room - this.#permits.inUseBy(url)
  }

  /** The runner without room to which the run would go; undefined when the run could be sent, or there is no runner. */
  fullRunner(run: RunnersOfRun): Runner | undefined {
    const chosen = this.#deps.route(run, NONE_TRIED)
    return chosen.kind === 'runner' && !this.hasRoom(chosen.runner.url) ? chosen.runner : undefined
  }

  /** Whether a runner that was not tried yet would take the run now. */
  hasOther(run: RunnersOfRun, tried: ReadonlySet<Runner>): boolean {
    const chosen = this.#deps.route(run, tried)
    return chosen.kind === 'runner' && this.hasRoom(chosen.runner.url)
  }

  has(runId: string): boolean {
    return this.#byRunId.has(runId)
  }

  /** Returns a permit for the run, if there is room now. No queued run could use that room: each is tried at every change. */
  tryTake(run: Run, tried: ReadonlySet<Runner>): RunnerPermit | 'none' | 'full' {
    const chosen = this.#deps.route(run, tried)
    if (chosen.kind !== 'runner') return 'none'
    const { runner } = chosen
    if (this.hasRoom(runner.url)) return this.#permitOf(runner)
    this.#deps.transport.requestRoom?.(runner.url)
    return 'full'
  }

  /** Waits in the queue for room. The run's deadline, the signal and `withdraw` take it out. */
  request(run: Run, tried: ReadonlySet<Runner>, signal: InvokeSignal): Promise<Requested> {
    if ((this.#queues.get(appKey(run))?.length ?? 0) >= QUEUED_PER_APP_MAX) return Promise.resolve('full')
    return new Promise(resolve => {
      const deadline = runDeadline(run)
      const leave = () => queued.end('withdrawn')
      const cancelTimer = deadline === undefined ? () => {} : this.#deps.clock.at(deadline, leave)
      const queued: QueuedRun = {
        run,
        tried,
        end: requested => {
          cancelTimer()
          signal.removeEventListener('abort', leave)
          this.#remove(queued)
          resolve(requested)
        },
      }
      signal.addEventListener('abort', leave)
      this.#add(queued)
      // There may be room now that was not there when the caller tried.
      if (signal.aborted) leave()
      else this.#offer(queued)
    })
  }

  /** The runner may have room, or is gone: tries the queued runs of its app in order. */
  roomChanged(url: string): void {
    const owner = connectUrlOwner(url)
    const queue = owner && this.#queues.get(appKey(owner))
    if (!queue) return
    const isFull = () => this.#deps.transport.reaches?.(url) !== false && !this.hasRoom(url)
    if (isFull()) return
    for (const queued of [...queue]) {
      this.#offer(queued)
      if (isFull()) return
    }
  }

  /** Takes the run out of the queue, if it waits there. */
  withdraw(runId: string): void {
    this.#byRunId.get(runId)?.end('withdrawn')
  }

  withdrawAll(): void {
    for (const queued of [...this.#byRunId.values()]) queued.end('withdrawn')
  }

  /** Takes a permit for one invoke of another engine, for a moment. */
  takeForPeer(url: string): void {
    const { clock } = this.#deps
    clock.after(PEER_PERMIT_MS, this.#take(url))
  }

  #offer(queued: QueuedRun): void {
    const taken = this.tryTake(queued.run, queued.tried)
    if (taken !== 'full') queued.end(taken)
  }

  #permitOf(runner: Runner): RunnerPermit {
    const isBounded = this.#deps.transport.room?.(runner.url) !== undefined
    return { runner, giveBack: isBounded ? this.#take(runner.url) : NOTHING }
  }

  /** Takes a permit, and returns a function that gives it back. */
  #take(url: string): () => void {
    this.#permits.take(url)
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      this.#permits.giveBack(url)
      // It may be given back without having been used.
      this.roomChanged(url)
    }
  }

  #add(queued: QueuedRun): void {
    const key = appKey(queued.run)
    const queue = this.#queues.get(key) ?? []
    let at = queue.length
    while (at > 0 && isBefore(queued.run, (queue[at - 1] as QueuedRun).run)) at--
    queue.splice(at, 0, queued)
    this.#queues.set(key, queue)
    this.#byRunId.set(queued.run.id, queued)
    this.#stopPolling ??= every(this.#deps.clock, RUNNER_QUEUE_POLL_MS, () => this.#offerAll())
  }

  #remove(queued: QueuedRun): void {
    const key = appKey(queued.run)
    const queue = this.#queues.get(key) ?? []
    const at = queue.indexOf(queued)
    if (at >= 0) queue.splice(at, 1)
    if (queue.length === 0) this.#queues.delete(key)
    if (this.#byRunId.get(queued.run.id) === queued) this.#byRunId.delete(queued.run.id)
    if (this.#byRunId.size > 0) return
    this.#stopPolling?.()
    this.#stopPolling = undefined
  }

  #offerAll(): void {
    for (const queue of [...this.#queues.values()]) for (const queued of [...queue]) this.#offer(queued)
  }
}

const NOTHING = () => {}

/** The order of claims: the higher priority, then the older. */
function isBefore(a: Run, b: Run): boolean {
  const [mine, other] = [a.priority ?? 0, b.priority ?? 0]
  return mine === other ? a.id < b.id : mine > other
}
