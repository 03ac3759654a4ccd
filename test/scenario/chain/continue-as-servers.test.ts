// Runs that continue as new ones, on both databases (docs/concepts.md#runs-that-continue): what the next run keeps, and which
// reads follow the chain.

import type { BulkDetail, RunSummary, SendEventReply } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import {
  child,
  flow,
  gate,
  type Handler,
  openDestination,
  openKeyed,
  openRunner,
  type Reply,
  run,
  STORES,
  stepId,
  unique,
  until,
  wait,
} from '../../kit/index.ts'

const FEATURES = { features: ['continue-as', 'end-with-steps', 'attributes'] }

/** 200: the run continues with this data. */
const continues = (data?: unknown, more: object = {}): Reply => ({
  status: 200,
  body: { continueAs: data === undefined ? {} : { data }, logs: [], ...more },
})

/** A handler that counts its data down to 0, with one run per step down, and then returns. */
const countdown: Handler = ({ event }) => {
  const left = (event.data as { left: number }).left
  return left > 0 ? continues({ left: left - 1 }) : { status: 200, body: { data: 'the end', logs: [] } }
}

describe.each(STORES)('on %s', async (_, freshStore) => {
  const { api } = await openKeyed(freshStore)

  async function open(handler: Handler, registration: object = {}, others: Record<string, Handler> = {}) {
    const name = unique('chain')
    const runner = await openRunner({
      runner: unique('r'),
      workflows: { [name]: { handler, registration: { ...registration } }, ...others },
    })
    await runner.register(api, FEATURES)
    return { name, app: runner.app, runner }
  }

  /** The runs of the chain, in order. */
  async function chainOf(runId: string): Promise<RunSummary[]> {
    const runs: RunSummary[] = []
    for (let id: string | undefined = runId; id !== undefined; ) {
      const one: RunSummary = await api.run(id)
      runs.push(one)
      id = one.continuedAs
    }
    return runs
  }

  const resultOf = async (runId: string, wait = '10s') =>
    (await api.get(`/runs/${runId}/result?wait=${wait}`)).json as { runId: string; status: string; result?: unknown }

  const liveOf = (runId: string) =>
    until(async () => {
      const last = (await chainOf(runId)).at(-1) as RunSummary
      return last.id !== runId && last.status === 'waiting' && last
    })

  test('the run ends without a result, and the next one has its data, pin, attributes and priority', async () => {
    const { name, runner } = await open(countdown, { priority: 'has(event.data.p) ? event.data.p : 0' })
    const attributes = { customer: 'c-1' }
    const sent = await api.send({ name, data: { left: 2, p: 7 }, attributes, runner: runner.runner })
    const end = await resultOf(sent.runId)
    const [first, second, third, ...more] = await chainOf(sent.runId)
    expect(more).toEqual([])
    expect(end).toEqual({ runId: third?.id, status: 'succeeded', result: 'the end' })
    expect(first).toMatchObject({ status: 'succeeded', continuedAs: second?.id, eventId: sent.eventId })
    expect(first).not.toHaveProperty('result')
    expect(first).not.toHaveProperty('continuedFrom')
    expect(second).toMatchObject({ workflow: name, continuedFrom: first?.id, continuedAs: third?.id, attributes })
    expect(second).toMatchObject({ runner: runner.runner, eventName: name, triggerKind: 'event' })
    expect(second).not.toHaveProperty('eventId')
    expect(await api.run(third?.id as string)).toMatchObject({ input: { left: 0 }, result: 'the end', attributes })
    // A run that continues another is of the same generation.
    expect(await api.run(third?.id as string)).not.toHaveProperty('generation')
    expect(await resultOf(second?.id as string, '0')).toEqual(end)
    const { sentence } = (await api.get(`/runs/${first?.id}/why`)).json as { sentence: string }
    expect(sentence).toContain(`continued as run ${second?.id}`)
    const [invoke] = runner.record.of(second?.id as string)
    expect(invoke?.event).toMatchObject({ name, data: { left: 1 } })
    // Priorities show only in the order of a queue.
    const held = await api.get(`/runs?workflow=${name}&limit=200`)
    expect((held.json as RunSummary[]).length).toBe(3)
  })

  test('the last steps and the next run come in one answer, and a member that is no object fails the run', async () => {
    const { name } = await open(({ event, steps }) => {
      if (event.data === 'bad') return { status: 200, body: { continueAs: 7, logs: [] } }
      if (event.data === 'last') return { status: 200, body: { data: Object.keys(steps).length, logs: [] } }
      const opcodes = [{ op: 'StepRun', id: stepId('a'), name: 'a', data: 1 }]
      return continues('last', { opcodes })
    })
    const { runId } = await api.send({ name })
    expect(await resultOf(runId)).toMatchObject({ result: 0 })
    expect(await api.steps(runId)).toMatchObject([{ name: 'a', status: 'succeeded' }])
    const bad = await api.send({ name, data: 'bad' })
    expect((await api.failed(bad.runId)).error).toMatchObject({
      code: 'invalid_response',
      message: expect.stringContaining('/continueAs must be an object'),
    })
  })

  test('a runner that does not name the feature cannot continue', async () => {
    const { name, runner } = await open(() => continues({}, { data: 'kept' }))
    await runner.register(api, { features: [] })
    const { runId } = await api.send({ name })
    expect((await api.succeeded(runId)).result).toBe('kept')
    expect(await api.run(runId)).not.toHaveProperty('continuedAs')
  })

  test('a waiting sender gets the result of the last run', async () => {
    const { name } = await open(countdown)
    const { json } = await api.post('/events?wait=10s', { name, data: { left: 3 } })
    const { run: end, runId } = json as SendEventReply & { run: { runId: string; result: unknown } }
    expect(end).toMatchObject({ status: 'succeeded', result: 'the end' })
    expect(end.runId).not.toBe(runId)
    expect((await chainOf(runId as string)).at(-1)?.id).toBe(end.runId)
  })

  test('the parent gets the answer of the last run', async () => {
    const kid = unique('kid')
    const { name } = await open(flow([child('c', kid, { left: 2 })]), {}, { [kid]: countdown })
    const { runId } = await api.send({ name })
    expect((await api.succeeded(runId)).result).toEqual({ c: 'the end' })
    const { childRunId } = await api.step(runId, 'c')
    const links = await chainOf(childRunId as string)
    expect(links.map(({ parentRunId }) => parentRunId)).toEqual([runId, runId, runId])
  })

  const waitOnce: Handler = (invoke, record) =>
    invoke.event.data === 'next' ? flow([wait('w', 'never')])(invoke, record) : continues('next')

  test('a cancel of the parent cancels the live run of the chain', async () => {
    const kid = unique('kid')
    const { name } = await open(flow([child('c', kid)]), {}, { [kid]: waitOnce })
    const { runId } = await api.send({ name })
    const childRunId = await until(async () => (await api.steps(runId))[0]?.childRunId)
    const live = await liveOf(childRunId as string)
    expect((await api.post(`/runs/${runId}/cancel`)).status).toBe(200)
    await api.reaches(live.id, 'cancelled')
  })

  test('a cancel of a run that continued is 409 and names the next one, which can be cancelled', async () => {
    const { name } = await open(waitOnce)
    const { runId } = await api.send({ name })
    const live = await liveOf(runId)
    const refused = await api.post(`/runs/${runId}/cancel`)
    expect(refused).toMatchObject({ status: 409, code: 'run_terminal' })
    expect(refused.json).toMatchObject({ error: { details: { continuedAs: live.id, status: 'succeeded' } } })
    const ended = resultOf(runId)
    expect((await api.post(`/runs/${live.id}/cancel`)).status).toBe(200)
    expect(await ended).toEqual({ runId: live.id, status: 'cancelled' })
  })

  test('a singleton stays with the chain, whatever its data say: no other run starts until the last has ended', async () => {
    let starts = 0
    const skipped = gate()
    const { name } = await open(
      async ({ event }) => {
        starts++
        const { left } = event.data as { left: number }
        // In the middle, the chain waits for a start that it skips.
        if (left === 15) await skipped.opened
        return left > 0 ? continues({ left: left - 1, key: 'other' }) : { status: 200, body: { data: null, logs: [] } }
      },
      { singleton: { mode: 'skip', key: 'event.data.key' } },
    )
    const first = await api.send({ name, data: { left: 30, key: 'k' } })
    const tried: SendEventReply[] = []
    const over = resultOf(first.runId).then(() => true)
    while (!(await Promise.race([over, Promise.resolve(false)]))) {
      const reply = (await api.post('/events', { name, data: { left: 0, key: 'k' } })).json as SendEventReply
      tried.push(reply)
      if (reply.skipped) skipped.open()
    }
    const chain = await chainOf(first.runId)
    expect(chain).toHaveLength(31)
    const ended = Date.parse(chain.at(-1)?.finishedAt as string)
    for (const { runId } of tried)
      if (runId !== undefined)
        expect(Date.parse((await api.run(runId)).startedAt as string)).toBeGreaterThanOrEqual(ended)
    expect(tried.some(({ skipped }) => skipped)).toBe(true)
    expect(starts).toBeGreaterThanOrEqual(31)
  })

  test('a kept slot stays with the chain: the next run of its lane starts when the last has ended', async () => {
    const [invoked, go] = [gate(), gate()]
    const order: string[] = []
    const { name } = await open(
      async ({ event }) => {
        const { of, left } = event.data as { of: string; left: number }
        order.push(of)
        if (left === 30) {
          invoked.open()
          await go.opened
        }
        // The next run has another key, but stays in the chain's lane.
        return left > 0 ? continues({ of, left: left - 1, lane: 'b' }) : { status: 200, body: { data: null, logs: [] } }
      },
      { concurrency: { limit: 1, key: 'event.data.lane', hold: 'run' } },
    )
    const first = await api.send({ name, data: { of: 'chain', left: 30, lane: 'a' } })
    await invoked.opened
    const second = await api.send({ name, data: { of: 'next', left: 0, lane: 'a' } })
    go.open()
    for (const { runId } of [first, second]) await resultOf(runId)
    expect(order).toEqual([...Array(31).fill('chain'), 'next'])
  })

  test('a paused run continues as a paused one, and a resume lets it go on', async () => {
    const [invoked, go] = [gate(), gate()]
    const { name } = await open(async ({ event }) => {
      if (event.data === 'next') return { status: 200, body: { data: 'resumed', logs: [] } }
      invoked.open()
      await go.opened
      return continues('next')
    })
    const { runId } = await api.send({ name })
    await invoked.opened
    await api.post(`/runs/${runId}/pause`)
    go.open()
    const next = await until(async () => (await api.run(runId)).continuedAs)
    expect((await api.run(next as string)).status).toBe('paused')
    const frames = await api.stream(next as string, { stopWhen: all => all.length >= 2 })
    expect(frames.messages.map(({ data }) => data.status)).toEqual(['queued', 'paused'])
    await api.post(`/runs/${next}/resume`)
    expect((await api.succeeded(next as string)).result).toBe('resumed')
  })

  test('endpoints learn of the end of the last run alone', async () => {
    const destination = await openDestination()
    const { name, app } = await open(countdown)
    await api.post('/webhook-endpoints', { app, url: destination.url, eventKinds: ['run.succeeded'] })
    const { runId } = await api.send({ name, data: { left: 2 } })
    const { runId: last } = await resultOf(runId)
    const deliveries = await until(async () => {
      const { json } = await api.get(`/webhook-deliveries?app=${app}`)
      return (json as { sourceRunId: string }[]).length > 0 && (json as { sourceRunId: string }[])
    })
    expect(deliveries.map(({ sourceRunId }) => sourceRunId)).toEqual([last])
  })

  test('a replay and a retry of a run that continued are runs of their own', async () => {
    const { name } = await open((invoke, record) =>
      invoke.event.data === 'next' ? flow([run('b')])(invoke, record) : continues('next'),
    )
    const { runId } = await api.send({ name })
    const { runId: last } = await resultOf(runId)
    const { id: replayed } = (await api.post(`/runs/${last}/replay`)).json as RunSummary
    const fork = await api.succeeded(replayed)
    expect(fork).toMatchObject({ replayOf: last, result: { b: 'b' } })
    expect(fork).not.toHaveProperty('continuedFrom')
    const retried = (await api.post(`/runs/${last}/retry-from-step`, { step: 'b' })).json as RunSummary
    expect(await api.succeeded(retried.id)).toMatchObject({ replayOf: last, result: { b: 'b' } })
  })

  test('without its last run, a chain has no result; the last run has one without the others', async () => {
    const { name } = await open(countdown)
    const { runId } = await api.send({ name, data: { left: 2 } })
    const { runId: last } = await resultOf(runId)
    const [, second] = await chainOf(runId)
    expect((await api.request('DELETE', `/runs/${second?.id}`)).status).toBe(204)
    expect(await resultOf(runId, '0')).toMatchObject({ runId: last, result: 'the end' })
    expect((await api.request('DELETE', `/runs/${last}`)).status).toBe(204)
    expect((await api.get(`/runs/${runId}/result`)).status).toBe(404)
  })

  test('the data of the event goes with the first run, and not with a run that continues it', async () => {
    const { name } = await open(countdown)
    const { runId, eventId } = await api.send({ name, data: { left: 1 } })
    const { runId: last } = await resultOf(runId)
    await api.request('DELETE', `/runs/${last}`)
    expect((await api.event(eventId)).data).toEqual({ left: 1 })
    const other = await api.send({ name, data: { left: 1 } })
    await resultOf(other.runId)
    await api.request('DELETE', `/runs/${other.runId}`)
    expect(await api.event(other.eventId)).not.toHaveProperty('data')
  })

  test('a bulk cancel skips a run that has continued', async () => {
    const { name } = await open(waitOnce)
    const { runId } = await api.send({ name })
    const live = await liveOf(runId)
    const { bulkId } = (await api.post('/bulk', { action: 'cancel', ids: [runId, live.id] })).json as { bulkId: string }
    await api.reaches(live.id, 'cancelled')
    const detail = await until(async () => {
      const { json } = await api.get(`/bulk/${bulkId}`)
      return (json as BulkDetail).status === 'done' && (json as BulkDetail)
    })
    expect(detail).toMatchObject({ matched: 2, skipped: 1 })
  })
})
