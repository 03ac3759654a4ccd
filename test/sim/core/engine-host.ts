// Starts, crashes and drains engines in sequence on the same store, and checks the errors they log.

import { MemoryQueue } from '../../../packages/engine/src/adapters/queue/memory.ts'
import type { Bounds, Engine } from '../../../packages/engine/src/compose/engine.ts'
import type { Config } from '../../../packages/engine/src/config/config.ts'
import { readLimits } from '../../../packages/engine/src/config/limits.ts'
import { AddressList } from '../../../packages/engine/src/domain/text/address-list.ts'
import type { Sender } from '../../../packages/engine/src/ports/sender.ts'
import type { Store } from '../../../packages/engine/src/ports/store.ts'
import type { Transport } from '../../../packages/engine/src/ports/transport.ts'
import { Life, mortalClock, mortalQueue, type Wall, wallOnly } from '../ports/life.ts'
import { INVOKE_TIMEOUT_MS, NAMESPACES } from '../workload/names.ts'
import type { Rng } from './random.ts'
import type { SimClock } from './sim-clock.ts'
import { type LoggedError, startSimEngine } from './sim-engine.ts'
import type { Trace } from './trace.ts'
import { ensure } from './violation.ts'

const DRAIN_TIMEOUT_MS = 5000
/** A longer drain hangs: this is the timeout plus the longest time for a few consecutive stalled commits. */
const DRAIN_MS_MAX = 300_000

export interface HostDeps {
  clock: SimClock
  rng: Rng
  trace: Trace
  bounds: Bounds
  wall: Wall
  /** A planted bug: the engine's durations use the wall clock. */
  durationsByWall?: boolean | undefined
  /** Builds the ports of one engine. */
  store(life: Life): Store
  transport(life: Life): Transport
  sender(life: Life): Sender
  /** Called when an engine logs an error that no fault has injected. */
  onLoggedError(message: string): void
}

interface Incarnation {
  life: Life
  engine: Engine
}

export class EngineHost {
  readonly #deps: HostDeps
  #current: Incarnation | undefined
  #count = 0

  constructor(deps: HostDeps) {
    this.#deps = deps
  }

  /** The engine in service. */
  get current(): Incarnation | undefined {
    return this.#current
  }

  async start(): Promise<void> {
    const { clock, rng, trace, bounds, wall, durationsByWall } = this.#deps
    const life = new Life(++this.#count)
    const machine = mortalClock(clock, life, wall)
    const ownClock = durationsByWall ? wallOnly(machine) : machine
    const ports = {
      clock: ownClock,
      random: rng.fork(`engine ${life.no}`),
      store: this.#deps.store(life),
      queue: mortalQueue(new MemoryQueue(ownClock), life),
      transport: this.#deps.transport(life),
      sender: this.#deps.sender(life),
    }
    const onError = (error: LoggedError) => this.#onError(life, error)
    const engine = await startSimEngine({ config: CONFIG, ports, bounds, onError })
    this.#current = { life, engine }
    trace.addGlobal(`engine ${life.no} starts`)
  }

  /** Ends the process (dead), or stops it until another engine has taken its place (zombie). */
  crash(how: 'dead' | 'zombie'): void {
    const { trace } = this.#deps
    if (!this.#current) return
    this.#current.life.state = how
    trace.addGlobal(`engine ${this.#current.life.no} is ${how}`)
    this.#current = undefined
  }

  /** Stops the engine like SIGTERM. A leaked slot shows here, because the stop would never end. */
  async drain(): Promise<void> {
    const { clock, trace } = this.#deps
    const incarnation = this.#current
    if (!incarnation) return
    const { life, engine } = incarnation
    trace.addGlobal(`engine ${life.no} drains`)
    life.draining = true
    let stopped = false
    const stopping = engine.stop().then(() => {
      stopped = true
    })
    const deadline = clock.now() + DRAIN_MS_MAX
    while (!stopped && clock.now() < deadline) await clock.advance(50)
    ensure(stopped, 'drain ends', () => `engine ${life.no} did not stop within ${DRAIN_MS_MAX} ms`)
    await stopping
    life.state = 'dead'
    this.#current = undefined
    trace.addGlobal(`engine ${life.no} stopped`)
  }

  /** The simulation injects faults, which the engine logs; any other error is a defect. */
  #onError(life: Life, { msg, err }: LoggedError): void {
    const { trace, onLoggedError } = this.#deps
    trace.add(`engine ${life.no} logs: ${msg}: ${err?.message}`)
    if (!err?.stack?.includes('InjectedFault')) onLoggedError(`${msg}: ${err?.stack}`)
  }
}

export function apiKey(namespace: string): string {
  return `secret-of-${namespace}`
}

const CONFIG: Config = {
  host: '127.0.0.1',
  port: 0,
  store: { kind: 'sqlite', file: ':memory:' },
  limiter: { kind: 'memory' },
  apiKeys: NAMESPACES.map(namespace => ({
    label: namespace,
    namespace,
    kind: 'secret',
    key: apiKey(namespace),
  })),
  signingKeys: [],
  encryptionKeys: [],
  webhookAllow: AddressList.none,
  webhookAllowPrivate: true,
  webhookScheduleMs: [1000, 5000],
  runnerStaleAfterMs: 90_000,
  invokeTimeoutMs: INVOKE_TIMEOUT_MS,
  bulkReplayLimit: 1000,
  generationLimit: 100,
  childGraceMs: 600_000,
  limits: readLimits((_, fallback) => fallback),
  corsOrigins: [],
  drainTimeoutMs: DRAIN_TIMEOUT_MS,
  logLevel: 'error',
  console: false,
  consolePayloads: true,
  hold: false,
}
