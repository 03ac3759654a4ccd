// The client of the Durable Streams protocol reads output streams unchanged, live and not (docs/streams.md#read-over-http).

import { stream } from '@durable-streams/client'
import type { StreamMessage } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { scenario } from '../../kit/index.ts'
import { openStreamWriter } from '../../kit/runner/stream-writer.ts'

const { api, engine } = await scenario()

async function writer() {
  const { path, append, end } = await openStreamWriter(engine.url, api)
  return { url: engine.url + path, write: (...chunks: unknown[]) => append(chunks), end }
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
    await end()
    await over
    await response.closed
    expect(got.map(({ n }) => n)).toEqual(Array.from({ length: 43 }, (_, n) => n))
    expect(got.at(-1)).toEqual({ n: 42, end: 'succeeded' })
    expect(got[3]).toMatchObject({ chunk: 'line\nbreak' })
    expect(response.streamClosed).toBe(true)
  })
})
