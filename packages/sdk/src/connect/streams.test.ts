// Output streams of a Connect runner: frames, acknowledgements, and lost connections.

import { hashStepId } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { until } from '../../../../test/kit/until.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'
import type { WorkflowArgs } from '../workflow/workflow.ts'
import type { Connection } from './engine.testkit.ts'
import { open, registered, resultOf, start } from './runner.testkit.ts'

const features = ['streams']
const appends = (connection: Connection) => connection.of('invoke.stream')
const ackOf = ({ stepId, name, seq }: { stepId: string; name: string; seq: number }) => ({ stepId, name, seq })

async function running(handler: (args: WorkflowArgs) => unknown) {
  const engine = await open()
  const runner = start(engine, { workflows: [createWorkflow({ name: 'flow' }, handler)], closeTimeoutMs: 1 })
  await runner.ready
  engine.last.invoke('i1', 'flow', {}, { features })
  return engine
}

test('appends go out before earlier ones are acknowledged; the result of the step follows the last acknowledgement', async () => {
  const engine = await running(({ step }) =>
    step.run('ask', async ({ stream }) => {
      const out = stream('answer')
      await out.write('a')
      void out.flush()
      await out.write({ b: 1 })
      void out.flush()
      return 'done'
    }),
  )
  await until(() => appends(engine.last).length === 2)
  expect(appends(engine.last)).toEqual(
    [['a'], [{ b: 1 }]].map((chunks, i) => ({
      type: 'invoke.stream',
      id: 'i1',
      payload: { stepId: hashStepId('ask'), step: 'ask', name: 'answer', seq: i + 1, chunks },
    })),
  )
  expect(engine.last.of('invoke.checkpoint')).toEqual([])
  for (const { id, payload } of appends(engine.last)) engine.last.send('stream.ack', id, ackOf(payload))
  await resultOf(engine.last, 'i1')
  const types = engine.last.frames.map(({ type }) => type)
  expect(types.lastIndexOf('invoke.stream')).toBeLessThan(types.indexOf('invoke.checkpoint'))
})

test('after a reconnect the appends that were not acknowledged are sent again, in their order', async () => {
  const engine = await running(({ step }) =>
    step.run('ask', async ({ stream }) => {
      for (const chunk of ['a', 'b', 'c']) {
        await stream('answer').write(chunk)
        void stream('answer').flush()
      }
    }),
  )
  await until(() => appends(engine.last).length === 3)
  const [first] = appends(engine.last)
  engine.last.send('stream.ack', 'i1', ackOf(first?.payload))
  engine.last.send('heartbeat', 'after the acknowledgement')
  await until(() => engine.last.of('heartbeat.ack').length === 1)
  engine.last.socket.terminate()
  const second = await registered(engine, 2)
  await until(() => appends(second).length === 2)
  expect(appends(second).map(({ payload }) => [payload.seq, payload.chunks])).toEqual([
    [2, ['b']],
    [3, ['c']],
  ])
  for (const { id, payload } of appends(second)) second.send('stream.ack', id, ackOf(payload))
  expect((await resultOf(second, 'i1')).payload.status).toBe(200)
})

test('the appends of an attempt that has failed are not sent again', async () => {
  let fail = () => {}
  const engine = await running(({ step }) =>
    Promise.allSettled([
      step.run('ask', async ({ stream }) => {
        await stream('answer').write('a')
        void stream('answer').flush()
        await new Promise<void>((_, reject) => {
          fail = () => reject(new Error('no'))
        })
      }),
      step.run('other', ({ signal }) => new Promise(resolve => signal.addEventListener('abort', resolve))),
    ]),
  )
  await until(() => appends(engine.last).length === 1)
  fail()
  await until(() => engine.last.of('invoke.checkpoint').length === 1)
  engine.last.socket.terminate()
  const second = await registered(engine, 2)
  second.send('heartbeat', 'after all frames')
  await until(() => second.of('heartbeat.ack').length === 1)
  expect(appends(second)).toEqual([])
})

test.each([
  { code: 'payload_too_large', name: 'StreamLimitError' },
  { code: 'conflict', name: 'Error' },
])('an append that is refused with $code fails its step', async ({ code, name }) => {
  const engine = await running(({ step }) => step.run('ask', ({ stream }) => stream('answer').write('a')))
  await until(() => appends(engine.last).length === 1)
  const [append] = appends(engine.last)
  const error = { code, message: 'a stream has at most 100000 chunks' }
  engine.last.send('stream.ack', 'i1', { ...ackOf(append?.payload), error })
  const [checkpoint] = await until(() => engine.last.of('invoke.checkpoint')[0] && engine.last.of('invoke.checkpoint'))
  expect(checkpoint?.payload.opcodes).toMatchObject([
    { name: 'ask', error: { name, message: expect.stringContaining('at most 100000 chunks') } },
  ])
})

test('a cancelled invoke rejects the writes of its steps', async () => {
  const seen: string[] = []
  const engine = await running(({ step }) =>
    step.run('ask', async ({ stream }) => {
      await stream('answer').write('a')
      await stream('answer')
        .flush()
        .catch(error => seen.push(error.message))
    }),
  )
  await until(() => appends(engine.last).length === 1)
  engine.last.send('invoke.cancel', 'i1')
  await until(() => seen.length === 1)
  expect(seen).toEqual(['The engine cancelled the invoke'])
})
