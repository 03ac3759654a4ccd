// The stream of a run: lossless, in order, resumable at every frame (docs/concepts.md#timeline-and-streams).

import { beforeAll, describe, expect, test } from 'vitest'
import {
  discovered,
  flow,
  gate,
  type Handler,
  opcode,
  run,
  type SseMessage,
  type SseResult,
  StepFailure,
  scenario,
  sleep,
  unique,
  wait,
} from '../../kit/index.ts'

const { api, start } = await scenario({ realTime: true })

async function begin(handler: Handler): Promise<string> {
  const retry = { maxAttempts: 3, initialMs: 1, jitter: 0 }
  return (await start(handler, { registration: { retry } })).runId
}

const seqs = (messages: readonly SseMessage[]) => messages.map(({ data }) => data.seq as number)

/** Checks the rules for every stream of a finished run. */
function expectOrderly({ messages, status, contentType, ended }: SseResult, runId: string): void {
  expect({ status, ended }).toEqual({ status: 200, ended: true })
  expect(contentType).toMatch(/^text\/event-stream/)
  for (const { id, event, data } of messages) {
    expect(event).toBe(data.kind)
    expect(id).toBe(String(data.seq))
    expect(data.runId).toBe(runId)
    expect(new Date(data.ts as string).toISOString()).toBe(data.ts)
  }
  const all = seqs(messages)
  expect(all).toEqual([...new Set(all)].sort((a, b) => a - b))
}

/** A run with every kind of frame: a retry, a log line, a wait, parallel steps. */
function eventful(event: string, opened: Promise<void> = Promise.resolve()): Handler {
  let tries = 0
  const rest = flow([
    run('hold', () => opened),
    [run('x'), sleep('y', 1), wait('z', event)],
    run('shaky', () => {
      if (++tries === 1) throw new StepFailure('once')
    }),
  ])
  return async (invoke, record) => {
    const logs = [{ level: 'info', message: 'begun', scope: '@root', index: 0 } as const]
    if (invoke.pass === 1) return discovered([opcode('StepRun', 'first', { data: 1 })], logs)
    return rest(invoke, record)
  }
}

/** The id of an eventful run, and its stream as a reader got it that was there before the end of its first step. */
let runId: string
let live: SseResult

beforeAll(async () => {
  const [event, held] = [unique('go'), gate()]
  runId = await begin(eventful(event, held.opened))
  const reading = api.stream(runId)
  held.open()
  await api.reaches(runId, 'waiting')
  await api.send({ name: event })
  await api.succeeded(runId)
  live = await reading
})

describe('frames', () => {
  test('run_status, step_status and log frames carry their fields', async () => {
    const runId = await begin(({ pass }) =>
      pass === 1
        ? discovered(
            [opcode('StepRun', 'a', { data: 1 })],
            [{ level: 'warn', message: 'careful', scope: '@root', index: 0, fields: { n: 1 } }],
          )
        : { status: 400, body: { error: { message: 'no' }, logs: [] } },
    )
    await api.failed(runId)
    const stream = await api.stream(runId)
    expectOrderly(stream, runId)
    const frames = stream.messages.map(({ data: { seq, ts, runId, ...rest } }) => rest)
    expect(frames[0]).toMatchObject({ kind: 'run_status', status: 'queued' })
    expect(frames[1]).toMatchObject({ kind: 'run_status', status: 'running', attempt: 1 })
    expect(frames).toContainEqual(
      expect.objectContaining({ kind: 'step_status', name: 'a', status: 'succeeded', attempt: 1, index: 0 }),
    )
    expect(frames).toContainEqual({
      kind: 'log',
      level: 'warn',
      message: 'careful',
      fields: { n: 1 },
      scope: '@root',
      attempt: 1,
    })
    expect(frames.at(-1)).toMatchObject({ kind: 'run_status', status: 'failed' })
  })

  test("a failed step's frame has its error; every attempt has a frame", async () => {
    const runId = await begin(
      flow([
        run('bad', () => {
          throw new StepFailure('no luck')
        }),
      ]),
    )
    await api.failed(runId)
    const { messages } = await api.stream(runId)
    const steps = messages.filter(({ event }) => event === 'step_status').map(({ data }) => data)
    expect(steps.map(({ status, attempt }) => [status, attempt])).toEqual([
      ['retrying', 1],
      ['retrying', 2],
      ['failed', 3],
    ])
    expect(steps.at(-1)).toMatchObject({ error: { message: 'no luck' } })
  })

  test('log frames and GET /runs/{id}/logs share their seqs', async () => {
    const frames = live.messages.filter(({ event }) => event === 'log')
    expect(seqs(frames)).toEqual((await api.logs(runId)).map(({ seq }) => seq))
    expect(frames).toHaveLength(1)
  })
})

describe('lossless', () => {
  test('a stream opened live sends the same as one opened at the end', async () => {
    expectOrderly(live, runId)
    const late = await api.stream(runId)
    expectOrderly(late, runId)
    expect(live.messages.map(({ raw }) => raw)).toEqual(late.messages.map(({ raw }) => raw))
    expect(live.messages.length).toBeGreaterThan(10)
  })

  test('resumed at every frame, by from and by Last-Event-ID, it continues the full one', async () => {
    for (const [i, { id }] of live.messages.entries()) {
      const rest = live.messages.slice(i + 1)
      expect((await api.stream(runId, { query: `?from=${id}` })).messages).toEqual(rest)
      const headers = { 'last-event-id': id as string }
      expect((await api.stream(runId, { headers })).messages).toEqual(rest)
    }
  })

  test('dropped after every frame while the run goes on, the pieces make the whole', async () => {
    const [event, held] = [unique('go'), gate()]
    const runId = await begin(eventful(event, held.opened))
    const pieces: SseMessage[] = []
    const reading = (async () => {
      for (;;) {
        const from = pieces.at(-1)?.id ?? '0'
        const piece = await api.stream(runId, {
          query: `?from=${from}`,
          stopWhen: messages => messages.length > 0,
        })
        pieces.push(...piece.messages)
        if (piece.ended) return
      }
    })()
    held.open()
    await api.reaches(runId, 'waiting')
    await api.send({ name: event })
    await api.succeeded(runId)
    await reading
    expect(pieces).toEqual((await api.stream(runId)).messages)
  })

  test('the later of from and Last-Event-ID counts, and one beyond the end ends at once', async () => {
    const [first] = live.messages as [SseMessage]
    const last = live.messages.at(-1)?.id as string
    for (const [from, seen] of [
      [0, first.id],
      [first.id, 0],
    ]) {
      const resumed = { query: `?from=${from}`, headers: { 'last-event-id': String(seen) } }
      expect((await api.stream(runId, resumed)).messages).toEqual(live.messages.slice(1))
    }
    for (const query of [`?from=${last}`, '?from=99999999999']) {
      expect(await api.stream(runId, { query })).toMatchObject({ messages: [], ended: true })
    }
    // An `EventSource` on an ended run would reconnect for ever.
    const again = (seen: string) => api.request('GET', `/runs/${runId}/stream`, { headers: { 'last-event-id': seen } })
    expect(await again(last)).toMatchObject({ status: 204, text: '' })
    expect((await again(first.id as string)).status).toBe(200)
    expect(await api.get(`/runs/${runId}/stream?from=x`)).toMatchObject({
      status: 400,
      code: 'invalid_request',
    })
  })

  test('a long timeline comes complete', async () => {
    const runId = await begin(flow([Array.from({ length: 1200 }, (_, i) => run(`step ${i}`, () => i))]))
    await api.succeeded(runId)
    const { messages } = await api.stream(runId)
    const steps = messages.filter(({ event }) => event === 'step_status')
    expect(steps.map(({ data }) => data.index)).toEqual(Array.from({ length: 1200 }, (_, i) => i))
  })
})

describe('its end', () => {
  test('it ends on its own once the run is terminal, with the terminal frame last', async () => {
    const event = unique('never')
    const runId = await begin(flow([wait('w', event)]))
    await api.reaches(runId, 'waiting')
    const live = api.stream(runId)
    await api.post(`/runs/${runId}/cancel`)
    const { messages, ended, other } = await live
    expect(ended).toBe(true)
    expect(messages.at(-1)?.data).toMatchObject({ kind: 'run_status', status: 'cancelled' })
    expect(other).toContain('retry: 2000')
  })

  test('many readers of one run all get everything', async () => {
    const [event, held] = [unique('go'), gate()]
    const runId = await begin(eventful(event, held.opened))
    const readers = Array.from({ length: 20 }, () => api.stream(runId))
    held.open()
    await api.reaches(runId, 'waiting')
    await api.send({ name: event })
    const [first, ...others] = await Promise.all(readers)
    for (const other of others) expect(other.messages).toEqual(first?.messages)
  })
})
