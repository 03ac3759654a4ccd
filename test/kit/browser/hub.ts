// The hub of the console with a server whose streams the tests write. Time is a number that the tests set.

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import { Hub, type Tab } from '../../../packages/console/src/live/hub.ts'
import type { Interest, ToTab } from '../../../packages/console/src/live/messages.ts'

/** A stream that the hub has opened. */
interface Opened {
  topics: string[]
  token: string | undefined
  isOpen: boolean
  write(...frames: object[]): Promise<void>
  comment(text: string): Promise<void>
  drop(): void
}

/** Answers of the server other than its streams. */
const ANSWERS: Record<string, unknown> = {
  '/errors': [{}, {}, {}],
  '/runs/facets': { waitingFor: { concurrency: 2, throttle: 1, sleep: 9 } },
  '/runners': [{ live: true }, { live: false }],
  '/webhook-deliveries': Array.from({ length: 100 }, () => ({})),
}

/** A server, the hub on it, and a clock. */
export async function openHub() {
  const streams: Opened[] = []
  let answer: { status: number; body?: string; type?: string } = { status: 200 }
  const waiting: (() => void)[] = []
  const reads: string[] = []
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0] ?? ''
    if (path !== '/stream') {
      reads.push(path)
      response.end(JSON.stringify(ANSWERS[path]))
      return
    }
    const { status, body, type = 'text/event-stream' } = answer
    response.writeHead(status, { 'content-type': type }).write(body ?? 'retry: 1\n\n')
    if (status === 200 && body === undefined)
      streams.push(opened(request.url ?? '', request.headers.authorization, response))
    else response.end()
    for (const resolve of waiting.splice(0)) resolve()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  let nowMs = 1_000_000
  const hub = new Hub(`http://127.0.0.1:${port}`, () => nowMs)
  onTestFinished(() => {
    for (const tab of tabs) hub.receive(tab, { type: 'bye' })
  })
  const tabs: Tab[] = []
  return {
    streams,
    reads,
    refuse: (status: number, body: string) => {
      answer = { status, body }
    },
    /** A page of another server, in place of streams. */
    answerPage: () => {
      answer = { status: 200, body: '<html>', type: 'text/html' }
    },
    accept: () => {
      answer = { status: 200 }
    },
    /** Resolves with the next request. */
    requested: () => new Promise<void>(resolve => waiting.push(resolve)),
    tick: (ms = 250) => {
      nowMs += ms
      hub.tick()
    },
    now: () => nowMs,
    tab() {
      const got: ToTab[] = []
      const tab: Tab = { send: message => void got.push(message) }
      tabs.push(tab)
      const follow = (topics: (string | Interest)[], isHidden = false, isSignedIn = false) =>
        hub.receive(tab, {
          type: 'topics',
          namespace: 'default',
          topics: topics.map(each => (typeof each === 'string' ? { topic: each as 'runs', after: 0 } : each)),
          isHidden,
          isSignedIn,
        })
      const seqs = () => got.flatMap(each => (each.type === 'timeline' ? each.texts.map(({ seq }) => seq) : []))
      const send = (message: Parameters<Hub['receive']>[1]) => hub.receive(tab, message)
      return { got, follow, seqs, send }
    },
  }
}

function opened(path: string, authorization: string | undefined, response: ServerResponse): Opened {
  const topics = new URL(path, 'http://x').searchParams.get('topics')?.split(',') ?? []
  const stream: Opened = {
    topics,
    token: authorization,
    isOpen: true,
    write: (...frames) => written(response, frames.map(frame => `data: ${JSON.stringify(frame)}\n\n`).join('')),
    comment: text => written(response, `: ${text}\n\n`),
    drop: () => response.destroy(),
  }
  response.on('close', () => {
    stream.isOpen = false
  })
  return stream
}

const written = (response: ServerResponse, text: string) =>
  new Promise<void>(resolve => response.write(text, () => resolve()))

/** Lets written data arrive: waits for turns of the event loop, not for time. */
export async function until(isSo: () => boolean): Promise<void> {
  for (let i = 0; i < 2000 && !isSo(); i++) await new Promise(resolve => setImmediate(resolve))
  expect(isSo()).toBe(true)
}
