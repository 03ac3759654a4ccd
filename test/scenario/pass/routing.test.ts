// Which runner gets a pass (docs/wire-protocol.md#routing).

import { describe, expect, test } from 'vitest'
import {
  flow,
  overHttp,
  type PlainRunner,
  RunnerRecord,
  run,
  scenario,
  sleep,
  unique,
  until,
  waitsFor,
} from '../../kit/index.ts'

const { api, clock, engine, workflow } = await scenario()

/** Opens several runners of one app that serve the same workflow and share a record. */
async function fleet(ids: string[], stages = 1) {
  const [app, name, record] = [unique('app'), unique('work'), new RunnerRecord()]
  const handler = flow(Array.from({ length: stages }, (_, i) => run(`step ${i}`)))
  const runners: PlainRunner[] = []
  for (const runner of ids) runners.push(await engine.runner({ app, runner, record, workflows: { [name]: handler } }))
  const send = (event: Record<string, unknown> = {}) => api.send({ name, app, ...event })
  return {
    app,
    name,
    record,
    runners,
    send,
    receivers: () => record.invokes.map(({ receivedBy }) => receivedBy),
  }
}

describe('anycast', () => {
  test('each invoke goes to one random registered runner of the app', async () => {
    const { send, record } = await fleet(['a', 'b', 'c'], 40)
    const { runId } = await send()
    await api.succeeded(runId)
    const counts = new Map<string, number>()
    for (const { receivedBy } of record.of(runId)) counts.set(receivedBy, (counts.get(receivedBy) ?? 0) + 1)
    // 41 passes over 3 runners: the chance that one runner gets none is 1 in 5 million.
    expect([...counts.keys()].sort()).toEqual(['a', 'b', 'c'])
  })

  test('the full memo is resent on every invoke, so that passes may hit different runners', async () => {
    const { send, record } = await fleet(['a', 'b'], 5)
    const { runId } = await send()
    await api.succeeded(runId)
    expect(record.of(runId).map(({ steps }) => Object.keys(steps).length)).toEqual([0, 1, 2, 3, 4, 5])
    for (let i = 0; i < 5; i++) expect(record.times(runId, `step ${i}`)).toBe(1)
  })

  test('a runner of another app is never invoked, although it serves a workflow of that name', async () => {
    const { send, name, record } = await fleet(['mine'])
    const stranger = await engine.runner({ workflows: { [name]: flow([run('strange')]) } })
    for (let i = 0; i < 10; i++) await api.succeeded((await send()).runId)
    expect(stranger.record.invokes).toEqual([])
    expect(record.invokes).toHaveLength(20)
  })

  const httpOnly = overHttp('a runner behind a socket is live as long as it has one, and never stale')
  httpOnly('stale runners are passed over while a live one is there, and invoked when none is', async () => {
    const { send, runners, receivers } = await fleet(['stale', 'live'])
    clock.jump(91_000)
    await runners[1]?.register(api)
    for (let i = 0; i < 15; i++) await api.succeeded((await send()).runId)
    expect(new Set(receivers())).toEqual(new Set(['live']))
    clock.jump(91_000)
    for (let i = 0; i < 25; i++) await api.succeeded((await send()).runId)
    expect(new Set(receivers())).toEqual(new Set(['stale', 'live']))
  })
})

describe('pinned', () => {
  test('a pinned run is routed only to that runner id', async () => {
    const { send, record } = await fleet(['a', 'b', 'c'], 10)
    const { runId } = await send({ runner: 'b' })
    expect((await api.succeeded(runId)).runner).toBe('b')
    expect(new Set(record.of(runId).map(({ receivedBy }) => receivedBy))).toEqual(new Set(['b']))
  })

  test('a runner without an id is pinned by its URL', async () => {
    const { name, runner: keyless } = await workflow(flow([]))
    await engine.runner({ app: keyless.app, runner: 'other', workflows: { [name]: flow([]) } })
    const { runId } = await api.send({ name, runner: keyless.url })
    await api.succeeded(runId)
    expect(keyless.record.passes(runId)).toBe(1)
  })

  test('a pin that is not registered fails the run fast', async () => {
    const { send, record } = await fleet(['a'])
    const { runId } = await send({ runner: 'nobody' })
    const failed = await api.failed(runId)
    expect(failed.error).toMatchObject({
      code: 'runner_not_registered',
      message: expect.stringContaining('nobody'),
    })
    expect(failed).not.toHaveProperty('startedAt')
    expect(record.of(runId)).toEqual([])
  })

  test('a runner of another app is not the pin', async () => {
    const { send } = await fleet(['a'])
    await fleet(['elsewhere'])
    expect((await api.failed((await send({ runner: 'elsewhere' })).runId)).error?.code).toBe('runner_not_registered')
  })
})

describe('no runner to be reached', () => {
  test('a runner that refuses is passed over: another is tried at once, and nothing is spent', async () => {
    const { send, runners, record } = await fleet(['dead', 'alive'])
    await runners[0]?.close()
    for (let i = 0; i < 12; i++) {
      clock.jump(1000)
      // The clock stands still again: a run that had to wait would never continue.
      const { attempt } = await api.succeeded((await send()).runId)
      expect(attempt).toBe(1)
    }
    expect(new Set(record.invokes.map(({ receivedBy }) => receivedBy))).toEqual(new Set(['alive']))
  })

  test('with none the run stays queued, waiting for a runner, and starts when one registers', async () => {
    const { send, runners, record } = await fleet(['only'])
    const [only] = runners as [PlainRunner]
    await only.close()
    const { runId } = await send()
    const held = await waitsFor(api, runId, 'runner')
    expect(held).toMatchObject({ status: 'queued', attempt: 1 })
    expect(record.of(runId)).toEqual([])
    await only.listen()
    await only.register(api)
    expect((await api.succeeded(runId)).attempt).toBe(1)
  })

  test('without a registration it is retried, at most 30 s apart', async () => {
    const { send, runners } = await fleet(['only'])
    const [only] = runners as [PlainRunner]
    await only.close()
    const { runId } = await send()
    // The run is parked again: if it were still on its way to the next try, it would sleep past the jump that wakes it.
    const nextTry = (after: number) =>
      until(
        async () => {
          const { waitingFor } = await api.run(runId)
          const wakes = Date.parse(waitingFor?.until ?? '')
          return waitingFor?.kind === 'runner' && wakes > after && wakes
        },
        { what: 'another try' },
      )
    let wakes = await nextTry(clock.now())
    for (let i = 0; i < 8; i++) {
      expect(wakes - clock.now()).toBeLessThanOrEqual(30_000)
      clock.jumpTo(wakes)
      wakes = await nextTry(wakes)
    }
    await only.listen()
    clock.jump(30_000)
    expect((await api.succeeded(runId)).attempt).toBe(1)
  })

  test('a runner that dies while a run sleeps leaves the run queued, not failed', async () => {
    const name = unique('work')
    const stages = [run('first'), sleep('nap', 60_000), run('second')]
    const runner = await engine.runner({ workflows: { [name]: flow(stages) } })
    const { runId } = await api.send({ name })
    await waitsFor(api, runId, 'sleep')
    await runner.close()
    // When the engine answers a request, it has seen its idle connection close, and sends nothing on it.
    await api.run(runId)
    clock.jump(60_000)
    expect(await waitsFor(api, runId, 'runner')).toMatchObject({ status: 'queued', attempt: 1 })
    await runner.listen()
    await runner.register(api)
    await api.succeeded(runId)
    expect(runner.record.names(runId)).toEqual(['first', 'nap', 'second'])
  })
})
