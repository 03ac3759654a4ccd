import { describe, expect, test } from 'vitest'
import type { RunStatus } from '../../../domain/model/run.ts'
import type { StoredFrame } from '../../../domain/view/timeline-frames.ts'
import { aRun, eventually, listen, openStream, refusal, type Shelf, testApp } from '../../http.testkit.ts'
import type { HttpLimits } from '../../request/limits.ts'

const ts = '2024-01-02T03:04:05.678Z'
const status = (seq: number, status: RunStatus): StoredFrame => ({
  kind: 'run_status',
  seq,
  ts,
  runId: 'run_1',
  status,
  attempt: 1,
})
const log = (seq: number, message = 'm'): StoredFrame => ({
  kind: 'log',
  seq,
  ts,
  runId: 'run_1',
  level: 'info',
  message,
  scope: '@root',
  attempt: 1,
})

/** The heartbeat, and the wait for a ring (or, of a stalled client, the time it has left). */
const IDLE_TIMERS = 2

const message = (frame: StoredFrame): string =>
  `id: ${frame.seq}\nevent: ${frame.kind}\ndata: ${JSON.stringify(frame)}\n\n`

function setUp(options: { run?: RunStatus; frames?: StoredFrame[]; limits?: Partial<HttpLimits> } = {}) {
  const { app, faces } = testApp({ limits: options.limits, logLevel: 'error' })
  const shelf = faces.shelf()
  shelf.runRows.set('run_1', aRun({ status: options.run ?? 'running' }))
  shelf.frames.push(...(options.frames ?? []))
  return { app, faces, shelf }
}

const finished = [status(1, 'queued'), status(2, 'running'), log(5), status(7, 'succeeded')]
const reads = (shelf: Shelf): unknown[] =>
  shelf.calls.filter(([name]) => name === 'timeline').map(call => call[2])

describe('replay of a finished run', () => {
  test('frames it by the book and ends', async () => {
    const { app, faces } = setUp({ run: 'succeeded', frames: finished })
    const response = await app.inject('/runs/run_1/stream')
    expect(response.statusCode).toBe(200)
    expect(response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-request-id': expect.stringMatching(/^req_/),
    })
    expect(response.body).toBe(`retry: 2000\n\n${finished.map(message).join('')}`)
    expect(faces.listening).toBe(0)
    expect(faces.clock.timers.size).toBe(0)
  })

  test.each([
    ['?from=2', {}, [5, 7]],
    ['?from=0', {}, [1, 2, 5, 7]],
    ['?from=-1', {}, [1, 2, 5, 7]],
    ['', { 'last-event-id': '5' }, [7]],
    ['', { 'last-event-id': '' }, [1, 2, 5, 7]],
    // A browser reconnects to the same URL.
    ['?from=2', { 'last-event-id': '5' }, [7]],
    ['?from=5', { 'last-event-id': '2' }, [7]],
    ['?from=7', {}, []],
    ['?from=8', {}, []],
    ['?from=99999999999999999999', {}, []],
  ])('%s with %j', async (query, headers, seqs) => {
    const { app } = setUp({ run: 'succeeded', frames: finished })
    const { body } = await app.inject({ url: `/runs/run_1/stream${query}`, headers })
    expect([...body.matchAll(/^id: (\d+)$/gm)].map(match => Number(match[1]))).toEqual(seqs)
  })

  test.each([
    ['?from=x', {}],
    ['?from=', {}],
    ['?from=1&from=2', {}],
    ['', { 'last-event-id': 'x' }],
    ['?from=1', { 'last-event-id': 'x' }],
  ])('%s with %j is refused', async (query, headers) => {
    const { app, faces } = setUp()
    expect(refusal(await app.inject({ url: `/runs/run_1/stream${query}`, headers }))).toBe(
      '400 invalid_request',
    )
    expect(faces.listening).toBe(0)
  })

  test('reads page after page, handing the position on', async () => {
    const { app, shelf } = setUp({ run: 'succeeded', frames: finished, limits: { pageFrames: 2 } })
    const { body } = await app.inject('/runs/run_1/stream')
    expect(body).toBe(`retry: 2000\n\n${finished.map(message).join('')}`)
    expect(reads(shelf)).toEqual([
      { after: 0, limit: 2, openFrom: 0 },
      { after: 2, limit: 2, openFrom: 1 },
    ])
  })

  test('a message with line breaks stays on one line', async () => {
    const { app } = setUp({ run: 'failed', frames: [log(1, 'a\n\nb\r\u2028c'), status(2, 'failed')] })
    const { body } = await app.inject('/runs/run_1/stream')
    const data = body.split(/[\r\n]/).filter(line => line.startsWith('data: '))
    expect(data).toHaveLength(2)
    expect(JSON.parse(String(data[0]?.slice(6))).message).toBe('a\n\nb\r\u2028c')
  })
})

describe('tailing a run that goes on', () => {
  test('sends what is committed when it rings, and ends with the terminal frame', async () => {
    const { app, faces, shelf } = setUp({ frames: [status(1, 'queued')] })
    const stream = await openStream(await listen(app), '/runs/run_1/stream')
    await stream.saw('"queued"')
    for (const frame of [status(2, 'running'), log(3), status(4, 'failed')]) {
      shelf.frames.push(frame)
      faces.ring('run_1')
      await stream.saw(message(frame))
    }
    expect(await stream.over).toBe(true)
    expect(stream.text().match(/^id: \d+/gm)).toEqual(['id: 1', 'id: 2', 'id: 3', 'id: 4'])
    await eventually(() => faces.clock.timers.size === 0)
    expect(faces.listening).toBe(0)
  })

  test('sends what it is told without reading, unless something is missing', async () => {
    const { app, faces, shelf } = setUp({ frames: [status(1, 'queued')] })
    const stream = await openStream(await listen(app), '/runs/run_1/stream')
    await eventually(() => faces.clock.timers.size === IDLE_TIMERS)
    const commit = (...frames: StoredFrame[]) => {
      shelf.frames.push(...frames)
      faces.live.runs.publish('run_1', frames)
    }
    commit(status(2, 'running'), log(3))
    await stream.saw(message(log(3)))
    expect(reads(shelf)).toHaveLength(1)
    shelf.frames.push(log(7))
    commit(log(8))
    await stream.saw(message(log(8)))
    expect(reads(shelf)).toHaveLength(2)
    await eventually(() => faces.clock.timers.size === IDLE_TIMERS)
    commit(status(9, 'succeeded'))
    expect(await stream.over).toBe(true)
    expect(reads(shelf)).toHaveLength(2)
    expect(stream.text().match(/^id: \d+/gm)).toEqual([1, 2, 3, 7, 8, 9].map(seq => `id: ${seq}`))
    expect(faces.listening).toBe(0)
  })

  test('listens before it reads: nothing falls between', async () => {
    const { app, faces, shelf } = setUp()
    const port = await listen(app)
    // The run ends during the first read, after its frames were read and before the loop waits.
    const timeline = shelf.timeline.bind(shelf)
    shelf.timeline = async (...query) => {
      const page = await timeline(...query)
      if (shelf.frames.length === 0) {
        shelf.frames.push(status(1, 'succeeded'))
        faces.ring('run_1')
      }
      return page
    }
    const stream = await openStream(port, '/runs/run_1/stream')
    expect(await stream.over).toBe(true)
    expect(stream.text()).toContain(message(status(1, 'succeeded')))
  })

  test('looks by itself when no ring comes', async () => {
    const { app, faces, shelf } = setUp({ limits: { rereadMs: 5_000 } })
    const stream = await openStream(await listen(app), '/runs/run_1/stream')
    await eventually(() => faces.clock.timers.size === IDLE_TIMERS)
    shelf.frames.push(status(1, 'cancelled'))
    faces.clock.advance(4_999)
    expect(reads(shelf)).toHaveLength(1)
    faces.clock.advance(1)
    expect(await stream.over).toBe(true)
    expect(stream.text()).toContain('"cancelled"')
  })

  test('keeps the connection alive every 15 s', async () => {
    const { app, faces } = setUp({ limits: { rereadMs: 60_000 } })
    const stream = await openStream(await listen(app), '/runs/run_1/stream')
    for (const beats of [1, 2]) {
      await eventually(() => faces.clock.timers.size === IDLE_TIMERS)
      faces.clock.advance(15_000)
      await stream.saw(': keep-alive\n\n'.repeat(beats))
    }
    expect(stream.text()).toBe('retry: 2000\n\n: keep-alive\n\n: keep-alive\n\n')
  })

  test('from a seq the run never reaches, it ends with the run it is told of', async () => {
    const { app, faces, shelf } = setUp({ frames: [status(1, 'queued')] })
    const stream = await openStream(await listen(app), '/runs/run_1/stream?from=1000000')
    await eventually(() => faces.clock.timers.size === IDLE_TIMERS)
    const end = status(2, 'succeeded')
    shelf.frames.push(end)
    faces.live.runs.publish('run_1', [end])
    expect(await stream.over).toBe(true)
    expect(stream.text()).toBe('retry: 2000\n\n')
  })

  test('from a seq the run never reaches, it still ends with the run', async () => {
    const { app, faces, shelf } = setUp({ frames: [status(1, 'queued')] })
    const stream = await openStream(await listen(app), '/runs/run_1/stream?from=1000000')
    await eventually(() => faces.clock.timers.size === IDLE_TIMERS)
    shelf.frames.push(status(2, 'succeeded'))
    shelf.runRows.set('run_1', aRun({ status: 'succeeded' }))
    faces.ring('run_1')
    expect(await stream.over).toBe(true)
    expect(stream.text()).toBe('retry: 2000\n\n')
  })

  test('resumed at the end of a parked run it asks for no more than the status', async () => {
    const { app, faces, shelf } = setUp({ frames: [status(1, 'waiting')] })
    const stream = await openStream(await listen(app), '/runs/run_1/stream?from=1')
    for (let i = 0; i < 5; i++) {
      await eventually(() => faces.clock.timers.size === IDLE_TIMERS)
      faces.clock.advance(5_000)
    }
    await eventually(() => reads(shelf).length >= 5)
    expect(shelf.calls.map(([name]) => name)).not.toContain('run')
    stream.disconnect()
  })

  test('does not read the run, with its payloads, again and again', async () => {
    const { app, faces, shelf } = setUp({ frames: [status(1, 'queued')] })
    const stream = await openStream(await listen(app), '/runs/run_1/stream')
    await stream.saw('"queued"')
    for (let i = 0; i < 5; i++) {
      await eventually(() => faces.clock.timers.size === IDLE_TIMERS)
      faces.clock.advance(5_000)
    }
    await eventually(() => reads(shelf).length >= 5)
    const asked = shelf.calls.map(([name]) => name)
    expect(asked).not.toContain('run')
    expect(asked).not.toContain('status')
  })
})

describe('when something goes wrong', () => {
  test('a client that leaves leaves nothing behind', async () => {
    const { app, faces } = setUp({ frames: [status(1, 'queued')] })
    const port = await listen(app)
    const streams = await Promise.all([1, 2, 3].map(() => openStream(port, '/runs/run_1/stream')))
    await eventually(() => faces.clock.timers.size === 3 * IDLE_TIMERS)
    expect(faces.listening).toBe(3)
    for (const stream of streams) stream.disconnect()
    await eventually(() => faces.listening === 0)
    expect(faces.clock.timers.size).toBe(0)
  })

  test('a client that leaves during a read leaves nothing behind', async () => {
    const { app, faces, shelf } = setUp()
    let release = (): void => {}
    const page = { status: 'running' as const, frames: [log(1)], openFrom: 0, more: true }
    let reads = 0
    shelf.timeline = () =>
      reads++ === 0 ? Promise.resolve(page) : new Promise(resolve => (release = () => resolve(page)))
    const stream = await openStream(await listen(app), '/runs/run_1/stream')
    stream.disconnect()
    await stream.over
    let sockets = 1
    await eventually(() => {
      app.server.getConnections((_, count) => {
        sockets = count
      })
      return sockets === 0
    })
    release()
    await eventually(() => faces.listening === 0)
    expect(faces.clock.timers.size).toBe(0)
  })

  test('a failing store breaks the stream off, so that the client comes back, and is logged', async () => {
    const { app, faces, shelf } = setUp({ frames: [status(1, 'queued')] })
    const stream = await openStream(await listen(app), '/runs/run_1/stream')
    await stream.saw('"queued"')
    shelf.timelineError = new Error('disk gone')
    faces.ring('run_1')
    expect(await stream.over).toBe(false)
    await eventually(() => faces.listening === 0)
    expect(JSON.stringify(faces.logged)).toContain('disk gone')
    expect(stream.text()).not.toContain('disk gone')
    expect(faces.clock.timers.size).toBe(0)
  })

  test('a store that fails before the first byte is an ordinary error', async () => {
    const { app, faces, shelf } = setUp()
    shelf.timeline = () => Promise.reject(new Error('disk gone'))
    expect(refusal(await app.inject('/runs/run_1/stream'))).toBe('500 internal')
    expect(faces.listening).toBe(0)
  })

  test('a HEAD request opens no stream', async () => {
    const { app } = setUp()
    const response = await app.inject({ method: 'HEAD', url: '/runs/run_1/stream' })
    expect([response.statusCode, response.headers.allow]).toEqual([405, 'GET'])
  })
})

describe('a slow client', () => {
  // Far more than the buffers of a socket hold.
  const big = Array.from({ length: 200 }, (_, i) => log(i + 1, 'x'.repeat(100_000)))

  test('holds one page in memory, and is dropped when it does not read for 30 s', async () => {
    const { app, faces, shelf } = setUp({ frames: big, limits: { pageFrames: 10 } })
    const stream = await openStream(await listen(app), '/runs/run_1/stream')
    stream.pause()
    // It stalls: beside the heartbeat there is the timer that will drop it.
    await eventually(() => faces.clock.timers.size === IDLE_TIMERS)
    const pages = reads(shelf).length
    expect(pages).toBeLessThan(20)
    faces.ring('run_1')
    faces.clock.advance(29_999)
    expect(reads(shelf).length).toBe(pages)
    expect(faces.listening).toBe(1)
    faces.clock.advance(1)
    await eventually(() => faces.listening === 0)
    expect(faces.clock.timers.size).toBe(0)
  })

  test('that reads on gets everything', async () => {
    const frames = [...big, status(201, 'succeeded')]
    const { app, faces } = setUp({ run: 'succeeded', frames, limits: { pageFrames: 10 } })
    const stream = await openStream(await listen(app), '/runs/run_1/stream')
    stream.pause()
    await eventually(() => faces.clock.timers.size === IDLE_TIMERS)
    stream.resume()
    expect(await stream.over).toBe(true)
    expect(stream.text().match(/^id: /gm)).toHaveLength(201)
    await eventually(() => faces.clock.timers.size === 0)
  })
})

describe('drain', () => {
  test('closing the app ends every stream in order', async () => {
    const { app, faces } = setUp({ frames: [status(1, 'queued')] })
    const port = await listen(app)
    const streams = await Promise.all([1, 2, 3].map(() => openStream(port, '/runs/run_1/stream')))
    for (const stream of streams) await stream.saw('"queued"')
    await app.close()
    expect(await Promise.all(streams.map(stream => stream.over))).toEqual([true, true, true])
    await eventually(() => faces.listening === 0)
    expect(faces.clock.timers.size).toBe(0)
  })

  test('a stream that stalls is cut', async () => {
    const frames = Array.from({ length: 100 }, (_, i) => log(i + 1, 'x'.repeat(100_000)))
    const { app, faces } = setUp({ frames, limits: { pageFrames: 10 } })
    const stream = await openStream(await listen(app), '/runs/run_1/stream')
    stream.pause()
    await eventually(() => faces.clock.timers.size === IDLE_TIMERS)
    await app.close()
    expect(faces.listening).toBe(0)
    expect(faces.clock.timers.size).toBe(0)
  })
})
