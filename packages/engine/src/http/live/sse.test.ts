import { EventEmitter, once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import type { FastifyReply } from 'fastify'
import { describe, expect, test } from 'vitest'
import { VirtualClock } from '../../adapters/clock/virtual.ts'
import { KeyRing } from '../../services/admin/keys.ts'
import { Drain } from '../access/drain.ts'
import { OpenCounts } from '../bounds/open-counts.ts'
import { HTTP_LIMITS, type HttpLimits } from '../request/limits.ts'
import { SseStream, sseMessage } from './sse.ts'

const countsOf10 = () => new OpenCounts({ name: 'streams', all: 20, perNamespace: 10, perKey: 10 })

/** A stream over a response that writes nowhere. */
function setUp(limits: Partial<HttpLimits> = {}, isAuthorized = () => true, streams = countsOf10()) {
  const clock = new VirtualClock()
  const keys = new KeyRing({ fixed: [], loopback: true })
  const drain = new Drain()
  const context = { deps: { clock, keys }, limits: { ...HTTP_LIMITS, ...limits }, drain, streams }
  const written: (Buffer | string)[] = []
  let reads = true
  const raw = Object.assign(new EventEmitter(), {
    writableLength: 0,
    writeHead: () => {},
    write: (bytes: Buffer | string) => {
      written.push(bytes)
      if (!reads) raw.writableLength += bytes.length
      return reads
    },
    end: () => raw.emit('finish'),
    destroy: () => raw.emit('close'),
  })
  /** Makes the client stop reading, and continue later. */
  const stall = (): void => {
    reads = false
  }
  const catchUp = (): void => {
    reads = true
    raw.writableLength = 0
    raw.emit('drain')
  }
  const reply = { raw, hijack: () => {}, getHeaders: () => ({}) } as unknown as FastifyReply
  let ended = 0
  const stream = new SseStream(reply, context, { actor: { namespace: 'default' }, isAuthorized, onEnd: () => ended++ })
  return { context, stream, streams, raw, drain, keys, clock, ended: () => ended, written, stall, catchUp }
}

test.each<[string, (stream: SseStream, raw: EventEmitter) => void]>([
  ['it ends', stream => stream.end()],
  ['it is broken off', stream => stream.abort()],
  ['the client leaves', (_, raw) => raw.emit('close')],
])('when %s, calls onEnd once and leaves no listener or timer behind', (_, finish) => {
  let checks = 0
  const { stream, streams, raw, drain, keys, clock, ended } = setUp({}, () => ++checks > 0)
  expect(streams.size).toBe(1)
  finish(stream, raw)
  stream.end()
  stream.abort()
  expect(stream.open).toBe(false)
  expect(streams.size).toBe(0)
  expect(ended()).toBe(1)
  expect(clock.timerCount).toBe(0)
  expect(drain.streams).toBe(0)
  keys.replaceStored([])
  expect(checks).toBe(1)
})

test('ends when its key is revoked, also if that was before it listened', () => {
  let isAuthorized = true
  const { stream, keys, ended } = setUp({}, () => isAuthorized)
  keys.replaceStored([])
  expect(stream.open).toBe(true)
  isAuthorized = false
  keys.replaceStored([])
  expect([stream.open, ended(), setUp({}, () => false).stream.open]).toEqual([false, 1, false])
})

test('a message without id has no id line', () => {
  expect(sseMessage({ event: 'e', data: '{"a":1}' })).toBe('event: e\ndata: {"a":1}\n\n')
  expect(sseMessage({ id: 7, event: 'e', data: '{}' })).toBe('id: 7\nevent: e\ndata: {}\n\n')
})

describe('an offered message', () => {
  const frame = Buffer.from('x'.repeat(100))

  test('is written at once, the same bytes for every client', () => {
    const [one, other] = [setUp(), setUp()]
    for (const { stream } of [one, other]) stream.offer(frame)
    expect(one.written.at(-1)).toBe(frame)
    expect(other.written.at(-1)).toBe(frame)
  })

  test.each([
    ['messages', { unreadFrames: 3 }, 1 + 3],
    ['bytes', { unreadBytes: 350 }, 3],
  ])('drops a client that does not read at a bound of unread %s', (_, limits, most) => {
    const { stream, written, stall, clock, drain } = setUp(limits)
    stall()
    const before = written.length
    for (let i = 0; i < 10; i++) stream.offer(frame)
    expect(written.length - before).toBe(most)
    expect(stream.open).toBe(false)
    expect([clock.timerCount, drain.streams]).toEqual([0, 0])
  })

  test('counts as unread only since the client last had read everything', async () => {
    const { stream, written, stall, catchUp } = setUp({ unreadFrames: 3 })
    const before = written.length
    for (let round = 0; round < 5; round++) {
      stall()
      for (let i = 0; i < 3; i++) stream.offer(frame)
      catchUp()
      await Promise.resolve()
    }
    expect([stream.open, written.length - before]).toEqual([true, 15])
  })

  test('drops a client that has not read for 30 s, even with little unread', async () => {
    const { stream, stall, clock } = setUp()
    stall()
    stream.offer(frame)
    await clock.advance(29_999)
    expect(stream.open).toBe(true)
    await clock.advance(1)
    expect([stream.open, clock.timerCount]).toEqual([false, 0])
  })
})

describe('the keep-alive comment', () => {
  const KEEP_ALIVE = ': keep-alive\n\n'

  test('comes every 15 s, independent of other messages', async () => {
    const { stream, written, clock } = setUp()
    for (let i = 0; i < 3; i++) {
      await clock.advance(14_999)
      stream.offer(Buffer.from('x'))
      expect(written.map(String).filter(text => text === KEEP_ALIVE)).toHaveLength(i)
      await clock.advance(1)
    }
    expect(written.map(String).filter(text => text === KEEP_ALIVE)).toHaveLength(3)
  })

  test('is not sent to a client that does not read', async () => {
    const { stream, written, stall, clock } = setUp({ stallMs: 60_000 })
    stall()
    stream.offer(Buffer.from('x'))
    await clock.advance(15_000)
    await clock.advance(15_000)
    expect(written.map(String)).not.toContain(KEEP_ALIVE)
  })
})

describe('over a socket', () => {
  const MESSAGE = Buffer.from(sseMessage({ event: 'e', data: '"ü"' }))

  /** Answers requests that a client sends together, and returns the body of the last answer. */
  async function bodyOf(requests: string, answer: (stream: SseStream) => void): Promise<string> {
    const handle: RequestListener = (request, raw) => {
      if (request.url !== '/') return void setImmediate(() => raw.end())
      const reply = { raw, hijack: () => {}, getHeaders: () => ({}) } as unknown as FastifyReply
      answer(
        new SseStream(reply, setUp().context, { actor: { namespace: 'default' }, isAuthorized: () => true, onEnd }),
      )
    }
    const onEnd = () => {}
    const server = createServer(handle).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
    let text = ''
    client.setEncoding('latin1').on('data', data => {
      text += data
    })
    client.write(requests)
    await once(client, 'close')
    server.close()
    return text.slice(text.lastIndexOf('\r\n\r\n', text.indexOf('retry')) + 4)
  }

  const SENT = MESSAGE.toString('latin1')
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
  const GET = 'GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'
  const OPENING = 'retry: 2000\n\n'
  const CHUNKS = [OPENING, SENT, SENT, ''].map(chunk).join('')

  function send(stream: SseStream): void {
    for (let i = 0; i < 2; i++) stream.offer(MESSAGE)
    stream.end()
  }

  test.each([
    ['a client of HTTP/1.1 gets chunks', GET, CHUNKS],
    ['a client of HTTP/1.0 gets none', 'GET / HTTP/1.0\r\n\r\n', `${OPENING}${SENT}${SENT}`],
    ['a client that waits for an earlier answer gets it first', `GET /first HTTP/1.1\r\nhost: x\r\n\r\n${GET}`, CHUNKS],
  ])('%s', async (_, requests, body) => {
    expect(await bodyOf(requests, send)).toBe(body)
  })

  test('a long message is not unread before the socket is full, and whole when the client has read', async () => {
    const message = Buffer.from(sseMessage({ event: 'e', data: `"${'x'.repeat(40_000)}"` }))
    let sent = 0
    const body = await bodyOf(GET, stream =>
      setImmediate(() => {
        for (; !stream.isStalled && sent < 10_000; sent++) stream.offer(message)
        void stream.whenRead().then(() => stream.end())
      }),
    )
    expect(sent).toBeGreaterThan(2)
    expect(sent).toBeLessThan(10_000)
    expect(body).toHaveLength([OPENING, ''].map(chunk).join('').length + sent * chunk(String(message)).length)
  })
})
