// A run's stream: its reads, notifications, slow clients, and its end. test/scenario/live/run-stream.test.ts shows that it
// loses and repeats no frame.

import { describe, expect, test } from 'vitest'
import { anEndedRun, aRun } from '../../../../../../test/kit/http/rows.ts'
import { aroundReads, eventually, openStream, streamApp } from '../../../../../../test/kit/http/stream.ts'
import type { Change } from '../../../domain/model/change.ts'
import type { RunStatus } from '../../../domain/model/run.ts'
import type { StoredFrame } from '../../../domain/view/timeline-frames.ts'
import type { HttpLimits } from '../../request/limits.ts'

const ts = '2024-01-02T03:04:05.678Z'
const T = Date.parse(ts)
const OPENING = 'retry: 2000\n\n'

const created: Change = { type: 'run.created', run: aRun({ createdAt: T }) }
const ended = (finishedSeq: number): Change => ({
  type: 'run.moved',
  run: anEndedRun({ finishedSeq }),
  frames: [],
})
const moved = (seq: number, status: RunStatus): Change => ({
  type: 'run.moved',
  run: aRun({ status }),
  frames: [{ seq, ts: T, status, attempt: 1 }],
})
const wrote = (seq: number, message = 'm'): Change => ({
  type: 'log.written',
  line: {
    runId: 'run_1',
    seq,
    ts: T,
    level: 'info',
    message,
    scope: '@root',
    attempt: 1,
    index: seq,
    dedupe: `${seq}`,
  },
})

const status = (seq: number, status: RunStatus): StoredFrame => ({
  kind: 'run_status',
  seq,
  ts,
  runId: 'run_1',
  status,
  attempt: 1,
})
const log = (seq: number): StoredFrame => ({
  kind: 'log',
  seq,
  ts,
  runId: 'run_1',
  level: 'info',
  message: 'm',
  scope: '@root',
  attempt: 1,
})
const messageOf = (frame: StoredFrame): string =>
  `id: ${frame.seq}\nevent: ${frame.kind}\ndata: ${JSON.stringify(frame)}\n\n`

/** The heartbeat, and the wait for a notification (or, for a stalled client, the time it has left). */
const IDLE_TIMERS = 2

async function setUp(changes: Change[], limits: Partial<HttpLimits> = {}) {
  const opened = await streamApp(limits)
  const { store, live, clock, port } = opened
  await opened.seed(created, ...changes)
  const reads: unknown[] = []
  aroundReads(store, (read, name, args) => {
    reads.push(name === 'timeline' ? args[1] : name)
    return read()
  })
  return {
    ...opened,
    reads,
    /** Commits and notifies the stream of frames, or by default that it must read. */
    async commit(change: Change, frames?: StoredFrame[]) {
      await opened.seed(change)
      live.runs.publish('run_1', frames)
    },
    open: (query = '') => openStream(port, `/runs/run_1/stream${query}`),
    idle: () => eventually(() => clock.timerCount === IDLE_TIMERS),
    /** Resolves when nothing of the streams is left. */
    gone: () => eventually(() => opened.listeners() === 0 && clock.timerCount === 0),
  }
}

const seqsOf = (text: string): number[] => [...text.matchAll(/^id: (\d+)$/gm)].map(([, seq]) => Number(seq))

describe('the stream of a finished run', () => {
  test('has its frames page after page, and ends', async () => {
    const { app, reads, gone } = await setUp([moved(2, 'waiting'), wrote(5), ended(7)], { pageFrames: 2 })
    const response = await app.inject('/runs/run_1/stream')
    expect(response.statusCode).toBe(200)
    expect(response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-request-id': expect.stringMatching(/^req_/),
    })
    const frames = [status(1, 'queued'), status(2, 'waiting'), log(5), status(7, 'succeeded')]
    expect(response.body).toBe(OPENING + frames.map(messageOf).join(''))
    expect(reads).toMatchObject([
      { after: 0, limit: 2, openFrom: 0 },
      { after: 2, limit: 2 },
    ])
    await gone()
  })

  test('begins behind the later of `from` and Last-Event-ID', async () => {
    const { app } = await setUp([moved(2, 'waiting'), wrote(5), ended(7)])
    for (const [query, headers, seqs] of [
      ['?from=2', {}, [5, 7]],
      ['?from=0', {}, [1, 2, 5, 7]],
      ['?from=-1', {}, [1, 2, 5, 7]],
      ['', { 'last-event-id': '5' }, [7]],
      ['', { 'last-event-id': '' }, [1, 2, 5, 7]],
      // A browser reconnects to the same URL.
      ['?from=2', { 'last-event-id': '5' }, [7]],
      ['?from=5', { 'last-event-id': '2' }, [7]],
      ['?from=7', {}, []],
      ['?from=99999999999999999999', {}, []],
    ] as const) {
      const { body } = await app.inject({ url: `/runs/run_1/stream${query}`, headers })
      expect(seqsOf(body), `${query} ${JSON.stringify(headers)}`).toEqual(seqs)
    }
  })

  test('keeps a message with line breaks on one line', async () => {
    const { app } = await setUp([wrote(2, 'a\n\nb\r\u2028c'), ended(3)])
    const { body } = await app.inject('/runs/run_1/stream?from=1')
    const data = body.split(/[\r\n]/).filter(line => line.startsWith('data: '))
    expect(data).toHaveLength(2)
    expect(JSON.parse(String(data[0]?.slice(6))).message).toBe('a\n\nb\r\u2028c')
  })
})

describe('the stream of a run under way', () => {
  test('sends frames that follow without a read, and reads when one is missing', async () => {
    const { commit, seed, reads, open, idle, gone } = await setUp([])
    const stream = await open()
    await idle()
    await commit(moved(2, 'waiting'), [status(2, 'waiting')])
    await stream.saw(messageOf(status(2, 'waiting')))
    expect(reads).toHaveLength(1)
    await seed(wrote(7))
    await commit(moved(8, 'queued'), [status(8, 'queued')])
    await stream.saw(messageOf(status(8, 'queued')))
    expect(reads).toHaveLength(2)
    await idle()
    await commit(ended(9), [status(9, 'succeeded')])
    expect(await stream.over).toBe(true)
    expect(reads).toHaveLength(2)
    expect(seqsOf(stream.text())).toEqual([1, 2, 7, 8, 9])
    await gone()
  })

  test('listens before it reads, so that nothing falls between', async () => {
    const { store, commit, open } = await setUp([])
    // The run ends after the first read of its frames, before the stream waits.
    let isFirst = true
    aroundReads(store, async read => {
      const page = await read()
      if (isFirst) {
        isFirst = false
        await commit(ended(2))
      }
      return page
    })
    const stream = await open()
    expect(await stream.over).toBe(true)
    expect(stream.text()).toContain(messageOf(status(2, 'succeeded')))
  })

  test('reads again by itself when no notification comes', async () => {
    const { clock, seed, reads, open, idle } = await setUp([], { rereadMs: 5_000 })
    const stream = await open()
    await idle()
    await seed(ended(2))
    await clock.advance(4_999)
    expect(reads).toHaveLength(1)
    await clock.advance(1)
    expect(await stream.over).toBe(true)
    expect(stream.text()).toContain(messageOf(status(2, 'succeeded')))
  })

  test.each([
    ['whose frames it is sent', [status(2, 'succeeded')]],
    ['that it reads', undefined],
  ])('from a seq that the run never reaches, ends with the end %s', async (_, frames) => {
    const { commit, open, idle } = await setUp([])
    const stream = await open('?from=1000000')
    await idle()
    await commit(ended(2), frames)
    expect(await stream.over).toBe(true)
    expect(stream.text()).toBe(OPENING)
  })

  test.each(['', '?from=1'])('opened with "%s", never reads the run with its payloads', async query => {
    const { clock, reads, open, idle } = await setUp([])
    const stream = await open(query)
    for (let i = 0; i < 5; i++) {
      await idle()
      await clock.advance(5_000)
    }
    await eventually(() => reads.length >= 5)
    expect(reads.filter(read => typeof read === 'string')).toEqual([])
    stream.disconnect()
  })
})

describe('many streams of one run', () => {
  test('share one read and one wait for what only the store knows', async () => {
    const { clock, seed, live, reads, open, gone } = await setUp([])
    const streams = await Promise.all(Array.from({ length: 30 }, () => open()))
    await eventually(() => clock.timerCount === streams.length + 1)
    const before = reads.length
    await seed(wrote(7), ended(9))
    live.runs.publish('run_1', undefined)
    await Promise.all(streams.map(({ over }) => over))
    expect(reads.length).toBe(before + 1)
    for (const stream of streams) expect(seqsOf(stream.text())).toEqual([1, 7, 9])
    await gone()
  })

  test('that start at different frames each get what they miss, and one that goes leaves the others', async () => {
    const { commit, seed, open, clock } = await setUp([moved(2, 'waiting')])
    const [late, early, gone] = [await open('?from=1000'), await open('?from=1'), await open()]
    await eventually(() => clock.timerCount === 3 + 1)
    gone.disconnect()
    await gone.over
    await seed(wrote(3))
    await commit(moved(4, 'queued'), [status(4, 'queued')])
    await early.saw(messageOf(status(4, 'queued')))
    const behind = await open()
    await behind.saw(messageOf(status(4, 'queued')))
    await commit(ended(5), [status(5, 'succeeded')])
    expect(await Promise.all([late.over, early.over, behind.over])).toEqual([true, true, true])
    expect([late, early, behind].map(({ text }) => seqsOf(text()))).toEqual([[], [2, 3, 4, 5], [1, 2, 3, 4, 5]])
  })
})

describe('when something goes wrong', () => {
  test('a client that leaves during a read leaves nothing behind', async () => {
    const { app, store, open, gone } = await setUp([wrote(2), wrote(3)], { pageFrames: 1 })
    let release = (): void => {}
    let count = 0
    aroundReads(store, async read => {
      if (count++ > 0) await new Promise<void>(resolve => (release = resolve))
      return read()
    })
    const stream = await open()
    await eventually(() => count === 2)
    stream.disconnect()
    await stream.over
    let sockets = 1
    await eventually(() => {
      app.server.getConnections((_, open) => {
        sockets = open
      })
      return sockets === 0
    })
    release()
    await gone()
  })

  test('a store that fails breaks the stream off, so that the client comes back, and is logged', async () => {
    const { store, live, logged, open, idle, gone } = await setUp([])
    const stream = await open()
    await idle()
    await store.close()
    live.runs.publish('run_1', undefined)
    expect(await stream.over).toBe(false)
    await gone()
    expect(logged).toMatchObject([{ msg: 'run stream failed', runId: 'run_1', err: { stack: expect.any(String) } }])
    expect(stream.text()).toBe(OPENING + messageOf(status(1, 'queued')))
  })

  test('a store that fails before the first byte is answered with an error body', async () => {
    const { app, store, listeners } = await setUp([])
    await store.close()
    const response = await app.inject('/runs/run_1/stream')
    expect([response.statusCode, response.json().error.code]).toEqual([503, 'unavailable'])
    expect(listeners()).toBe(0)
  })
})

describe('a slow client', () => {
  // Far more than a socket's buffers hold.
  const big = Array.from({ length: 200 }, (_, i) => wrote(i + 2, 'x'.repeat(100_000)))

  test('holds one page in memory, and is dropped when it does not read for 30 s', async () => {
    const { live, clock, reads, listeners, open, idle, gone } = await setUp(big, { pageFrames: 10 })
    const stream = await open()
    stream.pause()
    // It stalls: next to the heartbeat there is the timer that will drop it.
    await idle()
    const pages = reads.length
    expect(pages).toBeLessThan(20)
    live.runs.publish('run_1', undefined)
    await clock.advance(29_999)
    expect(reads.length).toBe(pages)
    expect(listeners()).toBe(1)
    await clock.advance(1)
    await gone()
  })

  test('that reads on gets everything', async () => {
    const { open, idle, gone } = await setUp([...big, ended(202)], { pageFrames: 10 })
    const stream = await open()
    stream.pause()
    await idle()
    stream.resume()
    expect(await stream.over).toBe(true)
    expect(seqsOf(stream.text())).toHaveLength(202)
    await gone()
  })

  test('is cut when the app closes', async () => {
    const { app, clock, listeners, open, idle } = await setUp(big, { pageFrames: 10 })
    const stream = await open()
    stream.pause()
    await idle()
    await app.close()
    expect([listeners(), clock.timerCount]).toEqual([0, 0])
  })
})
