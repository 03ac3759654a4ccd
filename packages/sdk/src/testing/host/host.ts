// The engine under test: the real engine, on a store in memory, with a virtual clock. It can crash and be restarted on the
// same store. Created by `test-engine.ts`.

import type { Client } from '@perdure/client'
import type { Engine, Random, Store, VirtualClock } from '@perdure/engine'
import type { InvokeContext } from '@perdure/protocol'
import type { AskForPass } from '../../replay/late-handler.ts'
import type { Handler } from '../../runner/handler.ts'
import { httpStreams, type PostAppend } from '../../runner/http-streams.ts'
import { registerRequest } from '../../runner/registration.ts'
import type { StreamOutlet } from '../../stream/outlet.ts'
import { callbackUrlOf } from '../../wire/callback-url.ts'
import { API_KEY, type HttpAnswer, type HttpRequest, injectedClient } from './api.ts'
import type { EnginePackage } from './engine-package.ts'
import { TestingError } from './errors.ts'
import { clockOf, EngineLifetime, guarded } from './lifetime.ts'
import { isHeld, isInsideWorkflow, outsideWorkflow } from './pass-under-way.ts'
import { Quiescence } from './quiescence.ts'
import { realNow } from './real-time.ts'
import { StepWatch } from './step-watch.ts'
import { InProcessTransport } from './transport.ts'
import type { WebhookRecorder } from './webhooks.ts'

/** pino's number of the log level `error`. */
const ERROR_LEVEL = 50
/** The handlers register once and send no heartbeats, so they must never become stale. */
const RUNNER_STALE_AFTER = '36500d'

export interface HostOptions {
  seed: number
  startAt: number
  checkpoints: boolean
  patienceMs: number
  settings: Readonly<Record<string, string>>
}

/** An engine that runs, until it is stopped or crashes. */
interface RunningEngine {
  lifetime: EngineLifetime
  engine: Engine
  transport: InProcessTransport
}

export class Host {
  readonly clock: VirtualClock
  readonly quiescence: Quiescence
  readonly steps: StepWatch
  /** The engine's log lines of level `error`. Any such line fails the test. */
  readonly errors: string[] = []
  /** Typed client of the engine's HTTP interface. */
  readonly client: Client
  readonly #package: EnginePackage
  readonly #options: HostOptions
  readonly #random: Random
  readonly #handlers = new Map<string, Handler>()
  /** The context of the newest invoke of each run, by its id. */
  readonly #contexts = new Map<string, InvokeContext>()
  #store: Store | undefined
  /** Virtual time of the last command. */
  #commandedAt: number | undefined
  #current: RunningEngine | undefined

  constructor(engine: EnginePackage, options: HostOptions) {
    this.#package = engine
    this.client = injectedClient(request => this.#request(request))
    this.#options = options
    this.clock = new engine.VirtualClock({ start: options.startAt })
    this.#random = engine.seededRandom(options.seed)
    this.steps = new StepWatch(() => this.quiescence.progress())
    this.quiescence = new Quiescence({
      patienceMs: options.patienceMs,
      held: () => this.#held(),
      isIdle: () => this.#isIdle(),
      underWay: () => this.#underWay(),
    })
  }

  /** The client, while an engine runs. Throws if none does. */
  get api(): Client {
    this.#running()
    return this.client
  }

  /** Waits until the engine is idle. Does not wait in workflow code, because the engine waits for that code. */
  async settled(): Promise<void> {
    if (!isInsideWorkflow()) await this.quiescence.reached()
  }

  /** Reads from the engine as soon as it is idle. */
  async read<T>(call: (api: Client) => Promise<T>): Promise<T> {
    await this.settled()
    return call(this.api)
  }

  /**
   * Sends a command and waits until the engine is idle. No two commands have the same millisecond. Otherwise the order of events
   * would be ambiguous, because a wait also takes an event of the millisecond in which its run was created.
   */
  async command<T>(call: (api: Client) => Promise<T>): Promise<T> {
    const now = this.clock.now()
    if (now === this.#commandedAt) this.clock.leapTo(now + 1)
    this.#commandedAt = this.clock.now()
    const reply = await call(this.api)
    await this.settled()
    return reply
  }

  /** The URL of a callback of a run that has had a pass. */
  callbackUrl(runId: string, hashedId: string): string {
    const ctx = this.#contexts.get(runId)
    const url = ctx && callbackUrlOf(ctx, hashedId)
    if (url === undefined) throw new TestingError(`Run ${runId} has had no pass, so it has no callback yet`)
    return url
  }

  get isUp(): boolean {
    return this.#current !== undefined
  }

  /** Starts an engine, on the store of the previous engine if there was one, and registers the handlers. */
  async start(handlers: readonly Handler[], sender: WebhookRecorder): Promise<void> {
    const { checkpoints, settings } = this.#options
    const { quiescence } = this
    const { createEngine, createLog, openSqliteStore, readConfig } = this.#package
    this.#store ??= await openSqliteStore({ file: ':memory:' })
    for (const handler of handlers) this.#handlers.set(urlOf(handler), handler)
    const lifetime = new EngineLifetime()
    const now = () => this.clock.now()
    const ask: AskForPass = asked => this.#askForPass(asked)
    const contexts = this.#contexts
    const transport = new InProcessTransport({
      handlers: this.#handlers,
      quiescence,
      lifetime,
      checkpoints,
      now,
      contexts,
      ask,
      streams: ctx => this.#streamsOf(ctx),
    })
    const keys = [{ label: 'testing', namespace: 'default', kind: 'secret', key: API_KEY }]
    const config = readConfig({
      ENGINE_STORE: 'sqlite::memory:',
      ENGINE_API_KEYS: JSON.stringify(keys),
      ENGINE_RUNNER_STALE_AFTER: RUNNER_STALE_AFTER,
      // All workflows of a test are registered when it begins.
      ENGINE_CHILD_GRACE: '0',
      ...settings,
    })
    const engine = await createEngine(config, createLog({ level: 'error', write: line => this.#logged(line) }), {
      clock: clockOf(lifetime, this.clock),
      random: this.#random,
      store: guarded(this.#store, lifetime),
      transport,
      sender,
    })
    engine.start()
    this.#current = { lifetime, engine, transport }
    for (const handler of this.#handlers.values()) {
      const payload = registerRequest(handler, { url: urlOf(handler), framework: 'testing' })
      const headers = { authorization: `Bearer ${API_KEY}` }
      const reply = await this.#request({ method: 'POST', url: '/register', headers, payload })
      if (reply.statusCode !== 200)
        throw new TestingError(`The engine refuses the workflows of app "${handler.app}": ${reply.body}`)
    }
    await quiescence.reached()
  }

  /** Ends the engine at once, whatever it is doing. The store stays. */
  crash(): void {
    if (!this.#current) return
    this.#current.lifetime.end(new TestingError('The engine has crashed'))
    this.#current.transport.abandon()
    this.#current = undefined
  }

  /** Stops the engine gracefully and closes the store. An engine that is not idle ends as in a crash. */
  async stop(): Promise<void> {
    const current = this.#current
    const store = this.#store
    if (current && this.#isIdle() && this.#held() === 0) await current.engine.stop()
    this.crash()
    this.#store = undefined
    await store?.close()
  }

  /** Moves the clock to `time`, in steps from one due time to the next. Stops earlier if `enough` returns true. */
  async advanceTo(time: number, enough: () => Promise<boolean> = async () => false): Promise<void> {
    await this.quiescence.reached()
    for (;;) {
      if (await enough()) return
      const due = await this.nextDue()
      if (due === undefined || due > time) break
      this.clock.leapTo(due)
      await this.quiescence.reached()
    }
    this.clock.leapTo(time)
    await this.quiescence.reached()
  }

  /** Returns the next time at which the engine has work. All work that waits for a time has a row in the store. */
  async nextDue(): Promise<number | undefined> {
    const store = this.#store
    if (!store || !this.#current) return undefined
    const now = this.clock.now()
    // Deliveries that are already due wait for room at their destination, not for a time.
    const due = await Promise.all([
      store.nextAvailableAt('runs'),
      store.nextAvailableAt('timers'),
      store.nextAvailableAt('deliveries', now),
    ])
    const times = due.filter(time => time !== undefined)
    return times.length === 0 ? undefined : Math.max(now + 1, Math.min(...times))
  }

  #running(): RunningEngine {
    if (this.#current) return this.#current
    throw new TestingError(this.#store ? 'The engine has crashed: restart() starts it again' : 'The engine was stopped')
  }

  /** Sends a request to the HTTP interface. Rejects when the engine crashes before it has answered. */
  async #request(request: HttpRequest): Promise<HttpAnswer> {
    const { engine, lifetime } = this.#running()
    return this.quiescence.during(Promise.race([engine.app.inject(request), lifetime.ended]))
  }

  /** Asks for another pass. Nobody answers the handler of an engine that has crashed. */
  #askForPass({ ctx, settled }: Parameters<AskForPass>[0]): Promise<boolean> {
    const url = `/invokes/${ctx.checkpointToken}/checkpoints`
    const headers = { 'content-type': 'application/json' }
    const asked = () => this.#request({ method: 'POST', url, headers, payload: { again: true, settled } })
    return outsideWorkflow(async () => asked()).then(
      () => true,
      () => true,
    )
  }

  #streamsOf({ checkpointToken }: InvokeContext): StreamOutlet | undefined {
    if (checkpointToken === undefined) return undefined
    const headers = { 'content-type': 'application/json' }
    const post: PostAppend = async (route, payload) => {
      const url = `/invokes/${checkpointToken}/${route}`
      const { statusCode, body } = await this.#request({ method: 'POST', url, headers, payload })
      return { status: statusCode, text: body }
    }
    return httpStreams((route, body) => outsideWorkflow(() => post(route, body)).catch(() => undefined))
  }

  #logged(line: string): void {
    const { level } = JSON.parse(line) as { level: number }
    if (level >= ERROR_LEVEL) this.errors.push(line.trimEnd())
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
      lines.push(`a pass of ${runId} ("${workflow}"), for ${ms} ms: its handler awaits something other than a step`)
    }
    return [...lines, ...this.errors]
  }
}

/** Returns the URL that a handler is registered with. No server listens there: `InProcessTransport` calls the handler. */
function urlOf({ app }: Handler): string {
  return `http://testing.invalid/${encodeURIComponent(app)}`
}
