// The reader of an output stream against a scripted server: connections that end, break and are refused.

import { expect, test } from 'vitest'
import { openServer, refused, type Script } from '../server.testkit.ts'
import type { RunStreamMessage } from './messages.ts'
import { readRunStream, type StreamReadOptions } from './read-stream.ts'

const settings = { retryMs: 1, retryMsMax: 2, attemptsMax: 3 }
const DATA = (messages: RunStreamMessage[]) => `event: data\ndata: ${JSON.stringify(messages)}\n\n`
const CONTROL = (control: object) => `event: control\ndata: ${JSON.stringify(control)}\n\n`

/** Sends these events, then ends the connection, or breaks it. */
const events =
  (text: string, isBroken = false): Script =>
  response => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(text, () => (isBroken ? response.destroy() : response.end()))
  }

async function read(url: string, options: Partial<StreamReadOptions> = {}) {
  const messages: RunStreamMessage[] = []
  const live: boolean[] = []
  const given = {
    url,
    runId: 'run_1',
    stream: 'answer',
    settings,
    onLive: (isLive: boolean) => live.push(isLive),
    ...options,
  }
  const failure = await (async () => {
    for await (const batch of readRunStream(given)) messages.push(...batch)
  })().catch((error: Error) => error)
  return { messages, live, failure }
}

const FIRST = DATA([{ n: 0, chunk: 'a', step: 's', attempt: 1 }]) + CONTROL({ streamNextOffset: '0000000000000001' })
const LAST =
  DATA([
    { n: 1, chunk: 'b', step: 's', attempt: 1 },
    { n: 2, end: 'succeeded' },
  ]) + CONTROL({ streamNextOffset: '0000000000000003', streamClosed: true })

test('it begins at the first message, and resumes at the offset of the engine when a connection ends or breaks', async () => {
  const { url, seen } = await openServer(events(FIRST), refused(503, 'unavailable'), events('', true), events(LAST))
  const { messages, live, failure } = await read(url, { token: 'pdt_1' })
  expect(failure).toBeUndefined()
  expect(messages.map(({ n }) => n)).toEqual([0, 1, 2])
  const offsets = seen.map(({ path }) => new URLSearchParams(path.split('?')[1]).get('offset'))
  expect(offsets).toEqual(['-1', '0000000000000001', '0000000000000001', '0000000000000001'])
  expect(seen[0]).toMatchObject({ headers: { authorization: 'Bearer pdt_1' } })
  expect(seen[0]?.path).toBe('/runs/run_1/streams/answer?live=sse&offset=-1')
  expect(live).toEqual([true, false, true, false, true])
})

test('a refusal ends the read, and so do too many failed tries', async () => {
  const gone = await read((await openServer(events(FIRST), refused(401, 'unauthorized'))).url)
  expect([gone.messages.length, gone.failure]).toEqual([1, expect.objectContaining({ status: 401 })])
  const { url, seen } = await openServer(events(FIRST), refused(503, 'unavailable'))
  expect((await read(url)).failure).toMatchObject({ status: 503 })
  expect(seen).toHaveLength(settings.attemptsMax + 1)
})

test('an offset of before is taken, and an aborted signal ends the reader', async () => {
  const cut = new AbortController()
  const { url, seen } = await openServer(response => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(FIRST)
  })
  const { failure } = await read(url, {
    offset: '0000000000000007',
    signal: cut.signal,
    onLive: () => setTimeout(() => cut.abort(new Error('gone'))),
  })
  expect(failure).toMatchObject({ message: 'gone' })
  expect(seen[0]?.path).toContain('offset=0000000000000007')
})
