// StepRun: results, failures and when they are retried (docs/concepts.md#failures).

import { describe, expect, test } from 'vitest'
import {
  discovered,
  flow,
  opcode,
  returned,
  run,
  StepFailure,
  scenario,
  skipWait,
  stepId,
  unique,
  until,
  waitsFor,
  wakesAt,
} from '../../kit/index.ts'

const { api, barrier, clock, engine, start } = await scenario()

/** A run with one step that fails `failures` times before it succeeds, by default every time. */
async function failing(
  options: { failures?: number; retry?: Record<string, unknown>; fail?: StepFailure; catchable?: boolean } = {},
) {
  const { failures = Number.POSITIVE_INFINITY, retry, fail = new StepFailure('out of stock') } = options
  const name = unique('failing')
  let tries = 0
  const handler = flow([
    run(
      'pick',
      () => {
        if (++tries <= failures) throw fail
        return 'picked'
      },
      { ...(options.catchable === undefined ? {} : { catchable: options.catchable }) },
    ),
  ])
  const registration = retry ? { retry } : {}
  const { record } = await engine.runner({ workflows: { [name]: { handler, registration } } })
  const { runId } = await api.send({ name })
  return { runId, record, executions: () => record.times(runId, 'pick') }
}

describe('results', () => {
  test.each(['{"n":12345678901234567890}', 'null', '[1.0]'])(
    'the result %s comes back in the memo to the letter',
    async text => {
      const name = unique('result')
      const { record } = await engine.runner({
        workflows: {
          [name]: ({ pass }) => {
            const head = `"op":"StepRun","id":"${stepId('a')}","name":"a"`
            if (pass === 1) return { status: 206, text: `{"opcodes":[{${head},"data":${text}}],"logs":[]}` }
            return { status: 200, text: `{"data":${text},"logs":[]}` }
          },
        },
      })
      const { runId } = await api.send({ name })
      await api.succeeded(runId)
      expect(record.of(runId)[1]?.raw).toContain(`"${stepId('a')}":{"data":${text}}`)
      expect((await api.get(`/runs/${runId}/steps`)).text).toContain(`"data":${text}`)
      expect((await api.get(`/runs/${runId}`)).text).toContain(`"result":${text}`)
    },
  )

  test('a step without data is settled: its memo entry is there, and it is not run again', async () => {
    const { runId, record } = await start(flow([run('quiet', () => undefined)]))
    await api.succeeded(runId)
    expect(record.times(runId, 'quiet')).toBe(1)
    expect(record.passes(runId)).toBe(2)
  })
})

describe('the default policy (5 attempts, 1 s, x2, jitter 20 %)', () => {
  test('five attempts, each after its backoff, then the run fails with the step named', async () => {
    const { runId, executions } = await failing()
    for (const base of [1000, 2000, 4000, 8000]) {
      const ms = await skipWait(api, clock, runId, 'retry')
      expect(ms).toBeGreaterThanOrEqual(base * 0.8)
      expect(ms).toBeLessThanOrEqual(base * 1.2)
    }
    const failed = await api.failed(runId)
    expect(executions()).toBe(5)
    expect(failed.error).toMatchObject({ code: 'step_failed', message: 'out of stock', stepName: 'pick' })
    expect(failed.attempt).toBe(5)
    expect(await api.step(runId, 'pick')).toMatchObject({
      status: 'failed',
      attempt: 5,
      error: { message: 'out of stock' },
    })
  })

  test('the attempt is not run before its time', async () => {
    const { runId, executions } = await failing()
    const wakes = wakesAt(await waitsFor(api, runId, 'retry'))
    clock.jumpTo(wakes - 1)
    await barrier()
    expect(executions()).toBe(1)
    expect(await api.run(runId)).toMatchObject({ status: 'waiting' })
    clock.jumpTo(wakes)
    await until(() => executions() === 2, { what: 'the second attempt' })
  })
})

describe('a retried step', () => {
  test('succeeds in the end, and its run shows every attempt', async () => {
    const { runId, record, executions } = await failing({ failures: 2 })
    const parked = await waitsFor(api, runId, 'retry')
    expect(parked).toMatchObject({ status: 'waiting', attempt: 2, currentStepName: 'pick' })
    const tries = { attempt: 1, maxAttempts: 5 }
    expect(parked.waitingFor).toEqual({ kind: 'retry', stepName: 'pick', until: expect.any(String), ...tries })
    expect(await api.step(runId, 'pick')).toMatchObject({
      status: 'retrying',
      ...tries,
      error: { message: 'out of stock' },
      nextAttemptAt: parked.waitingFor?.until,
    })
    await skipWait(api, clock, runId, 'retry')
    await skipWait(api, clock, runId, 'retry')
    expect(await api.succeeded(runId)).toMatchObject({ attempt: 3, result: { pick: 'picked' } })
    expect(executions()).toBe(3)
    expect(record.of(runId).map(({ ctx }) => ctx.attempt)).toEqual([1, 2, 3, 3])
    const step = await api.step(runId, 'pick')
    expect(step).toMatchObject({ status: 'succeeded', attempt: 3, data: 'picked' })
    expect(step).not.toHaveProperty('error')
    expect(step).not.toHaveProperty('nextAttemptAt')
  })

  test('its memo entry is pending while it waits, and gone when it is due', async () => {
    const [name, lift] = [unique('siblings'), unique('lift')]
    let tries = 0
    const { record } = await engine.runner({
      workflows: {
        [name]: ({ steps, pass }) => {
          if (steps[stepId('shaky')]?.data !== undefined) return returned()
          const shaky =
            ++tries === 1
              ? opcode('StepRun', 'shaky', { error: { message: 'no' } })
              : opcode('StepRun', 'shaky', { data: 1 })
          if (pass === 1)
            return discovered([shaky, opcode('WaitForEvent', 'sibling', { eventName: lift, timeoutMs: 1e9 })])
          return discovered(steps[stepId('shaky')]?.pending ? [] : [shaky])
        },
      },
    })
    const { runId } = await api.send({ name })
    await waitsFor(api, runId, 'retry')
    await api.send({ name: lift })
    await waitsFor(api, runId, 'retry')
    expect(record.of(runId)[1]?.steps).toEqual({
      [stepId('shaky')]: { pending: true },
      [stepId('sibling')]: { data: expect.objectContaining({ name: lift }) },
    })
    await skipWait(api, clock, runId, 'retry')
    await api.succeeded(runId)
    expect(record.of(runId)[2]?.steps).not.toHaveProperty(stepId('shaky'))
  })
})

describe('what the registration and the opcode say', () => {
  test('retry {maxAttempts, initialMs, factor, maxMs, jitter} is applied', async () => {
    const retry = { maxAttempts: 4, initialMs: 100, factor: 3, maxMs: 500, jitter: 0 }
    const { runId, executions } = await failing({ retry })
    for (const ms of [100, 300, 500]) expect(await skipWait(api, clock, runId, 'retry')).toBe(ms)
    await api.failed(runId)
    expect(executions()).toBe(4)
  })

  test('retriable false fails the run now, skipping remaining attempts', async () => {
    const { runId, executions } = await failing({
      fail: new StepFailure('no such card', { retriable: false }),
    })
    expect((await api.failed(runId)).error).toMatchObject({ code: 'step_failed', message: 'no such card' })
    expect(executions()).toBe(1)
  })

  test("retryAfterMs overrides the policy's backoff for this retry", async () => {
    const { runId } = await failing({ failures: 1, fail: new StepFailure('busy', { retryAfterMs: 90_000 }) })
    expect(await skipWait(api, clock, runId, 'retry')).toBe(90_000)
    await api.succeeded(runId)
  })

  test('retryAfterMs 0 tries again at once', async () => {
    const { runId, executions } = await failing({
      failures: 2,
      fail: new StepFailure('busy', { retryAfterMs: 0 }),
    })
    // A step due at once may be due within a millisecond, and this clock does not advance by itself.
    await until(async () => {
      clock.jump(1)
      return (await api.run(runId)).finishedAt !== undefined
    })
    await api.succeeded(runId)
    expect(executions()).toBe(3)
  })

  test('a catchable failure becomes a memo error instead of failing the run', async () => {
    const { runId, record } = await failing({
      catchable: true,
      fail: new StepFailure('sold out', { retriable: false }),
    })
    const { result } = await api.succeeded(runId)
    expect(result).toEqual({ pick: { error: expect.objectContaining({ message: 'sold out' }) } })
    expect(record.of(runId)[1]?.steps[stepId('pick')]).toEqual({
      error: expect.objectContaining({ message: 'sold out' }),
    })
    expect(await api.step(runId, 'pick')).toMatchObject({ status: 'failed' })
  })

  test('a catchable step is retried first', async () => {
    const { runId, executions } = await failing({ catchable: true, retry: { maxAttempts: 2, initialMs: 10 } })
    await skipWait(api, clock, runId, 'retry')
    await api.succeeded(runId)
    expect(executions()).toBe(2)
  })
})
