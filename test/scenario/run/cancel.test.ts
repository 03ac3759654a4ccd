// Cancel (docs/concepts.md#pause-resume-cancel).

import { describe, expect, test } from 'vitest'
import {
  flow,
  gate,
  returned,
  run,
  StepFailure,
  scenario,
  sleep,
  unique,
  until,
  wait,
  waitsFor,
  within,
} from '../../kit/index.ts'

const { api, barrier, clock, start, workflow } = await scenario()

const act = (runId: string, action: string) => api.post(`/runs/${runId}/${action}`)

describe('cancel', () => {
  test('aborts the HTTP request in flight, and the run is cancelled at once', async () => {
    const { runId, record } = await start(flow([run('hang', () => gate().opened)]))
    await until(() => record.times(runId, 'hang') === 1)
    const signal = record.of(runId)[0]?.signal as AbortSignal
    const aborted = new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()))
    const answer = await act(runId, 'cancel')
    expect(answer).toMatchObject({ status: 200, json: { id: runId, status: 'cancelled' } })
    await within(aborted, 'the abort of the invoke')
  })

  test('a late answer is dropped: status and steps stay', async () => {
    const answer = gate()
    const { runId, record } = await start(async () => {
      await answer.opened
      return returned('too late')
    })
    await until(() => record.passes(runId) === 1)
    await act(runId, 'cancel')
    answer.open()
    await barrier()
    const found = await api.run(runId)
    expect(found.status).toBe('cancelled')
    expect(found).not.toHaveProperty('result')
    expect(await api.steps(runId)).toEqual([])
    expect(record.passes(runId)).toBe(1)
  })

  test('cancels parked steps and retries, and nothing wakes the run again', async () => {
    const event = unique('go')
    const shaky = run('shaky', () => {
      throw new StepFailure('again')
    })
    const { runId, record } = await start(flow([[sleep('s', 60_000), wait('w', event), shaky]]))
    await waitsFor(api, runId, 'retry')
    await act(runId, 'cancel')
    expect((await api.steps(runId)).map(({ status }) => status)).toEqual(['cancelled', 'cancelled', 'cancelled'])
    clock.jump(3_600_000)
    expect((await api.send({ name: event })).woke).toBe(0)
    await barrier()
    expect(record.passes(runId)).toBe(1)
    expect(await api.run(runId)).not.toHaveProperty('waitingFor')
  })

  test('a run that never started is cancelled with a duration of 0', async () => {
    const { name, runner } = await workflow(() => returned())
    await runner.close()
    // The first run finds that no runner listens; the second is not even sent.
    await waitsFor(api, (await api.send({ name })).runId, 'runner')
    const { runId } = await api.send({ name })
    await waitsFor(api, runId, 'runner')
    clock.jump(100)
    const { json } = await act(runId, 'cancel')
    expect(json).toMatchObject({ status: 'cancelled', durationMs: 0 })
    expect(json).not.toHaveProperty('startedAt')
  })

  test('of two concurrent cancels one succeeds and one is refused', async () => {
    const { runId } = await start(flow([wait('w', unique('never'))]))
    await api.reaches(runId, 'waiting')
    const answers = await Promise.all([act(runId, 'cancel'), act(runId, 'cancel')])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  test('a paused run stays cancellable', async () => {
    const { runId } = await start(flow([wait('w', unique('never'))]))
    await api.reaches(runId, 'waiting')
    await act(runId, 'pause')
    expect((await act(runId, 'cancel')).json).toMatchObject({ status: 'cancelled' })
  })

  test.each(['cancel', 'pause', 'resume', 'replay', 'retry-from-step'])('%s of an unknown run is 404', async action => {
    const path = `/runs/run_01ARZ3NDEKTSV4RRFFQ69G5FAV/${action}`
    const body = action === 'retry-from-step' ? { step: 'a' } : undefined
    expect(await api.post(path, body)).toMatchObject({ status: 404, code: 'not_found' })
  })
})
