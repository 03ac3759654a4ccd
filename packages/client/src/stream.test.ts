// Streams against a real server that ends, drops and refuses connections, and that goes silent.

import { describe, expect, test, vi } from 'vitest'
import { type ClientOptions, createClient } from './client.ts'
import { ApiError, ConnectionError } from './errors/call-errors.ts'
import { closedUrl, frames, hangs, json, openServer, refused, type Script } from './server.testkit.ts'

const frame = (seq: number, status = 'running') => ({ kind: 'run_status', seq, runId: 'run_1', status })
const quick = { retryMs: 1, retryMsMax: 2, attemptsMax: 3 }

/** Follows the run until the stream ends or fails. */
async function followed(script: Script[], stream: ClientOptions['stream'] = {}, from?: number) {
  const server = await openServer(...script)
  const client = createClient({ url: server.url, stream: { ...quick, ...stream } })
  const seqs: number[] = []
  let failure: unknown
  try {
    for await (const { seq } of client.streamRun({ id: 'run_1', from })) seqs.push(seq)
  } catch (thrown) {
    failure = thrown
  }
  return { seqs, failure, paths: server.seen.map(({ path }) => path) }
}

describe("a run's timeline", () => {
  test('ends when the server ends it after the last status', async () => {
    const { seqs, paths, failure } = await followed([frames([frame(1), frame(3, 'succeeded')], 'ends')])
    expect({ seqs, paths, failure }).toEqual({
      seqs: [1, 3],
      paths: ['/runs/run_1/stream'],
      failure: undefined,
    })
  })

  test('resumes after the last seq when it is dropped: no frame is lost or repeated', async () => {
    const { seqs, paths, failure } = await followed(
      [
        frames([frame(1), frame(2)], 'drops'),
        refused(503, 'overloaded'),
        frames([frame(5)], 'drops'),
        frames([frame(6, 'failed')], 'drops'),
        frames([], 'ends'),
      ],
      {},
      0,
    )
    expect({ seqs, failure }).toEqual({ seqs: [1, 2, 5, 6], failure: undefined })
    expect(paths.map(path => path.split('=')[1])).toEqual(['0', '2', '2', '5', '6'])
  })

  test('continues when an engine that shuts down ended it early', async () => {
    const { seqs, paths } = await followed([
      frames([frame(1)], 'ends'),
      json({ id: 'run_1', status: 'running' }),
      frames([frame(2, 'cancelled')], 'ends'),
    ])
    expect(seqs).toEqual([1, 2])
    expect(paths).toEqual(['/runs/run_1/stream', '/runs/run_1', '/runs/run_1/stream?from=1'])
  })

  test('keeps the frames between the early end of the stream and the end of the run', async () => {
    const { seqs } = await followed([
      frames([frame(1)], 'ends'),
      json({ id: 'run_1', status: 'succeeded' }),
      frames([frame(2), frame(3, 'succeeded')], 'ends'),
    ])
    expect(seqs).toEqual([1, 2, 3])
  })

  test('is empty and ends, when it starts after the end of the run', async () => {
    const ended = json({ id: 'run_1', status: 'failed' })
    const { seqs, failure, paths } = await followed([frames([], 'ends'), ended, frames([], 'ends')], {}, 99)
    expect({ seqs, failure }).toEqual({ seqs: [], failure: undefined })
    expect(paths).toHaveLength(3)
  })

  test('reconnects when a connection is silent', async () => {
    const server = await openServer(frames([frame(1)], 'stays'), frames([frame(2, 'failed')], 'ends'))
    // On a busy machine later connections may also be silent for this long.
    const client = createClient({ url: server.url, stream: { ...quick, silenceMs: 50, attemptsMax: 1000 } })
    const stream = client.streamRun({ id: 'run_1' })
    // The first frame has as much time as it needs.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const first = await stream.next().finally(() => vi.useRealTimers())
    expect(first.value?.seq).toBe(1)
    expect((await stream.next()).value?.seq).toBe(2)
  })
})

describe('a stream fails', () => {
  test('when the engine refuses it, at first and later', async () => {
    const first = await followed([refused(404, 'not_found')])
    expect(first.failure).toMatchObject({ code: 'not_found' })
    const later = await followed([frames([frame(1)], 'drops'), refused(401, 'unauthorized')])
    expect(later.failure).toBeInstanceOf(ApiError)
    expect(later.paths).toHaveLength(2)
  })

  test('at once, when no engine answers at first', async () => {
    const client = createClient({ url: await closedUrl(), stream: quick })
    await expect(client.streamRun({ id: 'x' }).next()).rejects.toBeInstanceOf(ConnectionError)
    // The request has as much time as it needs to arrive.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { failure, paths } = await followed([() => void vi.advanceTimersByTime(30)], { silenceMs: 30 }).finally(() =>
      vi.useRealTimers(),
    )
    expect(failure).toMatchObject({
      name: 'ConnectionError',
      message: expect.stringContaining('silent for 30 ms'),
    })
    expect(paths).toHaveLength(1)
  })

  test('after `attemptsMax` attempts, when the engine does not come back', async () => {
    const { seqs, failure, paths } = await followed([frames([frame(1)], 'drops'), response => response.destroy()])
    expect(seqs).toEqual([1])
    expect(failure).toBeInstanceOf(ConnectionError)
    expect(paths).toHaveLength(1 + quick.attemptsMax)
  })

  test('after `attemptsMax` attempts, when the server ends every stream at once', async () => {
    const running = json({ id: 'run_1', status: 'running' })
    const script = [frames([], 'ends'), running, frames([], 'ends'), running, frames([], 'ends'), running]
    const { failure } = await followed(script, { attemptsMax: 2, retryMsMax: 10_000 })
    expect(failure).toMatchObject({ message: expect.stringContaining('kept ending') })
  })

  test('when a frame is not JSON', async () => {
    const { failure } = await followed([response => response.writeHead(200).write('data: {\n\n')])
    expect(failure).toBeInstanceOf(ConnectionError)
  })
})

describe('a follower', () => {
  test('that leaves the loop closes the connection', async () => {
    const server = await openServer(frames([frame(1)], 'stays'))
    for await (const _ of createClient({ url: server.url }).streamRun({ id: 'run_1' })) break
    await server.cut(1)
  })

  test('that aborts ends the stream, live or between two connections', async () => {
    const server = await openServer(frames([frame(1)], 'stays'))
    const stop = new AbortController()
    const live = createClient({ url: server.url }).streamRuns({}, { signal: stop.signal })
    await live.next()
    stop.abort(new Error('enough'))
    await expect(live.next()).rejects.toThrow('enough')
    await server.cut(1)

    const dropped = await openServer(frames([frame(1)], 'drops'))
    const later = new AbortController()
    const waiting = createClient({ url: dropped.url, stream: { retryMs: 60_000, retryMsMax: 60_000 } })
    const stream = waiting.streamRuns({}, { signal: later.signal })
    await stream.next()
    const next = stream.next()
    await dropped.cut(1)
    later.abort(new Error('enough'))
    await expect(next).rejects.toThrow('enough')
  })

  test('keeps a quiet stream whose connections are closed now and then', async () => {
    const quiet = Array.from({ length: 9 }, () => frames([], 'ends'))
    const server = await openServer(...quiet, frames([frame(1)], 'ends'))
    // With `retryMsMax` 0, every connection counts as one that lasted.
    const client = createClient({ url: server.url, stream: { ...quick, retryMsMax: 0 } })
    expect(await client.streamRuns().next()).toMatchObject({ value: { seq: 1 } })
  })

  test('reopens a live stream with the same request, because it has no position', async () => {
    const server = await openServer(frames([frame(1)], 'ends'), frames([frame(2, 'failed')], 'drops'), hangs)
    const client = createClient({ url: server.url, stream: quick })
    const seqs: number[] = []
    let opened = 0
    const onOpen = () => opened++
    for await (const frame of client.streamRuns({}, { onOpen }))
      if (frame.kind === 'run_status' && seqs.push(frame.seq) === 2) break
    expect(seqs).toEqual([1, 2])
    expect(opened).toBe(2)
    expect(server.seen.map(({ path }) => path)).toEqual(['/runs/stream', '/runs/stream'])
  })
})
