// kill -9 under load with concurrency limits: the runner's own count never exceeds a limit, every accepted run ends,
// and at rest no run holds a slot. `PERDURE_KILLS=100` for a long run.

import { DatabaseSync } from '@photostructure/sqlite'
import { expect, test } from 'vitest'
import {
  type Api,
  EngineProcess,
  flow,
  type Handler,
  type Invoke,
  PlainRunner,
  run,
  seeded,
  sleep,
  unique,
  until,
} from '../kit/index.ts'
import { SEED } from '../part.ts'
import { Availability, killOnce } from './kill/availability.ts'

const KILLS = Number(process.env.PERDURE_KILLS ?? 4)
const KEYS = ['ada', 'eve', 'joe']
const PER_KEY = 2
const IN_ALL = 4
const PARALLEL = 12
/** How long the runner works on each pass: long enough for passes to overlap if the engine allows it. */
const WORK_MS = 3
/** Maximum number of invokes between a start of the engine and its kill. */
const PROGRESS_MAX = 30
const SETTLE_MS_MAX = 60_000

/** Passes in flight at the runner, by key. A pass ends when it is answered or its engine is gone. */
class Counted {
  readonly #under = new Map<string, number>()
  readonly most = new Map<string, number>()

  async during<T>(key: string, { signal }: Invoke, work: () => Promise<T>): Promise<T> {
    this.#add(key, 1)
    let isOver = false
    const over = () => {
      if (!isOver) this.#add(key, -1)
      isOver = true
    }
    signal.addEventListener('abort', over, { once: true })
    try {
      return await work()
    } finally {
      over()
    }
  }

  #add(key: string, change: 1 | -1): void {
    const now = (this.#under.get(key) ?? 0) + change
    this.#under.set(key, now)
    this.most.set(key, Math.max(now, this.most.get(key) ?? 0))
  }
}

const TITLE = `${KILLS} kills: never above a concurrency limit, no run lost, no slot held at rest`

test(TITLE, { timeout: 180_000 + KILLS * 4000 }, async () => {
  const engine = await new EngineProcess({ env: { ENGINE_LOG_LEVEL: 'error' } }).start()
  const { api } = engine
  const counted = new Counted()
  const steps = flow([run('reserve'), sleep('nap', 10), run('ship')])
  const handler: Handler = (invoke, record) => {
    const { key } = invoke.event.data as { key: string }
    return counted.during('all', invoke, () =>
      counted.during(key, invoke, async () => {
        await new Promise(resolve => setTimeout(resolve, WORK_MS))
        return steps(invoke, record)
      }),
    )
  }
  const concurrency = [
    { limit: PER_KEY, key: 'event.data.key' },
    { limit: IN_ALL, scope: 'app' },
  ]
  const name = unique('limited')
  const workflows = { [name]: { handler, registration: { concurrency, priority: 'event.data.p' } } }
  const runner = await new PlainRunner({ runner: 'steady', workflows }).listen()
  await runner.register(api)
  await engine.kill9()

  const availability = new Availability()
  const random = seeded(SEED)
  const load = new Load(api, name, availability)
  const progress = () => runner.record.invokes.length
  for (let i = 0; i < KILLS; i++) await killOnce(engine, { availability, random, progress, progressMax: PROGRESS_MAX })
  await engine.start()
  availability.up()
  await load.stop()

  const ended = await until(
    async () => {
      const under = await Promise.all(['queued', 'running'].map(status => api.runs(`?status=${status}&limit=1`)))
      return under.flat().length === 0
    },
    { what: 'every run at its end', deadlineMs: SETTLE_MS_MAX },
  )
  expect(ended).toBe(true)
  const summary = `seed ${SEED}: ${load.accepted.length} runs, at most ${JSON.stringify([...counted.most])} at once`
  console.log(summary)
  for (const key of KEYS) expect(counted.most.get(key), summary).toBe(PER_KEY)
  expect(counted.most.get('all'), summary).toBe(IN_ALL)
  for (const runId of load.accepted) expect((await api.run(runId)).status, runId).toBe('succeeded')
  expect(load.accepted.length, summary).toBeGreaterThan(KILLS * 2)
  expect(await engine.sigterm()).toMatchObject({ code: 0 })
  expect(heldIn(engine.storeFile)).toEqual({ leased: 0, held: 0 })
})

/** Posts events while the engine is up, `PARALLEL` at a time. */
class Load {
  readonly accepted: string[] = []
  readonly #loops: Promise<void>[]
  #stopped = false

  constructor(api: Api, name: string, { whenUp }: Availability) {
    let sent = 0
    const loop = async () => {
      while (!this.#stopped) {
        await whenUp()
        const data = { key: KEYS[sent % KEYS.length], p: sent % 3 }
        sent++
        // An event without an answer may have been accepted or not, so the test expects nothing of it.
        const runId = await api.send({ name, data }).then(
          answer => answer.runId as string,
          () => undefined,
        )
        if (runId === undefined) continue
        this.accepted.push(runId)
        await until(async () => (await api.run(runId)).finishedAt !== undefined, {
          deadlineMs: SETTLE_MS_MAX,
        })
      }
    }
    this.#loops = Array.from({ length: PARALLEL }, loop)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#loops)
  }
}

function heldIn(file: string): unknown {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    return {
      ...(database
        .prepare('SELECT count(lease_owner) AS leased, count(waits_for_slot) + count(start_queue) AS held FROM runs')
        .get() as object),
    }
  } finally {
    database.close()
  }
}
