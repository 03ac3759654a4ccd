// The two streams of a namespace: the status of every run, and the events as they arrive. They are live from the moment of the
// connection, without a guarantee (docs/concepts.md#timeline-and-streams).

import { describe, expect, test } from 'vitest'
import {
  type Api,
  emit,
  flow,
  gate,
  type Handler,
  JumpClock,
  openEngine,
  run,
  type SseMessage,
  scenario,
  sleep,
  unique,
  wait,
} from '../../kit/index.ts'

const { api, workflow } = await scenario({ realTime: true })

/** Registers a workflow; returns the event that starts it. */
const register = async (handler: Handler): Promise<string> => (await workflow(handler)).name

type Messages = readonly SseMessage[]
const ofRun = (messages: Messages, runId: string) => messages.filter(({ data }) => data.runId === runId)
const ended = (runId: string) => (messages: Messages) =>
  ofRun(messages, runId).some(({ data }) => ['succeeded', 'failed', 'cancelled'].includes(String(data.status)))

/** The frames of a run's own timeline, as the stream of the namespace sends them: with the names, and the error of the run. */
async function statusFrames(api: Api, runId: string) {
  const [{ messages }, { workflow, app, status, error }] = await Promise.all([api.stream(runId), api.run(runId)])
  const { stack: _, ...shown } = error ?? {}
  return messages
    .filter(({ event }) => event === 'run_status')
    .map(
      ({ data }): Record<string, unknown> => ({
        ...data,
        workflow,
        app,
        ...(status === 'failed' && data.status === 'failed' ? { error: shown } : {}),
      }),
    )
}

describe('GET /runs/stream', () => {
  test('sends every status of a run, each as its own timeline has it, and nothing else', async () => {
    const [paused, resumed] = [gate(), gate()]
    const name = await register(
      flow([
        run('a', async () => {
          paused.open()
          await resumed.opened
        }),
        sleep('nap', 1),
        run('b', () => 2),
      ]),
    )
    let runId = ''
    const stream = await api.follow('/runs/stream', { stopWhen: messages => ended(runId)(messages) })
    runId = (await api.send({ name })).runId
    await paused.opened
    await api.post(`/runs/${runId}/pause`)
    resumed.open()
    await api.post(`/runs/${runId}/resume`)
    const { status, contentType, messages, other } = await stream.over
    expect(status).toBe(200)
    expect(contentType).toMatch(/^text\/event-stream/)
    expect(other).toEqual(['retry: 2000'])
    for (const { id, event, data } of messages) {
      expect([id, event, data.kind]).toEqual([undefined, 'run_status', 'run_status'])
    }
    const frames = ofRun(messages, runId).map(({ data }) => data)
    expect(frames).toEqual(await statusFrames(api, runId))
    const statuses = frames.map(({ status }) => status)
    expect(statuses.slice(0, 3)).toEqual(['queued', 'running', 'paused'])
    expect(statuses).toContain('waiting')
    expect(statuses.at(-1)).toBe('succeeded')
  })

  test('sends the statuses of a run that fails, of one that is cancelled, and of a replay', async () => {
    const fails = await register(() => ({ status: 400, body: { error: { message: 'no' }, logs: [] } }))
    const waits = await register(flow([wait('w', 'never')]))
    const { runId: source } = await api.send({ name: await register(flow([run('a', () => 1)])) })
    await api.succeeded(source)
    const runIds: string[] = []
    const stream = await api.follow('/runs/stream', {
      stopWhen: messages => runIds.length === 3 && runIds.every(runId => ended(runId)(messages)),
    })
    const { runId: failed } = await api.send({ name: fails })
    const { runId: cancelled } = await api.send({ name: waits })
    await api.reaches(cancelled, 'waiting')
    await api.post(`/runs/${cancelled}/cancel`)
    runIds.push(failed, cancelled, ((await api.post(`/runs/${source}/replay`)).json as { id: string }).id)
    const { messages } = await stream.over
    const framesOf = (runId: string) => ofRun(messages, runId).map(({ data }) => data)
    for (const runId of runIds) expect(framesOf(runId)).toEqual(await statusFrames(api, runId))
    expect(runIds.map(runId => framesOf(runId).at(-1)?.status)).toEqual(['failed', 'cancelled', 'succeeded'])
    expect(framesOf(source)).toEqual([])
  })

  test('sends the statuses of a run that an event has woken', async () => {
    const go = unique('go')
    const name = await register(flow([wait('w', go)]))
    let runId = ''
    const stream = await api.follow('/runs/stream', { stopWhen: messages => ended(runId)(messages) })
    runId = (await api.send({ name })).runId
    await api.reaches(runId, 'waiting')
    await api.send({ name: go })
    const frames = ofRun((await stream.over).messages, runId).map(({ data }) => data)
    const timeline = await statusFrames(api, runId)
    expect(timeline.map(({ status }) => status)).toEqual([
      ...['queued', 'running', 'waiting'],
      ...['queued', 'running', 'succeeded'],
    ])
    // The status `queued` may be missing, when the run is running before it could be sent.
    expect([timeline, timeline.toSpliced(3, 1)]).toContainEqual(frames)
  })

  test('has no from, which is refused: earlier frames are not sent', async () => {
    expect(await api.get('/runs/stream?from=0')).toMatchObject({ status: 400, code: 'invalid_request' })
    const name = await register(flow([]))
    const before = (await api.send({ name })).runId
    await api.succeeded(before)
    let runId = ''
    const headers = { 'last-event-id': '0' }
    const stream = await api.follow('/runs/stream', {
      headers,
      stopWhen: messages => ended(runId)(messages),
    })
    runId = (await api.send({ name })).runId
    const { messages } = await stream.over
    expect(ofRun(messages, before)).toEqual([])
  })
})

describe('GET /events/stream', () => {
  const named = (name: string) => (messages: Messages) => messages.some(({ data }) => data.name === name)

  test('sends each event once, as its record with its kind', async () => {
    const [started, name, last] = [await register(flow([])), unique('plain'), unique('last')]
    const stream = await api.follow('/events/stream', { stopWhen: named(last) })
    const first = await api.send({ name: started, data: { n: 1 } })
    const second = await api.send({ name, app: 'shop', data: ['x'], dedupeId: name })
    expect((await api.post('/events', { name, app: 'shop', dedupeId: name })).json).toEqual({ deduped: true })
    const third = await api.send({ name: last })
    const { status, contentType, messages, other } = await stream.over
    expect(status).toBe(200)
    expect(contentType).toMatch(/^text\/event-stream/)
    expect(other).toEqual(['retry: 2000'])
    expect(messages.map(({ event }) => event)).toEqual(['event', 'event', 'event'])
    const records = await Promise.all([first, second, third].map(({ eventId }) => api.event(eventId)))
    expect(messages.map(({ data }) => data)).toEqual(records.map(record => ({ kind: 'event', ...record })))
    expect(messages[0]?.data).toMatchObject({ source: 'api', woke: 0, triggered: [{ runId: first.runId }] })
  })

  test('sends an emitted event', async () => {
    const said = unique('said')
    const name = await register(flow([emit('say', said, { a: 1 })]))
    const stream = await api.follow('/events/stream', { stopWhen: named(said) })
    await api.send({ name })
    const emitted = (await stream.over).messages.at(-1)?.data
    expect(emitted).toMatchObject({ kind: 'event', name: said, source: 'emit', data: { a: 1 } })
    expect(emitted).toEqual({ kind: 'event', ...(await api.event(String(emitted?.id))) })
  })

  test('keeps data as it came, on one line', async () => {
    const name = unique('exact')
    const stream = await api.follow('/events/stream', { stopWhen: named(name) })
    await api.postText('/events', `{"name":"${name}","data":{"n":12345678901234567890.10,\n"s":"\\ud800"}}`)
    const [message] = (await stream.over).messages
    expect(message?.raw).toContain('"data":{"n":12345678901234567890.10, "s":"\\ud800"}}')
    expect(message?.raw.split('\n')).toHaveLength(2)
  })
})

describe('every stream', () => {
  const paths = ['/runs/stream', '/events/stream', '/runs/run_1/stream']

  test.each(paths)('%s is opened by GET alone', async path => {
    for (const method of ['HEAD', 'PUT', 'DELETE', 'PATCH']) {
      const { status, headers } = await api.request(method, path)
      expect([method, status, headers.get('allow')]).toEqual([method, 405, 'GET'])
    }
  })

  test('has a comment every 15 s, and ends in order when the engine stops', async () => {
    const clock = new JumpClock()
    const { api, runner, stop } = await openEngine({ clock })
    const name = unique('parked')
    await runner({ workflows: { [name]: { handler: flow([wait('w', unique('never'))]) } } })
    const { runId } = await api.send({ name })
    await api.reaches(runId, 'waiting')
    const all = ['/runs/stream', '/events/stream', `/runs/${runId}/stream`]
    const beats: number[] = all.map(() => 0)
    const streams = await Promise.all(
      all.map((path, i) =>
        api.follow(path, {
          stopWhen: (_, other) => {
            beats[i] = other.filter(line => line.startsWith(':')).length
            return false
          },
        }),
      ),
    )
    clock.jump(14_999)
    clock.jump(1)
    await expect.poll(() => beats).toEqual([1, 1, 1])
    clock.jump(15_000)
    await expect.poll(() => beats).toEqual([2, 2, 2])
    await stop()
    const results = await Promise.all(streams.map(({ over }) => over))
    expect(results.map(({ ended }) => ended)).toEqual([true, true, true])
  })
})
