// Handlers that throw, and runs that are paused when their attempts are spent (docs/concepts.md#pause-on-failure).

import type { TimelineFrame } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import {
  child,
  flow,
  type Handler,
  type Reply,
  returned,
  run,
  StepFailure,
  scenario,
  skipWait,
  sleep,
  waitsFor,
} from '../../kit/index.ts'

const { api, clock, start, workflow } = await scenario()

const thrown = { message: 'no such column', name: 'DatabaseError', stack: 'DatabaseError: no such column\n    at x' }
const threw: Reply = { status: 500, body: { error: thrown, logs: [] } }
const error = { ...thrown, code: 'handler_failed' }
const pausing = (fields: object = {}) => ({ registration: { whenExhausted: 'pause', ...fields } })

/** A handler that does not catch the failure of a step. */
function uncaught(handler: Handler, stepName: string): Handler {
  return async (invoke, record) => {
    const failed = Object.values(invoke.steps).find(entry => entry.error)?.error
    if (!failed) return handler(invoke, record)
    return { status: 400, body: { error: { ...failed, code: 'step_failed', stepName }, logs: [] } }
  }
}

describe('a handler that throws', () => {
  test('is told at the first try: in waitingFor, in the timeline and by why', async () => {
    const { runId } = await start(() => threw)
    const { waitingFor } = await waitsFor(api, runId, 'retry')
    expect(waitingFor?.error).toBe('no such column')
    expect((await api.get(`/runs/${runId}/why`)).json).toMatchObject({
      sentence: `The handler threw an error in the last pass (try 1 of 8). It is repeated at ${waitingFor?.until}. The error: no such column`,
      error,
    })
    for (let i = 0; i < 7; i++) await skipWait(api, clock, runId, 'retry')
    await api.failed(runId)
    const told = (await framesOf(runId)).filter(frame => frame.kind === 'run_status' && 'error' in frame)
    expect(told.map(frame => 'status' in frame && frame.status)).toEqual([...Array(7).fill('waiting'), 'failed'])
    for (const frame of told) expect(frame).toMatchObject({ error })
  })

  test('has the tries that its registration says', async () => {
    for (const handlerRetries of [1, 3]) {
      const { runId, record } = await start(() => threw, { registration: { handlerRetries } })
      for (let i = 1; i < handlerRetries; i++) await skipWait(api, clock, runId, 'retry')
      expect((await api.failed(runId)).error).toEqual(error)
      expect(record.passes(runId)).toBe(handlerRetries)
    }
  })

  test('has the attempts of the retry policy where that sets them, for a handler alone', async () => {
    const registration = { retry: { maxAttempts: 2 } }
    const { runId, record } = await start(() => threw, { registration })
    await waitsFor(api, runId, 'retry')
    expect((await api.get(`/runs/${runId}/why`)).json).toMatchObject({
      sentence: expect.stringContaining('(try 1 of 2)'),
    })
    await skipWait(api, clock, runId, 'retry')
    expect((await api.failed(runId)).error).toEqual(error)
    expect(record.passes(runId)).toBe(2)
  })

  test.each([
    ['handlerRetries', 0],
    ['handlerRetries', 1.5],
    ['handlerRetries', 'many'],
    ['whenExhausted', 'retry'],
  ])('cannot have %s: %j', async (field, value) => {
    const body = { app: 'shop', url: 'http://127.0.0.1:9/', workflows: [{ name: 'order', [field]: value }] }
    const answer = await api.post('/register', body)
    expect(answer.status).toBe(400)
    expect(answer.text).toContain(field)
  })

  test('and the definition shows both', async () => {
    const { name, app } = await workflow(() => returned(1), pausing({ handlerRetries: 2 }))
    const definitions = (await api.get(`/workflows?app=${app}`)).json as { name: string }[]
    const shown = definitions.find(definition => definition.name === name)
    expect(shown).toMatchObject({ handlerRetries: 2, whenExhausted: 'pause' })
  })
})

describe('whenExhausted: "pause"', () => {
  test('a handler that spent its tries pauses its run, and a resume gives new ones', async () => {
    let isMended = false
    const { runId, record } = await start(() => (isMended ? returned('mended') : threw), pausing({ handlerRetries: 2 }))
    await skipWait(api, clock, runId, 'retry')
    const paused = await api.reaches(runId, 'paused')
    expect(paused.waitingFor).toEqual({ kind: 'failure', error: 'no such column' })
    expect((await api.get(`/runs/${runId}/why`)).json).toMatchObject({
      sentence: expect.stringContaining('because the 2 tries of a pass failed: no such column (handler_failed)'),
      error,
    })
    await api.post(`/runs/${runId}/resume`)
    await skipWait(api, clock, runId, 'retry')
    await api.reaches(runId, 'paused')
    expect(record.passes(runId)).toBe(4)
    isMended = true
    await api.post(`/runs/${runId}/resume`)
    expect(await api.succeeded(runId)).toMatchObject({ result: 'mended', attempt: 5 })
  })

  test.each([true, false])('a step that spent its attempts does too; catchable: %s', async catchable => {
    let isMended = false
    const steps = flow([
      run('first'),
      run(
        'charge',
        () => {
          if (isMended) return 'charged'
          throw new StepFailure('declined')
        },
        { catchable },
      ),
    ])
    const { runId, record } = await start(uncaught(steps, 'charge'), pausing({ retry: { maxAttempts: 2 } }))
    await skipWait(api, clock, runId, 'retry')
    const { waitingFor } = await api.reaches(runId, 'paused')
    expect(waitingFor).toEqual({ kind: 'failure', stepName: 'charge', error: 'declined' })
    expect(await api.step(runId, 'charge')).toMatchObject({ status: 'failed', attempt: 2 })
    isMended = true
    await api.post(`/runs/${runId}/resume`)
    expect(await api.succeeded(runId)).toMatchObject({ result: { first: 'first', charge: 'charged' } })
    expect(await api.step(runId, 'charge')).toMatchObject({ status: 'succeeded', attempt: 3 })
    expect(record.names(runId)).toEqual(['first', 'charge', 'charge', 'charge'])
    const ofStep = (await framesOf(runId)).filter(frame => frame.kind === 'step_status' && frame.name === 'charge')
    expect(ofStep.map(frame => 'status' in frame && frame.status)).toEqual([
      'retrying',
      'failed',
      'retrying',
      'succeeded',
    ])
  })

  test('the children and the parent of a paused run wait, and go on after its resume', async () => {
    let isMended = false
    const slow = await workflow(flow([sleep('nap', 60_000)]))
    const charge = run('charge', () => (isMended ? 'charged' : fail()))
    const failing = await workflow(flow([[child('slow', slow.name), charge]]), pausing({ retry: { maxAttempts: 1 } }))
    const { runId: parent } = await start(flow([child('both', failing.name)]))
    await waitsFor(api, parent, 'child')
    const runId = (await api.step(parent, 'both')).childRunId as string
    await api.reaches(runId, 'paused')
    const ofSlow = (await api.step(runId, 'slow')).childRunId as string
    await skipWait(api, clock, ofSlow, 'sleep')
    await api.succeeded(ofSlow)
    expect(await api.run(runId)).toMatchObject({ status: 'paused', waitingFor: { kind: 'failure' } })
    expect(await api.run(parent)).toMatchObject({ status: 'waiting', waitingFor: { kind: 'child' } })
    isMended = true
    await api.post(`/runs/${runId}/resume`)
    expect((await api.succeeded(parent)).result).toMatchObject({ both: { charge: 'charged' } })
  })

  test('timeouts.run goes on', async () => {
    const { runId } = await start(() => threw, pausing({ handlerRetries: 1, timeouts: { run: '1h' } }))
    await api.reaches(runId, 'paused')
    clock.jump(3_600_000)
    expect((await api.failed(runId)).error).toMatchObject({ code: 'timeout' })
  })

  test('an on-failure run is never paused', async () => {
    const hook: Handler = ({ ctx }) => (ctx.onFailure ? threw : { status: 400, body: { error: thrown, logs: [] } })
    const { runId } = await start(hook, pausing({ handlerRetries: 1, onFailure: true }))
    await api.failed(runId)
    const follower = (await api.runs('?limit=200')).find(({ parentRunId }) => parentRunId === runId)
    expect((await api.failed(follower?.id as string)).error).toEqual(error)
  })
})

function fail(): never {
  throw new StepFailure('declined')
}

async function framesOf(runId: string): Promise<TimelineFrame[]> {
  const { messages } = await api.stream(runId)
  return messages.map(({ data }) => data as TimelineFrame)
}
