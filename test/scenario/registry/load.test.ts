// `GET /runners` shows the load of each runner (docs/operating.md#runners).

import type { Runner } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { flow, gate, run, scenario, until } from '../../kit/index.ts'

const { api, workflow } = await scenario({ realTime: true })

test('passes under way, those that ended, and a definition that changes its hash', async () => {
  const hold = gate()
  const { name, app } = await workflow(flow([run('hold', () => hold.opened.then(() => 1))]))
  const load = async () => ((await api.get(`/runners?app=${app}`)).json as Runner[])[0]
  expect(await load()).toMatchObject({ inFlight: 0, passesPerMin: 0, failures: 0, workflows: [{ name }] })
  const { runId } = await api.send({ name })
  await until(async () => (await load())?.inFlight === 1)
  hold.open()
  await api.succeeded(runId)
  const after = await until(async () => {
    const now = await load()
    return now?.inFlight === 0 && now
  })
  expect(after).toMatchObject({ failures: 0, p95Ms: expect.any(Number) })
  expect(after.passesPerMin).toBeGreaterThan(0)
  expect(after.workflows[0]?.definitionHash).toEqual(expect.any(String))
})
