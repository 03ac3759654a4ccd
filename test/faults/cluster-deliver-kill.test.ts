// Kills engines while singletons deliver events and their runs keep ending (docs/flow-control.md#singleton): every event is given
// to one run, and a key never has two runs. On SQLite, and with two engines on PostgreSQL.

import { expect, test } from 'vitest'
import { violationsIn } from '../kit/engine/violations.ts'
import {
  type EngineProcess,
  flow,
  type Handler,
  openRunner,
  PLACES,
  returned,
  seeded,
  startEngine,
  step,
  unique,
  until,
} from '../kit/index.ts'
import { isNight, SEED } from '../part.ts'

const EVENTS = isNight ? 10_000 : 400
const KEYS = 30
const KILLS = 4
/** Events per request, and concurrent requests. */
const BATCH = 50
const SENDERS = 4
const ENDS_MS_MAX = 120_000

interface Data {
  k: number
  n: number
}

test.each(PLACES)(
  `${EVENTS} events to ${KEYS} keys, ${KILLS} kills: none is lost, and a key has one run at once, on %s`,
  { timeout: 300_000 },
  async (_, freshStore, count) => {
    const random = seeded(SEED)
    const storeFile = await freshStore()
    const engines = await Promise.all(Array.from({ length: count }, () => startEngine({ storeFile })))
    const any = () => engines[random.between(0, engines.length - 1)] as EngineProcess
    const name = unique('delivered')
    const given = new Given()
    const takesMore = flow([
      step('WaitForEvent', 'more', { eventName: name, timeoutMs: 1000, if: 'async.data.k == event.data.k' }),
    ])
    const handler: Handler = async (invoke, record) => {
      const data = invoke.event.data as Data
      given.began(data.k, invoke.ctx.runId)
      const waits = data.k % 2 === 0
      const reply = waits ? await takesMore(invoke, record) : returned()
      if (reply && 'status' in reply && reply.status !== 200) return reply
      const taken = Object.values(invoke.steps).map(entry => (entry.data as { data: Data } | null)?.data)
      for (const each of [data, ...taken]) if (each) given.to(each, invoke.ctx.runId)
      return reply
    }
    const singleton = { mode: 'deliver', key: 'string(event.data.k)' }
    const runner = await openRunner({ workflows: { [name]: { handler, registration: { singleton } } } })
    for (const { api } of engines) await runner.register(api)

    let accepted = 0
    const send = async (first: number) => {
      const events = Array.from({ length: BATCH }, (_, i) => first + i).map(n => ({
        name,
        data: { k: n % KEYS, n },
        dedupeId: `${n}`,
      }))
      const post = async () => (await any().api.post('/events/batch', events)).status === 200
      await until(post, { what: 'an engine that takes events', deadlineMs: ENDS_MS_MAX })
      accepted += BATCH
    }
    const batches = Array.from({ length: EVENTS / BATCH }, (_, i) => i * BATCH)
    const sender = async () => {
      for (let first = batches.pop(); first !== undefined; first = batches.pop()) await send(first)
    }
    const sent = Promise.all(Array.from({ length: SENDERS }, sender))
    for (let kill = 1; kill <= KILLS; kill++) {
      const enough = (EVENTS * kill) / (KILLS + 1)
      await until(() => accepted >= enough, { what: 'events', deadlineMs: ENDS_MS_MAX })
      const engine = any()
      await engine.kill9()
      await engine.start()
    }
    await sent
    await until(() => given.runs.size === EVENTS, { what: 'every event', deadlineMs: ENDS_MS_MAX })
    const isOver = async () => (await any().api.runs(`?workflow=${name}&status=running,queued&limit=1`)).length === 0
    await until(isOver, { what: 'the end of every run', deadlineMs: ENDS_MS_MAX })
    console.info(`seed ${SEED}: ${given.count} runs for ${EVENTS} events`)
    expect([...given.runs].filter(([, runs]) => runs.size !== 1)).toEqual([])
    expect(given.twice).toEqual([])
    for (const engine of engines) await engine.kill9()
    expect(await violationsIn(storeFile)).toEqual([])
  },
)

/** The record of the runner. */
class Given {
  /** The runs whose handler ended with the event, by event number. */
  readonly runs = new Map<number, Set<string>>()
  /** Runs that got a pass after another run of their key had begun. */
  readonly twice: string[] = []
  readonly #byKey = new Map<number, Set<string>>()
  readonly #newest = new Map<number, string>()

  get count(): number {
    return [...this.#byKey.values()].reduce((sum, { size }) => sum + size, 0)
  }

  began(key: number, runId: string): void {
    const known = this.#byKey.get(key) ?? new Set()
    if (known.has(runId) && this.#newest.get(key) !== runId) this.twice.push(runId)
    this.#byKey.set(key, known.add(runId))
    this.#newest.set(key, runId)
  }

  to({ n }: Data, runId: string): void {
    this.runs.set(n, (this.runs.get(n) ?? new Set()).add(runId))
  }
}
