// Children with their own timeout and priority (docs/steps.md#steprunworkflow).

import type { RunSummary } from '@perdure/protocol'
import { expect, test } from 'vitest'
import {
  flow,
  gate,
  type Handler,
  returned,
  run,
  scenario,
  step,
  unique,
  until,
  wait,
  waitsFor,
} from '../../kit/index.ts'

const { api, clock, engine } = await scenario()

/** A parent whose step `kid` runs a child that waits for an event. */
async function family(fields: Record<string, unknown>, after: Parameters<typeof flow>[0] = []) {
  const [parent, childName, go] = [unique('parent'), unique('child'), unique('go')]
  const kid = step('RunWorkflow', 'kid', { childName, ...fields })
  await engine.runner({
    workflows: { [parent]: flow([kid, ...after]), [childName]: flow([wait('hold', go)], () => 'grown') },
  })
  const { runId } = await api.send({ name: parent })
  return { runId, childName, go }
}

test('after its timeout the child is cancelled, and the step fails, catchable', async () => {
  const { runId } = await family({ timeoutMs: 60_000 }, [run('after')])
  const { waitingFor } = await waitsFor(api, runId, 'child')
  const until = new Date(clock.now() + 60_000).toISOString()
  expect(waitingFor).toMatchObject({ stepName: 'kid', until })
  const { childRunId = '' } = await api.step(runId, 'kid')
  await waitsFor(api, childRunId, 'event')
  clock.jump(60_000)
  await api.succeeded(runId)
  expect((await api.step(runId, 'kid')).error).toEqual({
    name: 'ChildTimeoutError',
    code: 'child_timeout',
    message: `Child run ${childRunId} did not end within the timeout of step "kid".`,
  })
  await api.reaches(childRunId, 'cancelled')
})

test('a child that ends in time gives its result, and its timeout is over', async () => {
  const { runId, go } = await family({ timeoutMs: 60_000 }, [wait('rest', 'nothing', 3_600_000)])
  const { waitingFor } = await waitsFor(api, runId, 'child')
  await waitsFor(api, waitingFor?.childRunId as string, 'event')
  await api.post('/events', { name: go })
  await waitsFor(api, runId, 'event')
  clock.jump(60_000)
  expect(await api.step(runId, 'kid')).toMatchObject({ status: 'succeeded', data: 'grown' })
})

test('the timeout of a paused parent ends its child, and the parent goes on when it is resumed', async () => {
  const { runId } = await family({ timeoutMs: 60_000 })
  const { waitingFor } = await waitsFor(api, runId, 'child')
  await api.post(`/runs/${runId}/pause`)
  clock.jump(60_000)
  await api.reaches(waitingFor?.childRunId as string, 'cancelled')
  expect((await api.run(runId)).status).toBe('paused')
  await api.post(`/runs/${runId}/resume`)
  await api.succeeded(runId)
})

test('a workflow that nobody registers is not waited for beyond the timeout', async () => {
  const [parent, childName] = [unique('parent'), unique('nobody')]
  await engine.runner({ workflows: { [parent]: flow([step('RunWorkflow', 'kid', { childName, timeoutMs: 60_000 })]) } })
  const { runId } = await api.send({ name: parent })
  await waitsFor(api, runId, 'runner')
  clock.jump(60_000)
  await api.succeeded(runId)
  expect((await api.step(runId, 'kid')).error).toMatchObject({
    code: 'child_timeout',
    message: expect.stringContaining(`Workflow "${childName}"`),
  })
})

test('the priority of the step orders children, in place of that of their workflow', async () => {
  const [parent, childName, done] = [unique('parent'), unique('child'), gate()]
  const order: unknown[] = []
  const handler: Handler = async ({ event }) => {
    order.push(event.data)
    if (event.data === 'first') await done.opened
    return returned()
  }
  const kids = Object.entries({ none: undefined, low: -5, high: 7, zero: 0 }).map(([name, priority]) =>
    step('RunWorkflow', name, { childName, childData: name, priority }),
  )
  const registration = { concurrency: { limit: 1 }, priority: '3' }
  const runner = await engine.runner({
    workflows: { [parent]: flow([kids]), [childName]: { handler, registration } },
  })
  await api.post(`/workflows/${runner.app}/${childName}/runs`, { input: 'first' })
  await until(() => order.length === 1)
  const { runId } = await api.send({ name: parent })
  await until(async () => {
    const held = (await api.get(`/runs?workflow=${childName}&waitingFor=concurrency`)).json as RunSummary[]
    return held.length === kids.length
  })
  done.open(undefined)
  await api.succeeded(runId)
  expect(order).toEqual(['first', 'high', 'none', 'zero', 'low'])
})
