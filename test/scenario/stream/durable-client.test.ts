// The client of the Durable Streams protocol reads output streams unchanged, live and not (docs/streams.md#read-over-http).

import { stream } from '@durable-streams/client'
import type { StreamMessage } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { scenario, stepId, unique } from '../../kit/index.ts'
import { dialAs } from '../../kit/runner/connect-client.ts'

const { api, engine } = await scenario()

async function writer() {
  const name = unique('durable')
  const client = await dialAs(engine.url, { app: name, runner: `${name}-1`, features: ['streams'], workflows: [name] })
  const { runId } = await api.send({ name })
  const { id } = await client.next('invoke')
  let seq = 0
  const write = async (...chunks: unknown[]) => {
    const append = { stepId: stepId('ask'), step: 'ask', name: 'answer', seq: ++seq, chunks }
    client.send('invoke.stream', append, id)
    await client.next('stream.ack')
  }
  const end = () => client.result(id, 200, '{"data":null,"logs":[]}')
  return { runId, url: `${engine.url}/runs/${runId}/streams/answer`, write, end }
}

describe.each(['sse', 'long-poll'] as const)('live by %s', live => {
  test('it gets every message once, in order, and the end of the run ends it', async () => {
    const { url, write, end } = await writer()
    await write('Hel', { tool: 'search' })
    const response = await stream<StreamMessage>({ url, offset: '-1', live })
    const got: StreamMessage[] = []
    const over = new Promise<void>(resolve => {
      response.subscribeJson(async ({ items }) => {
        got.push(...items)
        if (items.some(item => 'end' in item)) resolve()
      })
    })
    for (let n = 0; n < 20; n++) await write(n, 'line\nbreak')
    end()
    await over
    await response.closed
    expect(got.map(({ n }) => n)).toEqual(Array.from({ length: 43 }, (_, n) => n))
    expect(got.at(-1)).toEqual({ n: 42, end: 'succeeded' })
    expect(got[3]).toMatchObject({ chunk: 'line\nbreak' })
    expect(response.streamClosed).toBe(true)
  })
})

test('it reads what there is, and goes on at the offset that it was given', async () => {
  const { url, write, end, runId } = await writer()
  await write('a', 'b')
  const first = await stream<StreamMessage>({ url, live: false })
  expect((await first.json()).map(({ n }) => n)).toEqual([0, 1])
  await write('c')
  end()
  await api.succeeded(runId)
  const rest = await stream<StreamMessage>({ url, offset: first.offset, live: false })
  expect(await rest.json()).toEqual([
    { n: 2, chunk: 'c', step: 'ask', attempt: 1 },
    { n: 3, end: 'succeeded' },
  ])
  expect(rest.streamClosed).toBe(true)
})
