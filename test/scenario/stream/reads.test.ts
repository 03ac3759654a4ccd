// Reads of output streams over HTTP: positions, live reads on any engine, and refusals (docs/streams.md#read-over-http).

import type { RunStreamFrame, StreamMessage } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { type Api, openEngine, openEngines, PLACES, readSse, type SseMessage, scenario } from '../../kit/index.ts'
import { openStreamWriter } from '../../kit/runner/stream-writer.ts'

const { api, engine } = await scenario()
const offset = (n: number) => String(n).padStart(16, '0')

async function writer(url: string, sendTo: Api) {
  const { append, ...rest } = await openStreamWriter(url, sendTo)
  return { ...rest, write: (...chunks: unknown[]) => append(chunks) }
}

test('a reader resumes at any offset, and an answer has its tag', async () => {
  const { path, write, end } = await writer(engine.url, api)
  await write('a', 'b')
  await write('c')
  const all = await api.get(`${path}?offset=-1`)
  expect(all.json).toMatchObject([{ n: 0 }, { n: 1 }, { n: 2 }])
  expect((await api.get(path)).text).toBe(all.text)
  expect((await api.get(`${path}?offset=${offset(2)}`)).json).toEqual([{ n: 2, chunk: 'c', step: 'ask', attempt: 1 }])
  // "b" is in one row with "a".
  expect((await api.get(`${path}?offset=${offset(1)}&text=1`)).text).toBe('bc')
  const atTail = await api.get(`${path}?offset=${offset(3)}`)
  expect([atTail.json, atTail.headers.get('stream-next-offset')]).toEqual([[], offset(3)])
  const etag = all.headers.get('etag') as string
  const conditional = () => api.request('GET', `${path}?offset=-1`, { headers: { 'if-none-match': etag } })
  expect((await conditional()).status).toBe(304)
  const now = await api.get(`${path}?offset=now`)
  expect([now.json, now.headers.get('cache-control'), now.headers.get('etag')]).toEqual([[], 'no-store', null])
  const head = await api.request('HEAD', path)
  expect([head.status, head.text, head.headers.get('stream-next-offset')]).toEqual([200, '', offset(3)])
  await end()
  expect((await conditional()).status).toBe(200)
  const closed = await api.get(`${path}?offset=${offset(4)}`)
  expect([closed.json, closed.headers.get('stream-closed')]).toEqual([[], 'true'])
})

describe('what is refused', () => {
  const REFUSED: [string, string, string][] = [
    ['a bad offset', '?offset=1,2', 'offset'],
    ['an offset beyond the end', `?offset=${offset(9)}`, 'offset'],
    ['live without an offset', '?live=sse', 'offset'],
    ['another kind of live', '?live=ws&offset=-1', 'live'],
    ['text that is live', '?live=sse&offset=-1&text=1', 'text'],
  ]

  test('bad parameters, writes, names that are none, and runs that are not there', async () => {
    const { path, runId, end } = await writer(engine.url, api)
    for (const [what, query, field] of REFUSED)
      expect(await api.get(path + query), what).toMatchObject({ status: 400, json: { error: { details: { field } } } })
    for (const method of ['PUT', 'POST', 'DELETE']) expect((await api.request(method, path)).status, method).toBe(405)
    expect((await api.get(`/runs/${runId}/streams/a%20b`)).status).toBe(400)
    expect((await api.get('/runs/run_none/streams/answer')).status).toBe(404)
    expect((await api.get('/runs/run_none/streams')).status).toBe(404)
    expect(await api.get(`${path}?unknown=1`)).toMatchObject({ status: 200, json: [] })
    await end()
    // The stream was never written to.
    expect((await api.get(path)).status).toBe(404)
    expect((await api.get(`${path}?offset=${offset(0)}`)).json).toEqual([{ n: 0, end: 'succeeded' }])
  })
})

for (const [place, freshStore, count] of PLACES)
  describe(`live reads: ${place}`, async () => {
    const engines = await openEngines(freshStore, count)
    const [first, last] = [engines.engines[0], engines.engines.at(-1)] as [typeof engine, typeof engine]

    test('a long poll waits for the next chunk, and is over at once when the run is', async () => {
      const { path, write, end } = await writer(first.url, engines.api)
      const poll = (n: number, cursor = '') => engines.other.get(`${path}?offset=${offset(n)}&live=long-poll${cursor}`)
      const waiting = poll(0)
      await write('a')
      const answer = await waiting
      expect(answer.json).toMatchObject([{ n: 0, chunk: 'a' }])
      expect(answer.headers.get('stream-next-offset')).toBe(offset(1))
      const cursor = answer.headers.get('stream-cursor') as string
      const next = poll(1, `&cursor=${cursor}`)
      await end()
      const closing = await next
      expect(closing.json).toEqual([{ n: 1, end: 'succeeded' }])
      expect(Number(closing.headers.get('stream-cursor'))).toBeGreaterThan(Number(cursor))
      expect(await poll(2)).toMatchObject({ status: 204 })
    })

    test('server-sent events go on until the end, and every part says where it is', async () => {
      const { path, write, end } = await writer(first.url, engines.api)
      const reading = readSse(`${last.url}${path}?offset=-1&live=sse`)
      await write('a', { b: 1 })
      await write('c')
      await end()
      const { messages } = await reading
      const parts = messages.map(({ event, data }) => [event, data] as const)
      const received = parts.flatMap(([event, data]) => (event === 'data' ? (data as unknown as StreamMessage[]) : []))
      expect(received.map(({ n }) => n)).toEqual([0, 1, 2, 3])
      expect(received.at(-1)).toEqual({ n: 3, end: 'succeeded' })
      const firsts = parts.flatMap(([event, data]) =>
        event === 'data' ? [(data as unknown as StreamMessage[])[0]] : [],
      )
      for (const first of firsts)
        if (first && 'chunk' in first) expect(first).toMatchObject({ step: 'ask', attempt: 1 })
      expect(parts.at(-1)).toEqual(['control', { streamNextOffset: offset(4), streamClosed: true, upToDate: true }])
    })

    test('a topic of GET /stream has the messages behind an offset', async () => {
      const { runId, write, end } = await writer(first.url, engines.api)
      await write('a', 'b')
      const framesOf = (messages: readonly SseMessage[]) =>
        messages.map(({ data }) => data as unknown as RunStreamFrame)
      const hasEnded = (messages: readonly SseMessage[]) =>
        framesOf(messages).some(frame => frame.messages.some(message => 'end' in message))
      const topic = `run:${runId}:answer@${offset(1)}`
      const reading = readSse(`${last.url}/stream?topics=${topic}`, { stopWhen: hasEnded })
      await write('c')
      await end()
      const frames = framesOf((await reading).messages)
      expect(frames.flatMap(({ messages }) => messages.map(({ n }) => n))).toEqual([1, 2, 3])
      expect(frames.at(-1)).toMatchObject({ runId, name: 'answer', kind: 'stream', offset: offset(4) })
      const unknown = await engines.api.get('/stream?topics=run:run_none:answer')
      expect(unknown.status).toBe(404)
    })
  })

test('an engine that stops ends live reads in order', async () => {
  const own = await openEngine({ env: { ENGINE_DRAIN_TIMEOUT: '100ms' } })
  const { path } = await writer(own.url, own.api)
  let stopped: Promise<void> | undefined
  const reading = readSse(`${own.url}${path}?offset=-1&live=sse`, {
    onOpen: () => {
      stopped = own.stop()
    },
  })
  expect((await reading).ended).toBe(true)
  await stopped
})
