// Throttle: starts over the rate stay queued, and no start is dropped (docs/flow-control.md#throttle).

import { describe, expect, test } from 'vitest'
import { flow, run, scenario, sleep, until, waitsFor, wakesAt } from '../../kit/index.ts'

const { api, clock, workflow } = await scenario()

async function open(throttle: Record<string, unknown>) {
  const handler = flow([run('charge'), sleep('nap', 1000), run('ship')])
  const { name, record } = await workflow(handler, { registration: { throttle } })
  const send = async (data: Record<string, unknown> = {}) => (await api.send({ name, data })).runId as string
  return { send, record }
}

/** Resolves with the run once it knows its start time. It joins the throttle's queue before. */
async function held(runId: string) {
  return until(
    async () => {
      const run = await waitsFor(api, runId, 'throttle')
      return Number.isNaN(wakesAt(run)) ? undefined : run
    },
    { what: `the time at which ${runId} starts` },
  )
}

describe('a throttle', () => {
  test('spaces the starts of a key, says until when a run waits, and throttles no other pass', async () => {
    const { send, record } = await open({ limit: 2, period: '10s', key: 'event.data.user' })
    const began = clock.now()
    const first = await send({ user: 'ada' })
    await waitsFor(api, first, 'sleep')
    const later = [await send({ user: 'ada' })]
    // A run that joins the queue takes the time of the first run, once the first run has a time.
    const waits = [await held(later[0] as string)]
    later.push(await send({ user: 'ada' }))
    waits.push(await held(later[1] as string))
    expect(waits[0]).toMatchObject({ status: 'queued', waitingFor: { kind: 'throttle', key: 'ada' } })
    expect(waits.map(wakesAt)).toEqual([began + 5000, began + 5000])
    await waitsFor(api, await send({ user: 'eve' }), 'sleep')

    clock.jumpTo(began + 4999)
    await api.succeeded(first)
    expect(record.passes(later[0] as string)).toBe(0)
    clock.jumpTo(began + 5000)
    await waitsFor(api, later[0] as string, 'sleep')
    expect(record.passes(later[1] as string)).toBe(0)
    clock.jumpTo(began + 10_000)
    await waitsFor(api, later[1] as string, 'sleep')
    clock.jump(1000)
    for (const runId of later) await api.succeeded(runId)
    expect(Date.parse((await api.run(later[1] as string)).startedAt ?? '')).toBe(began + 10_000)
  })

  test('lets a burst through after a time without starts', async () => {
    const { send } = await open({ limit: 1, periodMs: 60_000, burst: 2 })
    for (let i = 0; i < 3; i++) await waitsFor(api, await send(), 'sleep')
    const last = await held(await send())
    expect(wakesAt(last)).toBe(clock.now() + 60_000)
    expect(last.waitingFor).not.toHaveProperty('key')
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
