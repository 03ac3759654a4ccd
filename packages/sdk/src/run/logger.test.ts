// Log lines: their scope, their numbers, and their bounds.

import type { RunnerLogLine } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { runOf } from '../replay/engine.testkit.ts'
import { LogBuffer, stepLogScope } from './log-buffer.ts'

const described = (logs: RunnerLogLine[]) => logs.map(({ scope, index, message }) => `${scope}#${index} ${message}`)

describe('scopes', () => {
  test("the same logger has the handler's scope outside of a callback and the step's inside", async () => {
    const run = runOf(async ({ step, ctx: { logger } }) => {
      logger.info('one')
      await step.run('s', async context => {
        logger.info('inside')
        await new Promise(resolve => setImmediate(resolve))
        logger.info('after an await')
        context.logger.info('own logger')
      })
      logger.info('two')
    })
    await run.drive()
    expect(run.passes.map(({ logs }) => described(logs))).toEqual([
      ['@root#0 one', 's#0 inside', 's#1 after an await', 's#2 own logger'],
      ['@root#0 one', '@root#1 two'],
    ])
  })

  test('parallel callbacks keep their lines apart', async () => {
    const run = runOf(({ step, ctx }) => {
      const log = (name: string) =>
        step.run(name, async () => {
          await null
          ctx.logger.info(name)
        })
      return Promise.all([log('a'), log('b')])
    })
    expect(described((await run.pass()).logs)).toEqual(['a#0 a', 'b#0 b'])
  })

  test('no two uses of a name share an index', async () => {
    const run = runOf(async ({ step, ctx }) => {
      for (const round of [1, 2]) await step.run('s', () => ctx.logger.info(`round ${round}`))
    })
    await run.drive()
    expect(run.passes.map(({ logs }) => described(logs))).toEqual([['s#0 round 1'], ['s#10000 round 2'], []])
  })
})

describe('lines', () => {
  test('have level, message, fields and a time', async () => {
    const before = Date.now()
    const run = runOf(({ ctx: { logger } }) => {
      logger.debug('d')
      logger.info('i', { n: 1 })
      logger.warn('w', { nested: { list: [1] } })
      logger.error('e')
    })
    const { logs } = await run.pass()
    const line = (level: string, message: string, index: number) => ({
      level,
      message,
      scope: '@root',
      index,
      tsMs: expect.any(Number),
    })
    expect(logs).toEqual([
      line('debug', 'd', 0),
      { ...line('info', 'i', 1), fields: { n: 1 } },
      { ...line('warn', 'w', 2), fields: { nested: { list: [1] } } },
      line('error', 'e', 3),
    ])
    expect(logs[0]?.tsMs).toBeGreaterThanOrEqual(before)
  })

  test('are encoded when they are written, so later changes of fields have no effect', async () => {
    const fields = { n: 1 }
    const { logs } = await runOf(({ ctx }) => {
      ctx.logger.info('x', fields)
      fields.n = 2
    }).pass()
    expect(logs[0]?.fields).toEqual({ n: 1 })
  })

  test('never throw because of their fields', async () => {
    const cyclic: { self?: unknown } = {}
    cyclic.self = cyclic
    const { status, logs } = await runOf(({ ctx: { logger } }) => {
      logger.info('big', { n: 1n })
      logger.info('cycle', cyclic)
      logger.error('error', new Error('boom'))
      logger.error('inner', { cause: new TypeError('inner') })
      logger.info('list', [1, 2])
    }).pass()
    expect(status).toBe(200)
    expect(logs.map(({ fields }) => fields)).toEqual([
      { n: '1' },
      { unserialisable: 'Converting circular structure to JSON' },
      { error: { name: 'Error', message: 'boom', stack: expect.any(String) } },
      { cause: { name: 'TypeError', message: 'inner', stack: expect.any(String) } },
      { value: [1, 2] },
    ])
  })
})

describe('bounds', () => {
  test('beyond 10,000 lines the rest is counted, in a line at the next position', () => {
    const logs = new LogBuffer()
    for (let i = 0; i < 10_007; i++) logs.append(logs.root, { level: 'info', message: 'm' })
    const lines: RunnerLogLine[] = JSON.parse(logs.encode(Number.POSITIVE_INFINITY))
    expect(lines).toHaveLength(10_001)
    expect(lines.at(-1)).toMatchObject({
      level: 'warn',
      scope: '@root',
      index: 10_000,
      message: '7 log lines of this pass were dropped: they did not fit into one answer',
    })
  })

  test('lines are dropped to fit the available bytes', () => {
    const logs = new LogBuffer()
    for (let i = 0; i < 100; i++) logs.append(logs.root, { level: 'info', message: '€'.repeat(100) })
    const text = logs.encode(10_000)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(10_000)
    const lines: RunnerLogLine[] = JSON.parse(text)
    expect(lines.length).toBeGreaterThan(20)
    expect(lines.map(({ index }) => index)).toEqual(lines.map((_, i) => i))
    expect(lines.at(-1)?.message).toBe(
      `${101 - lines.length} log lines of this pass were dropped: they did not fit into one answer`,
    )
  })

  test('memory is bounded in bytes too, and messages in characters', () => {
    const logs = new LogBuffer()
    for (let i = 0; i < 100; i++) logs.append(logs.root, { level: 'info', message: 'm'.repeat(20_000) })
    const text = logs.encode(Number.POSITIVE_INFINITY)
    expect(text.length).toBeLessThan(1024 * 1024 + 1000)
    expect(JSON.parse(text)[0].message).toHaveLength(16_384)
  })
})

describe('draining', () => {
  const read = (text: string): RunnerLogLine[] => JSON.parse(text)
  const line = { level: 'info', message: 'm' } as const
  const stepScope = () => stepLogScope({ name: 's', use: 0, hashedId: 'id' })

  test('removes the lines of the handler and of the named steps, in their order', () => {
    const logs = new LogBuffer()
    const step = stepScope()
    for (const scope of [step, logs.root, step]) logs.append(scope, line)
    expect(read(logs.drain([], 10_000)).map(({ scope }) => scope)).toEqual(['@root'])
    logs.append(logs.root, line)
    expect(described(read(logs.drain(['id'], 10_000)))).toEqual(['s#0 m', 's#1 m', '@root#1 m'])
    expect(logs.drain(['id'], 10_000)).toBe('[]')
    expect(logs.encode(10_000)).toBe('[]')
  })

  test('keeps lines that do not fit for the next call', () => {
    const logs = new LogBuffer()
    const step = stepScope()
    for (let i = 0; i < 20; i++) logs.append(i % 2 === 0 ? step : logs.root, line)
    const first = read(logs.drain(['id'], 1000))
    const rest = read(logs.drain([], 100_000))
    expect(first.length).toBeGreaterThan(3)
    expect([...first, ...rest].map(({ index }) => index)).toEqual(
      Array.from({ length: 20 }, (_, i) => Math.floor(i / 2)),
    )
  })

  test('reports once how many were dropped, at the position of the first, and accepts lines again', () => {
    const logs = new LogBuffer()
    for (let i = 0; i < 10_003; i++) logs.append(logs.root, line)
    const drained = read(logs.drain([], Number.POSITIVE_INFINITY))
    expect(drained).toHaveLength(10_001)
    expect(drained.at(-1)).toMatchObject({ index: 10_000, message: expect.stringMatching(/^3 log lines/) })
    logs.append(logs.root, line)
    expect(described(read(logs.encode(10_000)))).toEqual(['@root#10003 m'])
  })
})

test('fields may come first, and an error may be the message', async () => {
  const run = runOf(({ ctx: { logger } }) => {
    logger.info('plain', { a: 1 })
    logger.info({ a: 2 }, 'as pino takes it')
    logger.warn({ msg: 'a message among the fields', a: 3 })
    logger.error(new RangeError('too far'))
    logger.error(new RangeError('too far'), 'not reached')
  })
  const { logs } = await run.pass()
  const error = { name: 'RangeError', message: 'too far', stack: expect.stringContaining('logger.test.ts') }
  expect(logs.map(({ message, fields }) => [message, fields])).toEqual([
    ['plain', { a: 1 }],
    ['as pino takes it', { a: 2 }],
    ['a message among the fields', { msg: 'a message among the fields', a: 3 }],
    ['too far', { error }],
    ['not reached', { error }],
  ])
})
