// The engine under test: the real one, on a store in memory, under a virtual clock. It can die and come back on the
// same store. Opened by `test-engine.ts`.

import type { Engine, Random, Store, VirtualClock } from '@perdure/engine'
import type { Handler } from '../handler.ts'
import { registerRequest } from '../registration.ts'
import { TestingError } from './errors.ts'
import { Life, mortalClock, mortalStore } from './life.ts'
import type { Packages } from './packages.ts'
import { isHeld } from './pass-under-way.ts'
import { realNow } from './real-time.ts'
import { StepWatch } from './steps.ts'
import { Stillness } from './stillness.ts'
import { InProcessTransport } from './transport.ts'
import type { WebhookRecorder } from './webhooks.ts'

/** Part of every request; it keeps nobody out. */
export const API_KEY = 'the-key-of-the-testing-kit'
/** pino's number of the level. */
const ERROR = 50
/** Runners do not come and go here: none is ever stale. */
const NEVER_STALE = '36500d'

export interface HostOptions {
  seed: number
  startAt: number
  checkpoints: boolean
  patienceMs: number
  settings: Readonly<Record<string, string>>
}

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Path and query. */
  url: string
  headers: Record<string, string>
  payload?: string | object
}

export interface HttpAnswer {
  statusCode: number
  headers: Readonly<Record<string, unknown>>
  body: string
}

interface Incarnation {
  life: Life
  engine: Engine
  transport: InProcessTransport
}

export class Host {
  readonly clock: VirtualClock
  readonly stillness: Stillness
  readonly steps: StepWatch
  /** What engines have logged as their own failures: none is meant to happen. */
  readonly errors: string[] = []
  readonly packages: Packages
  readonly #options: HostOptions
  readonly #random: Random
  readonly #handlers = new Map<string, Handler>()
  #store: Store | undefined
  #commandedAt: number | undefined
  #current: Incarnation | undefined

  constructor(packages: Packages, options: HostOptions) {
    this.packages = packages
    this.#options = options
    this.clock = new packages.engine.VirtualClock({ start: options.startAt })
    this.#random = packages.engine.seededRandom(options.seed)
    this.steps = new StepWatch(() => this.stillness.progress())
    this.stillness = new Stillness({
      patienceMs: options.patienceMs,
      held: () => this.#held(),
      isIdle: () => this.#isIdle(),
      underWay: () => this.#underWay(),
    })
  }

  /** Throws when no engine runs. */
  assertUp(): void {
    if (this.#current) return
    throw new TestingError(
      this.#store ? 'The engine has crashed: restart() starts it again' : 'The engine was stopped',
    )
  }

  /** Asks the HTTP interface. Rejects when the engine dies before it has answered. */
  async request(request: HttpRequest): Promise<HttpAnswer> {
    this.assertUp()
    const { engine, life } = this.#current as Incarnation
    const { statusCode, headers, body } = await this.stillness.during(
      Promise.race([engine.app.inject(request), life.over]),
    )
    return { statusCode, headers, body }
  }

  get isUp(): boolean {
    return this.#current !== undefined
  }

  /** Starts an engine, on the store of the one before if there was one, and registers the handlers with it. */
  async start(handlers: readonly Handler[], sender: WebhookRecorder): Promise<void> {
    const { checkpoints, settings } = this.#options
    const { stillness } = this
    const { createEngine, createLog, openSqliteStore, readConfig } = this.packages.engine
    this.#store ??= await openSqliteStore({ file: ':memory:' })
    for (const handler of handlers) this.#handlers.set(urlOf(handler), handler)
    const life = new Life()
    const transport = new InProcessTransport({ handlers: this.#handlers, stillness, life, checkpoints })
    const keys = [{ label: 'testing', namespace: 'default', kind: 'secret', key: API_KEY }]
    const config = readConfig({
      ENGINE_STORE: 'sqlite::memory:',
      ENGINE_API_KEYS: JSON.stringify(keys),
      ENGINE_RUNNER_STALE_AFTER: NEVER_STALE,
      ...settings,
    })
    const engine = await createEngine(
      config,
      createLog({ level: 'error', write: line => this.#logged(line) }),
      {
        clock: mortalClock(this.clock, life),
        random: this.#random,
        store: mortalStore(this.#store, life),
        transport,
        sender,
      },
    )
    engine.start()
    this.#current = { life, engine, transport }
    for (const handler of this.#handlers.values()) {
      const payload = registerRequest(handler, { url: urlOf(handler), framework: 'testing' })
      const headers = { authorization: `Bearer ${API_KEY}` }
      const reply = await this.request({ method: 'POST', url: '/register', headers, payload })
      if (reply.statusCode !== 200)
        throw new TestingError(`The engine refuses the workflows of app "${handler.app}": ${reply.body}`)
    }
    await stillness.reached()
  }

  /** The engine is gone at once, whatever it is in the middle of. The store stays. */
  crash(): void {
    if (!this.#current) return
    this.#current.life.end(new TestingError('The engine has crashed'))
    this.#current.transport.abandon()
    this.#current = undefined
  }

  /** Stops the engine in good order, and gives up the store. What hangs is dropped instead. */
  async stop(): Promise<void> {
    const current = this.#current
    const store = this.#store
    if (current && this.#isIdle() && this.#held() === 0) await current.engine.stop()
    this.crash()
    this.#store = undefined
    await store?.close()
  }

  /**
   * Called before each command, so that no two happen in the same millisecond: what comes first has to be told from
   * what comes later, and a wait also takes an event of the millisecond in which its run was created.
   */
  tick(): void {
    const now = this.clock.now()
    if (now === this.#commandedAt) this.clock.leapTo(now + 1)
    this.#commandedAt = this.clock.now()
  }

  /** Moves the clock on to `time`, from one thing that falls due to the next; `enough` may end it before. */
  async advanceTo(time: number, enough: () => Promise<boolean> = async () => false): Promise<void> {
    await this.stillness.reached()
    for (;;) {
      if (await enough()) return
      const due = await this.nextDue()
      if (due === undefined || due > time) break
      this.clock.leapTo(due)
      await this.stillness.reached()
    }
    this.clock.leapTo(time)
    await this.stillness.reached()
  }

  /** When the engine has something to do next. Everything that waits for a time has a row in the store. */
  async nextDue(): Promise<number | undefined> {
    const store = this.#store
    if (!store || !this.#current) return undefined
    const now = this.clock.now()
    // Deliveries that are due already are held back by a full destination, and wait for it, not for a time.
    const due = await Promise.all([
      store.nextAvailableAt('runs'),
      store.nextAvailableAt('timers'),
      store.nextAvailableAt('deliveries', now),
    ])
    const times = due.filter(time => time !== undefined)
    return times.length === 0 ? undefined : Math.max(now + 1, Math.min(...times))
  }

  #logged(line: string): void {
    const { level } = JSON.parse(line) as { level: number }
    if (level >= ERROR) this.errors.push(line.trimEnd())
  }

  #isIdle(): boolean {
    if (!this.#current) return true
    const { underWay, isLooking } = this.#current.engine.activity
    return !isLooking && underWay <= this.#held()
  }

  #held(): number {
    return [...(this.#current?.transport.underWay ?? [])].filter(isHeld).length
  }

  #underWay(): string[] {
    const lines = this.steps.underWay()
    for (const { runId, workflow, since, running } of this.#current?.transport.underWay ?? []) {
      if (running > 0) continue
      const ms = Math.round(realNow() - since)
      lines.push(
        `a pass of ${runId} ("${workflow}"), for ${ms} ms: its handler awaits something that is no step`,
      )
    }
    return [...lines, ...this.errors]
  }
}

/** Where the handler's runner is said to be; nobody listens there. */
function urlOf({ app }: Handler): string {
  return `http://testing.invalid/${encodeURIComponent(app)}`
}
