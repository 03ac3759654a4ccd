// Throttle: starts over the rate stay queued, and none is dropped (docs/flow-control.md#throttle).

import { describe, expect, test } from 'vitest'
import { flow, run, scenario, sleep, waitsFor, wakesAt } from '../../kit/index.ts'

const { api, clock, workflow } = await scenario()

async function open(throttle: Record<string, unknown>) {
  const handler = flow([run('charge'), sleep('nap', 1000), run('ship')])
  const { name, record } = await workflow(handler, { registration: { throttle } })
  const send = async (data: Record<string, unknown> = {}) => (await api.send({ name, data })).runId as string
  return { send, record }
}

describe('a throttle', () => {
  test('spaces the starts of a key, says until when a run waits, and throttles no other pass', async () => {
    const { send, record } = await open({ limit: 2, period: '10s', key: 'event.data.user' })
    const began = clock.now()
    const first = await send({ user: 'ada' })
    await waitsFor(api, first, 'sleep')
    const held = [await send({ user: 'ada' })]
    // Either of two runs of the same millisecond may be first in the start queue.
    clock.jump(1)
    held.push(await send({ user: 'ada' }))
    const waits = []
    for (const runId of held) waits.push(await waitsFor(api, runId, 'throttle'))
    expect(waits[0]).toMatchObject({ status: 'queued', waitingFor: { kind: 'throttle', key: 'ada' } })
    expect(waits.map(wakesAt)).toEqual([began + 5000, began + 5000])
    await waitsFor(api, await send({ user: 'eve' }), 'sleep')

    clock.jumpTo(began + 4999)
    await api.succeeded(first)
    expect(record.passes(held[0] as string)).toBe(0)
    clock.jumpTo(began + 5000)
    await waitsFor(api, held[0] as string, 'sleep')
    expect(record.passes(held[1] as string)).toBe(0)
    clock.jumpTo(began + 10_000)
    await waitsFor(api, held[1] as string, 'sleep')
    clock.jump(1000)
    for (const runId of held) await api.succeeded(runId)
    expect(Date.parse((await api.run(held[1] as string)).startedAt ?? '')).toBe(began + 10_000)
  })

  test('lets a burst through after a time without starts', async () => {
    const { send } = await open({ limit: 1, periodMs: 60_000, burst: 2 })
    for (let i = 0; i < 3; i++) await waitsFor(api, await send(), 'sleep')
    const held = await waitsFor(api, await send(), 'throttle')
    expect(wakesAt(held)).toBe(clock.now() + 60_000)
    expect(held.waitingFor).not.toHaveProperty('key')
  })

  test('gives way to a cancel', async () => {
    const { send } = await open({ limit: 1, period: '1h' })
    await waitsFor(api, await send(), 'sleep')
    const held = await send()
    await waitsFor(api, held, 'throttle')
    await api.post(`/runs/${held}/cancel`)
    expect(await api.run(held)).toMatchObject({ status: 'cancelled', durationMs: 0 })
  })
})
