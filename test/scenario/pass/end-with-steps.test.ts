// Answers that end a run with its last steps (docs/wire-protocol.md#end-with-steps): over HTTP, with and without the feature at
// runners and engines, and with the SDK.

import { createWorkflow } from '@perdure/sdk'
import { serve } from '@perdure/sdk/node'
import { describe, expect, test } from 'vitest'
import { type Handler, type Invoke, onCleanup, type Reply, scenario, unique } from '../../kit/index.ts'
import { opcode, stepId } from '../../kit/runner/wire.ts'

const { api, engine, workflow } = await scenario({ realTime: true })

const FEATURES = { features: ['end-with-steps'] }
const ran = (name: string, data: unknown = name) => opcode('StepRun', name, { data })
const ended = (...opcodes: object[]): Reply => ({ status: 200, body: { data: 'done', opcodes, logs: [] } as object })

/** Starts a run of a new workflow, and returns it with the invokes of its runner. */
async function start(handler: Handler, features: Record<string, unknown> = FEATURES) {
  const { name, runner } = await workflow(handler)
  await runner.register(api, features)
  const { runId } = await api.send({ name })
  return { runId, invokes: () => runner.record.of(runId) as Invoke[] }
}

describe('a runner that names the feature', () => {
  test('is offered it, and its last steps are stored before the end', async () => {
    const caught = opcode('StepRun', 'risky', { error: { message: 'no' }, retriable: false, catchable: true })
    const emitted = opcode('Emit', 'tell', { eventName: unique('told') })
    const { runId, invokes } = await start(() => ended(ran('a', 1), caught, emitted))
    expect(await api.succeeded(runId)).toMatchObject({ result: 'done' })
    expect(invokes()[0]?.ctx).toMatchObject({ features: expect.arrayContaining(FEATURES.features) })
    expect(invokes()).toHaveLength(1)
    const steps = await api.steps(runId)
    expect(steps.map(({ name, status }) => [name, status])).toEqual([
      ['a', 'succeeded'],
      ['risky', 'failed'],
      ['tell', 'succeeded'],
    ])
    const { messages } = await api.stream(runId)
    const kinds = messages.map(({ data }) => data.status)
    expect(kinds.slice(-4)).toEqual(['succeeded', 'failed', 'succeeded', 'succeeded'])
  })

  test.each([
    ['a sleep', opcode('Sleep', 'nap', { sleepMs: 1 })],
    ['a failure that has more attempts', opcode('StepRun', 'b', { error: { message: 'no' }, catchable: true })],
    ['a child', opcode('RunWorkflow', 'c', { childName: 'w' })],
  ])('and ends with %s fails its run, and nothing is stored', async (_, last) => {
    const { runId } = await start(() => ended(ran('a'), last))
    expect((await api.failed(runId)).error).toMatchObject({
      code: 'invalid_response',
      message: expect.stringContaining('/opcodes/1 '),
    })
    expect(await api.steps(runId)).toEqual([])
  })

  test('and whose event is refused is called again, with the error in the memo', async () => {
    const tell = opcode('Emit', 'tell', { eventName: ' ' })
    const { runId, invokes } = await start(({ steps }) =>
      stepId('tell') in steps ? { status: 200, body: { data: 'without', logs: [] } } : ended(ran('a'), tell),
    )
    expect(await api.succeeded(runId)).toMatchObject({ result: 'without' })
    expect(invokes()).toHaveLength(2)
    expect(invokes()[1]?.steps[stepId('tell')]).toMatchObject({ error: { name: 'EventNameError' } })
  })
})

test('a runner that does not name it is not offered it, and what it calls opcodes in a 200 is ignored', async () => {
  const { runId, invokes } = await start(() => ended(ran('a')), { features: ['attributes'] })
  expect(await api.succeeded(runId)).toMatchObject({ result: 'done' })
  expect(await api.steps(runId)).toEqual([])
  const { features } = (invokes()[0] as Invoke).ctx as { features?: string[] }
  expect(features).toContain('attributes')
  expect(features).not.toContain('end-with-steps')
})

test('a run of three steps takes four commits and three invokes with the SDK', async () => {
  const name = unique('three')
  const three = createWorkflow({ name }, async ({ step }) => {
    for (const id of ['a', 'b', 'c']) await step.run(id, () => id)
    return 'done'
  })
  const { ready, close } = await serve({
    app: unique('app'),
    workflows: [three],
    engineUrl: engine.url,
    port: 0,
    log: () => undefined,
  })
  onCleanup(close)
  await ready
  const commits = async () => {
    const { text } = await api.get('/metrics')
    return Number(/^perdure_store_commits_total (\d+)$/m.exec(text)?.[1])
  }
  const before = await commits()
  const { runId } = await api.send({ name })
  await api.succeeded(runId as string)
  expect((await commits()) - before).toBe(4)
  const passes = await api.steps(runId as string)
  expect(passes.map(({ pass }) => pass)).toEqual([1, 2, 3])
})
