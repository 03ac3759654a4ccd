// Output streams that steps of the SDK write on a real engine, over every transport (docs/streams.md).

import type { StreamMessage } from '@perdure/protocol'
import { createWorkflow, StreamLimitError, type WorkflowArgs } from '@perdure/sdk'
import { describe, expect, test } from 'vitest'
import { gate, scenario, unique, until } from '../../kit/index.ts'
import { serveOver, TRANSPORTS } from '../sdk/transports.entry.ts'

const { api, url } = await scenario({ realTime: true })

const read = async (runId: string, name = 'answer') =>
  (await api.get(`/runs/${runId}/streams/${name}`)).json as StreamMessage[]
const chunksOf = (messages: StreamMessage[]) => messages.flatMap(message => ('chunk' in message ? [message.chunk] : []))

describe.each(TRANSPORTS)('over %s', transport => {
  async function start(handler: (args: WorkflowArgs) => unknown) {
    const retry = { initialMs: 1 }
    const workflow = createWorkflow({ name: unique('writer'), retry }, handler)
    await serveOver(transport, { app: unique('app'), workflows: [workflow], engineUrl: url })
    return (await api.send({ name: workflow.name })).runId as string
  }

  test('a chunk is there while its step runs, and all are when the step is stored', async () => {
    const seen = gate()
    const runId = await start(({ step }) =>
      step.run('ask', async ({ stream }) => {
        const out = stream('answer')
        await out.write('Hel')
        await seen.opened
        await out.write('lo')
        return out.text()
      }),
    )
    await until(async () => chunksOf(await read(runId)).length === 1, { what: 'the first chunk' })
    expect((await api.steps(runId)).every(({ status }) => status !== 'succeeded')).toBe(true)
    seen.open()
    expect((await api.succeeded(runId)).result).toBe('Hello')
    expect(await read(runId)).toEqual([
      { n: 0, chunk: 'Hel', step: 'ask', attempt: 1 },
      { n: 1, chunk: 'lo' },
      { n: 2, end: 'succeeded' },
    ])
  })

  test('many chunks of parallel steps are all there, each step in its order', async () => {
    const runId = await start(({ step }) =>
      step.map('each', ['a', 'b', 'c'], async (item, _, { stream }) => {
        for (let i = 0; i < 2_000; i++) await stream('answer').write(`${item}${i}`)
      }),
    )
    await api.succeeded(runId)
    const chunks = chunksOf(await read(runId)) as string[]
    for (const item of ['a', 'b', 'c'])
      expect(chunks.filter(chunk => chunk.startsWith(item))).toEqual(
        Array.from({ length: 2_000 }, (_, i) => `${item}${i}`),
      )
  })

  test('what a failed attempt has written is withdrawn', async () => {
    const runId = await start(({ step }) =>
      step.run('ask', async ({ stream, attempt }) => {
        await stream('answer').write(attempt)
        await stream('answer').flush()
        if (attempt === 1) throw new Error('no')
      }),
    )
    await api.succeeded(runId)
    expect(await read(runId)).toMatchObject([
      { n: 0, chunk: 1 },
      { n: 1, rollback: 0, step: 'ask', attempt: 1, reason: 'failed' },
      { n: 2, chunk: 2, step: 'ask', attempt: 2 },
      { n: 3, end: 'succeeded' },
    ])
  })

  test('one stream more than a run may have fails its step for good', async () => {
    const runId = await start(async ({ step }) => {
      await step.run('most', async ({ stream }) => {
        for (let i = 0; i < 64; i++) await stream(`s${i}`).write(i)
      })
      await step.run('more', ({ stream }) => stream('one-more').write(1))
    })
    const { error } = await api.failed(runId)
    expect(error).toMatchObject({ name: StreamLimitError.name, message: expect.stringContaining('64') })
    expect((await api.steps(runId)).at(-1)).toMatchObject({ name: 'more', attempt: 1 })
  })

  test('a step that writes after its run was cancelled may succeed, and is undone; readers get nothing of it', async () => {
    const [begun, cancelled] = [gate(), gate()]
    const seen: string[] = []
    const runId = await start(({ step }) =>
      step.run(
        'charge',
        async ({ stream }) => {
          const out = stream('answer')
          await out.write('a')
          await out.flush()
          begun.open()
          await cancelled.opened
          await out.write('b').catch(() => {})
          return 'charged'
        },
        { rollback: charge => void seen.push(`undone ${charge}`) },
      ),
    )
    await begun.opened
    await api.post(`/runs/${runId}/cancel`)
    cancelled.open()
    await until(() => seen.length > 0, { what: 'the rollback' })
    expect(seen).toEqual(['undone charged'])
    expect(chunksOf(await read(runId))).toEqual(['a'])
  })
})
