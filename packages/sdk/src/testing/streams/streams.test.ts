// Output streams of runs under test: their chunks, what failed and lost attempts leave, and the end.

import { expect, test } from 'vitest'
import { createWorkflow } from '../../workflow/create-workflow.ts'
import { testEngine } from '../index.ts'

test('a stream has the chunks of its steps, and ends with the run', async () => {
  const flow = createWorkflow({ name: 'flow' }, async ({ step }) => {
    await step.run('ask', async ({ stream }) => {
      await stream('answer').write('Hel')
      await stream('answer').write({ n: 1 })
    })
    await step.sleep('nap', '1h')
    await step.run('more', ({ stream }) => stream('answer').pipe(['lo', '!']))
  })
  await using engine = await testEngine([flow])
  const run = await engine.start(flow)
  expect(await run.stream('answer')).toEqual({
    chunks: ['Hel', { n: 1 }],
    text: 'Hel',
    isEnded: false,
    messages: [
      { n: 0, chunk: 'Hel', step: 'ask', attempt: 1 },
      { n: 1, chunk: { n: 1 } },
    ],
  })
  await run.result({ within: '1h' })
  expect(await run.stream('answer')).toMatchObject({ text: 'Hello!', isEnded: true })
  await expect(run.stream('other')).rejects.toMatchObject({ code: 'not_found' })
})

test.each([false, true])(
  'parallel steps share a stream, and a rollback is of one step (checkpoints: %s)',
  async checkpoints => {
    const flow = createWorkflow({ name: 'flow' }, ({ step }) =>
      Promise.all(
        ['a', 'b'].map(name =>
          step.run(name, async ({ stream, attempt }) => {
            const out = stream('answer')
            for (const part of [1, 2]) {
              await out.write(`${name}${part} `)
              await out.flush()
            }
            if (name === 'a' && attempt === 1) throw new Error('no')
          }),
        ),
      ),
    )
    await using engine = await testEngine({ workflows: [flow], checkpoints })
    const run = await engine.start(flow)
    await run.result({ within: '1h' })
    const { chunks, messages } = await run.stream('answer')
    expect([...chunks].sort()).toEqual(['a1 ', 'a2 ', 'b1 ', 'b2 '])
    expect(messages.filter(message => 'rollback' in message)).toMatchObject([{ step: 'a', reason: 'failed' }])
  },
)

test('a crash withdraws the chunks of the attempt that was under way', async () => {
  const flow = createWorkflow({ name: 'flow' }, async ({ step }) => {
    await step.run('first', ({ stream }) => stream('answer').write('kept '))
    await step.run('ask', ({ stream }) => stream('answer').write('lost'))
  })
  await using engine = await testEngine([flow])
  engine.mock('ask', async ({ execution, context }) => {
    const out = context.stream('answer')
    await out.write(`execution ${execution}`)
    await out.flush()
    if (execution === 1) engine.crash()
  })
  const run = await engine.start(flow)
  await engine.restart()
  await run.result()
  const { text, messages } = await run.stream('answer')
  expect(text).toBe('kept execution 2')
  expect(messages.filter(message => 'rollback' in message)).toMatchObject([{ step: 'ask', reason: 'lost' }])
})
