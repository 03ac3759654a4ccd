// The real engine for histories of flow control, with a store in memory and virtual time. Every pass waits until the history
// answers it, and the engine may die between any two writes. The store and the limiter's counts outlive the engine. Two engines
// can share a store and a clock.

import { seededRandom } from '../../../packages/engine/src/adapters/clock/seeded-random.ts'
import { MemoryLimiter } from '../../../packages/engine/src/adapters/limiter/memory.ts'
import { MemoryQueue } from '../../../packages/engine/src/adapters/queue/memory.ts'
import { openSqliteStore } from '../../../packages/engine/src/adapters/sql/sqlite/store.ts'
import type { Engine } from '../../../packages/engine/src/compose/engine.ts'
import { readConfig } from '../../../packages/engine/src/config/config.ts'
import type { Unit } from '../../../packages/engine/src/domain/model/change.ts'
import type { Sender } from '../../../packages/engine/src/ports/sender.ts'
import type { Store } from '../../../packages/engine/src/ports/store.ts'
import type { InvokeReply, Transport } from '../../../packages/engine/src/ports/transport.ts'
import { SimClock } from '../core/sim-clock.ts'
import { type HttpAnswer, inject, startSimEngine } from '../core/sim-engine.ts'
import { WaitingPasses } from '../core/waiting-passes.ts'
import { Life, mortalClock, mortalQueue, never, Wall } from '../ports/life.ts'

/** The calls that write to the store. The engine may die before or after each of them. */
const WRITES: ReadonlySet<string> = new Set(['commit', 'claimRuns', 'claimTimers', 'claimDeliveries'])

/** A planted bug: returns the units to commit, one after the other, in place of the given one. */
export type Tamper = (unit: Unit) => readonly Unit[]

export interface CrashingEngineOptions {
  /** Another engine; this one shares its store and clock. Register everything before this engine opens. */
  beside?: CrashingEngine | undefined
  /** How many turns of the event loop a call to the store waits. Random numbers let calls happen in every order. */
  turns?: (() => number) | undefined
  tamper?: Tamper | undefined
  /** The first time, epoch ms. */
  startAt?: number
}

/** Lives of an engine; the numbers of the second engine begin here. */
const LIVES_MAX = 1000

export class CrashingEngine {
  readonly clock: SimClock
  /** The wall clock of the engine's machine. It may be set only if the engine is alone on its store. */
  readonly wall = new Wall()
  /** Passes of the living engine. */
  readonly waiting = new WaitingPasses()
  /** Whether the runner cannot be reached. */
  isUnreachable = false
  /** Called when an engine begins a call to the store. */
  onCall: ((name: string) => void) | undefined
  /** The error lines of the engines' logs. */
  readonly errors: string[] = []
  #limiter = new MemoryLimiter()
  readonly #store: Store
  readonly #options: CrashingEngineOptions
  #life: Life
  #engine: Engine | undefined
  #died: Promise<undefined> = Promise.resolve(undefined)
  #die: (nothing: undefined) => void = () => {}
  #isDown = false
  #crash = { writesLeft: Number.POSITIVE_INFINITY, before: false }

  private constructor(store: Store, options: CrashingEngineOptions) {
    const { beside } = options
    this.#store = store
    this.#options = options
    this.#life = new Life(beside ? LIVES_MAX : 0)
    this.clock = beside?.clock ?? new SimClock(options.startAt)
    // A dead engine also gets a successor at once while time passes.
    const { onSettled } = this.clock.settled
    this.clock.settled.onSettled = async () => {
      await onSettled()
      await this.settle()
    }
  }

  static async open(options: CrashingEngineOptions = {}): Promise<CrashingEngine> {
    const store = options.beside?.store ?? (await openSqliteStore({ file: ':memory:' }))
    const opened = new CrashingEngine(store, options)
    await opened.#start()
    return opened
  }

  /** The store itself, without the ports of an engine. */
  get store(): Store {
    return this.#store
  }

  /** Sends a request and waits for all its effects. Undefined: the engine died before it answered. */
  request(method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, body?: unknown): Promise<HttpAnswer | undefined> {
    return this.orDeath(inject(this.#engine as Engine, { method, url, body }))
  }

  /** Resolves with the result of a call into the engine. Undefined: the engine died first. */
  async orDeath<T>(call: Promise<T>): Promise<T | undefined> {
    const result = await this.clock.activity.during(Promise.race([call, this.#died]))
    await this.settle()
    return result
  }

  /** How many engines there have been so far. */
  get lives(): number {
    return this.#life.no
  }

  /** Lets everything happen that can happen now. If the engine dies meanwhile, it gets a successor. */
  async settle(): Promise<void> {
    await this.clock.activity.still()
    while (!this.#life.alive && !this.#isDown) {
      await this.#start()
      await this.clock.activity.still()
    }
  }

  async pass(ms: number): Promise<void> {
    await this.clock.advance(ms)
    await this.settle()
  }

  /** Makes the engine die at its n-th write from now, just before or just after it. */
  crashAtWrite(n: number, before: boolean): void {
    this.#crash = { writesLeft: n, before }
  }

  /** Cancels a death that `crashAtWrite` has planned. */
  spare(): void {
    this.#crash = { writesLeft: Number.POSITIVE_INFINITY, before: false }
  }

  async crash(): Promise<void> {
    this.#kill()
    await this.settle()
  }

  /** Gives the next engine an empty limiter. */
  forget(): void {
    this.#limiter = new MemoryLimiter()
  }

  /** Kills the engine; its successor starts `ms` later. */
  down(ms: number): Promise<void> {
    return CrashingEngine.downTogether([this], ms)
  }

  /** Kills engines that share a clock; their successors start `ms` later. */
  static async downTogether(engines: readonly CrashingEngine[], ms: number): Promise<void> {
    for (const engine of engines) {
      engine.#isDown = true
      engine.#kill()
    }
    await engines[0]?.clock.advance(ms)
    for (const engine of engines) engine.#isDown = false
    for (const engine of engines) await engine.settle()
  }

  async close(): Promise<void> {
    this.#kill()
    await this.clock.activity.still()
    if (!this.#options.beside) await this.#store.close()
  }

  #kill(): void {
    this.#life.state = 'dead'
    this.spare()
    this.waiting.clear()
    this.#die(undefined)
  }

  async #start(): Promise<void> {
    const life = new Life(this.#life.no + 1)
    this.#life = life
    this.#died = new Promise(resolve => {
      this.#die = resolve
    })
    const clock = mortalClock(this.clock, life, this.wall)
    const ports = {
      clock,
      random: seededRandom(life.no),
      store: this.#mortalStore(life),
      queue: mortalQueue(new MemoryQueue(clock), life),
      transport: this.#transport(life),
      limiter: this.#limiter,
      sender: NO_SENDER,
    }
    const onError = (_: unknown, line: string) => void this.errors.push(line)
    this.#engine = await this.clock.activity.during(startSimEngine({ config: CONFIG, ports, onError }))
  }

  /** The store as one engine sees it. Calls of a dead engine never settle. */
  #mortalStore(life: Life): Store {
    const { tamper } = this.#options
    const call = async (name: string, run: () => Promise<unknown>): Promise<unknown> => {
      this.onCall?.(name)
      await this.#waitTurns()
      if (life.dead) return never()
      const isLast = WRITES.has(name) && --this.#crash.writesLeft <= 0
      if (isLast && this.#crash.before) {
        this.#kill()
        return never()
      }
      let answer: Promise<unknown>
      try {
        answer = Promise.resolve(await this.clock.activity.during(run()))
      } catch (error) {
        answer = Promise.reject(error)
        answer.catch(() => {})
      }
      if (isLast && !life.dead) this.#kill()
      return life.dead ? never() : answer
    }
    return new Proxy(this.#store, {
      get: (store, name: keyof Store) => {
        if (name === 'close') return async () => {}
        const member = store[name]
        if (typeof member !== 'function' || name === 'in')
          return typeof member === 'function' ? member.bind(store) : member
        const method = member.bind(store) as (...given: unknown[]) => Promise<unknown>
        if (name === 'commit' && tamper)
          return async (unit: Unit) => {
            for (const part of tamper(unit)) await call(name, () => method(part))
          }
        return (...given: unknown[]) => call(name, () => method(...given))
      },
    })
  }

  async #waitTurns(): Promise<void> {
    const turns = this.#options.turns?.() ?? 0
    if (turns > 0) await this.clock.activity.during(passTurns(turns))
  }

  #transport(life: Life): Transport {
    return {
      invoke: (call): Promise<InvokeReply> => {
        if (life.dead) return never()
        this.clock.activity.sign()
        if (this.isUnreachable) return Promise.resolve({ kind: 'refused', message: 'nobody is there' })
        return this.waiting.wait(call, {
          isDead: () => life.dead,
          deadline: expire => this.clock.after(call.timeoutMs, expire),
        })
      },
      close: async () => {},
    }
  }
}

async function passTurns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise(resolve => setImmediate(resolve))
}

const CONFIG = readConfig({ ENGINE_DRAIN_TIMEOUT: '1' })

/** These histories send no webhooks. The real sender has timers that outlive its engine. */
const NO_SENDER: Sender = {
  send: async () => ({ kind: 'connectionError', error: 'there is no network', durationMs: 0 }),
  close: async () => {},
}
