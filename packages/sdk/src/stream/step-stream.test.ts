// One output stream of an attempt: what is sent together, what waits, and how its promises settle.

import { NonRetriableError } from '@perdure/client'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { StreamLimitError, StreamUnavailableError } from '../wire/stream-errors.ts'
import { type Append, AppendRefusedError, type StreamOutlet } from './outlet.ts'
import { StepStreams } from './step-streams.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** An engine that acknowledges when the test says so. */
class HeldEngine implements StreamOutlet {
  readonly appendsMax: number
  readonly sent: Append[] = []
  readonly #settle: { resolve(): void; reject(error: unknown): void; isOver(): boolean }[] = []

  constructor(appendsMax = Number.POSITIVE_INFINITY) {
    this.appendsMax = appendsMax
  }

  append(append: Append, isOver: () => boolean): Promise<void> {
    this.sent.push(append)
    return new Promise((resolve, reject) => this.#settle.push({ resolve, reject, isOver }))
  }

  get chunks(): unknown[][] {
    return this.sent.map(({ chunks }) => chunks.map(text => JSON.parse(text)))
  }

  get overs(): boolean[] {
    return this.#settle.map(({ isOver }) => isOver())
  }

  async acknowledge(seq: number): Promise<void> {
    this.#settle[seq - 1]?.resolve()
    await vi.advanceTimersByTimeAsync(0)
  }

  async refuse(seq: number, code: string, message = 'no'): Promise<void> {
    this.#settle[seq - 1]?.reject(new AppendRefusedError(code, message))
    await vi.advanceTimersByTimeAsync(0)
  }
}

function open(outlet: StreamOutlet | null = new HeldEngine()) {
  const aborting = new AbortController()
  const events: string[] = []
  const streams = new StepStreams({
    stepId: 'hash',
    step: 'ask:1',
    outlet: outlet ?? undefined,
    signal: aborting.signal,
    onAppended: () => void events.push('appended'),
    onGone: () => void events.push('gone'),
  })
  return { streams, out: streams.of('answer'), aborting, events, engine: outlet as HeldEngine }
}

/** Returns how a promise has settled so far. */
async function stateOf(promise: Promise<unknown>): Promise<unknown> {
  let state: unknown = 'open'
  promise.then(
    value => (state = value ?? 'done'),
    error => (state = error),
  )
  await vi.advanceTimersByTimeAsync(0)
  return state
}

const large = (bytes: number) => 'x'.repeat(bytes - 2)

describe('chunks', () => {
  test('of 5 ms, or of 16 KiB, are one append; appends are numbered', async () => {
    const { out, engine } = open()
    const first = { a: [1] }
    await out.write(first)
    first.a.push(2)
    await out.write('b')
    await vi.advanceTimersByTimeAsync(4)
    expect(engine.sent).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    await out.write(null)
    await out.write(large(16 * 1024))
    expect(engine.chunks).toEqual([
      [{ a: [1] }, 'b'],
      [null, large(16 * 1024)],
    ])
    expect(engine.sent[1]).toMatchObject({ stepId: 'hash', step: 'ask:1', name: 'answer', seq: 2 })
    expect(out.text()).toBe(`b${large(16 * 1024)}`)
  })

  test('wait while 256 KiB are not acknowledged, and go on with the acknowledgement', async () => {
    const { out, engine } = open()
    for (let i = 0; i < 5; i++) await out.write(large(64 * 1024))
    await out.write('small')
    await vi.advanceTimersByTimeAsync(10)
    expect(engine.sent).toHaveLength(4)
    await engine.acknowledge(1)
    expect(engine.sent).toHaveLength(5)
    await engine.acknowledge(2)
    expect(engine.chunks.at(-1)).toEqual(['small'])
  })

  test('go one append at a time where the transport says so, at most 4,096 in each', async () => {
    const { out, engine } = open(new HeldEngine(1))
    await out.write(0)
    await vi.advanceTimersByTimeAsync(5)
    for (let i = 1; i < 5_000; i++) await out.write(i)
    await vi.advanceTimersByTimeAsync(5)
    expect(engine.sent).toHaveLength(1)
    await engine.acknowledge(1)
    await engine.acknowledge(2)
    expect(engine.chunks.map(({ length }) => length)).toEqual([1, 4_096, 903])
  })

  test.each([
    [() => undefined, 'a chunk of stream "answer" cannot be stored as JSON: it is a function'],
    [undefined, 'it is undefined'],
    [{ n: 1n }, 'it has a BigInt'],
  ])('that are not JSON are refused: %o', async (chunk, message) => {
    const { out, engine } = open()
    const error = await stateOf(out.write(chunk))
    expect(error).toBeInstanceOf(NonRetriableError)
    expect((error as Error).message).toContain(message)
    // The stream continues.
    await out.write('a')
    await vi.advanceTimersByTimeAsync(5)
    expect(engine.chunks).toEqual([['a']])
  })
})

describe('write', () => {
  test('waits for room in a buffer of 1 MiB', async () => {
    const { out, engine } = open()
    for (let i = 0; i < 16; i++) expect(await stateOf(out.write(large(64 * 1024)))).toBe('done')
    const blocked = out.write('more')
    expect(await stateOf(blocked)).toBe('open')
    await engine.acknowledge(1)
    expect(await stateOf(blocked)).toBe('done')
  })

  test.each([
    { bound: '65536', writes: 1, chunk: large(64 * 1024 + 1) },
    { bound: '16777216 bytes', writes: 257, chunk: large(64 * 1024) },
    { bound: '100000 chunks', writes: 100_001, chunk: 1 },
  ])('refuses what is beyond $bound', async ({ bound, writes, chunk }) => {
    const { out } = open(null)
    for (let i = 1; i < writes; i++) await out.write(chunk)
    const error = await stateOf(out.write(chunk))
    expect(error).toBeInstanceOf(StreamLimitError)
    expect(error).toBeInstanceOf(NonRetriableError)
    expect((error as Error).message).toContain(bound)
  })
})

describe('flush', () => {
  test('sends at once, and resolves when all that was written before is durable', async () => {
    const { out, streams, engine, events } = open()
    await out.write('a')
    const flushed = out.flush()
    expect(engine.chunks).toEqual([['a']])
    await out.write('b')
    await streams.of('other').write('c')
    const all = streams.flush()
    await engine.acknowledge(2)
    expect(await stateOf(flushed)).toBe('open')
    await engine.acknowledge(1)
    expect(await stateOf(flushed)).toBe('done')
    expect(await stateOf(all)).toBe('open')
    await engine.acknowledge(3)
    expect(await stateOf(all)).toBe('done')
    expect(events).toEqual(['appended', 'appended', 'appended'])
    expect(await stateOf(out.flush())).toBe('done')
  })

  test('goes on with the acknowledgements when more waits than may be under way', async () => {
    const { out, engine } = open()
    for (let i = 0; i < 9; i++) await out.write(large(64 * 1024))
    const flushed = out.flush()
    for (let seq = 1; seq <= 9; seq++) await engine.acknowledge(seq)
    expect(await stateOf(flushed)).toBe('done')
  })
})

describe('a refused append fails what waits, and what comes later', () => {
  test.each([
    { code: 'payload_too_large', kind: StreamLimitError, events: [] },
    { code: 'invalid_request', kind: NonRetriableError, events: [] },
    { code: 'conflict', kind: Error, events: [] },
    { code: 'gone', kind: Error, events: ['gone'] },
  ])('$code', async ({ code, kind, events: expected }) => {
    const { out, engine, events } = open()
    await out.write('a')
    const flushed = out.flush()
    await out.write('b')
    await engine.refuse(1, code, 'a stream has at most 100000 chunks')
    const error = await stateOf(flushed)
    expect(error).toBeInstanceOf(kind)
    expect(error instanceof NonRetriableError).toBe(kind !== Error)
    expect((error as Error).message).toContain('Step "ask:1": stream "answer": ')
    expect((error as Error).message).toContain('at most 100000 chunks')
    expect(await stateOf(out.write('c'))).toBe(error)
    expect(await stateOf(out.flush())).toBe(error)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(engine.sent).toHaveLength(1)
    expect(events).toEqual(expected)
  })
})

test('without an acknowledgement for 30 s the stream is unavailable, and is not sent any more', async () => {
  const { out, engine } = open()
  await out.write('a')
  const flushed = out.flush()
  await vi.advanceTimersByTimeAsync(29_000)
  await out.write('b')
  void out.flush()
  await engine.acknowledge(1)
  expect(await stateOf(flushed)).toBe('done')
  const later = out.flush()
  await vi.advanceTimersByTimeAsync(29_999)
  expect(await stateOf(later)).toBe('open')
  await vi.advanceTimersByTimeAsync(1)
  const error = await stateOf(later)
  expect(error).toBeInstanceOf(StreamUnavailableError)
  expect(error).not.toBeInstanceOf(NonRetriableError)
  expect((error as Error).message).toContain('30 s')
  expect(engine.overs).toEqual([true, true])
})

describe('pipe', () => {
  test.each<[string, () => AsyncIterable<string> | Iterable<string> | ReadableStream<string>]>([
    [
      'an async generator',
      async function* () {
        yield* ['a', 'b']
      },
    ],
    ['a list', () => ['a', 'b']],
    ['a ReadableStream', () => new Response('ab').body?.pipeThrough(new TextDecoderStream()) as ReadableStream<string>],
  ])('writes and gives back what it reads of %s', async (_, source) => {
    const { out, engine } = open()
    expect((await out.pipe(source())).join('')).toBe('ab')
    await vi.advanceTimersByTimeAsync(5)
    expect(engine.chunks.flat().join('')).toBe('ab')
    expect(out.text()).toBe('ab')
  })

  test('reads no further than the buffer has room', async () => {
    const { out, engine } = open()
    let read = 0
    const source = async function* () {
      for (; read < 40; read++) yield large(64 * 1024)
    }
    const piped = out.pipe(source())
    expect(await stateOf(piped)).toBe('open')
    expect(read).toBe(16)
    for (let seq = 1; seq <= 40; seq++) await engine.acknowledge(seq)
    expect(await stateOf(piped)).toHaveLength(40)
  })

  test('cancels the source when it cannot write, also while it waits for the source', async () => {
    const { out, aborting } = open()
    let ended = false
    const endless = async function* () {
      try {
        for (;;) yield 1n
      } finally {
        ended = true
      }
    }
    expect(await stateOf(out.pipe(endless()))).toBeInstanceOf(NonRetriableError)
    expect(ended).toBe(true)
    const cancelled: unknown[] = []
    const silent = new ReadableStream<string>({ cancel: reason => void cancelled.push(reason) })
    const piped = out.pipe(silent)
    const reason = new Error('cancelled')
    aborting.abort(reason)
    expect(await stateOf(piped)).toBe(reason)
    expect(cancelled).toEqual([reason])
  })

  test('fails with the error of its source, and refuses what is none', async () => {
    const { out } = open()
    const broken = new Error('broken')
    const source = async function* () {
      yield 'a'
      throw broken
    }
    expect(await stateOf(out.pipe(source()))).toBe(broken)
    expect(await stateOf(out.pipe('text' as never))).toBeInstanceOf(NonRetriableError)
  })
})

test('when the attempt is aborted, all that waits rejects, and nothing more is sent', async () => {
  const { streams, out, aborting, engine } = open()
  for (let i = 0; i < 16; i++) await out.write(large(64 * 1024))
  const [written, flushed] = [out.write('b'), out.flush()]
  const reason = new Error('cancelled')
  aborting.abort(reason)
  expect(await Promise.all([written, flushed, out.write('c'), streams.of('late').flush()].map(stateOf))).toEqual(
    Array(4).fill(reason),
  )
  expect(vi.getTimerCount()).toBe(0)
  await engine.acknowledge(1)
  expect(engine.sent).toHaveLength(4)
})

describe('the streams of an attempt', () => {
  test('have one object for each name', () => {
    const { streams, out } = open()
    expect(streams.of('answer')).toBe(out)
    expect(streams.of('other')).not.toBe(out)
    expect(out.name).toBe('answer')
  })

  test.each(['', 'a b', '..', 'x'.repeat(65), 7])('refuse the name %j', name => {
    const { streams } = open()
    expect(() => streams.of(name as string)).toThrow(NonRetriableError)
    expect(() => streams.of(name as string)).toThrow('Step "ask:1": stream: the name')
  })

  test('are at most 64', () => {
    const { streams } = open()
    for (let i = 1; i < 64; i++) streams.of(`s${i}`)
    expect(() => streams.of('one-more')).toThrow(StreamLimitError)
    expect(() => streams.of('one-more')).toThrow('at most 64 streams')
  })
})
