// How a pass ends: handlers that settle or throw, stored errors, and misuse.

import { NonRetriableError } from '@perdure/client'
import { describe, expect, test } from 'vitest'
import { runOf, signal } from '../replay/engine.testkit.ts'

describe('a handler that settles with steps that nobody awaited', () => {
  test('returns only when those with an effect are stored', async () => {
    const run = runOf(({ step }) => {
      void step.emit('announce', { event: 'announced' })
      void step.run('work', async () => 1)
      void step.sleep('pointless', '1h')
      return 'done'
    })
    expect(await run.drive()).toMatchObject({ status: 200, data: 'done' })
    expect(run.discovered).toEqual([['announce', 'work'], []])
  })

  test('throws a retriable error only when the finished callbacks are stored', async () => {
    let ran = 0
    const run = runOf(async ({ step }) => {
      void step.run('work', async () => ++ran)
      void step.emit('announce', { event: 'announced' })
      throw new Error('flaky')
    })
    expect(await run.drive()).toMatchObject({ status: 500, error: { message: 'flaky' } })
    expect(run.discovered).toEqual([['work'], []])
    expect(ran).toBe(1)
  })
})

describe('after a handler has settled', () => {
  test('no step call settles and no step begins, although callbacks still run', async () => {
    const gate = signal()
    const later: string[] = []
    const run = runOf(async ({ step }) => {
      void step.run('slow', () => gate.promise)
      void step.run('stored late', () => 1).then(() => later.push('stored late'))
      void gate.promise.then(() => step.run('late', () => later.push('late')))
      await step.run('stored', () => 1)
      setImmediate(gate.resolve)
      return 'done'
    })
    run.settle('stored', { data: 1 })
    run.settle('stored late', { data: 1 })
    await run.pass()
    expect(run.discovered).toEqual([['slow']])
    expect(later).toEqual([])
  })
})

describe('a handler that throws', () => {
  test('an ordinary error is a 500 with the logs up to it', async () => {
    const run = runOf(async ({ ctx }) => {
      ctx.logger.info('about to fail')
      throw new TypeError('broken')
    })
    const { status, error, logs } = await run.pass()
    expect(status).toBe(500)
    expect(error).toMatchObject({
      name: 'TypeError',
      message: 'broken',
      stack: expect.stringContaining('broken'),
    })
    expect(logs.map(({ message }) => message)).toEqual(['about to fail'])
  })

  test('also synchronously, and with a value that is not an error', async () => {
    const run = runOf(() => {
      throw { code: 7 }
    })
    expect(await run.pass()).toMatchObject({ status: 500, error: { name: 'Error', message: '{"code":7}' } })
  })

  test('a NonRetriableError is a 400', async () => {
    const run = runOf(async () => {
      throw new NonRetriableError('never')
    })
    expect(await run.pass()).toMatchObject({
      status: 400,
      error: { name: 'NonRetriableError', message: 'never', code: 'handler_failed' },
    })
  })

  test("a step's stored error left uncaught is a 400 with that error", async () => {
    const stored = { name: 'CardError', message: 'declined', stack: 'CardError: declined\n    at pay' }
    const run = runOf(({ step }) => step.run('pay', () => 1))
    run.settle('pay', { error: stored })
    expect(await run.pass()).toMatchObject({
      status: 400,
      error: { ...stored, code: 'step_failed', stepName: 'pay' },
    })
  })

  test('an error caused by a stored one, or aggregating nothing else, is a 400 too', async () => {
    const wrapping = runOf(async ({ step }) => {
      try {
        await step.run('pay', () => 1)
      } catch (cause) {
        throw new Error('order failed', { cause })
      }
    })
    wrapping.settle('pay', { error: { message: 'declined' } })
    expect(await wrapping.pass()).toMatchObject({
      status: 400,
      error: { message: 'order failed', code: 'step_failed', stepName: 'pay' },
    })
    const any = runOf(({ step }) => Promise.any([step.run('pay', () => 1)]))
    any.settle('pay', { error: { message: 'declined' } })
    expect(await any.pass()).toMatchObject({
      status: 400,
      error: { name: 'AggregateError', code: 'step_failed', stepName: 'pay' },
    })
  })

  test('a NonRetriableError is the failure of the handler, whatever its cause', async () => {
    const run = runOf(({ step }) =>
      step.run('pay', () => 1).catch(cause => Promise.reject(new NonRetriableError('no', { cause }))),
    )
    run.settle('pay', { error: { message: 'declined' } })
    expect(await run.pass()).toMatchObject({ status: 400, error: { message: 'no', code: 'handler_failed' } })
  })

  test('a fatal error does not wait for callbacks: their signal aborts', async () => {
    const aborted = signal<unknown>()
    const run = runOf(({ step }) =>
      Promise.all([
        step.run('bad', () => 1),
        step.run('endless', ({ signal }) => {
          signal.addEventListener('abort', () => aborted.resolve(signal.reason))
          return new Promise(() => undefined)
        }),
      ]),
    )
    run.settle('bad', { error: { message: 'no' } })
    expect(await run.pass()).toMatchObject({ status: 400, error: { message: 'no' } })
    expect(await aborted.promise).toBeInstanceOf(Error)
  })
})

describe('stored errors', () => {
  test('are caught with message, name and stack of the original', async () => {
    const run = runOf(async ({ step }) => {
      try {
        await step.runWorkflow('child', { workflow: 'child' })
      } catch (error) {
        const { name, message, stack } = error as Error
        return {
          isError: error instanceof Error,
          name,
          message,
          stack,
          step: (error as { stepName: string }).stepName,
        }
      }
    })
    run.settle('child', { error: { name: 'ChildError', message: 'failed', stack: 'the stack' } })
    const caught = { isError: true, name: 'ChildError', message: 'failed', stack: 'the stack', step: 'child' }
    expect(await run.pass()).toMatchObject({ status: 200, data: caught })
  })

  test('that the handler awaits only after a later step are not unhandled rejections', async () => {
    const run = runOf(async ({ step }) => {
      const bad = step.run('bad', () => 1)
      await step.run('other', () => 2)
      return bad.catch((error: Error) => error.message)
    })
    run.settle('bad', { error: { message: 'kept' } })
    expect(await run.drive()).toMatchObject({ status: 200, data: 'kept' })
  })

  test('also those of waits and of misused calls are not unhandled rejections', async () => {
    const run = runOf(async ({ step }) => {
      const late = [
        step.waitForEvent('bad', { event: 'e' }),
        step.sleep('misused', 'soon' as never),
        step.run('misused too', undefined as never),
      ]
      await step.run('other', () => 2)
      return (await Promise.allSettled(late)).map(({ status }) => status)
    })
    run.settle('bad', { error: { message: 'kept' } })
    expect(await run.drive()).toMatchObject({ status: 200, data: ['rejected', 'rejected', 'rejected'] })
  })
})

describe('misuse', () => {
  test('a step inside the callback of another is refused, also after an await', async () => {
    const run = runOf(({ step }) =>
      step.run('outer', async () => {
        await null
        await step.run('inner', () => 1)
      }),
    )
    const [opcode] = (await run.pass()).opcodes
    expect(opcode).toMatchObject({
      name: 'outer',
      retriable: false,
      error: {
        message: 'Step "inner" was called inside the callback of step "outer": steps cannot be nested',
      },
    })
  })

  test('more than 10,000 steps end the run, even when the handler catches every rejection', async () => {
    const run = runOf(async ({ step }) => {
      for (;;) await step.sleep('again', 'no duration' as never).catch(() => undefined)
    })
    expect(await run.pass()).toMatchObject({
      status: 400,
      error: { message: 'A run has at most 10000 steps' },
    })
  })
})
