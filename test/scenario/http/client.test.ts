// The typed client against the real engine: calls, pages, and a timeline that survives dropped connections.

import { ApiError, createClient } from '@perdure/client'
import type { TimelineFrame } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { emit, flow, run, scenario, unique, wait } from '../../kit/index.ts'

const { engine } = await scenario({ realTime: true })
const client = createClient({ url: engine.url, stream: { retryMs: 1 } })
const GO = unique('go')
const runner = await engine.runner({
  app: unique('app'),
  workflows: {
    [unique('two-steps')]: flow([run('first'), run('second')], () => ({ done: true })),
    [unique('waits')]: flow([run('before'), wait('gate', GO), emit('say', unique('said'))]),
  },
})
const [twoSteps, waits] = Object.keys(runner.workflows) as [string, string]

async function start(name: string): Promise<string> {
  const { runId } = await client.sendEvent({ body: { name, data: { n: 1 } } })
  return runId as string
}

test('sends an event and reads what it did', async () => {
  const reply = await client.sendEvent({ body: { name: twoSteps, data: { n: 1 } } })
  const id = reply.runId as string
  await engine.api.succeeded(id)
  expect(await client.getRun({ id })).toMatchObject({
    id,
    status: 'succeeded',
    input: { n: 1 },
    result: { done: true },
  })
  expect((await client.listRunSteps({ id })).items.map(({ name }) => name)).toEqual(['first', 'second'])
  expect(await client.listRunLogs({ id, from: 0, limit: 5 })).toEqual([])
  expect(await client.getEvent({ id: reply.eventId as string })).toMatchObject({
    name: twoSteps,
    data: { n: 1 },
  })
  expect((await client.listWorkflows({ app: runner.app })).map(({ name }) => name)).toContain(twoSteps)
  expect(await client.getReadiness()).toMatchObject({ status: 'ready' })
})

test('reads every page of a list', async () => {
  const ids: string[] = []
  for (let i = 0; i < 5; i++) ids.unshift(await start(twoSteps))
  const listed: string[] = []
  for await (const { id } of client.pages.listRuns({ q: twoSteps, since: new Date(0), limit: 2 })) listed.push(id)
  expect(listed.slice(0, 5)).toEqual(ids)
  const first = await client.listRuns({ q: twoSteps, limit: 2 })
  expect(first.items.map(({ id }) => id)).toEqual(ids.slice(0, 2))
  expect(first.nextCursor).toBeTypeOf('string')
})

test('a refusal has the code and the request id', async () => {
  const failure = await client.getRun({ id: 'run_nobody' }).catch(thrown => thrown)
  expect(failure).toBeInstanceOf(ApiError)
  expect(failure).toMatchObject({ status: 404, code: 'not_found', requestId: expect.stringMatching(/^req_/) })
  await expect(client.cancelRun({ id: await ended() })).rejects.toMatchObject({ code: 'run_terminal' })
})

async function ended(): Promise<string> {
  const id = await start(twoSteps)
  await engine.api.succeeded(id)
  return id
}

describe('a timeline', () => {
  test('is followed over dropped connections: each frame once, in order', async () => {
    const id = await start(waits)
    const frames: TimelineFrame[] = []
    let drop = () => {}
    // Every connection except the last is cut after its first frame.
    let connections = 0
    const dropping: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      if (!response.headers.get('content-type')?.includes('event-stream') || ++connections > 3) return response
      const cut = new TransformStream<Uint8Array, Uint8Array>({
        start(controller) {
          drop = () => controller.error(new Error('cut'))
        },
      })
      void response.body?.pipeTo(cut.writable).catch(() => {})
      return new Response(cut.readable, response)
    }
    const unsteady = createClient({ url: engine.url, fetch: dropping, stream: { retryMs: 1 } })
    for await (const frame of unsteady.streamRun({ id })) {
      frames.push(frame)
      drop()
      if (frame.kind === 'step_status' && frame.status === 'waiting') {
        await client.sendEvent({ body: { name: GO } })
      }
    }
    expect(connections).toBeGreaterThan(3)
    expect(frames).toEqual((await engine.api.stream(id)).messages.map(({ data }) => data))
    expect(frames.at(-1)).toMatchObject({ kind: 'run_status', status: 'succeeded' })
  })

  test('resumes from the given frame, and ends at once after the end', async () => {
    const id = await ended()
    const all: TimelineFrame[] = []
    for await (const frame of client.streamRun({ id })) all.push(frame)
    const rest: TimelineFrame[] = []
    for await (const frame of client.streamRun({ id, from: (all[1] as TimelineFrame).seq })) rest.push(frame)
    expect(rest).toEqual(all.slice(2))
    for await (const frame of client.streamRun({ id, from: 1_000_000 })) expect.unreachable(JSON.stringify(frame))
  })
})
