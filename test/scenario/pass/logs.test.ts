// Log lines: stored once under replay, redacted, and distinct by attempt (docs/concepts.md#logs).

import { describe, expect, test } from 'vitest'
import { discovered, type Handler, type LogLine, opcode, returned, scenario, stepId } from '../../kit/index.ts'

const { api, engine, start } = await scenario({ realTime: true })

const line = (scope: string, index: number, more: Partial<LogLine> = {}): LogLine => ({
  level: 'info',
  message: `${scope} ${index}`,
  scope,
  index,
  ...more,
})

async function finished(handler: Handler, status: 'succeeded' | 'failed' = 'succeeded'): Promise<string> {
  const retry = { maxAttempts: 3, initialMs: 1, jitter: 0 }
  const { runId } = await start(handler, { registration: { retry } })
  await api.reaches(runId, status)
  return runId
}

const stored = async (runId: string) =>
  (await api.logs(runId)).map(({ scope, message, attempt }) => [scope, message, attempt])

describe('stored once under replay', () => {
  test('a handler-level line re-runs on every pass but is stored once', async () => {
    const runId = await finished(({ pass }) => {
      // Each pass repeats the lines of earlier passes and adds its own.
      const logs = Array.from({ length: pass }, (_, i) => line('@root', i))
      if (pass === 4) return returned(undefined, logs)
      return discovered([opcode('StepRun', `step ${pass}`, { data: pass })], logs)
    })
    expect(await stored(runId)).toEqual([0, 1, 2, 3].map(i => ['@root', `@root ${i}`, 1]))
  })

  test("a step's line is stored in its place between the handler's", async () => {
    const runId = await finished(({ pass }) => {
      if (pass === 1) {
        return discovered([opcode('StepRun', 'pay', { data: 1 })], [line('@root', 0), line('pay', 0), line('pay', 1)])
      }
      return returned(undefined, [line('@root', 0), line('@root', 1)])
    })
    expect(await stored(runId)).toEqual([
      ['@root', '@root 0', 1],
      ['pay', 'pay 0', 1],
      ['pay', 'pay 1', 1],
      ['@root', '@root 1', 1],
    ])
  })

  test("a retried step's lines stay distinct per attempt", async () => {
    const runId = await finished(({ pass, steps }) => {
      if (steps[stepId('pay')]?.data !== undefined) return returned()
      const failed = { error: { message: 'no' } }
      return discovered([opcode('StepRun', 'pay', pass < 3 ? failed : { data: 1 })], [line('pay', 0)])
    })
    expect(await stored(runId)).toEqual([1, 2, 3].map(attempt => ['pay', 'pay 0', attempt]))
  })

  test('two steps of one name keep their lines apart', async () => {
    const runId = await finished(({ pass }) => {
      if (pass === 3) return returned()
      const id = stepId(pass === 1 ? 'pay' : 'pay:1')
      return discovered([{ op: 'StepRun', id, name: 'pay', data: pass }], [line('pay', 0, { message: `use ${pass}` })])
    })
    expect(await stored(runId)).toEqual([
      ['pay', 'use 1', 1],
      ['pay', 'use 2', 1],
    ])
  })

  test('lines up to a throw are sent with a 500, once although the pass is repeated', async () => {
    const runId = await finished(({ pass }) => {
      const logs = [line('@root', 0), line('@root', 1)]
      return pass === 1 ? { status: 500, body: { error: { message: 'oops' }, logs } } : returned(undefined, logs)
    })
    expect((await stored(runId)).map(([, message]) => message)).toEqual(['@root 0', '@root 1'])
  })

  test("a step's line that came with a 500 is not stored again when the step is reported", async () => {
    const runId = await finished(({ pass, steps }) => {
      if (pass === 1) return { status: 500, body: { error: { message: 'oops' }, logs: [line('pay', 0)] } }
      if (steps[stepId('pay')]) return returned()
      return discovered([opcode('StepRun', 'pay', { data: 1 })], [line('pay', 0), line('pay', 1)])
    })
    expect(await stored(runId)).toEqual([
      ['pay', 'pay 0', 1],
      ['pay', 'pay 1', 1],
    ])
  })

  test('the lines of a 4xx are kept with the failed run', async () => {
    const runId = await finished(
      () => ({ status: 400, body: { error: { message: 'no' }, logs: [line('@root', 0)] } }),
      'failed',
    )
    expect(await stored(runId)).toEqual([['@root', '@root 0', 1]])
  })
})

describe('fields', () => {
  test('a line has seq, ts, level, message, scope, attempt, and fields and the time of the runner when it has some', async () => {
    const levels = ['debug', 'info', 'warn', 'error'] as const
    const logs = levels.map((level, i) => line('@root', i, { level, tsMs: i + 0.4 }))
    const runId = await finished(() =>
      returned(undefined, [...logs, line('@root', 4, { fields: { a: [1, { b: null }] } })]),
    )
    const lines = await api.logs(runId)
    const attempt = 1
    const [seq, ts] = [expect.any(Number), expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/)]
    expect(lines).toEqual([
      ...levels.map((level, i) => ({ seq, ts, tsMs: i, level, message: `@root ${i}`, scope: '@root', attempt })),
      {
        seq,
        ts,
        level: 'info',
        message: '@root 4',
        scope: '@root',
        attempt,
        fields: { a: [1, { b: null }] },
      },
    ])
    const frames = (await api.stream(runId)).messages.filter(({ event }) => event === 'log')
    expect(frames.map(({ data }) => data.tsMs)).toEqual([0, 1, 2, 3, undefined])
    for (const { ts } of lines) expect(Math.abs(Date.parse(ts) - Date.now())).toBeLessThan(60_000)
  })

  test('they are kept as they came, in the list and in the stream', async () => {
    const letters = '{"big":9007199254740993,"huge":1e400, "zero":-0,\n"price":1.50,"a":1,"a":2,"text":"\\u0041"}'
    const text = `{"data":1,"logs":[{"level":"info","message":"m","scope":"@root","index":0,"fields":${letters}}]}`
    const runId = await finished(() => ({ status: 200, text }))
    expect((await api.get(`/runs/${runId}/logs`)).text).toContain(`"fields":${letters}}`)
    const { messages } = await api.stream(runId)
    const frame = messages.find(({ event }) => event === 'log')
    expect(frame?.raw).toContain(`"fields":${letters.replace('\n', ' ')}}`)
  })

  test('sensitive keys are redacted at any depth, before storage', async () => {
    const fields = {
      password: 'p',
      apiKey: 'k',
      user: { accessToken: 't', name: 'Ann', cards: [{ cardNumber: 4111, cvv: 1 }] },
      'x-authorization': 'a',
      private_key: 'p',
      tokens: 12,
      keyboard: 'k',
    }
    const runId = await finished(() => returned(undefined, [line('@root', 0, { fields })]))
    const redacted = '[REDACTED]'
    expect((await api.logs(runId))[0]?.fields).toEqual({
      password: redacted,
      apiKey: redacted,
      user: { accessToken: redacted, name: 'Ann', cards: [{ cardNumber: redacted, cvv: redacted }] },
      'x-authorization': redacted,
      private_key: redacted,
      tokens: 12,
      keyboard: 'k',
    })
    const { messages } = await api.stream(runId)
    expect(messages.find(({ event }) => event === 'log')?.data.fields).toMatchObject({ password: redacted })
  })
})

describe('invalid lines', () => {
  const bad = [
    { level: 'INFO', message: 'capitals', scope: '@root', index: 0 },
    { level: 'warning', message: 'another name', scope: '@root', index: 1, fields: null },
    { level: 'info', message: 'no index', scope: '@root' },
    { level: 'info', message: ['no text'], scope: '@root', index: 9 },
    'no line',
  ]

  test.each([200, 206, 500])('are dropped and cost nothing else, in a %d', async status => {
    const before = engine.log.length
    const runId = await finished(({ pass }) => {
      if (pass > 1 || status === 200) return { status: 200, body: { data: 'done', logs: bad } }
      const opcodes = [opcode('StepRun', 'a', { data: 1 })]
      return { status, body: status === 206 ? { opcodes, logs: bad } : { error: 'oops', logs: bad } }
    })
    expect(await api.run(runId)).toMatchObject({ status: 'succeeded', result: 'done' })
    expect((await api.logs(runId)).map(({ level, message }) => [level, message])).toEqual([
      ['info', 'capitals'],
      ['warn', 'another name'],
      ['info', 'no index'],
    ])
    // Stored once, although every pass has sent the lines.
    const warned = engine.log.slice(before).map(text => JSON.parse(text))
    expect(warned.filter(({ unread }) => unread !== undefined)).toMatchObject([
      { level: 40, unread: 2, error: '/logs/3 message must be a string' },
    ])
  })
})

describe('GET /runs/{id}/logs: from and limit', () => {
  test('oldest first, seq rises, from is exclusive, limit cuts', async () => {
    const runId = await finished(() =>
      returned(
        undefined,
        Array.from({ length: 130 }, (_, i) => line('@root', i)),
      ),
    )
    const all = await api.logs(runId, '?limit=1000')
    expect(all.map(({ message }) => message)).toEqual(Array.from({ length: 130 }, (_, i) => `@root ${i}`))
    const seqs = all.map(({ seq }) => seq)
    expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b))
    expect(await api.logs(runId)).toEqual(all.slice(0, 100))
    expect(await api.logs(runId, `?from=${seqs[99]}`)).toEqual(all.slice(100))
    expect(await api.logs(runId, `?from=${seqs[9]}&limit=5`)).toEqual(all.slice(10, 15))
    expect(await api.logs(runId, `?from=${seqs.at(-1)}`)).toEqual([])
    expect(await api.logs(runId, '?limit=0')).toEqual(all.slice(0, 1))
    expect(await api.logs(runId, '?limit=5000')).toEqual(all)
  })
})
