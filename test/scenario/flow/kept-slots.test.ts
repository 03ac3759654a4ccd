// Slots that a run keeps until it ends, as lanes per key (docs/flow-control.md#kept-slots).

import type { LimitStatus } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { child, flow, run, type Step, scenario, sleep, unique, wait, waitsFor } from '../../kit/index.ts'

const { api, barrier, clock, engine } = await scenario()

const LANE = { concurrency: { limit: 1, key: 'event.data.user', hold: 'run' } }

/** A workflow with a lane for each user. */
async function openLanes(steps: readonly (Step | readonly Step[])[], registration: Record<string, unknown> = LANE) {
  const name = unique('lane')
  const { record } = await engine.runner({ workflows: { [name]: { handler: flow(steps as never), registration } } })
  return {
    name,
    record,
    async send(user = 'ada', data: Record<string, unknown> = {}): Promise<string> {
      // Ids of one millisecond have no order.
      clock.jump(1)
      return (await api.send({ name, data: { user, ...data } })).runId as string
    },
  }
}

describe('a kept slot', () => {
  test('stays with its run through a sleep; the next run of the key starts at its end, in order of arrival', async () => {
    const lanes = await openLanes([run('before'), sleep('nap', 60_000), run('after')])
    const [first, second, third] = [await lanes.send(), await lanes.send(), await lanes.send()]
    const other = await lanes.send('eve')
    for (const runId of [first, other]) await waitsFor(api, runId, 'sleep')
    const held = await waitsFor(api, second, 'concurrency')
    expect(held).toMatchObject({ status: 'queued', waitingFor: { key: 'ada' } })
    await waitsFor(api, third, 'concurrency')
    for (const [runId, next] of [
      [first, second],
      [second, third],
    ] as const) {
      expect(lanes.record.passes(next)).toBe(0)
      clock.jump(60_000)
      await api.succeeded(runId)
      await waitsFor(api, next, 'sleep')
    }
    clock.jump(60_000)
    for (const runId of [third, other]) await api.succeeded(runId)
  })

  test('stays through a wait and a pause, and is free once its run is cancelled', async () => {
    const lanes = await openLanes([wait('answer', unique('never'))])
    const [first, second] = [await lanes.send(), await lanes.send()]
    await waitsFor(api, first, 'event')
    await waitsFor(api, second, 'concurrency')
    await api.post(`/runs/${first}/pause`)
    await barrier()
    expect(lanes.record.passes(second)).toBe(0)
    await api.post(`/runs/${first}/resume`)
    await barrier()
    expect(lanes.record.passes(second)).toBe(0)
    await api.post(`/runs/${first}/cancel`)
    await waitsFor(api, second, 'event')
    await api.post(`/runs/${second}/cancel`)
  })

  test('is free once its run has timed out', async () => {
    const lanes = await openLanes([wait('answer', unique('never'))], { ...LANE, timeouts: { run: '1m' } })
    const [first, second] = [await lanes.send(), await lanes.send()]
    await waitsFor(api, first, 'event')
    clock.jump(60_000)
    await waitsFor(api, second, 'event')
    expect(await api.run(first)).toMatchObject({ status: 'failed', error: { code: 'timeout' } })
    await api.post(`/runs/${second}/cancel`)
  })

  test('is held by none that has not started: one that is cancelled in the queue leaves no gap', async () => {
    const lanes = await openLanes([sleep('nap', 60_000)])
    const [first, second, third] = [await lanes.send(), await lanes.send(), await lanes.send()]
    await waitsFor(api, first, 'sleep')
    for (const runId of [second, third]) await waitsFor(api, runId, 'concurrency')
    await api.post(`/runs/${second}/cancel`)
    await api.post(`/runs/${third}/pause`)
    const fourth = await lanes.send()
    clock.jump(60_000)
    await waitsFor(api, fourth, 'sleep')
    await api.post(`/runs/${third}/resume`)
    await waitsFor(api, third, 'concurrency')
    clock.jump(60_000)
    await waitsFor(api, third, 'sleep')
    clock.jump(60_000)
    await api.succeeded(third)
  })

  test('goes by priority where there is one', async () => {
    const lanes = await openLanes([sleep('nap', 60_000)], { ...LANE, priority: 'event.data.p' })
    // The others have a higher priority, so the first must have the slot before they arrive.
    const first = await lanes.send('ada', { p: 0 })
    await waitsFor(api, first, 'sleep')
    const [low, high] = [await lanes.send('ada', { p: 1 }), await lanes.send('ada', { p: 2 })]
    for (const runId of [low, high]) await waitsFor(api, runId, 'concurrency')
    clock.jump(60_000)
    await waitsFor(api, high, 'sleep')
    expect((await api.run(low)).waitingFor?.kind).toBe('concurrency')
    clock.jump(60_000)
    await waitsFor(api, low, 'sleep')
    clock.jump(60_000)
    await api.succeeded(low)
  })

  test('is per limit: beside one that a sleeping run gives back', async () => {
    const concurrency = [{ limit: 1 }, LANE.concurrency]
    const lanes = await openLanes([sleep('nap', 60_000)], { concurrency })
    const [first, second, other] = [await lanes.send(), await lanes.send(), await lanes.send('eve')]
    await waitsFor(api, first, 'sleep')
    await waitsFor(api, other, 'sleep')
    await waitsFor(api, second, 'concurrency')
    const limits = ((await api.get('/limits')).json as LimitStatus[]).filter(one => one.workflow === lanes.name)
    expect(limits).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ key: 'ada', hold: 'run', held: 1, waiting: 1 }),
        expect.objectContaining({ key: 'eve', hold: 'run', held: 1, waiting: 0 }),
      ]),
    )
    expect(limits).toHaveLength(2)
    clock.jump(60_000)
    await waitsFor(api, second, 'sleep')
    clock.jump(60_000)
    await api.succeeded(second)
  })

  test('is named by why, with its holder and the place in the queue', async () => {
    const lanes = await openLanes([sleep('nap', 60_000)])
    const [first, second, third] = [await lanes.send(), await lanes.send(), await lanes.send()]
    await waitsFor(api, first, 'sleep')
    for (const runId of [second, third]) await waitsFor(api, runId, 'concurrency')
    expect((await api.get(`/runs/${third}/why`)).json).toMatchObject({
      position: 1,
      blockedBy: [{ runId: first }],
      sentence: expect.stringContaining(`run ${first}, which keeps its slot,`),
    })
    for (const runId of [first, second, third]) {
      await waitsFor(api, runId, 'sleep')
      clock.jump(60_000)
      await api.succeeded(runId)
    }
  })
})

test('a child that needs the slot of its parent fails its step at once', async () => {
  const [parent, kid] = [unique('parent'), unique('kid')]
  const concurrency = { limit: 1, scope: 'app', key: 'event.data.user', hold: 'run' }
  const { record } = await engine.runner({
    workflows: {
      [parent]: { handler: flow([child('kid', kid, { user: 'ada' })]), registration: { concurrency } },
      [kid]: { handler: flow([run('work')]), registration: { concurrency } },
    },
  })
  const runId = (await api.send({ name: parent, data: { user: 'ada' } })).runId as string
  // The handler of this flow catches the failure.
  const { result } = await api.succeeded(runId)
  const error = { name: 'SlotHeldByParentError', code: 'conflict', message: expect.stringContaining('"ada"') }
  expect(result).toMatchObject({ kid: { error } })
  expect(record.passes(runId)).toBeGreaterThan(0)
  const free = (await api.send({ name: parent, data: { user: 'eve' } })).runId as string
  expect((await api.succeeded(free)).result).toMatchObject({ kid: { work: 'work' } })
})

test('an unknown hold is refused, naming the workflow', async () => {
  const name = unique('lane')
  const answer = await api.offer({ name, concurrency: { limit: 1, hold: 'always' } })
  expect([answer.status, answer.text]).toEqual([400, expect.stringMatching(new RegExp(`${name}.*hold`))])
})
