// Limits that steps share, on both databases, and on PostgreSQL over two engines (docs/steps.md#limits-that-steps-share):
// starts by the runner's own record, the order of the queue, the runs that give a turn back, and what is shown.

import type { LimitStatus, RunExplanation } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { violationsIn } from '../../kit/engine/violations.ts'
import {
  flow,
  gate,
  JumpClock,
  openEngines,
  openRunner,
  PLACES,
  run,
  type Step,
  unique,
  until,
  waitsFor,
} from '../../kit/index.ts'
import { Starts } from '../../kit/runner/limited.ts'

const MINUTE = 60_000
const FEATURES = ['step-limits', 'memo-attempt', 'end-with-steps']

describe.each(PLACES)('on %s', async (_, freshStore, count) => {
  const clock = new JumpClock()
  const { api, other, storeFile } = await openEngines(freshStore, count, { clock })
  const now = () => clock.now()

  /** A workflow whose runs have these steps, and a limit in its own app. */
  async function open(stages: (starts: Starts) => (Step | Step[])[], limit: object = { limit: 1, period: '1m' }) {
    const [name, starts] = [unique('limited'), new Starts()]
    const runner = await openRunner({ app: name, workflows: { [name]: flow(stages(starts), () => 'done') } })
    const register = (limits: object | undefined = { openai: limit }) =>
      runner.register(api, { features: FEATURES, ...(limits && { limits }) })
    await register()
    const begin = async () => (await api.send({ name })).runId
    /** A run that waits for its turn. */
    const wait = async () => {
      const id = await begin()
      await waitsFor(api, id, 'limit')
      return id
    }
    const pools = async () => (await other.get(`/limits?kind=step&app=${name}`)).json as LimitStatus[]
    return { name, starts, runner, register, begin, wait, pools }
  }
  const why = async (id: string) => (await other.get(`/runs/${id}/why`)).json as RunExplanation
  const one = (starts: Starts) => starts.limited('ask', 'openai', { now })

  test('steps start in the order in which they began to wait, no more of them than the limit in any period', async () => {
    const { starts, wait, begin } = await open(starts => [one(starts)], { limit: 2, period: '1m' })
    const ids = [await begin(), await begin()]
    for (const id of ids) await api.succeeded(id)
    for (let i = 0; i < 3; i++) ids.push(await wait())
    const { waitingFor } = await api.run(ids[4] as string)
    expect(waitingFor).toEqual({ kind: 'limit', stepName: 'ask', name: 'openai' })
    const { sentence, position, wakeAt } = await why(ids[4] as string)
    expect(sentence).toMatch(
      /^Step "ask" waits for its turn at the limit "openai" \(2 in 1m\), 2 steps ahead of it, next turn at 20\d\d-.*Z\.$/,
    )
    expect([position, Math.abs(Date.parse(wakeAt as string) - now() - MINUTE) < 10_000]).toEqual([2, true])
    clock.jump(MINUTE)
    for (const id of ids.slice(0, 4)) await api.succeeded(id)
    expect((await api.run(ids[4] as string)).status).toBe('waiting')
    clock.jump(MINUTE)
    await api.succeeded(ids[4] as string)
    expect(starts.all.map(({ of }) => of.split(' ')[0])).toEqual(ids)
    expect(starts.mostIn(MINUTE)).toBe(2)
  })

  test('keys have turns of their own, and parallel steps of one run get theirs in one pass', async () => {
    const { starts, begin, runner, pools } = await open(
      starts => [
        ['a', 'b', 'c'].map(step => starts.limited(step, 'openai', { key: 'eu', now })),
        starts.limited('d', 'openai', { key: 'us', now }),
      ],
      { limit: 3, period: '1m' },
    )
    const id = await begin()
    await api.succeeded(id)
    expect([starts.mostIn(MINUTE, 'eu'), starts.mostIn(MINUTE, 'us')]).toEqual([3, 1])
    // One pass requests all turns, one starts the steps, and two do the same for the last step. The end may need another pass.
    expect(runner.record.invokes.length).toBeLessThanOrEqual(5)
    expect(await pools()).toMatchObject([
      { kind: 'step', name: 'openai', key: 'eu', limit: 3, periodMs: MINUTE, taken: 3, waiting: 0 },
      { key: 'us', taken: 1 },
    ])
  })

  test('every attempt needs a turn of its own', async () => {
    const { starts, begin } = await open(starts => [
      starts.limited('ask', 'openai', {
        now,
        body: ({ attempt }) => {
          if (attempt < 3) throw new Error('busy')
          return attempt
        },
      }),
    ])
    const id = await begin()
    for (let attempt = 1; attempt < 3; attempt++) {
      await until(async () => starts.all.length === attempt)
      await waitsFor(api, id, 'retry')
      clock.jump(1)
      await waitsFor(api, id, 'limit')
      clock.jump(MINUTE)
    }
    await api.succeeded(id)
    expect(starts.mostIn(MINUTE)).toBe(1)
    expect(await api.step(id, 'ask')).toMatchObject({ attempt: 3, data: 3, limit: { name: 'openai' } })
  })

  test('a turn counts while its pass is under way, and a period from the start', async () => {
    const hold = gate()
    const { starts, begin, wait } = await open(starts => [
      starts.limited('ask', 'openai', { now, body: () => (starts.all.length === 1 ? hold.opened : undefined) }),
    ])
    const first = await begin()
    await until(async () => starts.all.length === 1)
    const second = await wait()
    clock.jump(5 * MINUTE)
    expect((await why(second)).wakeAt).toBeUndefined()
    hold.open()
    await api.succeeded(first)
    await until(async () => (await why(second)).wakeAt)
    clock.jump(MINUTE)
    await api.succeeded(second)
    expect(starts.mostIn(MINUTE)).toBe(1)
  })

  test('who is cancelled, settled or paused leaves its place to the next; a run that is resumed has its place again', async () => {
    const { begin, wait, starts } = await open(starts => [one(starts)])
    await api.succeeded(await begin())
    const [cancelled, settled, paused, next, last] = [
      await wait(),
      await wait(),
      await wait(),
      await wait(),
      await wait(),
    ]
    await api.post(`/runs/${cancelled}/cancel`)
    const by = { data: 'by hand', reason: 'the vendor called' }
    expect((await api.post(`/runs/${settled}/steps/ask/settle`, by)).status).toBe(200)
    await api.succeeded(settled)
    await api.post(`/runs/${paused}/pause`)
    expect((await why(next)).position).toBe(0)
    clock.jump(MINUTE)
    await api.succeeded(next)
    await api.post(`/runs/${paused}/resume`)
    await until(async () => (await why(paused)).position === 0)
    expect((await why(last)).position).toBe(1)
    for (const id of [paused, last]) {
      clock.jump(MINUTE)
      await api.succeeded(id)
    }
    expect(starts.all).toHaveLength(4)
    expect(starts.mostIn(MINUTE)).toBe(1)
  })

  test('a limit that the app does not register fails the step, which names those that it has', async () => {
    const { begin, name } = await open(starts => [starts.limited('ask', 'opneai', { now }), run('after')])
    const id = await begin()
    await api.succeeded(id)
    expect((await api.step(id, 'ask')).error).toEqual({
      name: 'StepLimitError',
      message: `App "${name}" has no limit "opneai": it registers "openai".`,
    })
  })

  test('a registration with another limit counts at once, and one that nobody registers any more holds its steps', async () => {
    const { begin, wait, register, pools, starts } = await open(starts => [one(starts)])
    await api.succeeded(await begin())
    const ids = [await wait(), await wait(), await wait()]
    await register({ openai: { limit: 3, period: '1m' } })
    for (const id of ids.slice(0, 2)) await api.succeeded(id)
    expect(starts.mostIn(MINUTE)).toBe(3)
    await register({})
    expect((await pools())[0]).not.toHaveProperty('limit')
    expect((await why(ids[2] as string)).sentence).toContain('which no runner of app')
    await register({ openai: { limit: 4, period: '2m' } })
    await api.succeeded(ids[2] as string)
  })

  test('a registration whose limits are beyond a bound is refused, naming it', async () => {
    const limit = { limit: 1, period: '1s' }
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`l${i}`, limit]))
    for (const [limits, field] of [
      [{ a: { ...limit, limit: 0 } }, 'limits'],
      [{ a: { ...limit, limit: 1.5 } }, 'limits'],
      [{ a: { ...limit, period: 0 } }, 'limits.a.period'],
      [{ a: { ...limit, period: '31d' } }, 'limits.a.period'],
      [{ 'a b': limit }, 'limits.a b'],
      [many, 'limits'],
    ] as const) {
      const body = { app: unique('odd'), url: 'http://127.0.0.1:9/', features: FEATURES, workflows: [], limits }
      const { status, json } = await api.post('/register', body)
      expect(status).toBe(400)
      expect(JSON.stringify(json)).toContain(field)
    }
  })

  test('what is stored keeps its rules', async () => {
    expect(await violationsIn(storeFile)).toEqual([])
  })
})
