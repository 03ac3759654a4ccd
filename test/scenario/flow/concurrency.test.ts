// Concurrency limits and priorities: a run over a limit stays queued, reports why, and continues when a slot is free
// (docs/flow-control.md#concurrency).

import type { LimitStatus } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { flow, gate, type Handler, returned, run, scenario, sleep, unique, until, waitsFor } from '../../kit/index.ts'

const { api, barrier, clock, engine, workflow } = await scenario()

/** A workflow whose runs stay in their only pass until the test lets them end. */
async function openGated(registration: Record<string, unknown>) {
  const under = new Map<string, ReturnType<typeof gate>>()
  const started: string[] = []
  const handler: Handler = async ({ ctx }) => {
    const own = gate()
    under.set(ctx.runId, own)
    started.push(ctx.runId)
    await own.opened
    under.delete(ctx.runId)
    return returned(null)
  }
  const { name, runner } = await workflow(handler, { registration })
  return {
    name,
    /** Registers the workflow again. */
    register: (changed: Record<string, unknown>) => runner.register(api, { workflows: [{ name, ...changed }] }),
    /** Runs that are in their pass now. */
    under,
    /** Runs in the order of their beginning. */
    started,
    async send(data: Record<string, unknown> = {}): Promise<string> {
      // Ids of one millisecond have no order.
      clock.jump(1)
      return (await api.send({ name, data })).runId as string
    },
    async start(data: Record<string, unknown> = {}): Promise<string> {
      const runId = await this.send(data)
      await until(() => under.has(runId), { what: `run ${runId} started` })
      return runId
    },
    async end(runId: string): Promise<void> {
      under.get(runId)?.open(undefined)
      await api.succeeded(runId)
    },
  }
}

describe('a limit', () => {
  test('lets that many runs of a key be in flight, and keeps the others of the key queued', async () => {
    const gated = await openGated({ concurrency: { limit: 1, key: 'event.data.user' } })
    const first = await gated.start({ user: 'ada' })
    const second = await gated.send({ user: 'ada' })
    const held = await waitsFor(api, second, 'concurrency')
    expect(held).toMatchObject({ status: 'queued', waitingFor: { kind: 'concurrency', key: 'ada' } })
    expect(held).not.toHaveProperty('startedAt')
    const other = await gated.start({ user: 'eve' })
    await gated.end(first)
    await until(() => gated.under.has(second))
    expect(await api.run(second)).not.toHaveProperty('waitingFor')
    await gated.end(second)
    await gated.end(other)
  })

  test('that a registration changes holds for the runs that are queued, too', async () => {
    const gated = await openGated({ concurrency: { limit: 3 } })
    const ids: string[] = []
    for (let i = 0; i < 7; i++) ids.push(await gated.send())
    await until(() => gated.under.size === 3)
    await waitsFor(api, ids[6] as string, 'concurrency')
    const limit = async () =>
      ((await api.get('/limits')).json as LimitStatus[]).find(one => one.workflow === gated.name)
    await gated.register({ concurrency: { limit: 1 } })
    expect(await limit()).toMatchObject({ limit: 1, held: 3, waiting: 4 })
    for (const id of ids.slice(0, 3)) await gated.end(id)
    await until(() => gated.under.size === 1)
    await barrier()
    expect(gated.under.size).toBe(1)
    await gated.register({ concurrency: { limit: 2 } })
    await gated.end(gated.started[3] as string)
    await until(() => gated.under.size === 2)
    await barrier()
    expect(gated.under.size).toBe(2)
    for (const id of ids.slice(4)) {
      await until(() => gated.under.has(id))
      await gated.end(id)
    }
  })

  test('counts runs in flight, not those that sleep: a sleeping run releases its slot and takes one again', async () => {
    const name = unique('sleeper')
    const handler = flow([sleep('nap', 60_000), run('after')])
    const { record } = await engine.runner({
      workflows: { [name]: { handler, registration: { concurrency: { limit: 1 } } } },
    })
    const runIds = [await api.send({ name }), await api.send({ name })].map(({ runId }) => runId as string)
    for (const runId of runIds) await waitsFor(api, runId, 'sleep')
    clock.jump(60_000)
    for (const runId of runIds) {
      await api.succeeded(runId)
      expect(record.names(runId)).toEqual(['nap', 'after'])
    }
  })

  test('applies together with others; a run of another workflow shares the slot of an app', async () => {
    const concurrency = [{ limit: 5 }, { limit: 1, scope: 'app', key: 'event.data.user' }]
    const [one, two] = [unique('one'), unique('two')]
    const opened = gate()
    const handler: Handler = async () => {
      await opened.opened
      return returned(null)
    }
    const { record } = await engine.runner({
      workflows: {
        [one]: { handler, registration: { concurrency } },
        [two]: { handler, registration: { concurrency } },
      },
    })
    const first = (await api.send({ name: one, data: { user: 'ada' } })).runId as string
    await until(() => record.passes(first) === 1)
    const second = (await api.send({ name: two, data: { user: 'ada' } })).runId as string
    await waitsFor(api, second, 'concurrency')
    opened.open()
    await api.succeeded(first)
    await api.succeeded(second)
  })

  test('releases the slot of a cancelled run, and not that of a paused one', async () => {
    const gated = await openGated({ concurrency: { limit: 1 } })
    const first = await gated.start()
    const [paused, next, last] = [await gated.send(), await gated.send(), await gated.send()]
    for (const runId of [paused, next, last]) await waitsFor(api, runId, 'concurrency')
    await api.post(`/runs/${paused}/pause`)
    expect(await api.run(paused)).not.toHaveProperty('waitingFor')
    await api.post(`/runs/${first}/cancel`)
    await until(() => gated.under.has(next))
    await api.post(`/runs/${paused}/resume`)
    await waitsFor(api, paused, 'concurrency')
    await gated.end(next)
    await until(() => gated.under.has(paused))
    await gated.end(paused)
    await until(() => gated.under.has(last))
    await gated.end(last)
  })
})

describe('priority', () => {
  test('decides which waiting run goes first; among equals the oldest does', async () => {
    const gated = await openGated({ concurrency: { limit: 1 }, priority: 'event.data.p' })
    const first = await gated.start({ p: 0 })
    const ranked = [0, -3, 5, 0, 5, 'none'] as const
    const runIds: string[] = []
    for (const p of ranked) {
      runIds.push(await gated.send(p === 'none' ? {} : { p }))
      await waitsFor(api, runIds.at(-1) as string, 'concurrency')
    }
    await gated.end(first)
    for (let i = 1; i <= ranked.length; i++) {
      await until(() => gated.started.length > i)
      await gated.end(gated.started[i] as string)
    }
    expect(gated.started.slice(1)).toEqual([2, 4, 0, 3, 5, 1].map(i => runIds[i]))
  })
})
