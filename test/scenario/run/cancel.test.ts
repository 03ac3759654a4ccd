// Cancel (docs/concepts.md#pause-resume-cancel).

import { describe, expect, test } from 'vitest'
import { flow, gate, returned, run, scenario, unique, until, wait, within } from '../../kit/index.ts'

const { api, barrier, start } = await scenario()

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

  test('of two concurrent cancels one succeeds and one is refused', async () => {
    const { runId } = await start(flow([wait('w', unique('never'))]))
    await api.reaches(runId, 'waiting')
    const answers = await Promise.all([act(runId, 'cancel'), act(runId, 'cancel')])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  })
})
