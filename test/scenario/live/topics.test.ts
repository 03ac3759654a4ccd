// `GET /stream`: runs, events, deliveries and timelines on one connection (docs/concepts.md#timeline-and-streams).

import { describe, expect, test } from 'vitest'
import {
  emit,
  flow,
  gate,
  type Handler,
  opcode,
  openEngine,
  run,
  type SseMessage,
  scenario,
  step,
  unique,
  until,
  wait,
} from '../../kit/index.ts'

const { api, workflow } = await scenario({ realTime: true })
const register = async (handler: Handler): Promise<string> => (await workflow(handler)).name
type Messages = readonly SseMessage[]
const ofKind = (messages: Messages, kind: string) => messages.filter(({ event }) => event === kind)
const isLast = (runId: string) => (messages: Messages) =>
  messages.some(({ data }) => data.runId === runId && data.status === 'succeeded' && data.kind === 'run_status')

describe('the topic runs', () => {
  test('sends the last state of a run with what a row of the list shows, and its steps as they come', async () => {
    const [reached, held] = [gate(), gate()]
    const name = await register(
      flow([
        run('first', () => 1),
        run('second', async () => {
          reached.open()
          await held.opened
        }),
      ]),
    )
    let runId = ''
    const seen = gate()
    const stream = await api.follow('/stream?topics=runs&every=100', {
      stopWhen: messages => {
        if (messages.some(({ data }) => data.runId === runId && data.currentStepName === 'first')) seen.open()
        return isLast(runId)(messages)
      },
    })
    runId = (await api.send({ name })).runId
    await reached.opened
    await seen.opened
    held.open()
    const frames = (await stream.over).messages.filter(({ data }) => data.runId === runId)
    const { app, startedAt, durationMs } = await api.run(runId)
    for (const { event, id } of frames) expect([event, id]).toEqual(['run_status', undefined])
    expect(frames.at(-1)?.data).toEqual({
      kind: 'run_status',
      ...{ runId, workflow: name, app, status: 'succeeded', attempt: 1, startedAt, durationMs },
      seq: expect.any(Number),
      ts: expect.any(String),
    })
    // A run that is created, started and advanced in one interval gets one frame.
    expect(frames.length).toBeLessThan(6)
  })

  test('is narrowed by app and workflow, and tells why a run failed in 200 code points', async () => {
    const failing = await register(() => ({ status: 400, body: { error: { message: '😀'.repeat(500) }, logs: [] } }))
    const other = await register(flow([]))
    let last = ''
    const stream = await api.follow(`/stream?topics=runs&workflow=${failing}`, {
      stopWhen: messages => messages.some(({ data }) => data.runId === last && data.status === 'failed'),
    })
    await api.succeeded((await api.send({ name: other })).runId)
    last = (await api.send({ name: failing })).runId
    const { messages } = await stream.over
    expect(new Set(messages.map(({ data }) => data.workflow))).toEqual(new Set([failing]))
    expect(messages.at(-1)?.data.error).toMatchObject({ message: '😀'.repeat(200) })
    expect(messages.at(-1)?.data.error).not.toHaveProperty('stack')
    const elsewhere = await api.follow('/stream?topics=runs,events&app=elsewhere', { stopWhen: ms => ms.length > 0 })
    await api.succeeded((await api.send({ name: other })).runId)
    await api.send({ name: unique('there'), app: 'elsewhere' })
    expect((await elsewhere.over).messages.map(({ data }) => [data.kind, data.app])).toEqual([['event', 'elsewhere']])
  })
})

test('events and deliveries come beside them, deliveries without payload', async () => {
  const said = unique('said')
  const name = await register(
    flow([
      emit('say', said, { a: 1 }),
      step('Webhook', 'hook', { webhookUrl: 'http://127.0.0.1:9/', data: { secret: 1 } }),
    ]),
  )
  const stream = await api.follow('/stream?topics=events,deliveries', {
    stopWhen: messages => ofKind(messages, 'delivery').length > 0 && messages.some(({ data }) => data.name === said),
  })
  await api.send({ name })
  const { messages } = await stream.over
  expect(ofKind(messages, 'run_status')).toEqual([])
  const [delivery] = ofKind(messages, 'delivery')
  expect(delivery?.data).toMatchObject({ kind: 'delivery', eventKind: 'custom', attemptCount: expect.any(Number) })
  expect(delivery?.data).not.toHaveProperty('payload')
  const emitted = messages.find(({ data }) => data.name === said)?.data
  expect(emitted).toEqual({ kind: 'event', ...(await api.event(String(emitted?.id))) })
})

describe('the topic run:ID', () => {
  test('sends the timelines of several runs whole, and stays open after their ends', async () => {
    const event = unique('go')
    const name = await register(flow([run('a', () => 1), wait('w', event)]))
    const ended = (await api.send({ name: await register(flow([run('a', () => 1)])) })).runId
    await api.succeeded(ended)
    const { runId } = await api.send({ name })
    await api.reaches(runId, 'waiting')
    const last = unique('last')
    const stream = await api.follow(`/stream?topics=run:${ended},run:${runId},events`, {
      stopWhen: messages => messages.some(({ data }) => data.name === last),
    })
    await api.send({ name: event })
    await api.succeeded(runId)
    // The frames of a run may arrive a moment after its end can be read.
    const timelines = await Promise.all([ended, runId].map(id => api.stream(id)))
    await api.send({ name: last })
    const { messages } = await stream.over
    for (const [i, id] of [ended, runId].entries()) {
      const frames = messages.filter(({ data }) => data.runId === id)
      expect(frames.map(({ data }) => data)).toEqual(timelines[i]?.messages.map(({ data }) => data))
      expect(new Set(frames.map(({ id }) => id))).toEqual(new Set([undefined]))
    }
  })

  test('with @SEQ sends what follows that frame; the lowest of several positions counts', async () => {
    const { runId } = await api.send({ name: await register(flow([run('a', () => 1), run('b', () => 2)])) })
    await api.succeeded(runId)
    const all = (await api.stream(runId)).messages.map(({ data }) => data)
    const after = Number(all[1]?.seq)
    const stream = await api.follow(`/stream?topics=run:${runId}@${Number.MAX_SAFE_INTEGER},run:${runId}@${after}`, {
      stopWhen: messages => messages.length === all.length - 2,
    })
    expect((await stream.over).messages.map(({ data }) => data)).toEqual(all.slice(2))
  })

  test('of an unknown run is not found, and nothing is left open', async () => {
    for (const id of ['run_nope', 'x'.repeat(64), '%C3%A4'])
      expect(await api.get(`/stream?topics=runs,run:${id}`)).toMatchObject({ status: 404, code: 'not_found' })
  })
})

test('the topic runs has the newest progress of a run, narrowed like its runs', async () => {
  const handler: Handler = ({ pass }) =>
    pass === 1
      ? { status: 206, body: { opcodes: [opcode('StepRun', 'a', { data: 1 })], logs: [], progress: { done: 1 } } }
      : { status: 200, body: { data: 1, logs: [], progress: { done: 2 } } }
  const { name, app, runner } = await workflow(handler)
  const other = await workflow(handler)
  for (const one of [runner, other.runner]) await one.register(api, { features: ['attributes'] })
  let last = ''
  const stream = await api.follow(`/stream?topics=runs&workflow=${name}`, {
    stopWhen: messages => messages.some(({ data }) => (data.value as { done?: number } | undefined)?.done === 2),
  })
  await api.succeeded((await api.send({ name: other.name })).runId)
  last = (await api.send({ name })).runId
  const frames = ofKind((await stream.over).messages, 'progress')
  expect(frames.at(-1)?.data).toEqual({
    ...{ kind: 'progress', runId: last, workflow: name, app, value: { done: 2 } },
    seq: expect.any(Number),
    ts: expect.any(String),
  })
  expect(new Set(frames.map(({ data }) => data.workflow))).toEqual(new Set([name]))
})

describe('the topic bulk:ID', () => {
  const jobOf = async (ids: string[]) =>
    ((await api.post('/bulk', { action: 'cancel', ids })).json as { bulkId: string }).bulkId

  test('sends the state of a job at first and as it goes on, up to its end, at most once per interval', async () => {
    const event = unique('never')
    const name = await register(flow([wait('w', event)]))
    const runIds = await Promise.all(Array.from({ length: 120 }, async () => (await api.send({ name })).runId))
    const id = await jobOf(runIds)
    const stream = await api.follow(`/stream?topics=bulk:${id},events&every=100`, {
      stopWhen: messages => messages.some(({ data }) => data.status === 'done'),
    })
    const { messages } = await stream.over
    const frames = ofKind(messages, 'bulk')
    const { results: _, ...job } = (await api.get(`/bulk/${id}?limit=1`)).json as Record<string, unknown>
    const { nextCursor: __, ...shown } = job
    expect(frames.at(-1)?.data).toEqual({ kind: 'bulk', ts: expect.any(String), ...shown })
    expect(frames.at(-1)?.data).toMatchObject({ matched: 120, done: 120 })
    expect(new Set(frames.map(({ raw }) => raw.replace(/"ts":"[^"]*"/, ''))).size).toBe(frames.length)
    const again = await api.follow(`/stream?topics=bulk:${id}`, { stopWhen: all => all.length > 0 })
    expect((await again.over).messages[0]?.data).toMatchObject({ id, status: 'done' })
  })

  test('of another namespace is not found', async () => {
    const keyOf = (namespace: string) => ({ label: 'a', namespace, kind: 'secret', key: `${namespace}-`.repeat(8) })
    const guarded = await openEngine({ env: { ENGINE_API_KEYS: JSON.stringify(['one', 'two'].map(keyOf)) } })
    const as = (namespace: string) => guarded.api.as(keyOf(namespace).key)
    const { json } = await as('one').post('/bulk', { action: 'cancel', ids: ['run_1'] })
    const { bulkId } = json as { bulkId: string }
    expect((await as('two').get(`/stream?topics=bulk:${bulkId}`)).status).toBe(404)
    const stream = await as('one').follow(`/stream?topics=bulk:${bulkId}`, {
      stopWhen: messages => messages.length > 0,
    })
    expect((await stream.over).messages[0]?.data).toMatchObject({ kind: 'bulk', id: bulkId })
  })

  test('of an unknown job is not found', async () => {
    for (const id of ['blk_nope', '', '%C3%A4', 'x@1'])
      expect(await api.get(`/stream?topics=runs,bulk:${id}`)).toMatchObject({ status: 404, code: 'not_found' })
  })
})

test.each([
  ['1', 100],
  ['999999', 5000],
])('every=%s is an interval of %i ms', async (every, intervalMs) => {
  const virtual = await scenario()
  const [first, second, third] = [1, 2, 3].map(() => unique('clamped')) as [string, string, string]
  let seen: unknown[] = []
  const stream = await virtual.api.follow(`/stream?topics=events&every=${every}`, {
    stopWhen: messages => {
      seen = messages.map(({ data }) => data.name)
      return seen.includes(third)
    },
  })
  await virtual.api.send({ name: first })
  await until(() => seen.length === 1)
  await virtual.api.send({ name: second })
  virtual.clock.jump(intervalMs - 1)
  await virtual.api.send({ name: third })
  expect(seen).toEqual([first])
  virtual.clock.jump(1)
  await stream.over
  expect(seen).toEqual([first, second, third])
})

describe('bad input', () => {
  test.each([
    ['', 'topics'],
    ['?topics=', 'topics'],
    ['?topics=runs,jobs', 'topics'],
    [`?topics=${Array.from({ length: 51 }, (_, i) => `run:r${i}`)}`, 'topics'],
    ['?topics=bulks', 'topics'],
    ['?topics=runs&every=soon', 'every'],
    ['?topics=runs&from=0', 'from'],
    ['?topics=runs&app=', 'app'],
    ['?topics=run:run_1@', 'topics'],
    ['?topics=run:run_1@-1', 'topics'],
    ['?topics=run:run_1@9007199254740992', 'topics'],
  ])('%s is refused, naming %s', async (query, field) => {
    const answer = await api.get(`/stream${query}`)
    expect(answer).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(answer.text).toContain(field)
  })
})

test('ends when its key is revoked, with its timelines', async () => {
  const env = {
    ENGINE_API_KEYS: JSON.stringify([{ label: 'a', namespace: 'default', kind: 'secret', key: 'k'.repeat(20) }]),
  }
  const guarded = await openEngine({ env })
  const keyed = guarded.api.as('k'.repeat(20))
  const made = (await keyed.post('/keys', { label: 'reader', kind: 'read' })).json as { id: string; key: string }
  const stream = await guarded.api.as(made.key).follow('/stream?topics=runs,events')
  expect((await keyed.request('DELETE', `/keys/${made.id}`)).status).toBeLessThan(300)
  expect((await stream.over).ended).toBe(true)
})
