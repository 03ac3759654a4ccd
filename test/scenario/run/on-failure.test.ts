// On-failure runs, which follow failed runs (docs/concepts.md#on-failure-runs).

import type { RunSummary } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import {
  flow,
  type Handler,
  type Reply,
  returned,
  run,
  StepFailure,
  scenario,
  unique,
  until,
  wait,
} from '../../kit/index.ts'

const { api, barrier, engine, workflow } = await scenario({ realTime: true })

const breaks: Handler = flow([
  run('break', () => {
    throw new StepFailure('it broke', { retriable: false })
  }),
])
const rejects = (): Reply => ({ status: 422, body: { error: { message: 'not for me' }, logs: [] } })

/** Starts a failing workflow; `follow` handles its on-failure invocation. */
async function start(handler: Handler, follow: Handler = () => returned('cleaned up'), onFailure = true) {
  const { name, runner } = await workflow(
    (invoke, record) => (invoke.ctx.onFailure ? follow : handler)(invoke, record),
    { registration: { onFailure } },
  )
  const event = { name, app: runner.app, data: { n: 1 } }
  return { runner, event, record: runner.record, ...(await api.send(event)) }
}

async function followers(runId: string): Promise<RunSummary[]> {
  return (await api.runs('?limit=200')).filter(({ parentRunId }) => parentRunId === runId)
}

const follower = (runId: string) => until(async () => (await followers(runId))[0], { what: 'the on-failure run' })

describe('the follow-on run', () => {
  test("is separate, gets ctx.onFailure and ctx.error, and the failed run's event and input", async () => {
    const { runId, eventId, event, runner, record } = await start(breaks)
    await api.failed(runId)
    const { id } = await follower(runId)
    const followed = await api.succeeded(id)
    expect(followed).toMatchObject({
      workflow: event.name,
      app: runner.app,
      triggerKind: 'event',
      parentRunId: runId,
      input: { n: 1 },
      result: 'cleaned up',
    })
    expect(followed).not.toHaveProperty('eventId')
    const [invoke] = record.of(id)
    expect(invoke?.event).toEqual({ id: eventId, name: event.name, data: { n: 1 } })
    expect(invoke?.ctx).toMatchObject({ onFailure: true, error: { message: 'it broke' }, attempt: 1 })
    expect(invoke?.steps).toEqual({})
  })

  test('ctx.onFailure and ctx.error are absent from every other invoke', async () => {
    const { runId, record } = await start(breaks)
    await api.failed(runId)
    for (const { ctx } of record.of(runId)) {
      expect(ctx).not.toHaveProperty('onFailure')
      expect(ctx).not.toHaveProperty('error')
    }
  })

  test('has steps of its own, and ctx.onFailure on every pass', async () => {
    const { runId, record } = await start(breaks, flow([run('refund'), run('apologise')]))
    const { id } = await follower(runId)
    await api.succeeded(id)
    expect(record.of(id).map(({ ctx }) => [ctx.onFailure, ctx.error?.message])).toEqual(
      Array.from({ length: 3 }, () => [true, 'it broke']),
    )
    expect(record.names(id)).toEqual(['refund', 'apologise'])
  })

  test('the failed run is retained and can be replayed, with an on-failure run of its own', async () => {
    const { runId } = await start(breaks)
    await follower(runId)
    const replayed = (await api.post(`/runs/${runId}/replay`)).json as RunSummary
    await api.failed(replayed.id)
    await api.succeeded((await follower(replayed.id)).id)
    expect(await followers(runId)).toHaveLength(1)
  })

  test('keeps the pin', async () => {
    const { event, runner } = await start(breaks)
    const pin = unique('pin')
    await runner.register(api, {
      runner: pin,
      workflows: [{ name: event.name, onFailure: true }],
    })
    const { runId } = await api.send({ ...event, runner: pin })
    expect(await api.succeeded((await follower(runId)).id)).toMatchObject({ runner: pin })
  })
})

describe('when it comes ("any terminal failure, never a cancellation, never another on-failure run")', () => {
  test('after a 4xx', async () => {
    const { runId, record } = await start(rejects)
    const { id } = await follower(runId)
    await api.succeeded(id)
    expect(record.of(id)[0]?.ctx.error).toMatchObject({ message: 'not for me' })
  })

  test('after a pin that is not registered, on any runner', async () => {
    const { event, record } = await start(breaks)
    const { runId } = await api.send({ ...event, runner: unique('nobody') })
    expect((await api.failed(runId)).error?.code).toBe('runner_not_registered')
    const { id } = await follower(runId)
    expect(await api.succeeded(id)).not.toHaveProperty('runner')
    expect(record.of(id)[0]?.ctx).toMatchObject({ onFailure: true, runner: '' })
  })

  test('never after a cancellation', async () => {
    const { runId } = await start(flow([wait('w', unique('never'))]))
    await api.reaches(runId, 'waiting')
    await api.post(`/runs/${runId}/cancel`)
    await barrier()
    expect(await followers(runId)).toEqual([])
  })

  test('never after another on-failure run', async () => {
    const { runId } = await start(breaks, breaks)
    const { id } = await follower(runId)
    await api.failed(id)
    await barrier()
    expect(await followers(id)).toEqual([])
  })

  test('never without onFailure true', async () => {
    const { runId } = await start(breaks, () => returned(), false)
    await api.failed(runId)
    await barrier()
    expect(await followers(runId)).toEqual([])
  })

  test('a failed child gets one, and its parent is still answered', async () => {
    const { event } = await start(breaks)
    const parent = unique('parent')
    await engine.runner({
      workflows: {
        [parent]: flow([{ name: 'kid', make: () => ({ op: 'RunWorkflow', childName: event.name }) }]),
      },
    })
    const { runId } = await api.send({ name: parent })
    await api.succeeded(runId)
    const { childRunId } = await api.step(runId, 'kid')
    await api.succeeded((await follower(childRunId as string)).id)
  })
})
