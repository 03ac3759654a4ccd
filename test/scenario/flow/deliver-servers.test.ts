// Singletons that deliver, on both databases, and on PostgreSQL over two engines (docs/flow-control.md#singleton): an event
// whose key has a live run goes to that run, and if the run ends without it, another run starts with it in the commit of the
// end.

import type { RunSummary, SendEventReply } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { flow, type Handler, openKeyed, openRunner, PLACES, returned, unique, until, wait } from '../../kit/index.ts'

const singleton = { mode: 'deliver', key: 'event.data.k' }

describe.each(PLACES)('on %s', async (_, freshStore, count) => {
  const { api, other } = await openKeyed(freshStore, count)

  async function open(name: string, handler: Handler, registration: object = {}) {
    const workflows = { [name]: { handler, registration: { singleton, ...registration } } }
    const runner = await openRunner({ runner: unique('r'), workflows })
    await runner.register(api, { features: ['continue-as', 'end-with-steps', 'wait-order'] })
    return {
      name,
      send: async (data: object, more: object = {}) =>
        (await other.post('/events', { name, data: { k: 'x', ...data }, ...more })).json as SendEventReply,
      /** Resolves with the runs, oldest first, once there are that many. */
      runs: (count: number) => api.runsReach(`?app=${runner.app}&dir=asc&limit=200`, count),
      inputs: async (ids: readonly string[]) => Promise.all(ids.map(async id => (await api.run(id)).input)),
    }
  }
  const runIdOf = ({ runId }: SendEventReply) => runId as string
  const cancel = (id: string) => api.post(`/runs/${id}/cancel`)

  test('the event of a live run starts nothing, names that run, and is what its wait takes', async () => {
    const name = unique('deliver')
    const { send, runs } = await open(name, flow([wait('next', name)]))
    const first = runIdOf(await send({ n: 1 }))
    await api.reaches(first, 'waiting')
    const second = await send({ n: 2 })
    expect(second).toMatchObject({ delivered: true, liveRunId: first, woke: 1 })
    expect(second.triggered).toEqual([expect.objectContaining({ workflow: name, delivered: true, liveRunId: first })])
    await api.succeeded(first)
    const third = await send({ n: 3 })
    expect(third).not.toHaveProperty('liveRunId')
    expect(await runs(2)).toHaveLength(2)
    expect(runIdOf(third)).not.toBe(first)
  })

  test('a run that ends without its events: the first starts a run, and the others are for that one, which sees no older event', async () => {
    const name = unique('left')
    const other = unique('other')
    const { send, runs, inputs } = await open(name, flow([wait('hold', other), wait('next', name), wait('more', name)]))
    const first = runIdOf(await send({ n: 1 }))
    await api.reaches(first, 'waiting')
    for (const n of [2, 3, 4]) expect((await send({ n })).liveRunId).toBe(first)
    await cancel(first)
    const [, second] = (await runs(2)) as [RunSummary, RunSummary]
    expect(await inputs([second.id])).toEqual([{ k: 'x', n: 2 }])
    await api.reaches(second.id, 'waiting')
    await api.post('/events', { name: other })
    await api.succeeded(second.id)
    const steps = await api.steps(second.id)
    expect(steps.map(({ name, data }) => [name, (data as { data?: unknown }).data]).slice(1)).toEqual([
      ['next', { k: 'x', n: 3 }],
      ['more', { k: 'x', n: 4 }],
    ])
    expect(await runs(2)).toHaveLength(2)
  })

  test('a cancelled run whose end is not stored yet is still the one that the events are for', async () => {
    const name = unique('ending')
    const stop = unique('stop')
    const { send, runs, inputs } = await open(name, flow([wait('hold', 'nothing')]), { cancelOn: [{ event: stop }] })
    const first = runIdOf(await send({ n: 1 }))
    await api.reaches(first, 'waiting')
    const replies = (
      await api.post('/events/batch', [{ name: stop }, ...[2, 3].map(n => ({ name, data: { k: 'x', n } }))])
    ).json as SendEventReply[]
    expect(replies.slice(1).map(({ liveRunId }) => liveRunId)).toEqual([first, first])
    const [, second] = (await runs(2)) as [RunSummary, RunSummary]
    expect(await inputs([second.id])).toEqual([{ k: 'x', n: 2 }])
    expect((await send({ n: 4 })).liveRunId).toBe(second.id)
  })

  test('a run that continues passes on the events that its handler was not given', async () => {
    const name = unique('chain')
    const go = unique('go')
    let continued = 0
    const waits = flow([wait('hold', go)])
    const { send, runs, inputs } = await open(name, async (call, record) => {
      const reply = await waits(call, record)
      if (!reply || !('status' in reply) || reply.status !== 200 || continued++ > 0) return reply
      return { status: 200, body: { continueAs: { data: { k: 'x', n: 'next' } }, logs: [] } }
    })
    const first = runIdOf(await send({ n: 1 }))
    await api.reaches(first, 'waiting')
    expect((await send({ n: 2 })).liveRunId).toBe(first)
    await api.post('/events', { name: go })
    await api.succeeded(first)
    const [, link] = (await runs(2)) as [RunSummary, RunSummary]
    expect(link.continuedFrom).toBe(first)
    await api.reaches(link.id, 'waiting')
    expect((await send({ n: 3 })).liveRunId).toBe(link.id)
    await cancel(link.id)
    const third = (await runs(3))[2] as RunSummary
    expect(await inputs([third.id])).toEqual([{ k: 'x', n: 2 }])
    await cancel(third.id)
    const fourth = (await runs(4))[3] as RunSummary
    expect(await inputs([fourth.id])).toEqual([{ k: 'x', n: 3 }])
  })

  test('direct starts and redrives meet the live run, and it is refused beside a batch or a debounce', async () => {
    const name = unique('direct')
    const { send } = await open(name, flow([wait('hold', 'nothing')]))
    const sent = await send({ n: 1 })
    const { status, json } = await api.post(`/events/${sent.eventId}/redrive`, { workflow: name })
    expect({ status, json }).toMatchObject({
      status: 409,
      json: { error: { code: 'already_running', details: { liveRunId: sent.runId } } },
    })
    for (const [policy, options] of [
      ['batch', { maxSize: 2, timeout: '1s' }],
      ['debounce', { period: '1s' }],
    ] as const)
      expect((await api.offer({ singleton, [policy]: options })).text).toContain(
        `deliver cannot be combined with ${policy}`,
      )
  })

  test('of many events while runs end all the time, none is lost, and a key never has two runs', async () => {
    const name = unique('many')
    const live = new Map<string, number>()
    const seen: string[] = []
    const twice: string[] = []
    const { send } = await open(name, async ({ event }) => {
      const { k, n } = event.data as { k: string; n: number }
      live.set(k, (live.get(k) ?? 0) + 1)
      if (live.get(k) !== 1) twice.push(k)
      await new Promise(resolve => setImmediate(resolve))
      seen.push(`${k} ${n}`)
      live.set(k, (live.get(k) ?? 0) - 1)
      return returned()
    })
    const sent = Array.from({ length: 1000 }, (_, n) => ({ k: `${n % 25}`, n }))
    // As many senders as an engine has concurrent sockets.
    const rest = [...sent]
    const sender = async () => {
      for (let next = rest.pop(); next; next = rest.pop()) await send(next)
    }
    await Promise.all(Array.from({ length: 50 }, sender))
    await until(() => seen.length >= sent.length, { what: 'every event' })
    expect([...new Set(seen)].sort()).toEqual(sent.map(({ k, n }) => `${k} ${n}`).sort())
    expect(seen).toHaveLength(sent.length)
    expect(twice).toEqual([])
  })
})
