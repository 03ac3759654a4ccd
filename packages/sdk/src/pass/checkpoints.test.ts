// Passes with checkpoints: what is reported when, which calls a receipt settles, and how such a pass ends.

import { NonRetriableError } from '@perdure/client'
import { hashStepId, type Opcode, type RunnerLogLine } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { signal } from '../replay/engine.testkit.ts'
import { CheckpointedPass } from '../replay/exactness/checkpointed-pass.testkit.ts'

const names = (opcodes: Opcode[] = []) => opcodes.map(({ name }) => name)
const turn = () => new Promise(resolve => setImmediate(resolve))

describe('a checkpoint', () => {
  test('makes each step durable before the handler gets its result, in one pass', async () => {
    const seen: unknown[] = []
    const pass = new CheckpointedPass(async ({ step }) => {
      seen.push(await step.run('a', () => new Date(0)))
      seen.push(await step.run('b', () => undefined))
      return seen
    })
    const first = await pass.report()
    await turn()
    expect(seen).toEqual([])
    first.acknowledge()
    const second = await pass.report()
    // The result after a JSON round trip and never the original object; null like in the engine's memo.
    expect(seen).toEqual(['1970-01-01T00:00:00.000Z'])
    second.acknowledge()
    expect(await pass.ended).toMatchObject({ status: 200, body: { data: [seen[0], null] } })
    expect(pass.reports.map(({ opcodes }) => names(opcodes))).toEqual([['a'], ['b']])
  })

  test('contains all steps of its turn, in the order in which they came to an end', async () => {
    const pass = new CheckpointedPass(({ step, ctx }) =>
      Promise.all([
        step.sleep('pause', 1),
        step.run('later', async () => null),
        step.emit('announce', { event: 'announced' }),
        ctx.webhook.send('hook', { url: 'https://example.com' }),
        step.run('now', () => 1),
      ]),
    )
    const { opcodes, acknowledge } = await pass.report()
    expect(names(opcodes)).toEqual(['pause', 'announce', 'hook', 'later', 'now'])
    acknowledge()
    // Everything is reported: the pass only waits for the sleep.
    expect(await pass.ended).toMatchObject({ status: 206, body: { opcodes: [] } })
    expect(pass.reports).toHaveLength(1)
  })

  test('contains sleeps, waits and children at once while a callback runs', async () => {
    const gate = signal()
    const pass = new CheckpointedPass(({ step }) =>
      Promise.all([
        step.run('long', () => gate.promise),
        step.waitForEvent('wait', { event: 'e' }),
        step.runWorkflow('child', { workflow: 'w' }),
      ]),
    )
    const first = await pass.report()
    expect(names(first.opcodes)).toEqual(['wait', 'child'])
    first.acknowledge()
    gate.resolve()
    const second = await pass.report()
    expect(names(second.opcodes)).toEqual(['long'])
    second.acknowledge()
    expect(await pass.ended).toMatchObject({ status: 206, body: { opcodes: [] } })
  })

  test('is not made for sleeps, waits and children alone when no callback runs: they end the pass', async () => {
    const pass = new CheckpointedPass(async ({ step }) => {
      await step.run('a', () => 1)
      await Promise.all([step.sleep('s', 1), step.waitForEvent('w', { event: 'e' })])
    })
    ;(await pass.report()).acknowledge()
    const { status, body } = await pass.ended
    expect({ status, opcodes: names(body.opcodes) }).toEqual({ status: 206, opcodes: ['s', 'w'] })
    expect(pass.reports).toHaveLength(1)
  })

  test('is one at a time, and the next has all steps that became ready in between', async () => {
    const gates = { b: signal(), c: signal() }
    const pass = new CheckpointedPass(({ step }) =>
      Promise.all([
        step.run('a', () => 'A'),
        step.run('b', () => gates.b.promise.then(() => 'B')),
        step.run('c', () => gates.c.promise.then(() => 'C')),
      ]),
    )
    const first = await pass.report()
    gates.c.resolve()
    await turn()
    gates.b.resolve()
    await turn()
    expect(pass.reports).toHaveLength(1)
    first.acknowledge()
    const second = await pass.report()
    expect(names(second.opcodes)).toEqual(['c', 'b'])
    second.acknowledge()
    expect(await pass.ended).toMatchObject({ status: 200, body: { data: ['A', 'B', 'C'] } })
  })

  test('stays under a megabyte: the rest is in the next', async () => {
    const pass = new CheckpointedPass(async ({ step, ctx }) => {
      for (let i = 0; i < 500; i++) ctx.logger.info('l'.repeat(1000))
      const big = (name: string) => step.run(name, () => 'x'.repeat(500_000))
      await Promise.all([big('a'), big('b'), big('c'), step.run('largest', () => 'y'.repeat(1_032_000))])
    }, true)
    const { status, body } = await pass.ended
    expect({ status, body }).toMatchObject({ status: 200 })
    expect(pass.reports.map(({ opcodes }) => names(opcodes))).toEqual([['a', 'b'], ['c'], ['largest']])
    for (const { bytes } of pass.reports) expect(bytes).toBeLessThan(1024 * 1024 - 1024)
    const lines = [...pass.reports.flatMap(({ logs }) => logs), ...body.logs]
    expect(lines.map(({ index }) => index)).toEqual(Array.from({ length: 500 }, (_, i) => i))
  })

  test('contains each log line once, those of a step together with the step', async () => {
    const gate = signal()
    const pass = new CheckpointedPass(async ({ step, ctx }) => {
      ctx.logger.info('begin')
      const slow = step.run('slow', async ({ logger }) => {
        logger.info('slow begins')
        await gate.promise
      })
      await step.run('quick', ({ logger }) => logger.info('quick'))
      ctx.logger.info('between')
      gate.resolve()
      await slow
      ctx.logger.info('end')
    }, true)
    const positions = (logs: RunnerLogLine[]) => logs.map(({ scope, index }) => `${scope}#${index}`)
    const { body } = await pass.ended
    expect(pass.reports.map(({ logs }) => positions(logs))).toEqual([
      ['@root#0', 'quick#0'],
      ['slow#0', '@root#1'],
    ])
    expect(positions(body.logs)).toEqual(['@root#2'])
  })
})

test('a stored step that the handler does not call is logged with the first report, before the pass ends', async () => {
  const pass = new CheckpointedPass(
    async ({ step }) => {
      await step.run('same', () => 1)
      await step.run('tails', () => 2)
      await step.run('last', () => 3)
    },
    false,
    { [hashStepId('same')]: { data: 1 }, [hashStepId('heads')]: { data: 2 } },
  )
  const first = await pass.report()
  expect(first.logs).toMatchObject([
    {
      scope: '@replay',
      index: 1,
      message: expect.stringMatching(
        /^Expected 1 of the 2 stored steps \(.*, stored after "same"\), saw the new step "tails"\./,
      ),
    },
  ])
  first.acknowledge()
  const second = await pass.report()
  expect(second.logs).toEqual([])
  second.acknowledge()
  await pass.ended
})

describe('a receipt', () => {
  test('settles steps in its order, including others of the run', async () => {
    const pass = new CheckpointedPass(({ step }) =>
      Promise.race([
        step.run('work', () => 'work'),
        step.waitForEvent('wait', { event: 'e' }).then(event => event?.name),
      ]),
    )
    const data = { id: 'evt_1', name: 'woken', receivedAt: '2030-01-01T00:00:00.000Z' }
    ;(await pass.report()).acknowledge({
      steps: [{ id: hashStepId('wait'), data }, { id: hashStepId('work') }],
    })
    expect(await pass.ended).toMatchObject({ status: 200, body: { data: 'woken' } })
  })

  test('may name a step that the handler calls only later', async () => {
    const pass = new CheckpointedPass(async ({ step }) => {
      const a = await step.run('a', () => 'A')
      return [a, await step.runWorkflow('child', { workflow: 'w' })]
    })
    ;(await pass.report()).acknowledge({
      steps: [{ id: hashStepId('child'), data: 'from before' }, { id: hashStepId('a') }],
    })
    expect(await pass.ended).toMatchObject({ status: 200, body: { data: ['A', 'from before'] } })
  })

  test('that repeats a step changes nothing', async () => {
    const pass = new CheckpointedPass(async ({ step }) => {
      await step.run('a', () => 1)
      await step.run('b', () => 2)
      await step.sleep('pause', 1)
    })
    const first = await pass.report()
    first.acknowledge()
    const again = { id: hashStepId('a'), data: 'again' }
    ;(await pass.report()).acknowledge({ steps: [again, { id: hashStepId('b') }] })
    const { status, body } = await pass.ended
    expect({ status, opcodes: names(body.opcodes) }).toEqual({ status: 206, opcodes: ['pause'] })
  })

  test('with pending leaves a failed step to a later pass, with an error rejects the call', async () => {
    const pass = new CheckpointedPass(({ step }) =>
      Promise.race([
        step.run('flaky', () => Promise.reject(new Error('again'))),
        step.run('fatal', () => Promise.reject(new NonRetriableError('no'))).catch(String),
      ]),
    )
    const { opcodes, acknowledge } = await pass.report()
    expect(opcodes).toMatchObject([{ error: { message: 'again' } }, { error: { message: 'no' }, catchable: true }])
    acknowledge({
      steps: [
        { id: hashStepId('flaky'), pending: true },
        { id: hashStepId('fatal'), error: { message: 'stored', name: 'Error' } },
      ],
    })
    expect(await pass.ended).toMatchObject({ status: 200, body: { data: 'Error: stored' } })
  })

  test('with stop settles nothing; callbacks finish, and their opcodes end the pass', async () => {
    const gate = signal()
    let went = false
    const pass = new CheckpointedPass(({ step }) =>
      Promise.all([
        step
          .run('a', () => 1)
          .then(() => {
            went = true
            return step.run('never', () => 1)
          }),
        step.run('slow', () => gate.promise),
      ]),
    )
    ;(await pass.report()).acknowledge({ stop: true })
    await turn()
    await turn()
    gate.resolve()
    const { status, body } = await pass.ended
    expect({ status, opcodes: names(body.opcodes), went }).toEqual({
      status: 206,
      opcodes: ['slow'],
      went: false,
    })
    expect(pass.reports).toHaveLength(1)
  })

  test('with stop ends the pass without opcodes when no callback runs', async () => {
    const pass = new CheckpointedPass(({ step }) => step.run('a', () => 1))
    ;(await pass.report()).acknowledge({ stop: true })
    expect(await pass.ended).toMatchObject({ status: 206, body: { opcodes: [] } })
  })

  test('that never arrives cancels the pass and its callbacks', async () => {
    const aborted = signal()
    const pass = new CheckpointedPass(({ step }) =>
      Promise.all([
        step.run('a', () => 1),
        step.run('endless', context => {
          context.signal.addEventListener('abort', () => aborted.resolve())
          return new Promise(() => undefined)
        }),
      ]),
    )
    ;(await pass.report()).fail()
    expect(await pass.ended).toMatchObject({ status: 499 })
    await aborted.promise
  })
})

describe('the end of a pass with checkpoints', () => {
  test("waits for the handler's own I/O while every step has settled", async () => {
    const gate = signal()
    const pass = new CheckpointedPass(async ({ step }) => {
      await step.run('a', () => 1)
      await gate.promise
      return step.run('b', () => 2)
    }, true)
    await pass.report()
    for (let i = 0; i < 5; i++) await turn()
    gate.resolve()
    expect(await pass.ended).toMatchObject({ status: 200, body: { data: 2 } })
  })

  test('is a 206 with the steps that were not reported before the handler returned', async () => {
    const gate = signal()
    const pass = new CheckpointedPass(async ({ step }) => {
      await step.run('a', () => 1)
      void step.runWorkflow('child', { workflow: 'w' })
      void step.run('slow', () => gate.promise)
      void step.sleep('pointless', 1)
    })
    ;(await pass.report()).acknowledge()
    await turn()
    gate.resolve()
    const { status, body } = await pass.ended
    expect({ status, opcodes: names(body.opcodes) }).toEqual({ status: 206, opcodes: ['child', 'slow'] })
    expect(pass.reports).toHaveLength(1)
  })

  test('comes after the receipt of the report under way when the handler settled', async () => {
    const gate = signal()
    const pass = new CheckpointedPass(({ step }) => {
      void step.emit('announce', { event: 'announced' })
      return gate.promise
    })
    const report = await pass.report()
    let hasEnded = false
    void pass.ended.then(() => {
      hasEnded = true
    })
    gate.resolve()
    for (let i = 0; i < 3; i++) await turn()
    expect(hasEnded).toBe(false)
    report.acknowledge()
    expect(await pass.ended).toMatchObject({ status: 200 })
  })

  test('a pass of thousands of steps ends, with a report for each', async () => {
    const count = 2000
    const pass = new CheckpointedPass(async ({ step }) => {
      let sum = 0
      for (let i = 0; i < count; i++) sum += await step.run('add', () => 1)
      return sum
    }, true)
    expect(await pass.ended).toMatchObject({ status: 200, body: { data: count } })
    expect(pass.reports).toHaveLength(count)
  })
})
