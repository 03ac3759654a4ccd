// Cron triggers: registrations bring schedules, and schedules start runs (docs/events.md#schedules).

import type { WorkflowDefinition } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { newStoreFile, openEngine, PlainRunner, returned, scenario, unique } from '../../kit/index.ts'

const HOUR = 3_600_000
const { api, clock } = await scenario()

function tidy(...crons: string[]) {
  const name = unique('tidy')
  const registration = { triggers: crons.map(cron => ({ cron })) }
  return new PlainRunner({ workflows: { [name]: { handler: () => returned(), registration } } })
}
const nameOf = ({ workflows }: PlainRunner) => Object.keys(workflows)[0] as string

async function listed({ app }: PlainRunner): Promise<WorkflowDefinition> {
  const { json } = await api.get(`/workflows?app=${app}`)
  return (json as WorkflowDefinition[])[0] as WorkflowDefinition
}

const runs = (runner: PlainRunner, count: number, of = api) => of.runsReach(`?workflow=${nameOf(runner)}`, count)

async function toNext(runner: PlainRunner): Promise<number> {
  const { schedules } = await listed(runner)
  const next = Math.min(...schedules.map(({ nextRunAt }) => Date.parse(nextRunAt)))
  clock.jumpTo(next)
  return next
}

test('a schedule starts a run at each of its instants, without an event', async () => {
  const runner = await tidy('TZ=Europe/Berlin 0 9 * * *').listen()
  await runner.register(api)
  expect(await listed(runner)).toMatchObject({
    scheduled: true,
    schedules: [
      {
        cron: 'TZ=Europe/Berlin 0 9 * * *',
        timezone: 'Europe/Berlin',
        nextRunAt: '2031-05-21T07:00:00.000Z',
      },
    ],
  })
  const at = await toNext(runner)
  const [first] = await runs(runner, 1)
  const run = await api.reaches(first?.id as string, 'succeeded')
  const scheduledAt = new Date(at).toISOString()
  const data = { cron: 'TZ=Europe/Berlin 0 9 * * *', scheduledAt }
  expect(run).toMatchObject({ triggerKind: 'cron', cron: data.cron, input: data })
  expect(run).not.toHaveProperty('eventId')
  expect(run).not.toHaveProperty('eventName')
  expect(runner.record.invokes[0]?.event).toEqual({ name: 'engine/cron', data })
  expect((await listed(runner)).schedules).toMatchObject([
    { nextRunAt: '2031-05-22T07:00:00.000Z', lastRunAt: run.createdAt, lastRunId: run.id },
  ])
  expect((await api.runs('?runType=cron')).map(({ id }) => id)).toContain(run.id)
  expect(await toNext(runner)).toBe(at + 24 * HOUR)
  await runs(runner, 2)
})

test('an event of its name does not start a workflow that has only cron triggers', async () => {
  const runner = await tidy('0 0 1 1 *').listen()
  await runner.register(api)
  expect((await api.send({ name: nameOf(runner) })).triggered).toEqual([])
})

test('heartbeats do not change schedules; a changed schedule counts at once', async () => {
  const runner = await tidy('0 * * * *').listen()
  await runner.register(api)
  await toNext(runner)
  await runs(runner, 1)
  const { schedules } = await listed(runner)
  clock.jump(HOUR / 4)
  await runner.register(api)
  expect((await listed(runner)).schedules).toEqual(schedules)
  const changed = [{ name: nameOf(runner), triggers: [{ cron: '30 * * * *' }] }]
  await api.post('/register', runner.registration({ workflows: changed }))
  const [schedule, ...others] = (await listed(runner)).schedules
  expect(others).toEqual([])
  expect(schedule).toEqual({
    cron: '30 * * * *',
    timezone: 'UTC',
    nextRunAt: new Date(clock.now() + HOUR / 4).toISOString(),
  })
  await api.post('/register', runner.registration({ workflows: [] }))
  clock.jump(10 * HOUR)
  await toLater()
  expect(await runs(runner, 1)).toHaveLength(1)
})

/** Another workflow's schedule has fired since then, so everything that was due earlier has been handled. */
async function toLater(): Promise<void> {
  const other = await tidy('* * * * *').listen()
  await other.register(api)
  await toNext(other)
  await runs(other, 1)
  await api.post('/register', other.registration({ workflows: [] }))
}

test('an invalid cron is refused, and the error names its field', async () => {
  for (const cron of ['* * *', '61 * * * *', 'TZ=Nowhere/Land 0 0 * * *', '0 0 31 2 *']) {
    const workflows = [{ name: 'a' }, { name: 'b', triggers: [{ event: 'x' }, { cron }] }]
    const answer = await api.post('/register', tidy().registration({ url: 'http://a.test', workflows }))
    expect(answer.status, cron).toBe(400)
    expect(answer.text).toContain('workflows[1].triggers[1].cron')
  }
})

test('of the instants missed while the engine was down, the latest gets one run', async () => {
  const storeFile = await newStoreFile()
  const before = await openEngine({ clock, storeFile })
  const runner = await tidy('*/10 * * * *').listen()
  await runner.register(before.api)
  await before.stop()
  clock.jump(7 * 24 * HOUR + 60_000)
  const after = await openEngine({ clock, storeFile })
  const [run] = await runs(runner, 1, after.api)
  const latest = Math.floor(clock.now() / 600_000) * 600_000
  expect((await after.api.run(run?.id as string)).input).toMatchObject({
    scheduledAt: new Date(latest).toISOString(),
  })
  clock.jumpTo(latest + 600_000)
  expect(await runs(runner, 2, after.api)).toHaveLength(2)
})
