// A Connect socket that this side does not read for a while, and one whose runner reads slowly.

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { CLOSE_CODES, CONNECT_HEARTBEAT_MS, CONNECT_SILENCE_MS } from '@perdure/protocol'
import { afterEach, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { VirtualClock } from '../../adapters/clock/virtual.ts'
import { CONNECT_LIMITS, HEARTBEAT_ANSWER_MS } from './limits.ts'
import { ConnectSocket } from './socket.ts'

const servers: WebSocketServer[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    for (const client of server.clients) client.terminate()
    server.close()
  }
})

/** A socket with a peer that answers no pings. */
async function openMute() {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  servers.push(server)
  await once(server, 'listening')
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, { autoPong: false })
  const [[ws, request]] = await Promise.all([once(server, 'connection'), once(client, 'open')])
  const clock = new VirtualClock()
  const noop = () => {}
  const parts = { ws, stream: request.socket, clock, limits: CONNECT_LIMITS, onOver: noop, onUnblocked: noop }
  return { clock, client, socket: new ConnectSocket(parts) }
}

/** Heartbeats for longer than a runner may be silent. */
async function beatUnanswered(clock: VirtualClock, socket: ConnectSocket): Promise<void> {
  for (let ms = 0; ms < 2 * CONNECT_SILENCE_MS; ms += CONNECT_HEARTBEAT_MS) {
    await clock.advance(CONNECT_HEARTBEAT_MS)
    socket.heartbeat('beat')
  }
  await clock.advance(CONNECT_HEARTBEAT_MS + HEARTBEAT_ANSWER_MS)
}

test('a socket that is not read is not silent; once it is read again, silence counts from then on', async () => {
  const { clock, client, socket } = await openMute()
  socket.pause()
  await beatUnanswered(clock, socket)
  expect(socket.isOver).toBe(false)
  expect(socket.heardAt).toBe(clock.elapsed())
  socket.resume()
  const resumedAt = clock.elapsed()
  await clock.advance(CONNECT_HEARTBEAT_MS)
  expect(socket.heardAt).toBe(resumedAt)
  expect(socket.isOver).toBe(false)
  const closed = once(client, 'close')
  await beatUnanswered(clock, socket)
  expect(socket.isOver).toBe(true)
  expect((await closed)[0]).toBe(CLOSE_CODES.heartbeat)
})

test('a runner that reads one large frame slowly stays; one that reads nothing while it asks for more is closed', async () => {
  const { client, socket } = await openMute()
  client.pause()
  const { unreadBytesMax } = CONNECT_LIMITS
  socket.send('invoke', 'large', JSON.stringify('x'.repeat(2 * unreadBytesMax)))
  for (const id of ['a', 'b', 'c']) socket.send('heartbeat', id)
  expect(socket.isOver).toBe(false)
  expect(socket.isWritable).toBe(false)
  const ack = JSON.stringify('x'.repeat(unreadBytesMax / 8))
  for (let i = 0; i < 10; i++) socket.send('result.ack', `ack${i}`, ack)
  expect(socket.isOver).toBe(true)
})
