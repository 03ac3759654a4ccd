// `npm run example -- nightly-report`: nights of one second. The engine is stopped for some of them and catches up on one.

import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { runExample } from '../shared/example.ts'
import { heading, note } from '../shared/show.ts'
import { openSink } from '../shared/sink.ts'
import type { Schedule } from './workflows.ts'

const runner = new URL('./runner.ts', import.meta.url)
const sink = await openSink()
// Six fields: seconds first.
const runnerEnv = { REPORT_CRON: '* * * * * *', REPORT_URL: sink.url }

const example = runExample({ runner, runnerEnv }, async ({ client, engine }) => {
  heading('The schedule (in production: TZ=Europe/Vienna 0 3 * * *)')
  const [workflow] = await client.listWorkflows()
  note(JSON.stringify(workflow?.schedules))

  heading('A report arrives')
  const report = JSON.parse((await sink.next()).body)
  note(JSON.stringify(report))
  assert.equal(report.revenue, report.orders * 35)

  heading('The engine is stopped for two nights')
  const off = { from: 0, to: 0 }
  await engine.restart(async () => {
    off.from = Date.now()
    const thirdNight = Math.floor(off.from / 1000) * 1000 + 2000
    await setTimeout(thirdNight - Date.now() + 20)
    off.to = Date.now()
  })

  heading('It is back: one run for the latest missed night, then the next night')
  const afterwards = () => nights().then(all => all.filter(night => night > off.from))
  while ((await afterwards()).every(night => night <= off.to)) {
    await sink.next()
  }
  const missed = (await afterwards()).filter(night => night <= off.to)
  for (const night of await nights()) note(`night of ${new Date(night).toISOString()}`)
  assert.ok(missed.length <= 1, 'more than one missed night has a run')

  /** Returns the scheduled times that have a run, in order. */
  async function nights(): Promise<number[]> {
    const { items } = await client.listRuns({ app: 'reports' })
    const runs = await Promise.all(items.map(({ id }) => client.getRun({ id })))
    return runs.map(({ input }) => Date.parse((input as Schedule).scheduledAt)).sort((a, b) => a - b)
  }
})
await example.finally(() => sink.close())
