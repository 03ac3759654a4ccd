// `timeouts.queue` and `timeouts.run`: a run that does not start, or end, in time fails with `timeout`
// (docs/flow-control.md#timeouts).

import { describe, expect, test } from 'vitest'
import { flow, type Handler, returned, scenario, unique, until, wait, waitsFor } from '../../kit/index.ts'

const { api, clock, start, workflow } = await scenario()

const timedOut = (runId: string, message: RegExp) =>
  until(
    async () => {
      const { status, error } = await api.run(runId)
      return status === 'failed' && error?.code === 'timeout' && message.test(error.message)
    },
    { what: `run ${runId} timing out` },
  )

const waitForever = flow([wait('paid', unique('never'))])

describe('timeouts.run', () => {
  test('fails a waiting run at that time and not before, and its on-failure run follows', async () => {
    const timeouts = { run: '1m' }
    const handler: Handler = (invoke, record) =>
      invoke.ctx.onFailure ? returned('cleaned up') : waitForever(invoke, record)
    const { runId, record } = await start(handler, { registration: { timeouts, onFailure: true } })
    await waitsFor(api, runId, 'event')
    clock.jump(60_000)
    await timedOut(runId, /timeouts\.run of 60000 ms/)
    const run = await api.run(runId)
    expect(Date.parse(run.finishedAt ?? '') - Date.parse(run.startedAt ?? '')).toBe(60_000)
    expect(await api.step(runId, 'paid')).toMatchObject({ status: 'cancelled' })
    await until(() => record.invokes.some(({ ctx }) => ctx.onFailure))
  })

  test('bounds the pass in flight', async () => {
    const handler: Handler = ({ signal }) =>
      new Promise(resolve => signal.addEventListener('abort', () => resolve(returned('too late'))))
    const { runId, record } = await start(handler, { registration: { timeouts: { run: 200 } } })
    await until(() => record.passes(runId) === 1)
    clock.jump(200)
    await timedOut(runId, /timeouts\.run/)
    expect(record.passes(runId)).toBe(1)
  })

  test('goes on while the run is paused', async () => {
    const { runId } = await start(waitForever, { registration: { timeouts: { run: '1m' } } })
    await waitsFor(api, runId, 'event')
    await api.post(`/runs/${runId}/pause`)
    clock.jump(60_000)
    await timedOut(runId, /timeouts\.run/)
  })
})

describe('timeouts.queue', () => {
  test('fails a run that is held for longer, and nothing was sent', async () => {
    const registration = { concurrency: { limit: 1 }, timeouts: { queue: '30s' } }
    const handler: Handler = ({ signal }) =>
      new Promise(resolve => signal.addEventListener('abort', () => resolve(returned(null))))
    const { name, runId, record } = await start(handler, { registration })
    await until(() => record.passes(runId) === 1)
    const held = (await api.send({ name })).runId as string
    await waitsFor(api, held, 'concurrency')
    clock.jump(30_000)
    await timedOut(held, /timeouts\.queue of 30000 ms/)
    expect(record.passes(held)).toBe(0)
    expect((await api.run(runId)).status).toBe('running')
    await api.post(`/runs/${runId}/cancel`)
  })

  test('fails a run that no runner takes', async () => {
    const registration = { timeouts: { queue: '30s' } }
    const { name, runner } = await workflow(waitForever, { registration })
    await runner.close()
    // The first run is sent and finds that no runner answers. The second one is not sent.
    await waitsFor(api, (await api.send({ name })).runId as string, 'runner')
    const runId = (await api.send({ name })).runId as string
    await waitsFor(api, runId, 'runner')
    clock.jump(30_000)
    await timedOut(runId, /timeouts\.queue/)
  })
})
