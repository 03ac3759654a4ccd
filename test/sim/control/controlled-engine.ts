// The real engine for histories of control: its store in memory, its time virtual, and every pass held until the
// history answers it. Histories follow each other on one engine, each in a namespace of its own: a start takes longer.

import { pino } from 'pino'
import { seededRandom } from '../../../packages/engine/src/adapters/clock/seeded-random.ts'
import { openSqliteStore } from '../../../packages/engine/src/adapters/sql/sqlite/store.ts'
import { createEngine, type Engine } from '../../../packages/engine/src/compose.ts'
import { readConfig } from '../../../packages/engine/src/config.ts'
import type { Run } from '../../../packages/engine/src/domain/model/run.ts'
import type { Step } from '../../../packages/engine/src/domain/model/step.ts'
import type { InvokeCall, InvokeReply, Transport } from '../../../packages/engine/src/ports/transport.ts'
import { SimClock } from '../core/sim-clock.ts'

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

const HISTORIES_MAX = 100
const keyOf = (namespace: number) => `secret-of-${namespace}`

export class ControlledEngine implements Transport {
  readonly clock = new SimClock()
  readonly held = new Set<HeldPass>()
  /** How many passes of each run were sent. */
  readonly sent = new Map<string, number>()
  /** What the engine logged as an error. */
  readonly errors: string[] = []
  #engine: Engine | undefined
  #namespace = 0

  static async open(): Promise<ControlledEngine> {
    const opened = new ControlledEngine()
    const write = (line: string) => void opened.errors.push(line)
    const keys = Array.from({ length: HISTORIES_MAX }, (_, i) => ({
      label: `${i + 1}`,
      namespace: `${i + 1}`,
      kind: 'secret',
      key: keyOf(i + 1),
    }))
    const config = readConfig({ ENGINE_DRAIN_TIMEOUT: '1', ENGINE_API_KEYS: JSON.stringify(keys) })
    const ports = {
      clock: opened.clock,
      random: seededRandom(1),
      store: await openSqliteStore({ file: ':memory:' }),
      transport: opened,
    }
    opened.#engine = await createEngine(config, pino({ level: 'error' }, { write }), ports)
    await opened.#engine.app.ready()
    opened.#engine.start()
    return opened
  }

  /** Goes on to the next namespace, with the workflows `top` and `kid`; false when they are used up. */
  async next(): Promise<boolean> {
    if (++this.#namespace > HISTORIES_MAX) return false
    const workflows = [{ name: 'top' }, { name: 'kid' }]
    await this.ask('POST', '/register', { app: 'app', url: 'http://runner/', workflows })
    return true
  }

  /** Asks over the HTTP interface, and lets everything that follows happen. */
  async ask(method: 'GET' | 'POST', url: string, body?: unknown): Promise<HttpAnswer> {
    const { app } = this.#engine as Engine
    const { activity } = this.clock
    const headers = { authorization: `Bearer ${keyOf(this.#namespace)}` }
    const asked = app.inject({
      method,
      url,
      headers,
      ...(body === undefined ? {} : { payload: body as object }),
    })
    const response = await activity.during(asked)
    if (method === 'POST') await activity.still()
    return { status: response.statusCode, body: response.json() }
  }

  async load(runId: string): Promise<{ run: Run; steps: Step[] }> {
    const loaded = await (this.#engine as Engine).store.loadRun(runId)
    if (!loaded) throw new Error(`there is no run ${runId}`)
    return loaded
  }

  /** Answers the pass of the run, and lets everything that follows happen. */
  async answer(runId: string, status: number, body: unknown): Promise<void> {
    const pass = [...this.held].find(pass => pass.runId === runId)
    if (!pass) throw new Error(`run ${runId} has no pass under way`)
    pass.answer(status, body)
    await this.clock.activity.still()
  }

  invoke({ body, signal }: InvokeCall): Promise<InvokeReply> {
    this.clock.activity.sign()
    const { ctx, steps } = JSON.parse(body) as { ctx: { runId: string }; steps: HeldPass['memo'] }
    this.sent.set(ctx.runId, (this.sent.get(ctx.runId) ?? 0) + 1)
    return new Promise(resolve => {
      const end = (reply: InvokeReply) => {
        this.held.delete(pass)
        resolve(reply)
      }
      const pass: HeldPass = {
        runId: ctx.runId,
        memo: steps,
        answer: (status, body) => end({ kind: 'answered', status, body: JSON.stringify(body) }),
      }
      this.held.add(pass)
      signal.addEventListener('abort', () => end({ kind: 'aborted' }))
    })
  }

  /** Stops the engine; what is under way is given back. */
  async stop(): Promise<void> {
    let stopped = false
    const stopping = (this.#engine as Engine).stop().finally(() => {
      stopped = true
    })
    for (let turns = 0; !stopped && turns < 1000; turns++) await this.clock.advance(10)
    await stopping
  }

  /** Part of the port; the engine closes it when it stops. */
  async close(): Promise<void> {}
}
