// Finds the pass that ends the process of its runner among those that end with it
// (docs/decisions/0026-a-step-that-ends-its-process.md). Counts the passes that are lost in the same moment, and admits
// suspects to a runner a few at a time. The suspicion of a run is stored in the run; this file only knows the passes under way.
// Called by invoke.ts and pass-loop.ts.

import type { Logger } from 'pino'
import type { Suspicion } from '../../domain/model/run.ts'
import { type Runner, runnerKey } from '../../domain/model/workflow.ts'
import { trialMs } from '../../domain/pass/answer/suspicion.ts'
import type { Bus } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'

/** When a process ends, its connections are all lost within this time. Passes of other processes continue. */
const SAME_MOMENT_MS = 250
/** How long a suspect waits before it is tried again, and the additional time for each other waiting suspect. */
const TURN_MS_MIN = 500
const TURN_MS_PER_WAITING = 20
const TURN_MS_MAX = 10_000
/** Among suspects with the same number of spent tries, one that has waited this much longer goes first. */
const WAITED_LONGER_MS = 10_000

export interface SuspectsDeps {
  clock: Clock
  log: Pick<Logger, 'warn'>
  /** Passes of this engine that the runner has under way. */
  underWay(runner: Runner): number
  /** The bus to the engines that send passes to the same runners. */
  bus?: Pick<Bus, 'on' | 'publish'> | undefined
}

/**
 * The passes of a runner that are lost in one moment. Each other engine counts as one pass, and as one suspect if it lost any.
 */
interface Death {
  together: number
  suspects: number
  /** Lost passes of this engine, and how many of these are suspects. */
  own: number
  ownSuspects: number
  close(): void
  readonly closed: Promise<void>
}

/** The pass of a suspect that is under way here. */
export interface Trial {
  end(): void
}

/** A suspect that is under way, here or at another engine. */
interface UnderWay {
  atOnce: number
  /** By the monotonic clock: after this time other suspects no longer wait for this one. */
  until: number
}

/** Maximum suspects of one runner that are remembered as under way at other engines. */
const REMOTE_MAX = 1000

/** A suspect that was not admitted. */
interface Waiting {
  since: number
  /** When it is tried again. If it is not tried then, it has ended, or another engine has it. */
  until: number
  tries: number
}

/** A run whose next pass is tried separately, with the fields that decide its order. */
export interface Suspect {
  id: string
  transportTries: number
  suspicion: Suspicion
}

export class Suspects {
  readonly #deps: SuspectsDeps
  /** By the key of the runner, as all maps here. */
  readonly #deaths = new Map<string, Death>()
  /** By the key of the runner, then by run. */
  readonly #trials = new Map<string, Map<string, UnderWay>>()
  readonly #waiting = new Map<string, Map<string, Waiting>>()

  constructor(deps: SuspectsDeps) {
    this.#deps = deps
    const { bus } = deps
    bus?.on('suspect-lost', text => this.#lostElsewhere(text))
    bus?.on('suspect-trial', text => this.#triedElsewhere(text))
  }

  /** Records that the connection of a pass was lost. Resolves when it is known which others were lost with it. */
  async lost(runner: Runner, isSuspect: boolean): Promise<{ together: number; suspects: number }> {
    const key = runnerKey(runner)
    const { bus, underWay } = this.#deps
    // Other engines need a moment to report their losses.
    const isLast = !bus && underWay(runner) === 0
    let death = this.#deaths.get(key)
    if (!death && isLast) return { together: 1, suspects: isSuspect ? 1 : 0 }
    death ??= this.#open(key)
    death.together++
    const passes = ++death.own === 1 ? 1 : 0
    const suspects = isSuspect && ++death.ownSuspects === 1 ? 1 : 0
    if (isSuspect) death.suspects++
    if (passes + suspects > 0) bus?.publish('suspect-lost', `${passes} ${suspects} ${key}`)
    if (isLast) death.close()
    await death.closed
    return death
  }

  #lostElsewhere(text: string): void {
    const [passes = '', suspects = '', ...rest] = text.split(' ')
    const key = rest.join(' ')
    const death = this.#deaths.get(key) ?? this.#open(key)
    death.together += Number(passes)
    death.suspects += Number(suspects)
  }

  #triedElsewhere(text: string): void {
    const [atOnce = '', ms = '', id = '', ...rest] = text.split(' ')
    const key = rest.join(' ')
    if (ms === '0') this.#remove(key, id)
    else if ((this.#trials.get(key)?.size ?? 0) < REMOTE_MAX)
      this.#add(key, id, { atOnce: Number(atOnce), until: this.#deps.clock.elapsed() + Number(ms) })
  }

  /** Whether the suspect may go to the runner now. */
  admits(runner: Runner, { id, transportTries, suspicion }: Suspect): boolean {
    const key = runnerKey(runner)
    const now = this.#deps.clock.elapsed()
    let atOnce = suspicion.atOnce
    let count = 1
    for (const [other, { until, ...trial }] of this.#trials.get(key) ?? []) {
      if (until <= now || other === id) continue
      count++
      atOnce = Math.min(atOnce, trial.atOnce)
    }
    return count <= atOnce && !this.#isBehind(key, id, transportTries)
  }

  /** Records that the suspect is not admitted to these runners. Returns how long it waits. */
  wait(runners: Iterable<Runner>, { id, transportTries: tries }: Suspect): number {
    const now = this.#deps.clock.elapsed()
    let waitMs = TURN_MS_MIN
    for (const runner of runners) {
      const key = runnerKey(runner)
      const waiting = this.#waiting.get(key) ?? new Map<string, Waiting>()
      this.#waiting.set(key, waiting)
      for (const [other, { until }] of waiting) if (until + TURN_MS_MAX < now) waiting.delete(other)
      waitMs = Math.max(waitMs, Math.min(TURN_MS_MAX, TURN_MS_MIN + waiting.size * TURN_MS_PER_WAITING))
      waiting.set(id, { since: waiting.get(id)?.since ?? now, until: now + waitMs, tries })
    }
    return waitMs
  }

  /** Records that the suspect goes to the runner. Others wait for it until the trial ends. */
  begin(runner: Runner, { id, suspicion }: Suspect): Trial {
    const key = runnerKey(runner)
    for (const [waitedAt, waiting] of this.#waiting) {
      waiting.delete(id)
      if (waiting.size === 0) this.#waiting.delete(waitedAt)
    }
    const { clock, bus } = this.#deps
    const { atOnce } = suspicion
    const ms = Math.ceil(trialMs(suspicion))
    this.#add(key, id, { atOnce, until: clock.elapsed() + ms })
    bus?.publish('suspect-trial', `${atOnce} ${ms} ${id} ${key}`)
    let isOver = false
    return {
      end: () => {
        if (isOver) return
        isOver = true
        this.#remove(key, id)
        bus?.publish('suspect-trial', `${atOnce} 0 ${id} ${key}`)
      },
    }
  }

  #add(key: string, id: string, underWay: UnderWay): void {
    const trials = this.#trials.get(key) ?? new Map<string, UnderWay>()
    this.#trials.set(key, trials)
    // The end of a suspect at a dead engine is never reported.
    for (const [other, { until }] of trials) if (until <= this.#deps.clock.elapsed()) trials.delete(other)
    trials.set(id, underWay)
  }

  #remove(key: string, id: string): void {
    const trials = this.#trials.get(key)
    trials?.delete(id)
    if (trials?.size === 0) this.#trials.delete(key)
  }

  /** Whether another suspect goes first, because it has spent fewer tries or has waited much longer. */
  #isBehind(key: string, id: string, tries: number): boolean {
    const waiting = this.#waiting.get(key)
    if (!waiting) return false
    const now = this.#deps.clock.elapsed()
    const since = waiting.get(id)?.since ?? now
    for (const [other, one] of waiting) {
      if (other === id || one.until + TURN_MS_MIN < now) continue
      if (one.tries < tries || (one.tries === tries && one.since + WAITED_LONGER_MS < since)) return true
    }
    return false
  }

  #open(key: string): Death {
    const { clock, log } = this.#deps
    let resolve = () => {}
    const closed = new Promise<void>(done => {
      resolve = done
    })
    const death: Death = {
      together: 0,
      suspects: 0,
      own: 0,
      ownSuspects: 0,
      closed,
      close: () => {
        cancel()
        if (this.#deaths.get(key) === death) this.#deaths.delete(key)
        if (death.own > 0 && death.together > 1) {
          const [namespace, app, runnerId] = key.split('\n')
          const fields = { namespace, app, runnerId, passes: death.own, suspects: death.suspects }
          log.warn(fields, 'a runner ended during passes: they are retried, one at a time if it ends again')
        }
        resolve()
      },
    }
    const cancel = clock.after(SAME_MOMENT_MS, death.close)
    this.#deaths.set(key, death)
    return death
  }
}
