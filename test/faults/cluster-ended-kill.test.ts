// Kills engines while many runs end and a workflow listens (docs/events.md#events-of-the-engine): every end has one event in the
// log and starts one run. On SQLite, and with two engines on PostgreSQL.

import type { EventRecord, RunSummary } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { violationsIn } from '../kit/engine/violations.ts'
import { pages } from '../kit/http/pages.ts'
import {
  type EngineProcess,
  flow,
  type Handler,
  openRunner,
  PLACES,
  returned,
  run,
  seeded,
  startEngine,
  step,
  unique,
  until,
} from '../kit/index.ts'
import { isNight, SEED } from '../part.ts'

const KILLS = isNight ? 24 : 4
/** Runs that start before each kill. */
const WAVE = 40
const RUNS = KILLS * WAVE
const failing: Handler = flow([step('StepRun', 'print', { error: { message: 'no paper' }, retriable: false })])

test.each(PLACES)(
  `${RUNS} ends, ${KILLS} kills: each end has one event and starts one run, on %s`,
  {
    timeout: 240_000,
  },
  async (_, freshStore, count) => {
    const random = seeded(SEED)
    const storeFile = await freshStore()
    const engines = await Promise.all(Array.from({ length: count }, () => startEngine({ storeFile })))
    const any = () => engines[random.between(0, engines.length - 1)] as EngineProcess
    const [ends, alert] = [unique('ends'), unique('alert')]
    const even = flow([run('a')], () => 'done')
    const runner = await openRunner({
      workflows: {
        [ends]: (invoke, record) => ((invoke.event.data as number) % 2 ? failing : even)(invoke, record),
        [alert]: {
          handler: ({ event: { data } }) => returned(data),
          registration: { triggers: [{ event: 'perdure/run.*', if: `event.data.workflow == '${ends}'` }] },
        },
      },
    })
    for (const { api } of engines) await runner.register(api)
    const ids: string[] = []

    const runsOf = (workflow: string) => pages<RunSummary>(any().api, `/runs?workflow=${workflow}&limit=100`)
    const endedOf = async (workflow: string) => (await runsOf(workflow)).filter(({ finishedAt }) => finishedAt)

    const open: number[] = []
    while (ids.length < RUNS) {
      const started = (await any().api.post('/events/batch', batchOf(ends))).json as { runId: string }[]
      ids.push(...started.map(({ runId }) => runId))
      // Some passes of the wave have been sent, and most of its runs have not ended.
      const sent = runner.record.invokes.length + random.between(1, WAVE)
      await until(() => runner.record.invokes.length >= sent || undefined, { what: 'passes', deadlineMs: 60_000 })
      const engine = any()
      await engine.kill9()
      await engine.start()
      await runner.register(engine.api)
      open.push(ids.length - (await endedOf(ends)).length)
    }
    console.info(`seed ${SEED}: runs open after each kill: ${open.join(', ')}`)
    await until(async () => (await endedOf(ends)).length === RUNS, { what: 'every end', deadlineMs: 120_000 })
    await until(async () => (await endedOf(alert)).length >= RUNS, { what: 'every alert', deadlineMs: 120_000 })

    const wanted = (await runsOf(ends)).map(({ id, status }) => about({ runId: id, status })).sort()
    expect(wanted.map(text => text.split(' ')[0])).toEqual(ids.sort())
    // The ends of the alerts have events too, but the trigger's filter rejects them.
    const events = (await pages<EventRecord>(any().api, '/events?source=engine&limit=100')).map(
      ({ data }) => data as never as End,
    )
    const told = events.filter(({ workflow }) => workflow === ends)
    expect(told.map(about).sort()).toEqual(wanted)
    const alerts = await Promise.all((await runsOf(alert)).map(({ id }) => any().api.run(id)))
    expect(alerts.map(({ input }) => about(input as never)).sort()).toEqual(wanted)
    for (const engine of engines) await engine.kill9()
    expect(await violationsIn(storeFile)).toEqual([])
  },
)

interface End {
  runId: string
  workflow: string
  status: string
}

const about = ({ runId, status }: Pick<End, 'runId' | 'status'>) => `${runId} ${status}`

const batchOf = (name: string) => Array.from({ length: WAVE }, (_, data) => ({ name, data }))
