// Pause and resume (docs/concepts.md#pause-resume-cancel).

import { describe, expect, test } from 'vitest'
import {
  flow,
  gate,
  type Handler,
  openEngine,
  type PlainRunner,
  returned,
  run,
  scenario,
  unique,
  until,
  wait,
} from '../../kit/index.ts'

const { api, barrier, clock, start } = await scenario()

const act = (runId: string, action: string) => api.post(`/runs/${runId}/${action}`)

describe('pause and resume', () => {
  test('pause takes effect at the step boundary: the step in flight is checkpointed, the next does not run', async () => {
    const held = gate()
    const { runId, record } = await start(flow([run('first', () => held.opened), run('second')]))
    await until(() => record.times(runId, 'first') === 1)
    expect((await act(runId, 'pause')).json).toMatchObject({ id: runId, status: 'paused' })
    // Its lease is extended, and it is not sent again.
    for (let seconds = 0; seconds < 60; seconds += 6) {
      clock.jump(6000)
      await barrier()
    }
    expect(record.of(runId)[0]?.signal.aborted).toBe(false)
    held.open()
    await until(async () => (await api.steps(runId)).length === 1)
    await barrier()
    expect(await api.steps(runId)).toMatchObject([{ name: 'first', status: 'succeeded' }])
    expect((await api.run(runId)).status).toBe('paused')
    expect(record.passes(runId)).toBe(1)
    expect((await act(runId, 'resume')).json).toMatchObject({ status: 'queued' })
    await api.succeeded(runId)
    expect(record.names(runId)).toEqual(['first', 'second'])
  })

  test('a step that is settled from outside while a pass is in flight does not disturb the pass', async () => {
    const [event, held] = [unique('go'), gate()]
    const handler: Handler = async (invoke, record) => {
      // The second stage begins while the wait of the first is still parked.
      if (invoke.pass > 1) return flow([run('b', () => held.opened)])(invoke, record)
      return flow([[wait('w', event), run('a')]])(invoke, record)
    }
    const { runId, record } = await start(handler)
    await until(() => record.times(runId, 'b') === 1)
    expect((await api.send({ name: event })).woke).toBe(1)
    for (let seconds = 0; seconds < 60; seconds += 6) {
      clock.jump(6000)
      await barrier()
    }
    expect(record.of(runId)[1]?.signal.aborted).toBe(false)
    held.open()
    await api.succeeded(runId)
    expect(record.times(runId, 'b')).toBe(1)
  })

  test('a pass in flight that returns the final result succeeds: there was no next step', async () => {
    const held = gate()
    const { runId, record } = await start(async () => {
      await held.opened
      return returned('final')
    })
    await until(() => record.passes(runId) === 1)
    await act(runId, 'pause')
    held.open()
    expect((await until(() => finished(runId))).status).toBe('succeeded')
    expect((await api.run(runId)).result).toBe('final')
  })

  test('pause on a paused run is idempotent', async () => {
    const { runId } = await start(flow([wait('w', unique('never'))]))
    await api.reaches(runId, 'waiting')
    await act(runId, 'pause')
    expect(await act(runId, 'pause')).toMatchObject({ status: 200, json: { status: 'paused' } })
  })

  test('a transport failure of the pass in flight leaves the run paused, to be repeated after resume', async () => {
    const held = gate()
    const { runId, record } = await start(async ({ pass }) => {
      if (pass > 1) return returned('at last')
      await held.opened
      return { status: 503, body: {} }
    })
    await until(() => record.passes(runId) === 1)
    await act(runId, 'pause')
    held.open()
    await until(async () => (await api.run(runId)).attempt === 2)
    clock.jump(60_000)
    await barrier()
    expect(await api.run(runId)).toMatchObject({ status: 'paused' })
    expect(record.passes(runId)).toBe(1)
    await act(runId, 'resume')
    await api.succeeded(runId)
  })

  test('a paused run survives a restart, and resumes', async () => {
    const first = await openEngine({ onDisk: true, clock })
    const name = unique('controlled')
    const runner: PlainRunner = await first.runner({
      workflows: { [name]: flow([wait('w', 'go'), run('after')]) },
    })
    const { runId } = await first.api.send({ name })
    await first.api.reaches(runId, 'waiting')
    await first.api.post(`/runs/${runId}/pause`)
    await first.stop()
    const second = await openEngine({ clock, storeFile: first.storeFile })
    await runner.rejoin(second.api)
    await second.api.send({ name: 'go' })
    expect((await second.api.run(runId)).status).toBe('paused')
    await second.api.post(`/runs/${runId}/resume`)
    await second.api.succeeded(runId)
    expect(runner.record.times(runId, 'after')).toBe(1)
  })

  async function finished(runId: string) {
    const found = await api.run(runId)
    return found.finishedAt !== undefined && found
  }
})
