// Events that cancel runs, over the HTTP interface (docs/flow-control.md#events-that-cancel).

import { expect, test } from 'vitest'
import { child, emit, flow, scenario, unique, until, wait } from '../../kit/index.ts'

const { api, engine, workflow } = await scenario({ realTime: true })

const runsOf = (workflow: string) => api.runs(`?workflow=${workflow}&limit=200`)

const stoppable = async (cancelOn: object[], extra: object = {}): Promise<string> =>
  (await workflow(flow([wait('hold', 'nothing')]), { registration: { cancelOn, ...extra } })).name

const start = async (name: string, data: unknown = {}) => {
  const { runId } = await api.send({ name, data })
  await api.reaches(runId, 'waiting')
  return runId
}
const cancelled = (runId: string) => api.reaches(runId, 'cancelled')

test('the event cancels the live runs whose condition holds, without an error, and woke counts none', async () => {
  const stop = unique('stop')
  const name = await stoppable([{ event: stop, if: 'event.data.order == async.data.order' }])
  const [a, b] = [await start(name, { order: 1 }), await start(name, { order: 2 })]
  expect(await api.send({ name: stop, data: { order: 1 } })).toMatchObject({ woke: 0, triggered: [] })
  expect(await cancelled(a)).not.toHaveProperty('error')
  expect((await api.run(b)).status).toBe('waiting')
})

test('a run that began after the event goes on, and one that has ended stays as it is', async () => {
  const stop = unique('stop')
  const name = await stoppable([{ event: stop }])
  const first = await start(name)
  await api.send({ name: stop })
  const second = await start(name)
  await cancelled(first)
  expect((await api.run(second)).status).toBe('waiting')
  await api.send({ name: stop })
  await cancelled(second)
})

test('an event that also starts a run cancels only the runs before it', async () => {
  const name = unique('latest')
  await engine.runner({
    workflows: {
      [name]: { handler: flow([wait('hold', 'nothing')]), registration: { cancelOn: [{ event: name }] } },
    },
  })
  const first = await start(name)
  const second = await start(name)
  await cancelled(first)
  expect((await api.run(second)).status).toBe('waiting')
})

test('an emitted event cancels too: the run that emits it, and children with their parents', async () => {
  const stop = unique('stop')
  const [parent, kid] = [unique('parent'), unique('kid')]
  const cancelOn = [{ event: stop }]
  await engine.runner({
    workflows: {
      [kid]: flow([wait('hold', 'nothing')]),
      [parent]: { handler: flow([child('kid', kid)]), registration: { cancelOn } },
    },
  })
  const waiting = await start(parent)
  const emitter = unique('emitter')
  await engine.runner({
    workflows: { [emitter]: { handler: flow([emit('stop', stop)]), registration: { cancelOn } } },
  })
  const { runId } = await api.send({ name: emitter })
  await cancelled(runId)
  await cancelled(waiting)
  const [kidRun] = await runsOf(kid)
  await cancelled(kidRun?.id as string)
})

test('it cancels the runs of its namespace and name, hundreds of them at once', async () => {
  const stop = unique('stop')
  const name = await stoppable([{ event: stop, if: 'event.data.n >= async.data.from' }])
  for (let batch = 0; batch < 5; batch++) {
    const sent = Array.from({ length: 50 }, (_, i) => api.send({ name, data: { n: batch * 50 + i } }))
    await Promise.all(sent)
  }
  await api.send({ name: stop, data: { from: 10 } })
  const count = async (status: string) => {
    const { headers, json } = await api.get(`/runs?q=${name}&status=${status}&limit=200`)
    return [(json as object[]).length, headers.has('x-next-cursor')]
  }
  await until(async () => (await count('waiting'))[0] === 10, {
    what: '240 runs cancelled',
    deadlineMs: 25_000,
  })
  expect(await count('cancelled')).toEqual([200, true])
})
