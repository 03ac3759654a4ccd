// Limits that an operator sets at one engine hold at the others on the same PostgreSQL database within a second, even for
// queued runs (docs/flow-control.md#limits-of-an-operator).

import type { WorkflowDefinition } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { Cluster } from '../../kit/engine/cluster.ts'
import { flow, JumpClock, run, until, waitsFor } from '../../kit/index.ts'

const clock = new JumpClock()
const cluster = await Cluster.open(2, clock, {})
const [one, two] = cluster.engines.map(({ api }) => api) as [typeof cluster.api, typeof cluster.api]

test.each([[0], [1]])('a throttle that is raised at one engine starts runs that another one holds', async place => {
  const { name } = await cluster.workflow(flow([run('charge')]), { throttle: { limit: 1, period: '1h' } })
  const first = (await one.send({ name })).runId as string
  await one.succeeded(first)
  const path = `/workflows/${(await one.run(first)).app}/${name}/limits`
  const api = place === 0 ? one : two
  expect((await api.put(path, { throttle: 0 })).status).toBe(200)
  const isShown = async (at: typeof one) =>
    ((await at.get('/workflows')).json as WorkflowDefinition[]).find(each => each.name === name)?.limits?.throttle === 0
  await until(async () => {
    clock.jump(1000)
    return (await isShown(one)) && (await isShown(two))
  })
  const queued: string[] = []
  for (let n = 0; n < 4; n++) queued.push((await (n % 2 === 0 ? one : two).send({ name })).runId as string)
  for (const id of queued) await waitsFor(one, id, 'throttle')
  clock.jump(3_600_000)
  expect((await api.put(path, { throttle: 1_000_000 })).status).toBe(200)
  clock.jump(1000)
  for (const id of queued)
    await until(async () => {
      // At this rate, the next start is free 4 ms after the previous one.
      clock.jump(4)
      return (await one.run(id)).status === 'succeeded'
    })
})
