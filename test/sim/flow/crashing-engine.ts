// The real engine for histories of flow control: its store is in memory, its time virtual, every pass is held until the
// history answers it, and the engine may die between any two writes. The store and the limiter's counts outlive it.

import { seededRandom } from '../../../packages/engine/src/adapters/clock/seeded-random.ts'
import { MemoryLimiter } from '../../../packages/engine/src/adapters/limiter/memory.ts'
import { MemoryQueue } from '../../../packages/engine/src/adapters/queue/memory.ts'
import { openSqliteStore } from '../../../packages/engine/src/adapters/sql/sqlite/store.ts'
import type { Engine } from '../../../packages/engine/src/compose.ts'
import { readConfig } from '../../../packages/engine/src/config/config.ts'
import type { Sender } from '../../../packages/engine/src/ports/sender.ts'
import type { Store } from '../../../packages/engine/src/ports/store.ts'
import type { InvokeReply, Transport } from '../../../packages/engine/src/ports/transport.ts'
import { HeldPasses } from '../core/held-passes.ts'
import { SimClock } from '../core/sim-clock.ts'
import { type HttpAnswer, inject, startSimEngine } from '../core/sim-engine.ts'
import { Life, mortalClock, mortalQueue, never, Wall } from '../ports/life.ts'

/** The calls that write to the store: the engine may die before or after each of them. */
const WRITES: ReadonlySet<string> = new Set(['commit', 'claimRuns', 'claimTimers', 'claimDeliveries'])

export class CrashingEngine {
  readonly clock = new SimClock()
  /** Passes of the living engine. */
  readonly held = new HeldPasses()
  /** Whether the runner cannot be reached. */
  isUnreachable = false
  /** The error lines of the engines' logs. */
  readonly errors: string[] = []
  #limiter = new MemoryLimiter()
  readonly #store: Store
  #life = new Life(0)
  #engine: Engine | undefined
  #died: Promise<undefined> = Promise.resolve(undefined)
  #die: (nothing: undefined) => void = () => {}
  #isDown = false
  #crash = { writesLeft: Number.POSITIVE_INFINITY, before: false }

  private constructor(store: Store) {
    this.#store = store
    // While time passes, too, a dead engine gets a successor at once.
    this.clock.settled.onSettled = () => this.settle()
  }

  static async open(): Promise<CrashingEngine> {
    const opened = new CrashingEngine(await openSqliteStore({ file: ':memory:' }))
    await opened.#start()
    return opened
  }

  /** The store itself, without the ports of an engine. */
  get store(): Store {
    return this.#store
  }

  /** Sends a request and lets everything that follows from it happen. Undefined: the engine died before it answered. */
  async request(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    url: string,
    body?: unknown,
  ): Promise<HttpAnswer | undefined> {
    const answered = inject(this.#engine as Engine, { method, url, body })
    const answer = await this.clock.activity.during(Promise.race([answered, this.#died]))
    await this.settle()
    return answer
  }

  /** Lets everything happen that can happen now. An engine that dies of it gets a successor. */
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

  /** Lets the engine die at its n-th write from now on, just before or just after it. */
  crashAtWrite(n: number, before: boolean): void {
    this.#crash = { writesLeft: n, before }
  }

  /** Calls off a death that `crashAtWrite` has set. */
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
  async down(ms: number): Promise<void> {
    this.#isDown = true
    this.#kill()
    await this.clock.advance(ms)
    this.#isDown = false
    await this.settle()
  }

  async close(): Promise<void> {
    this.#kill()
    await this.clock.activity.still()
    await this.#store.close()
  }

  #kill(): void {
    this.#life.state = 'dead'
    this.spare()
    this.held.clear()
    this.#die(undefined)
  }

  async #start(): Promise<void> {
    const life = new Life(this.#life.no + 1)
    this.#life = life
    this.#died = new Promise(resolve => {
      this.#die = resolve
    })
    const clock = mortalClock(this.clock, life, new Wall())
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
    const call = async (name: string, run: () => Promise<unknown>): Promise<unknown> => {
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
        return (...given: unknown[]) => call(name, () => method(...given))
      },
    })
  }

  #transport(life: Life): Transport {
    return {
      invoke: (call): Promise<InvokeReply> => {
        if (life.dead) return never()
        this.clock.activity.sign()
        if (this.isUnreachable) return Promise.resolve({ kind: 'refused', message: 'nobody is there' })
        return this.held.hold(call, {
          isDead: () => life.dead,
          deadline: expire => this.clock.after(call.timeoutMs, expire),
        })
      },
      close: async () => {},
    }
  }
}

const CONFIG = readConfig({ ENGINE_DRAIN_TIMEOUT: '1' })

/** These histories send no webhooks. The real sender has timers that outlive its engine. */
const NO_SENDER: Sender = {
  send: async () => ({ kind: 'connectionError', error: 'there is no network', durationMs: 0 }),
  close: async () => {},
}
