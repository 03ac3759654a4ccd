// Flow control over three engines on one PostgreSQL database, with events going to them in rotation: the policies
// hold for all engines together, with Redis and without it.

import type { SendEventReply } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { Cluster, WIRES } from '../../kit/engine/cluster.ts'
import { flow, gate, type Handler, JumpClock, returned, until, wait } from '../../kit/index.ts'
import { deleteKeysOf } from '../../kit/servers/redis.ts'

const ENGINES = 3
const EVENTS = 12

for (const [wire, env] of Object.entries(WIRES)) {
  describe(`three engines that hear each other through ${wire}`, async () => {
    const clock = new JumpClock()
    const cluster = await Cluster.open(ENGINES, clock, env)
    const isCountedTogether = env.ENGINE_LIMITER !== undefined

    const runsOf = (name: string, count: number) => cluster.api.runsReach(`?app=${name}&limit=200`, count)
    async function inputsOf(name: string, count: number): Promise<unknown[]> {
      const runs = await runsOf(name, count)
      return Promise.all(runs.map(async ({ id }) => (await cluster.api.succeeded(id)).input))
    }
    const events = (name: string, count = EVENTS) =>
      Array.from({ length: count }, (_, i) => ({ name, data: { i, key: i % 2 } }))
    const post = async (name: string) => (await cluster.api.post('/events', { name, data: {} })).json as SendEventReply

    // These policies are in the database alone.
    if (!isCountedTogether) {
      test('a debounce gathers the events of all of them, and fires once, at its time', async () => {
        const { name, record } = await cluster.workflow(() => returned(), {
          debounce: { period: '10s', mode: 'all', key: 'event.data.key' },
        })
        const answers = await cluster.sendEach(events(name))
        expect(answers.flatMap(({ triggered }) => triggered)).toEqual(
          Array.from({ length: EVENTS }, () => expect.objectContaining({ debounced: true })),
        )
        clock.jump(9999)
        expect((await cluster.getFromEach(`/runs?app=${name}`)).map(({ json }) => json)).toEqual([[], [], []])
        clock.jump(1)
        const inputs = (await inputsOf(name, 2)) as { i: number; key: number }[][]
        expect(inputs.map(input => new Set(input.map(({ key }) => key)).size)).toEqual([1, 1])
        const gathered = inputs.flat().map(({ i }) => i)
        expect(gathered.sort((a, b) => a - b)).toEqual(Array.from({ length: EVENTS }, (_, i) => i))
        clock.jump(60_000)
        expect(await runsOf(name, 2)).toHaveLength(2)
        expect(record.invokes).toHaveLength(2)
      })

      test('a batch is filled by the events of all of them, and each event is in exactly one', async () => {
        const { name } = await cluster.workflow(() => returned(), { batch: { maxSize: 5, timeout: '1h' } })
        const answers = await cluster.sendEach(events(name))
        expect(answers.filter(({ runId }) => runId !== undefined)).toHaveLength(2)
        clock.jump(3_600_000)
        const batches = (await inputsOf(name, 3)) as { i: number }[][]
        expect(batches.map(({ length }) => length).sort()).toEqual([2, 5, 5])
        const batched = batches.flat().map(({ i }) => i)
        expect(batched.sort((a, b) => a - b)).toEqual(Array.from({ length: EVENTS }, (_, i) => i))
      })

      test('a singleton that skips allows one live run, whichever engine started it', async () => {
        const { name } = await cluster.workflow(flow([wait('hold', 'nothing')]), {
          singleton: { mode: 'skip' },
        })
        const replies = await Promise.all(events(name).map(() => post(name)))
        expect(replies.filter(({ runId }) => runId !== undefined)).toHaveLength(1)
        expect(replies.filter(({ skipped }) => skipped)).toHaveLength(EVENTS - 1)
        const [run] = await runsOf(name, 1)
        await cluster.api.post(`/runs/${run?.id}/cancel`)
        expect((await post(name)).runId).toBeDefined()
      })

      test('a schedule fires once at each of its instants', async () => {
        const { name } = await cluster.workflow(() => returned(), { triggers: [{ cron: '0 * * * *' }] })
        const HOUR = 3_600_000
        for (let fired = 1; fired <= 4; fired++) {
          clock.jumpTo(Math.floor(clock.now() / HOUR + 1) * HOUR)
          await runsOf(name, fired)
        }
        const times = ((await inputsOf(name, 4)) as { scheduledAt: string }[]).map(({ scheduledAt }) => scheduledAt)
        expect(times).toHaveLength(4)
        expect(new Set(times).size).toBe(4)
      })
    }

    test('a singleton that cancels leaves one live run, and aborts the passes of the others at every engine', async () => {
      const live = new Set<string>()
      const hold: Handler = async ({ ctx, signal }) => {
        const cut = gate()
        signal.addEventListener('abort', () => cut.open())
        live.add(ctx.runId)
        await cut.opened
        live.delete(ctx.runId)
        return returned()
      }
      const { name } = await cluster.workflow(hold, { singleton: { mode: 'cancel' } })
      for (let i = 0; i < ENGINES * 2; i++) {
        const { runId } = await cluster.api.send({ name })
        await until(() => live.has(runId) && live.size === 1, { what: 'the newest run alone' })
      }
      await cluster.sendEach(events(name))
      const runs = await runsOf(name, ENGINES * 2 + EVENTS)
      const rest = runs.filter(({ status }) => status !== 'cancelled')
      expect(rest).toHaveLength(1)
      await until(() => live.size === 1 && live.has(rest[0]?.id as string), { what: 'the last one alone' })
      await cluster.api.post(`/runs/${rest[0]?.id}/cancel`)
      await until(() => live.size === 0)
    })

    test('a concurrency limit of a key counts for all, and no slot stays taken', async () => {
      const under = new Map<number, Map<string, () => void>>()
      const most = new Map<number, number>()
      let finished = 0
      const hold: Handler = async ({ ctx, event }) => {
        const { key } = event.data as { key: number }
        const own = gate()
        const ofKey = under.get(key) ?? new Map<string, () => void>()
        under.set(key, ofKey.set(ctx.runId, own.open))
        most.set(key, Math.max(most.get(key) ?? 0, ofKey.size))
        await own.opened
        ofKey.delete(ctx.runId)
        finished++
        return returned()
      }
      const { name } = await cluster.workflow(hold, { concurrency: { limit: 2, key: 'event.data.key' } })
      const runs = (await cluster.sendEach(events(name))).map(({ runId }) => runId)
      const underWay = () => [...under.values()].reduce((sum, { size }) => sum + size, 0)
      while (finished < EVENTS) {
        const next = finished + 4
        await until(() => underWay() === 4, { what: 'every slot taken' })
        for (const ofKey of under.values()) for (const end of ofKey.values()) end()
        await until(() => finished === next)
      }
      for (const runId of runs) await cluster.api.succeeded(runId)
      expect([...most.values()]).toEqual([2, 2])
    })

    test('a rate limit counts for all with a shared limiter, and for each without', async () => {
      const { name } = await cluster.workflow(() => returned(), { rateLimit: { limit: 2, period: '1h' } })
      const past = async () =>
        (await Promise.all(events(name).map(() => post(name)))).filter(({ runId }) => runId !== undefined).length
      const limit = isCountedTogether ? 2 : 2 * ENGINES
      expect(await past()).toBe(limit)
      expect(await past()).toBe(0)
      clock.jump(3_600_000)
      expect(await past()).toBe(limit)
    })

    test('a throttle spaces the starts of all with a shared limiter, and of each without', async () => {
      const { name } = await cluster.workflow(flow([wait('hold', 'nothing')]), {
        throttle: { limit: 1, period: '10s' },
      })
      const began = clock.now()
      const runs: string[] = []
      for (let i = 0; i < 6; i++) runs.push((await cluster.api.send({ name })).runId as string)
      const waiting = (kind: string) => async () => {
        const all = await Promise.all(runs.map(runId => cluster.api.run(runId)))
        return all.filter(({ waitingFor }) => waitingFor?.kind === kind).length
      }
      const [started, held] = [waiting('event'), waiting('throttle')]
      await until(async () => (await started()) + (await held()) === runs.length)
      while ((await held()) > 0) {
        const before = await started()
        clock.jump(10_000)
        await until(async () => (await started()) > before)
      }
      const begun = await Promise.all(runs.map(runId => cluster.api.run(runId)))
      const times = begun.map(({ startedAt = '' }) => (Date.parse(startedAt) - began) / 1000).sort((a, b) => a - b)
      if (isCountedTogether) expect(times).toEqual([0, 10, 20, 30, 40, 50])
      for (const time of times) {
        expect(time % 10).toBe(0)
        expect(times.filter(other => other === time).length).toBeLessThanOrEqual(isCountedTogether ? 1 : ENGINES)
      }
    })

    test('a Redis that forgets everything in the middle of a load loses nothing', {
      skip: !isCountedTogether,
    }, async () => {
      const { name, record } = await cluster.workflow(flow([wait('hold', `go-${wire}`, 86_400_000)]), {
        throttle: { limit: 1000, period: '1s', burst: 100 },
        concurrency: { limit: 50 },
      })
      const posting = cluster.sendEach(events(name, 60))
      let forgotten = 0
      while (forgotten < 3 || record.invokes.length < 60) {
        await deleteKeysOf(cluster.storeFile)
        forgotten++
        clock.jump(100)
      }
      const runs = (await posting).map(({ runId }) => runId)
      for (const runId of runs) await cluster.api.reaches(runId, 'waiting')
      expect((await cluster.api.send({ name: `go-${wire}` })).woke).toBe(runs.length)
      for (const runId of runs) await cluster.api.succeeded(runId)
    })
  })
}
