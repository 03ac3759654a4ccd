// Invoke status codes and the transport budget (docs/wire-protocol.md#status-codes).

import { describe, expect, test } from 'vitest'
import {
  discovered,
  flow,
  opcode,
  plain,
  type Reply,
  reset,
  returned,
  run,
  StepFailure,
  scenario,
  skipWait,
  waitsFor,
} from '../../kit/index.ts'

const { api, clock, start } = await scenario()

const down: Reply = { status: 503, body: { error: 'down for repairs', logs: [] } }
const thrown = { message: 'no such column', name: 'DatabaseError', stack: 'DatabaseError: no such column\n    at x' }

describe('4xx is non-retriable: the run fails', () => {
  test.each([400, 404, 499])('%i fails the run at once', async status => {
    const { runId, record } = await start(() => ({
      status,
      body: { error: { message: 'not for me' }, logs: [] },
    }))
    const { error, attempt } = await api.failed(runId)
    expect(error).toMatchObject({ code: 'runner_rejected', message: 'not for me' })
    expect(attempt).toBe(1)
    expect(record.passes(runId)).toBe(1)
  })

  test.each(['', 'plain words', '[]', '{"error":"a word"}'])('whatever its body is: %j', async text => {
    const { runId } = await start(() => plain(400, text, 'text/plain'))
    expect((await api.failed(runId)).error).toMatchObject({
      code: 'runner_rejected',
      message: expect.any(String),
    })
  })
})

describe('a 4xx may say whose failure it is', () => {
  const rejected = (error: object) => start(() => ({ status: 400, body: { error: { ...thrown, ...error }, logs: [] } }))

  test.each(['handler_failed', 'nondeterministic', 'step_failed'])('by the code %s', async code => {
    const { runId } = await rejected({ code })
    expect((await api.failed(runId)).error).toEqual({ ...thrown, code })
  })

  test('any other code is runner_rejected, and the code a field', async () => {
    const { runId } = await rejected({ code: 'timeout' })
    expect((await api.failed(runId)).error).toEqual({ ...thrown, code: 'runner_rejected', fields: { code: 'timeout' } })
  })

  test('and which step failed, if the memo has its error', async () => {
    const failing = flow([
      run(
        'charge',
        () => {
          throw new StepFailure('declined', { retriable: false })
        },
        { catchable: true },
      ),
    ])
    for (const [stepName, shown] of [
      ['charge', { stepName: 'charge' }],
      ['ship', {}],
    ] as const) {
      const { runId } = await start((invoke, record) => {
        const error = { message: 'declined', code: 'step_failed', stepName }
        return invoke.pass === 1 ? failing(invoke, record) : { status: 400, body: { error, logs: [] } }
      })
      expect((await api.failed(runId)).error).toEqual({ message: 'declined', code: 'step_failed', ...shown })
    }
  })
})

describe('5xx is retried with backoff on a fixed budget, then the run fails (8 tries)', () => {
  test('eight tries, 0.5 s doubling to at most 30 s, then runner_unreachable', async () => {
    const { runId, record } = await start(() => down)
    for (const base of [500, 1000, 2000, 4000, 8000, 16_000, 30_000]) {
      const ms = await skipWait(api, clock, runId, 'retry')
      expect(ms).toBeGreaterThanOrEqual(base * 0.8 - 1)
      expect(ms).toBeLessThanOrEqual(base * 1.2 + 1)
    }
    const { error, attempt } = await api.failed(runId)
    expect(error).toMatchObject({
      code: 'runner_unreachable',
      message: expect.stringContaining('down for repairs'),
    })
    expect(record.passes(runId)).toBe(8)
    expect(attempt).toBe(8)
    expect(record.of(runId).map(({ ctx }) => ctx.attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  test('an error object is a handler that threw: handler_failed, with its error', async () => {
    const { runId, record } = await start(() => ({ status: 500, body: { error: thrown, logs: [] } }))
    for (let i = 0; i < 7; i++) await skipWait(api, clock, runId, 'retry')
    expect((await api.failed(runId)).error).toEqual({ ...thrown, code: 'handler_failed' })
    expect(record.passes(runId)).toBe(8)
  })

  test('while it waits the run is waiting for a retry', async () => {
    const { runId } = await start(({ pass }) => (pass === 1 ? down : returned('up again')))
    const parked = await waitsFor(api, runId, 'retry')
    expect(parked).toMatchObject({ status: 'waiting', attempt: 2 })
    expect(parked).not.toHaveProperty('error')
    await skipWait(api, clock, runId, 'retry')
    expect(await api.succeeded(runId)).toMatchObject({ result: 'up again', attempt: 2 })
  })

  test('any 2xx restores the budget', async () => {
    // Seven failures, a step, seven failures, a return: 14 in all, but never 8 in a row.
    const { runId, record } = await start(({ pass }) => {
      if (pass === 8) return discovered([opcode('StepRun', 'progress', { data: 1 })])
      return pass === 16 ? returned('made it') : reset
    })
    for (let i = 0; i < 14; i++) await skipWait(api, clock, runId, 'retry')
    expect(await api.succeeded(runId)).toMatchObject({ result: 'made it', attempt: 15 })
    expect(record.passes(runId)).toBe(16)
  })

  test('steps already stored are not run again by the repeated pass', async () => {
    let failures = 0
    const steps = flow([run('first'), run('second')])
    const { runId, record } = await start((invoke, record) => {
      if (Object.keys(invoke.steps).length === 1 && ++failures < 3) return down
      return steps(invoke, record)
    })
    for (let i = 0; i < 2; i++) await skipWait(api, clock, runId, 'retry')
    await api.succeeded(runId)
    expect(record.names(runId)).toEqual(['first', 'second'])
  })
})

describe('the two budgets are counted separately', () => {
  test('transport failures spend no step attempt, step failures no transport try', async () => {
    let stepFailures = 0
    const failing = flow([
      run('shaky', () => {
        if (++stepFailures < 3) throw new StepFailure('again')
        return 'done'
      }),
    ])
    // Every second pass is lost.
    const { runId } = await start((invoke, record) => (invoke.pass % 2 === 1 ? down : failing(invoke, record)), {
      registration: {
        retry: { maxAttempts: 3 },
      },
    })
    for (let i = 0; i < 6; i++) await skipWait(api, clock, runId, 'retry')
    expect(await api.succeeded(runId)).toMatchObject({ attempt: 7 })
    expect(await api.step(runId, 'shaky')).toMatchObject({ status: 'succeeded', attempt: 3 })
  })
})

describe('invalid answers', () => {
  test.each([
    ['a 200 that is no JSON', plain(200, '<html>')],
    ['a 200 with an empty body', plain(200, '')],
    ['a 206 that ends early', plain(206, '{"opcodes":[')],
    ['a 200 that is no object', plain(200, '"text"')],
    ['a bare opcode array, which version 0 of the wire would send', plain(206, '[]')],
    ['bytes that are no UTF-8', plain(200, Buffer.from([0x7b, 0xff, 0x7d]))],
  ])('%s is unreadable: retried on the transport budget', async (_what, reply) => {
    const { runId } = await start(({ pass }) => (pass === 1 ? reply : returned('readable')))
    await skipWait(api, clock, runId, 'retry')
    expect(await api.succeeded(runId)).toMatchObject({ result: 'readable', attempt: 2 })
  })

  test.each([
    ['an unknown opcode', discovered([opcode('Dance', 'x')])],
    ['a sleep without a duration', discovered([opcode('Sleep', 'x')])],
    ['a negative sleep', discovered([opcode('Sleep', 'x', { sleepMs: -1 })])],
    ['opcodes that are no list', { status: 206, body: { opcodes: {}, logs: [] } }],
  ] satisfies [string, Reply][])('%s ends the run: nothing of the answer is kept', async (_what, reply) => {
    const { runId, record } = await start(() => reply)
    expect((await api.failed(runId)).error?.code).toBe('invalid_response')
    expect(record.passes(runId)).toBe(1)
    expect(await api.steps(runId)).toEqual([])
  })

  test('a 206 that brings nothing new and waits for nothing fails the run instead of spinning', async () => {
    const { runId, record } = await start(() => discovered([]))
    expect((await api.failed(runId)).error).toMatchObject({ code: 'invalid_response' })
    expect(record.passes(runId)).toBe(1)
  })

  test('a redirect is not followed', async () => {
    const { runId, record } = await start(() => (_request, response) => {
      response.writeHead(307, { location: '/elsewhere' }).end()
    })
    await api.failed(runId)
    expect(record.of(runId).map(({ path }) => path)).toEqual(['/invoke'])
  })
})
