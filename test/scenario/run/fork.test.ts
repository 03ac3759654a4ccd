// Replay and retry-from-step: new runs from finished ones (docs/concepts.md#replay-retry-from-a-step-bulk-replay).

import type { RunSummary } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import {
  emit,
  flow,
  type Handler,
  returned,
  run,
  StepFailure,
  scenario,
  sleep,
  stepId,
  unique,
  wait,
} from '../../kit/index.ts'

const { api, engine } = await scenario({ realTime: true })

async function start(handler: Handler, event: Record<string, unknown> = {}, runnerId?: string) {
  const name = unique('forked')
  const { record, app } = await engine.runner({
    ...(runnerId === undefined ? {} : { runner: runnerId }),
    workflows: { [name]: { handler, registration: { retry: { maxAttempts: 1 } } } },
  })
  const { runId, eventId } = await api.send({ name, app, ...event })
  return { runId, eventId, record, app, name }
}

const replay = (runId: string, body?: unknown) => api.post(`/runs/${runId}/replay`, body)
const retry = (runId: string, step: unknown) => api.post(`/runs/${runId}/retry-from-step`, { step })

describe('replay', () => {
  test('a new run from the start copies workflow, app, input and runner, and records replayOf', async () => {
    const pin = unique('pin')
    const echo = flow([run('a')], (_results, { event }) => event.data)
    const { runId, eventId, record, app, name } = await start(echo, { data: { n: 1 }, runner: pin }, pin)
    await api.succeeded(runId)
    const before = (await api.get(`/runs/${runId}`)).text
    const answer = await replay(runId)
    expect(answer.status).toBe(200)
    const { id, status } = answer.json as RunSummary
    expect(id).not.toBe(runId)
    expect(['queued', 'running']).toContain(status)
    const copy = await api.succeeded(id)
    expect(copy).toMatchObject({
      workflow: name,
      app,
      runner: pin,
      input: { n: 1 },
      result: { n: 1 },
      replayOf: runId,
      triggerKind: 'event',
      eventName: name,
      attempt: 1,
    })
    // The event did not start the fork.
    expect(copy).not.toHaveProperty('eventId')
    expect((await api.event(eventId)).triggered).toHaveLength(1)
    expect(record.times(id, 'a')).toBe(1)
    expect((await api.get(`/runs/${runId}`)).text).toBe(before)
    const again = (await replay(id, {})).json as RunSummary
    expect(await api.succeeded(again.id)).toMatchObject({ replayOf: id, result: { n: 1 } })
  })

  test.each(['{"n":12345678901234567890}', 'null', '0'])(
    'input %s overrides the payload, to the letter',
    async text => {
      const { runId, record } = await start(({ event }) => returned(event.data), { data: 'original' })
      await api.succeeded(runId)
      const answer = await api.postText(`/runs/${runId}/replay`, `{"input":${text}}`)
      const { id } = answer.json as RunSummary
      await api.succeeded(id)
      expect(record.of(id)[0]?.raw).toContain(`"data":${text}}`)
      expect((await api.get(`/runs/${id}`)).text).toContain(`"input":${text}`)
    },
  )

  test('a replay emits its events again', async () => {
    const event = unique('said')
    const { runId } = await start(flow([emit('notify', event)]))
    await api.succeeded(runId)
    const { id } = (await replay(runId)).json as RunSummary
    await api.succeeded(id)
    expect((await api.get(`/events?name=${event}`)).json).toHaveLength(2)
  })
})

describe('retry-from-step', () => {
  /** a, b, c in sequence; `b` fails while `broken` is true. */
  async function threeSteps() {
    const state = { broken: true }
    const b = run('b', () => {
      if (state.broken) throw new StepFailure('b is broken')
      return 'mended'
    })
    const setup = await start(flow([run('a', ({ ctx }) => ctx.runId), b, run('c')]), { data: { n: 1 } })
    await api.failed(setup.runId)
    return { ...setup, state }
  }

  test('steps before the named one are carried with stored results and never executed again', async () => {
    const { runId, record, state } = await threeSteps()
    const before = [(await api.get(`/runs/${runId}`)).text, (await api.get(`/runs/${runId}/steps`)).text]
    state.broken = false
    const answer = await retry(runId, 'b')
    expect(answer.status).toBe(200)
    const { id } = answer.json as RunSummary
    expect(await api.succeeded(id)).toMatchObject({
      replayOf: runId,
      input: { n: 1 },
      result: { a: runId, b: 'mended', c: 'c' },
    })
    expect(record.names(id)).toEqual(['b', 'c'])
    expect(record.of(id)[0]?.steps).toEqual({ [stepId('a')]: { data: runId } })
    const steps = await api.steps(id)
    expect(steps.map(({ name, index, carried, status }) => [name, index, carried ?? false, status])).toEqual([
      ['a', 0, true, 'succeeded'],
      ['b', 1, false, 'succeeded'],
      ['c', 2, false, 'succeeded'],
    ])
    expect([(await api.get(`/runs/${runId}`)).text, (await api.get(`/runs/${runId}/steps`)).text]).toEqual(before)
  })

  test('the named step itself is executed again though it had succeeded, and those after it', async () => {
    const { runId, record } = await start(flow([run('a'), run('b'), run('c')]))
    await api.succeeded(runId)
    const { id } = (await retry(runId, 'b')).json as RunSummary
    await api.succeeded(id)
    expect(record.names(id)).toEqual(['b', 'c'])
    const { id: whole } = (await retry(runId, 'a')).json as RunSummary
    await api.succeeded(whole)
    expect(record.names(whole)).toEqual(['a', 'b', 'c'])
  })

  test('a retry of a retry carries what was carried', async () => {
    const { runId, record, state } = await threeSteps()
    const { id: again } = (await retry(runId, 'b')).json as RunSummary
    await api.failed(again)
    state.broken = false
    const { id } = (await retry(again, 'b')).json as RunSummary
    expect((await api.succeeded(id)).result).toMatchObject({ a: runId, b: 'mended' })
    expect(record.names(id)).toEqual(['b', 'c'])
  })

  test('carried sleeps, waits and emits neither wait nor emit again', async () => {
    const event = unique('said')
    const { runId, record } = await start(flow([sleep('s', 1), emit('e', event, 1), wait('w', event), run('end')]))
    await api.succeeded(runId)
    const { id } = (await retry(runId, 'end')).json as RunSummary
    await api.succeeded(id)
    expect(record.names(id)).toEqual(['end'])
    expect((await api.get(`/events?name=${event}`)).json).toHaveLength(1)
    expect((await api.steps(id)).map(({ carried }) => carried)).toEqual([true, true, true, undefined])
  })

  test('step takes the human name, :n for repeats, or the hashed id', async () => {
    const { runId, record } = await start(flow([run('same'), run('same'), run('same')]))
    await api.succeeded(runId)
    for (const [step, names] of [
      ['same:1', ['same:1', 'same:2']],
      ['same', ['same', 'same:1', 'same:2']],
      [stepId('same:2'), ['same:2']],
    ] as const) {
      const { id } = (await retry(runId, step)).json as RunSummary
      await api.succeeded(id)
      expect(record.names(id)).toEqual(names)
    }
  })

  test('a step the run does not have is 404 step_not_found, no step 400, and neither creates a run', async () => {
    const { runId, app } = await threeSteps()
    expect(await retry(runId, 'z')).toMatchObject({ status: 404, code: 'step_not_found' })
    // The run never reached this step.
    expect(await retry(runId, 'c')).toMatchObject({ status: 404, code: 'step_not_found' })
    for (const body of [{}, { step: '' }, { step: ' ' }, { step: 3 }, { step: null }, []]) {
      const answer = await api.post(`/runs/${runId}/retry-from-step`, body)
      expect(answer, JSON.stringify(body)).toMatchObject({ status: 400, code: 'invalid_request' })
    }
    expect(await api.post(`/runs/${runId}/retry-from-step`)).toMatchObject({ status: 400 })
    expect(await api.runs(`?app=${app}`)).toHaveLength(1)
  })
})
