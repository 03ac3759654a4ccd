// Direct starts with one key that two engines on one PostgreSQL database receive at the same time: never two live runs.

import type { RunSummary, StartedRun } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { Cluster } from '../../kit/engine/cluster.ts'
import { flow, JumpClock, wait } from '../../kit/index.ts'

const STARTS = 40

const cluster = await Cluster.open(2, new JumpClock(), {})

/** Sends this many starts at once, and resolves with their answers. */
async function race(name: string, body: object) {
  const path = `/workflows/${name}/${name}/runs`
  const apis = cluster.engines.map(({ api }) => api)
  return Promise.all(
    Array.from({ length: STARTS }, async (_, n) => {
      const { status, json } = await (apis[n % apis.length] as (typeof apis)[0]).post(path, body)
      return {
        code: status,
        ...(json as Omit<StartedRun, 'error'> & { error?: { code: string; details: { runId: string } } }),
      }
    }),
  )
}

const runsOf = async (name: string) =>
  (await cluster.api.get(`/runs?app=${name}&key=one&limit=200`)).json as RunSummary[]
const workflow = () => cluster.workflow(flow([wait('hold', 'nothing')]), {})

test('use: one start makes the run, and all others answer it', async () => {
  const { name } = await workflow()
  const answers = await race(name, { key: 'one' })
  expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
  expect(answers.filter(({ code, existing }) => code === 201 && !existing)).toHaveLength(1)
  expect(answers.filter(({ code, existing }) => code === 200 && existing)).toHaveLength(STARTS - 1)
  expect(await runsOf(name)).toHaveLength(1)
})

test('refuse: one start makes the run, and all others are refused for it', async () => {
  const { name } = await workflow()
  const answers = await race(name, { key: 'one', ifRunning: 'refuse' })
  const [run] = answers.filter(({ code }) => code === 201)
  const refused = answers.filter(({ error }) => error?.code === 'already_running' && error.details.runId === run?.id)
  expect(refused).toHaveLength(STARTS - 1)
  expect(await runsOf(name)).toHaveLength(1)
})

test('cancel: every start makes a run, and all but the last are cancelled', async () => {
  const { name } = await workflow()
  const answers = await race(name, { key: 'one', ifRunning: 'cancel' })
  expect(answers.filter(({ code }) => code === 201)).toHaveLength(STARTS)
  const runs = await runsOf(name)
  expect(runs).toHaveLength(STARTS)
  expect(runs.filter(({ status }) => status !== 'cancelled')).toHaveLength(1)
})
