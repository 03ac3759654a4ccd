import { STREAM_BYTES_MAX, STREAM_CHUNKS_MAX, STREAMS_OF_RUN_MAX } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import type { Run } from '../model/run.ts'
import type { Step } from '../model/step.ts'
import type { StreamHead, StreamRow } from '../model/stream/stream.ts'
import type { RunState } from '../run/state.ts'
import type { Append } from './append.ts'
import { followDecision, withdrawLost } from './follow.ts'
import { chunksOf, countedText, endMessage, messagesOf, offsetOf } from './messages.ts'
import { type Streams, StreamsDraft } from './streams-draft.ts'

const NOW = 1000
const FIRST = { pass: 1, attempt: 1 }

const given = (step: string, chunks: string[], name = 'answer'): Append => ({
  ...{ stepId: `id-${step}`, step, name, seq: 1, chunks },
  bytes: chunks.reduce((sum, chunk) => sum + Buffer.byteLength(chunk), 0),
})

/** A run's streams with all rows that were ever written. */
class Written {
  streams: Streams = new Map()
  readonly rows: StreamRow[] = []

  write(change: (draft: StreamsDraft) => void): this {
    const draft = new StreamsDraft('run_1', this.streams, NOW)
    change(draft)
    return this.take(draft)
  }

  take(draft: StreamsDraft): this {
    for (const written of draft.changes) if (written.type === 'stream.written') this.rows.push(...written.rows)
    this.streams = draft.streams
    return this
  }

  append(step: string, chunks: string[], execution = FIRST): this {
    return this.write(draft => expect(draft.append(given(step, chunks), execution)).toBeUndefined())
  }

  get head(): StreamHead {
    return this.streams.get('answer') as StreamHead
  }

  get messages(): unknown[] {
    return messagesOf(this.rows, 0).map(text => JSON.parse(text))
  }

  get text(): string {
    const rollbacks = this.rows.filter(({ rollback }) => rollback !== undefined)
    return countedText(this.rows, rollbacks, 0)
  }
}

const stepOf = (name: string, fields: Partial<Step>): Step => ({ id: `id-${name}`, pass: 1, ...fields }) as Step
const decided = (written: Written, status: Run['status'], steps: Step[], ending?: { isLost: boolean }) =>
  followDecision(written.streams, { run: { id: 'run_1', status } as Run, steps }, { now: NOW, ending }) as StreamsDraft

describe('appends', () => {
  test('share a row as long as they are of one execution, and keep their texts', () => {
    const written = new Written().write(draft => {
      draft.append(given('a', ['1.50', '"x"']), FIRST)
      draft.append(given('a', ['{"b":[1, 2]}']), FIRST)
      draft.append(given('b', ['null']), FIRST)
    })
    expect(written.rows.map(({ n, count, chunks }) => [n, count, chunks])).toEqual([
      [0, 3, '1.50,"x",{"b":[1, 2]}'],
      [3, 1, 'null'],
    ])
    expect(chunksOf(written.rows[0] as StreamRow)).toEqual(['1.50', '"x"', '{"b":[1, 2]}'])
    expect(written.head).toMatchObject({ next: 4, chunks: 4, bytes: 23, firstAt: NOW })
    expect(written.head.open.map(({ step, first, chunks }) => [step, first, chunks])).toEqual([
      ['a', 0, 3],
      ['b', 3, 1],
    ])
  })

  test('leave the heads that a draft began with as they are', () => {
    const written = new Written().append('a', ['1'])
    const before = structuredClone([...written.streams])
    new StreamsDraft('run_1', written.streams, NOW).append(given('a', ['2']), FIRST)
    expect([...written.streams]).toEqual(before)
  })

  test('of a later pass withdraw what the step wrote in an earlier one', () => {
    const written = new Written().append('a', ['"lost"']).append('a', ['"new"'], { pass: 2, attempt: 1 })
    expect(written.messages).toEqual([
      { n: 0, chunk: 'lost', step: 'a', attempt: 1 },
      { n: 1, rollback: 0, step: 'a', attempt: 1, reason: 'lost' },
      { n: 2, chunk: 'new' },
    ])
    expect(written.text).toBe('new')
  })

  const full = (fields: Partial<StreamHead>): Streams => {
    const { head } = new Written().append('a', ['1'])
    return new Map([['answer', { ...head, ...fields }]])
  }
  test.each([
    ['chunks', full({ chunks: STREAM_CHUNKS_MAX }), `stream "answer" would exceed its limit of 100000 chunks`],
    ['bytes', full({ bytes: STREAM_BYTES_MAX }), `exceed its limit of 16777216 bytes`],
    ['all chunks', full({ allChunks: 4 * STREAM_CHUNKS_MAX }), '400000 chunks, including withdrawn ones'],
    ['all bytes', full({ allBytes: 4 * STREAM_BYTES_MAX }), '67108864 bytes, including withdrawn chunks'],
  ])('over the bound of %s are refused, and change nothing', (_, streams, message) => {
    const draft = new StreamsDraft('run_1', streams, NOW)
    const refusal = draft.append(given('a', ['1']), FIRST)
    expect(refusal).toEqual({ code: 'payload_too_large', message: expect.stringContaining(message) })
    expect(draft.changes).toEqual([])
  })

  test('begin as many streams as a run may have, and no more', () => {
    const draft = new StreamsDraft('run_1', new Map(), NOW)
    for (let n = 0; n < STREAMS_OF_RUN_MAX; n++) expect(draft.append(given('a', ['1'], `s${n}`), FIRST)).toBeUndefined()
    expect(draft.append(given('a', ['1'], 'more'), FIRST)?.message).toBe(
      'stream "more" would exceed the limit of 64 streams for one run',
    )
    expect(draft.append(given('a', ['1'], 's0'), FIRST)).toBeUndefined()
  })
})

describe('a decision on the run', () => {
  const two = () => new Written().append('a', ['"a1"']).append('b', ['"b1"']).append('a', ['"a2"'])

  test('that stores a success settles the chunks of the step', () => {
    const written = two()
    const draft = decided(written, 'running', [stepOf('a', { status: 'succeeded' })])
    expect(draft.closed).toEqual([{ name: 'answer', first: 0 }])
    written.take(draft)
    expect(written.head.open.map(({ step }) => step)).toEqual(['b'])
    expect(written.text).toBe('a1b1a2')
  })

  test.each(['failed', 'retrying'] as const)('that stores a step as %s withdraws its chunks alone', status => {
    const written = two()
    written.take(decided(written, 'running', [stepOf('a', { status })]))
    expect(written.messages.at(-1)).toEqual({ n: 3, rollback: 0, step: 'a', attempt: 1, reason: 'failed' })
    expect([written.text, written.head.chunks, written.head.bytes]).toEqual(['b1', 1, 4])
  })

  test.each([
    ['a cancel', 'cancelled', undefined, { isLost: false }],
    ['a result', 'succeeded', undefined, { isLost: false }],
    ['a timeout', 'failed', { code: 'timeout' }, { isLost: true }],
  ] as const)('that ends the run by %s withdraws nothing', (_, status, error, ending) => {
    const written = two()
    const run = { id: 'run_1', status, error } as Run
    const steps = [stepOf('a', { status: 'cancelled' })]
    written.take(followDecision(written.streams, { run, steps }, { now: NOW, ending }) as StreamsDraft)
    expect(written.text).toBe('a1b1a2')
  })

  test('on a step that somebody settled by hand withdraws nothing', () => {
    const written = two()
    written.take(decided(written, 'running', [stepOf('a', { status: 'failed', settledBy: { reason: 'x', at: 1 } })]))
    expect(written.text).toBe('a1b1a2')
  })

  test('that repeats the pass withdraws what it left open', () => {
    const written = two()
    written.take(decided(written, 'queued', [], { isLost: true }))
    expect(written.messages.slice(3)).toEqual([
      { n: 3, rollback: 0, step: 'a', attempt: 1, reason: 'lost' },
      { n: 4, rollback: 1, step: 'b', attempt: 1, reason: 'lost' },
    ])
    expect([written.text, written.head.open]).toEqual(['', []])
  })

  test('that stores the success of a later pass withdraws what the lost one wrote', () => {
    const written = two()
    written.take(decided(written, 'running', [stepOf('a', { status: 'succeeded', pass: 2 })]))
    expect(written.messages.at(-1)).toMatchObject({ rollback: 0, step: 'a', reason: 'lost' })
  })

  test('is followed by nothing if no chunks are open', () => {
    const written = two()
    written.take(
      decided(
        written,
        'running',
        ['a', 'b'].map(name => stepOf(name, { status: 'succeeded' })),
      ),
    )
    expect(decided(written, 'running', [stepOf('c', { status: 'failed' })])).toBeUndefined()
  })
})

test('a pass that was lost with its engine leaves chunks of settled steps alone', () => {
  const written = new Written().append('a', ['"a"']).append('b', ['"b"'])
  const steps = new Map([['id-a', stepOf('a', { status: 'succeeded' })]])
  const draft = withdrawLost(written.streams, { run: { id: 'run_1' }, steps } as unknown as RunState, NOW)
  written.take(draft as StreamsDraft)
  expect([written.text, written.head.open]).toEqual(['a', []])
})

test('messages begin at any number, and the first one names its step', () => {
  const written = new Written().append('a', ['1', '2', '3']).append('b', ['4'])
  const from = (n: number) => messagesOf(written.rows, n).map(text => JSON.parse(text))
  expect(from(2)).toEqual([
    { n: 2, chunk: 3, step: 'a', attempt: 1 },
    { n: 3, chunk: 4, step: 'b', attempt: 1 },
  ])
  expect(from(4)).toEqual([])
  expect(endMessage(4, { status: 'succeeded' })).toBe('{"n":4,"end":"succeeded"}')
  expect(offsetOf(4)).toBe('0000000000000004')
})
