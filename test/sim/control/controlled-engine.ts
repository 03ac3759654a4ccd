// The real engine for histories of control: its store is in memory, its time virtual, and every pass waits until the history
// answers it. Histories follow each other on one engine, each in its own namespace, because starting an engine takes longer
// than a history.

import { seededRandom } from '../../../packages/engine/src/adapters/clock/seeded-random.ts'
import { openSqliteStore } from '../../../packages/engine/src/adapters/sql/sqlite/store.ts'
import type { Engine } from '../../../packages/engine/src/compose/engine.ts'
import { readConfig } from '../../../packages/engine/src/config/config.ts'
import type { Run } from '../../../packages/engine/src/domain/model/run.ts'
import type { Step } from '../../../packages/engine/src/domain/model/step.ts'
import type { InvokeCall, InvokeReply, Transport } from '../../../packages/engine/src/ports/transport.ts'
import { SimClock } from '../core/sim-clock.ts'
import { type HttpAnswer, inject, startSimEngine } from '../core/sim-engine.ts'
import { WaitingPasses } from '../core/waiting-passes.ts'

const HISTORIES_MAX = 100
const keyOf = (namespace: number) => `secret-key-of-namespace-${namespace}`

export class ControlledEngine implements Transport {
  readonly clock = new SimClock()
  readonly waiting = new WaitingPasses()
  /** How many passes of each run were sent. */
  readonly sent = new Map<string, number>()
  /** The error lines of the engine's log. */
  readonly errors: string[] = []
  #engine: Engine | undefined
  #namespace = 0

  static async open(): Promise<ControlledEngine> {
    const opened = new ControlledEngine()
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
    const onError = (_: unknown, line: string) => void opened.errors.push(line)
    opened.#engine = await startSimEngine({ config, ports, onError })
    return opened
  }

  /** Moves to the next namespace, and registers the workflows `top` and `kid` there. False: no namespace is left. */
  async next(): Promise<boolean> {
    if (++this.#namespace > HISTORIES_MAX) return false
    const workflows = [{ name: 'top' }, { name: 'kid' }]
    await this.request('POST', '/register', { app: 'app', url: 'http://runner/', workflows })
    return true
  }

  /** Sends a request to the HTTP interface, and lets everything that follows from it happen. */
  async request(method: 'GET' | 'POST', url: string, body?: unknown): Promise<HttpAnswer> {
    const { activity } = this.clock
    const key = keyOf(this.#namespace)
    const answer = await activity.during(inject(this.#engine as Engine, { method, url, body, key }))
    if (method === 'POST') await activity.still()
    return answer
  }

  async load(runId: string): Promise<{ run: Run; steps: Step[] }> {
    const loaded = await (this.#engine as Engine).store.loadRun(runId)
    if (!loaded) throw new Error(`there is no run ${runId}`)
    return loaded
  }

  /** Answers the pass of the run, and lets everything that follows happen. */
  async answer(runId: string, status: number, body: unknown): Promise<void> {
    const pass = this.waiting.of(runId)
    if (!pass) throw new Error(`run ${runId} has no pass under way`)
    pass.answer(status, body)
    await this.clock.activity.still()
  }

  invoke(call: InvokeCall): Promise<InvokeReply> {
    this.clock.activity.sign()
    const { ctx } = JSON.parse(call.body) as { ctx: { runId: string } }
    this.sent.set(ctx.runId, (this.sent.get(ctx.runId) ?? 0) + 1)
    return this.waiting.wait(call)
  }

  /** Stops the engine, which releases passes in flight. */
  async stop(): Promise<void> {
    let stopped = false
    const stopping = (this.#engine as Engine).stop().finally(() => {
      stopped = true
    })
    for (let rounds = 0; !stopped && rounds < 1000; rounds++) await this.clock.advance(10)
    await stopping
  }

  /** Part of the Transport port: the engine calls it when it stops. */
  async close(): Promise<void> {}
}
