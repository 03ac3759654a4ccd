// Many streams on one engine: a thousand that come and go leave nothing open, two thousand at once are all served, and a reader
// that does not read does not slow the others down.

import { existsSync, readdirSync } from 'node:fs'
import net from 'node:net'
import { expect, test } from 'vitest'
import { flow, onCleanup, run, scenario, unique, until, wait, within } from '../../kit/index.ts'

const { api, engine } = await scenario({ realTime: true })
const name = unique('watched')
await engine.runner({
  workflows: {
    [name]: { handler: flow([wait('w', unique('never'))]) },
    quick: { handler: flow([run('a', () => 1)]) },
  },
})
const { runId } = await api.send({ name })
await api.reaches(runId, 'waiting')

/** A client that is only a socket, so that thousands fit into one test. */
class Watcher {
  readonly socket: net.Socket
  text = ''

  constructor(path: string) {
    const { port } = new URL(engine.url)
    this.socket = net.connect({ port: Number(port), host: '127.0.0.1' })
    this.socket.setEncoding('latin1').on('data', chunk => (this.text += chunk))
    this.socket.on('error', () => {})
    this.socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`)
  }

  sees(part: string): Promise<void> {
    if (this.text.includes(part)) return Promise.resolve()
    const seen = new Promise<void>(resolve => {
      const look = () => {
        if (!this.text.includes(part)) return
        this.socket.off('data', look)
        resolve()
      }
      this.socket.on('data', look)
    })
    return within(seen, part)
  }
}

async function openMany(path: string, count: number): Promise<Watcher[]> {
  const all = Array.from({ length: count }, () => new Watcher(path))
  onCleanup(() => {
    for (const { socket } of all) socket.destroy()
  })
  await Promise.all(all.map(watcher => watcher.sees('retry: 2000')))
  return all
}

const FDS = '/proc/self/fd'
const descriptors = () => readdirSync(FDS).length

/** The number of open descriptors once it has stopped changing. Closed sockets take a moment to disappear. */
async function settledDescriptors(): Promise<number> {
  const counts: number[] = []
  await until(() => {
    counts.unshift(descriptors())
    return counts.length > SETTLED_LOOKS && counts.slice(0, SETTLED_LOOKS).every(count => count === counts[0])
  })
  return counts[0] as number
}
const SETTLED_LOOKS = 8

const paths: [string, string][] = [
  ['GET /runs/stream', '/runs/stream'],
  ['GET /events/stream', '/events/stream'],
  ['GET /runs/{id}/stream', `/runs/${runId}/stream`],
]

test.skipIf(!existsSync(FDS)).each(paths)(
  'a thousand clients of %s that came and went leave no descriptor',
  async (_, path) => {
    for (const { socket } of await openMany(path, 10)) socket.destroy()
    const before = await settledDescriptors()
    for (let batch = 0; batch < 10; batch++) {
      const all = await openMany(path, 100)
      expect(descriptors()).toBeGreaterThanOrEqual(before + 100)
      for (const { socket } of all) socket.destroy()
    }
    await until(() => descriptors() <= before, { what: 'every descriptor closed' })
  },
)

test('two thousand open at once all get their frame', async () => {
  const all: Watcher[] = []
  for (let batch = 0; batch < 10; batch++) all.push(...(await openMany('/runs/stream', 200)))
  await api.send({ name: 'quick' })
  await Promise.all(all.map(watcher => watcher.sees('"status":"succeeded"')))
  const frames = new Set(all.map(({ text }) => text.match(/data: .*/g)?.join('\n')))
  expect(frames.size).toBe(1)
  for (const { socket } of all) socket.destroy()
})

test('one that does not read is dropped, while another gets every event', async () => {
  const [stuck, reader] = (await openMany('/events/stream', 2)) as [Watcher, Watcher]
  stuck.socket.pause()
  const gone = new Promise(resolve => stuck.socket.on('close', resolve))
  const data = 'x'.repeat(500_000)
  // Far more than socket buffers can hold, and more than may be left unread.
  for (let i = 0; i < 40; i++) {
    await api.send({ name: 'big', data: { i, data } })
    await reader.sees(`"data":{"i":${i},`)
    reader.text = ''
  }
  stuck.socket.resume()
  await within(gone, 'the end of the stuck stream')
  expect(stuck.text.length).toBeLessThan(40 * data.length)
  expect(stuck.text).not.toContain('"data":{"i":39,')
})
