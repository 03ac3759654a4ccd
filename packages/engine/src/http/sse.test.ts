import { EventEmitter } from 'node:events'
import type { FastifyReply } from 'fastify'
import { expect, test } from 'vitest'
import type { HttpContext } from './context.ts'
import { Drain } from './drain.ts'
import { Faces } from './http.testkit.ts'
import { HTTP_LIMITS } from './limits.ts'
import { SseStream, sseMessage } from './sse.ts'

/** A stream over a response that writes nowhere. */
function setUp() {
  const faces = new Faces()
  const drain = new Drain()
  const context: HttpContext = { deps: faces.deps('silent'), limits: HTTP_LIMITS, drain }
  const raw = Object.assign(new EventEmitter(), {
    writeHead: () => {},
    write: () => true,
    end: () => raw.emit('finish'),
    destroy: () => raw.emit('close'),
  })
  const reply = { raw, hijack: () => {}, request: { id: 'req_1' } } as unknown as FastifyReply
  let ended = 0
  const stream = new SseStream(reply, context, () => ended++)
  return { stream, raw, drain, clock: faces.clock, ended: () => ended }
}

test.each<[string, (stream: SseStream, raw: EventEmitter) => void]>([
  ['it ends', stream => stream.end()],
  ['it is broken off', stream => stream.abort()],
  ['the client leaves', (_, raw) => raw.emit('close')],
])('when %s it says so once and leaves nothing behind', (_, finish) => {
  const { stream, raw, drain, clock, ended } = setUp()
  finish(stream, raw)
  stream.end()
  stream.abort()
  expect(stream.open).toBe(false)
  expect(ended()).toBe(1)
  expect(clock.timers.size).toBe(0)
  expect(drain.streams).toBe(0)
})

test('a message without id has no id line', () => {
  expect(sseMessage({ event: 'e', data: { a: 1 } })).toBe('event: e\ndata: {"a":1}\n\n')
  expect(sseMessage({ id: 7, event: 'e', data: {} })).toBe('id: 7\nevent: e\ndata: {}\n\n')
})
