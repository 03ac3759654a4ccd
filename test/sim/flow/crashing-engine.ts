// The real engine for histories of flow control: its store in memory, its time virtual, every pass held until the
// history answers it, and its life ended between any two writes. The store, and what the limiter counts, outlive it.

import { pino } from 'pino'
import { seededRandom } from '../../../packages/engine/src/adapters/clock/seeded-random.ts'
import { MemoryLimiter } from '../../../packages/engine/src/adapters/limiter/memory.ts'
import { MemoryQueue } from '../../../packages/engine/src/adapters/queue/memory.ts'
import { openSqliteStore } from '../../../packages/engine/src/adapters/sql/sqlite/store.ts'
import { createEngine, type Engine } from '../../../packages/engine/src/compose.ts'
import { readConfig } from '../../../packages/engine/src/config.ts'
import type { Sender } from '../../../packages/engine/src/ports/sender.ts'
import type { Store } from '../../../packages/engine/src/ports/store.ts'
import type { InvokeCall, InvokeReply, Transport } from '../../../packages/engine/src/ports/transport.ts'
import { SimClock } from '../core/sim-clock.ts'
import { Life, mortalClock, mortalQueue, never } from '../ports/life.ts'

export interface HttpAnswer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: whatever the route answers
  body: any
}

/** A pass that waits for its answer. */
export interface HeldPass {
  runId: string
  memo: Record<string, { data?: unknown; error?: unknown; pending?: boolean }>
  answer(status: number, body: unknown): void
}

/** What moves the store on: the engine may die before each of them, and after. */
const WRITES: ReadonlySet<string> = new Set(['commit', 'claimRuns', 'claimTimers', 'claimDeliveries'])

export class CrashingEngine {
  readonly clock = new SimClock()
  /** Passes of the engine that lives. */
  readonly held = new Set<HeldPass>()
  /** Whether its runner cannot be reached. */
  isUnreachable = false
  /** What the engine logged as an error. */
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
    // Also while time passes an engine that dies has its successor at once.
    this.clock.settled.onSettled = () => this.settle()
  }

  static async open(): Promise<CrashingEngine> {
    const opened = new CrashingEngine(await openSqliteStore({ file: ':memory:' }))
    await opened.#start()
    return opened
  }

  /** The store as it is, whatever the engine believes. */
  get store(): Store {
    return this.#store
  }

  /** Asks over the HTTP interface and lets everything that follows happen; undefined if the engine died over it. */
  async ask(method: 'GET' | 'POST', url: string, body?: unknown): Promise<HttpAnswer | undefined> {
    const { app } = this.#engine as Engine
    const payload = body === undefined ? {} : { payload: body as object }
    const asked = app.inject({ method, url, ...payload })
    const response = await this.clock.activity.during(Promise.race([asked, this.#died]))
    await this.settle()
    return response && { status: response.statusCode, body: response.json() }
  }

  /** Everything that can happen now has happened; an engine that died over it has a successor. */
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

  /** The engine dies at its n-th write from now on: just before it, or just after. */
  crashAtWrite(n: number, before: boolean): void {
    this.#crash = { writesLeft: n, before }
  }

  /** A death that was announced does not come. */
  spare(): void {
    this.#crash = { writesLeft: Number.POSITIVE_INFINITY, before: false }
  }

  async crash(): Promise<void> {
    this.#kill()
    await this.settle()
  }

  /** The next engine has a limiter that knows nothing. */
  forget(): void {
    this.#limiter = new MemoryLimiter()
  }

  /** The engine dies, and only after so long has its successor. */
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
    const clock = mortalClock(this.clock, life)
    const write = (line: string) => void this.errors.push(line)
    const ports = {
      clock,
      random: seededRandom(life.no),
      store: this.#mortalStore(life),
      queue: mortalQueue(new MemoryQueue(clock), life),
      transport: this.#transport(life),
      limiter: this.#limiter,
      sender: NO_SENDER,
    }
    this.#engine = await this.clock.activity.during(
      createEngine(CONFIG, pino({ level: 'error' }, { write }), ports),
    )
    await this.#engine.app.ready()
    this.#engine.start()
  }

  /** The store as one engine has it: silent once that is dead, which may be just before a write or just after. */
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
      invoke: ({ body, signal, timeoutMs }: InvokeCall): Promise<InvokeReply> => {
        if (life.dead) return never()
        this.clock.activity.sign()
        if (this.isUnreachable) return Promise.resolve({ kind: 'refused', message: 'nobody is there' })
        const { ctx, steps } = JSON.parse(body) as { ctx: { runId: string }; steps: HeldPass['memo'] }
        return new Promise(resolve => {
          const end = (reply: InvokeReply) => {
            if (life.dead) return
            this.held.delete(pass)
            stopTimer()
            resolve(reply)
          }
          const pass: HeldPass = {
            runId: ctx.runId,
            memo: steps,
            answer: (status, body) => end({ kind: 'answered', status, body: JSON.stringify(body) }),
          }
          const stopTimer = this.clock.at(this.clock.now() + timeoutMs, () =>
            end({ kind: 'broken', message: 'the runner took too long' }),
          )
          this.held.add(pass)
          signal.addEventListener('abort', () => end({ kind: 'aborted' }))
        })
      },
      close: async () => {},
    }
  }
}

const CONFIG = readConfig({ ENGINE_DRAIN_TIMEOUT: '1' })

/** Nothing is sent in these histories; a real one has timers that outlive its engine. */
const NO_SENDER: Sender = {
  send: async () => ({ kind: 'connectionError', error: 'there is no network', durationMs: 0 }),
  close: async () => {},
}
