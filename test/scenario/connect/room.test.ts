// Runs whose pass waits for room on a Connect runner (`maxConcurrency`): they get it in order, they go to any runner with room,
// and unwanted runs leave the queue.

import { expect, test } from 'vitest'
import { scenario, unique, until } from '../../kit/index.ts'
import { type ConnectClient, dial, dialAs } from '../../kit/runner/connect-client.ts'

const { api, url } = await scenario({ realTime: true })

const runIdOf = ({ payload }: { payload: Record<string, unknown> }) => (payload.ctx as { runId: string }).runId

/** The runs sent to the runner, in order. */
const sentTo = (client: ConnectClient) =>
  client.frames.filter(({ type }) => type === 'invoke').map(frame => runIdOf(frame))

/** Answers the oldest open invoke, which makes room. */
async function answerNext(client: ConnectClient): Promise<void> {
  const { id } = await client.next('invoke')
  client.result(id, 200, '{"logs":[]}')
}

/** A runner with room for one pass, and that pass. */
async function busy(fields: Record<string, unknown> = {}) {
  const app = unique('full')
  const runner = await dialAs(url, { app, runner: 'r1', workflows: [app], maxConcurrency: 1, ...fields })
  const first = await api.send({ name: app })
  const { id } = await until(() => runner.frames.find(({ type }) => type === 'invoke'))
  return { app, runner, first, firstInvoke: id }
}

/** Waits until the run is in the queue: an engine has leased the run, and no runner has it. */
async function waitsForRoom(runId: string): Promise<void> {
  await until(async () => {
    const { json } = await api.get(`/runs/${runId}/why`)
    return (json as { sentence: string }).sentence.startsWith('It is queued for a runner')
  })
}

test('a run that is paused in the queue is sent to no runner until it is resumed', async () => {
  const { app, runner, first } = await busy()
  const paused = await api.send({ name: app })
  const next = await api.send({ name: app })
  for (const { runId } of [paused, next]) await waitsForRoom(runId)
  await api.post(`/runs/${paused.runId}/pause`)
  await answerNext(runner)
  await answerNext(runner)
  await api.succeeded(next.runId)
  expect(sentTo(runner)).toEqual([first.runId, next.runId])
  expect((await api.get(`/runs/${paused.runId}`)).json).toMatchObject({ status: 'paused', attempt: 1 })
  await api.post(`/runs/${paused.runId}/resume`)
  await answerNext(runner)
  await api.succeeded(paused.runId)
})

test('a run in the queue has status queued, and has not started until a runner has it', async () => {
  const { app, runner } = await busy()
  const { runId } = await api.send({ name: app })
  await waitsForRoom(runId)
  const { json } = await api.get(`/runs/${runId}`)
  expect(json).toMatchObject({ status: 'queued', attempt: 1, waitingFor: { kind: 'runner' } })
  expect(json).not.toHaveProperty('startedAt')
  await answerNext(runner)
  await until(() => runner.count('invoke') === 2)
  const sent = (await api.get(`/runs/${runId}`)).json
  expect(sent).toMatchObject({ status: 'running', startedAt: expect.any(String) })
  expect(sent).not.toHaveProperty('waitingFor')
  await answerNext(runner)
  await api.succeeded(runId)
})

test('a run that waits in the queue for longer than timeouts.queue fails without being sent', async () => {
  const app = unique('late')
  const runner = await dial(url)
  const workflows = [{ name: app, timeouts: { queue: 1000 } }]
  runner.send('runner.register', { app, runner: 'r1', workflows, maxConcurrency: 1 })
  await runner.next('runner.registered')
  await api.send({ name: app })
  await until(() => runner.count('invoke') === 1)
  const { runId } = await api.send({ name: app })
  expect(await api.failed(runId)).toMatchObject({ error: { code: 'timeout' } })
  expect(runner.count('invoke')).toBe(1)
})

test('a run that is cancelled in the queue leaves it', async () => {
  const { app, runner, first } = await busy()
  const { runId } = await api.send({ name: app })
  await waitsForRoom(runId)
  await api.post(`/runs/${runId}/cancel`)
  await answerNext(runner)
  await api.succeeded(first.runId)
  expect(sentTo(runner)).toEqual([first.runId])
})

test('waiting runs go to another runner of the app as soon as one joins, or gets room', async () => {
  const { app, runner, first } = await busy()
  // One after the other: invokes are sent in the order of the runs' ids.
  const waiting: string[] = []
  for (let i = 0; i < 4; i++) waiting.push((await api.send({ name: app })).runId as string)
  const pinned = await api.send({ name: app, runner: 'r1' })
  for (const runId of [...waiting, pinned.runId]) await waitsForRoom(runId)
  const joined = await dialAs(url, { app, runner: 'r2', workflows: [app], maxConcurrency: 2 })
  for (const runId of waiting) {
    await answerNext(joined)
    await api.succeeded(runId)
  }
  expect(sentTo(runner)).toEqual([first.runId])
  await answerNext(runner)
  await answerNext(runner)
  await api.succeeded(pinned.runId)
})

test('of the waiting runs the highest priority goes first, then the oldest, whichever runner has room', async () => {
  const app = unique('order')
  const workflow = { name: app, priority: 'event.data.p' }
  const runners: ConnectClient[] = []
  for (const runner of ['r1', 'r2']) {
    const client = await dial(url)
    client.send('runner.register', { app, runner, workflows: [workflow], maxConcurrency: 1 })
    await client.next('runner.registered')
    runners.push(client)
  }
  const send = (p: number) => api.send({ name: app, data: { p } })
  await send(0)
  await send(0)
  const [one, two] = runners as [ConnectClient, ConnectClient]
  await until(() => one.count('invoke') === 1 && two.count('invoke') === 1)
  const sent: string[] = []
  for (const p of [0, 5, 0, 9, 5]) {
    const { runId } = await send(p)
    await waitsForRoom(runId)
    sent.push(runId as string)
  }
  const order: string[] = []
  for (const client of runners) {
    client.onFrame = frame => {
      if (frame.type === 'invoke') order.push(runIdOf(frame))
    }
  }
  for (let i = 1; i <= 5; i++) {
    await answerNext(i % 2 === 0 ? one : two)
    await until(() => order.length === i)
  }
  const [oldest, five, older, nine, laterFive] = sent
  expect(order).toEqual([nine, five, laterFive, oldest, older])
})

test('a larger bound makes room at once, and the queue of a runner that goes is held for another', async () => {
  const { app, runner } = await busy()
  const { runId } = await api.send({ name: app })
  await waitsForRoom(runId)
  await runner.register({ app, runner: 'r1', workflows: [app], maxConcurrency: 2 })
  await until(() => runner.count('invoke') === 2)
  const last = await api.send({ name: app })
  await waitsForRoom(last.runId as string)
  runner.ws.close()
  await until(async () => {
    const { json } = await api.get(`/runs/${last.runId}`)
    return (json as { waitingFor?: { kind: string } }).waitingFor?.kind === 'runner'
  })
})
