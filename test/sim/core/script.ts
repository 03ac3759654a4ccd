// The course of a simulation: a phase of chaos with events, control actions, crashes and runners that go away, then
// calm, then everything that still waits is woken and must end.

import { checkLimit } from '../checks/limits/limit-checks.ts'
import { blockingRuns, checkSlotQueues } from '../checks/limits/slot-checks.ts'
import { waitsForSlot } from '../checks/record.ts'
import { checkAllEnded, checkAtRest, checkPrompt, checkSlots } from '../checks/rest-checks.ts'
import { startKeyOf, triggeringEvents } from '../workload/generate.ts'
import type { ControlAction } from '../workload/journal.ts'
import { APPS, eventsOfLevel, NAMESPACES, RUN_SIGNALS, SIGNALS } from '../workload/names.ts'
import { Rng } from './random.ts'
import { ensure } from './violation.ts'
import type { World } from './world.ts'

const ACTIONS = [
  'event',
  'burst',
  'control',
  'controlAll',
  'crash',
  'zombie',
  'drain',
  'heartbeat',
  'runnerGone',
  'settle',
  'signal',
  'start',
  'feed',
] as const
export type ActionKind = (typeof ACTIONS)[number]
/** Posts to callbacks depend on the runners' actions. */
export const ACTION_KINDS: readonly string[] = [...ACTIONS, 'callbacks']

/** A seed sends no further events after this many runs, because the simulation is about variety, not load. */
const RUNS_MAX = 60
const DEDUPE_IDS = 3
const SINGLETON_KEYS = 2
const CLOCK_SET_MS_MAX = 300_000
/** The engine compares its clocks every 5 s. */
const CLOCK_NOTICED_MS = 6000
/** Longer than any sleep, backoff and stall of a calm simulation. */
const REST_MS_MAX = 3_600_000
/** In which a pass may answer after the end of its run. */
const LATE_MS = 15_000
const ENDING_ROUNDS_MAX = 200

export class Script {
  readonly #world: World
  readonly #rng: Rng
  readonly #off: ReadonlySet<string>
  #count = 0

  constructor(world: World, seed: number, off: ReadonlySet<string>) {
    this.#world = world
    this.#rng = new Rng(seed, 'script')
    this.#off = off
  }

  async play(): Promise<void> {
    const { host, clock, client, runners } = this.#world
    await host.start()
    this.#world.faults.pause()
    for (const runner of runners.values()) client.register(runner)
    await clock.advance(1000)
    this.#world.faults.resume()
    await this.#chaos()
    await this.#calm()
    await this.#ending()
  }

  async #chaos(): Promise<void> {
    const { clock, extras } = this.#world
    const rng = this.#rng
    const start = clock.now()
    const lengthMs = rng.pick([5000, 30_000, 60_000])
    const share = (max: number) => rng.int(0, max)
    const weights: Record<ActionKind, number> = {
      event: 4 + share(8),
      burst: share(2),
      control: share(10),
      controlAll: share(2),
      crash: share(2),
      zombie: share(2),
      drain: share(1),
      heartbeat: 2,
      runnerGone: share(2),
      settle: extras.has('settles') ? 3 : 0,
      signal: extras.has('signals') ? 12 : 0,
      start: extras.has('starts') ? 8 : 0,
      feed: extras.has('singletons') ? 10 : 0,
    }
    const count = rng.int(8, 24)
    const actions = Array.from({ length: count }, () => ({
      at: start + rng.int(0, lengthMs),
      kind: rng.weighted(weights),
    }))
    // At least one runner must stay.
    actions.push({ at: start, kind: 'event' }, { at: start, kind: 'event' })
    for (const { at, kind } of actions.sort((a, b) => a.at - b.at)) {
      await clock.advanceTo(Math.max(at, clock.now()))
      if (this.#world.faults.strikes('clockSet')) await this.#setClock()
      if (!this.#off.has(kind)) await this.#act(kind, rng.fork(`action ${this.#count++}`))
    }
    await clock.advance(1000)
  }

  /** Sets the wall clock of the engine's machine back or forward. The engine notices within seconds. */
  async #setClock(): Promise<void> {
    const { clock, faults, trace, wall } = this.#world
    const by = faults.stream('clockSet').int(-CLOCK_SET_MS_MAX, CLOCK_SET_MS_MAX)
    trace.addGlobal(`the clock is set by ${by} ms`)
    wall.set(by)
    // After an earlier crash nobody knows the old time: timers are early or late by the difference.
    await clock.advance(CLOCK_NOTICED_MS)
  }

  async #act(kind: ActionKind, rng: Rng): Promise<void> {
    const { client, clock, faults, host, runners } = this.#world
    switch (kind) {
      case 'event':
        return this.#post(rng)
      case 'burst':
        for (let i = rng.int(2, 4); i > 0; i--) this.#post(rng)
        return
      case 'control':
        return this.#control(rng)
      case 'settle':
        return this.#settle(rng)
      case 'signal':
        return this.#signal(rng)
      case 'start':
        return this.#start(rng)
      case 'feed':
        return this.#feed(rng)
      case 'controlAll':
        return this.#controlBusy(rng)
      case 'heartbeat':
        return client.register(rng.pick([...runners.values()]))
      case 'runnerGone': {
        const runner = rng.pick([...runners.values()])
        runner.up = false
        clock.after(rng.int(100, 60_000), () => {
          runner.up = true
          client.register(runner)
        })
        return
      }
      case 'crash':
      case 'zombie':
        host.crash(kind === 'crash' || faults.isOn('clockSet') ? 'dead' : 'zombie')
        if (rng.chance(0.5)) await clock.advance(rng.int(1, 30_000))
        return host.start()
      case 'drain':
        await host.drain()
        return host.start()
    }
  }

  #post(rng: Rng): void {
    const { client, specs, witness, runners } = this.#world
    if (witness.records.size >= RUNS_MAX) return
    const named = specs.filter(spec => spec.triggers === undefined).map(spec => spec.name)
    const kind = rng.weighted({ level: 5, signal: 4, name: named.length > 0 ? 2 : 0, unknown: 0.3 })
    const name = {
      level: () => rng.pick(eventsOfLevel(rng.pick([0, 0, 1]))),
      signal: () => rng.pick(SIGNALS),
      name: () => rng.pick(named),
      unknown: () => 'nobody.listens',
    }[kind]()
    const token = `token-${this.#count++}`
    const app = rng.chance(0.15) ? rng.pick(APPS) : undefined
    const targetApp = rng.chance(0.1) ? rng.pick(APPS) : undefined
    const pin = rng.chance(0.15) ? (rng.pick([...runners.values(), undefined])?.deps.runnerId ?? 'ghost') : undefined
    client.post(token, this.#namespace(rng), {
      name,
      data: { token, ...this.#keyed(rng), ...(targetApp ? { targetApp } : {}) },
      ...(app ? { app } : {}),
      ...(targetApp ? { targetApp } : {}),
      ...(pin ? { runner: pin } : {}),
      ...(rng.chance(0.3) ? { dedupeId: `once-${rng.int(1, DEDUPE_IDS)}` } : {}),
    })
  }

  /** The part of an event's data that singletons may use as their key. */
  #keyed(rng: Rng): { k?: number } {
    return this.#world.extras.has('singletons') ? { k: rng.fork('k').int(1, SINGLETON_KEYS) } : {}
  }

  /** Starts runs of a workflow directly, several at once or around the end of other runs. */
  #start(rng: Rng): void {
    const { client, clock, specs, witness } = this.#world
    const { app, name: workflow } = rng.pick(specs)
    const namespace = this.#namespace(rng)
    const start = () => {
      if (witness.records.size >= RUNS_MAX) return
      client.start({ token: `start-${this.#count++}`, namespace, app, workflow, ...startKeyOf(rng) })
    }
    for (let i = rng.pick([1, 1, 2, 3]); i > 0; i--) {
      if (rng.chance(0.5)) start()
      else clock.after(rng.int(0, 3000), start)
    }
  }

  /** Sends events of one key to a singleton, several at once or around the end of its run. */
  #feed(rng: Rng): void {
    const { client, clock, specs, witness } = this.#world
    const singletons = specs.filter(({ singleton }) => singleton)
    if (singletons.length === 0) return
    const spec = rng.pick(singletons)
    const namespace = this.#namespace(rng)
    const keyed = this.#keyed(rng)
    const send = () => {
      if (witness.records.size >= RUNS_MAX) return
      const token = `token-${this.#count++}`
      client.post(token, namespace, { name: rng.pick(triggeringEvents(spec)), data: { token, ...keyed } })
    }
    for (let i = rng.int(1, 4); i > 0; i--) {
      if (rng.chance(0.5)) send()
      else clock.after(rng.int(0, 3000), send)
    }
  }

  #control(rng: Rng): void {
    const { client, witness } = this.#world
    const records = [...witness.records.values()]
    if (records.length === 0) return
    const action = rng.weighted<ControlAction>({
      cancel: 2,
      pause: 3,
      resume: 4,
      replay: 1,
      'retry-from-step': 2,
    })
    const wanted = {
      cancel: isOpen,
      pause: isOpen,
      resume: isPaused,
      replay: isFinished,
      'retry-from-step': isFinished,
    }
    const fitting = records.filter(({ run }) => run && wanted[action](run.status))
    // A crash in the middle of a pass finds the most.
    const busy = this.#busy()
    const fittingBusy = fitting.filter(({ id }) => busy.has(id))
    const choices = [fittingBusy, fitting, records].filter(
      ({ length }, i) => length > 0 && (i === 2 || rng.chance(0.8)),
    )
    const { id, namespace, steps } = rng.pick(choices[0] ?? records)
    if (action === 'retry-from-step') {
      const step = steps.length > 0 ? rng.pick(steps) : undefined
      client.control(namespace, action, id, { step: rng.pick([step?.name, step?.id]) ?? 'nowhere' })
      return
    }
    const input = action === 'replay' && rng.chance(0.3) ? { input: { replayed: this.#count++ } } : undefined
    client.control(namespace, action, id, input)
  }

  /** Settles an outstanding step, or another step, by hand. */
  #settle(rng: Rng): void {
    const { client, witness } = this.#world
    const steps = [...witness.records.values()].flatMap(({ id: runId, namespace, steps }) =>
      steps.map(step => ({ runId, namespace, stepId: step.id, isOpen: !isFinished(step.status) })),
    )
    const open = steps.filter(({ isOpen }) => isOpen)
    const choices = open.length > 0 && rng.chance(0.9) ? open : steps
    if (choices.length === 0) return
    const { isOpen: _, ...step } = rng.pick(choices)
    client.settle({ ...step, token: `settled-${this.#count++}` }, rng.chance(0.3))
  }

  /** Sends signals to a run, usually to one that continues: several at once, or around the moment of its end. */
  #signal(rng: Rng): void {
    const { client, clock, witness } = this.#world
    const records = [...witness.records.values()]
    const open = records.filter(({ run }) => run && isOpen(run.status))
    const choices = open.length > 0 && rng.chance(0.9) ? open : records
    if (choices.length === 0) return
    const { id, namespace } = rng.pick(choices)
    const send = () => {
      const signal = rng.pick(RUN_SIGNALS)
      client.signal(namespace, id, { signal, token: `signal-${this.#count++}` })
    }
    for (let i = rng.pick([1, 1, 2, 4]); i > 0; i--) {
      if (rng.chance(0.5)) send()
      else clock.after(rng.int(0, 3000), send)
    }
  }

  /** Acts on all runs with a pass in flight at once, so that answers and actions cross. */
  #controlBusy(rng: Rng): void {
    const { client, witness } = this.#world
    const action = rng.weighted<ControlAction>({ cancel: 1, pause: 2 })
    for (const runId of this.#busy()) {
      const record = witness.records.get(runId)
      if (record && rng.chance(0.7)) client.control(record.namespace, action, runId)
    }
  }

  /** Runs with a pass in flight. */
  #busy(): ReadonlySet<string> {
    return new Set([...this.#world.underWay].map(({ request }) => request.ctx.runId))
  }

  #namespace(rng: Rng): string {
    return rng.chance(0.15) && !this.#off.has('namespaces') ? NAMESPACES[1] : NAMESPACES[0]
  }

  /** Ends all faults, and lets everything happen that can happen on its own. After that nothing is due or held. */
  async #calm(): Promise<void> {
    const { callbackPosts, faults, host, bounds, clock, runners, specs, trace, witness, client } = this.#world
    trace.addGlobal('calm')
    faults.pause()
    callbackPosts.stop()
    for (const runner of runners.values()) {
      runner.up = true
      client.register(runner)
    }
    if (!host.current) await host.start()
    await this.#rest()
    // The longest stall of a commit is over in both directions, and every lane has looked for work once more.
    await clock.advance(120_000)
    checkAtRest(witness.records.values())
    checkLimit(this.#world.runnerRecord)
    checkSlotQueues(witness.records.values(), specs)
    checkSlots(witness.lastRequested, host.current?.life.no ?? 0, bounds)
    const blocking = blockingRuns(witness.records.values(), specs)
    if (blocking.length > 0) {
      for (const { id, namespace } of blocking) client.control(namespace, 'cancel', id)
      await clock.advance(LATE_MS)
      await this.#rest()
      checkSlotQueues(witness.records.values(), specs)
    }
  }

  /** Resumes every paused run, and sends every signal and callback, until nothing is left, then drains the engine. */
  async #ending(): Promise<void> {
    const { bounds, callbackPosts, client, clock, witness, host, trace, wall } = this.#world
    trace.addGlobal('the ending')
    const open = () => [...witness.records.values()].filter(({ run }) => run && isOpen(run.status))
    for (let round = 0; round < ENDING_ROUNDS_MAX && open().length > 0; round++) {
      for (const { id, namespace, run } of open()) if (run?.status === 'paused') client.control(namespace, 'resume', id)
      for (const namespace of NAMESPACES) {
        for (const name of SIGNALS) {
          const token = `ending-${round}-${namespace}-${name}`
          // Sent to an app that does not exist, so that waits wake and nothing starts.
          client.post(token, namespace, { name, targetApp: 'nobody', data: { token, targetApp: 'nobody' } })
        }
      }
      for (const { id, steps } of open()) callbackPosts.postWaiting(id, steps)
      await clock.advance(5000)
      if (bounds.passesMax > RUNS_MAX) checkPrompt(witness.records.values(), clock.now() + wall.aheadMs)
      await this.#rest()
    }
    checkAllEnded(witness.records.values())
    callbackPosts.postAll()
    await clock.advance(1000)
    await host.drain()
  }

  /** Advances time until nothing is due or in flight. */
  async #rest(): Promise<void> {
    const { clock, client, inner, underWay } = this.#world
    const deadline = clock.now() + REST_MS_MAX
    for (let stepMs = 500; ; stepMs = Math.min(20_000, stepMs * 2)) {
      await clock.advance(stepMs)
      const due = (await this.#dueRun()) ?? (await inner.nextAvailableAt('deliveries'))
      if (due === undefined && client.underWay === 0 && underWay.size === 0) return
      ensure(clock.now() < deadline, 'a calm engine comes to rest', () => `due ${due}, ${client.underWay} requests`)
    }
  }

  /** When a run is due that does not wait for a slot. Runs that wait for one look at their slot again from time to time. */
  async #dueRun(): Promise<number | undefined> {
    const { inner, specs, witness } = this.#world
    const due = await inner.nextAvailableAt('runs')
    if (due === undefined || specs.every(({ keeps }) => keeps === undefined)) return due
    witness.touchAll()
    await witness.look()
    const isDue = [...witness.records.values()].some(
      ({ run }) => run && isOpen(run.status) && run.availableAt !== undefined && !waitsForSlot(run),
    )
    return isDue ? due : undefined
  }
}

function isOpen(status: string): boolean {
  return !isFinished(status)
}

function isPaused(status: string): boolean {
  return status === 'paused'
}

function isFinished(status: string): boolean {
  return ['succeeded', 'failed', 'cancelled'].includes(status)
}
