// Running steps: what a runner reports about them while its pass continues, and where it is shown
// (docs/wire-protocol.md#running-steps).

import { expect, test } from 'vitest'
import { discovered, gate, opcode, returned, scenario, stepId, unique, until } from '../../kit/index.ts'
import { answeredWith, type ScriptedPass, ScriptedTransport } from '../../kit/runner/scripted-transport.ts'

const transport = new ScriptedTransport()
const { api, clock } = await scenario({ ports: { transport } })

const ran = (name: string, fields: Record<string, unknown> = { data: name }) => opcode('StepRun', name, fields)
const running = (name: string, startedMs: number) => ({ id: stepId(name), name, startedMs })
const done = answeredWith(returned('done') as { status: number })
const ago = (ms: number) => new Date(clock.now() - ms).toISOString()

/** Starts a run whose first pass reports, once its stream is open, and then continues until `end` is called. */
async function start(tell: (pass: ScriptedPass) => Promise<unknown>) {
  const [followed, told, go] = [gate(), gate(), gate()]
  const name = unique('long')
  transport.scripts.set(name, async pass => {
    if (pass.no > 1) return done
    await followed.opened
    await tell(pass)
    told.open()
    await go.opened
    return answeredWith(discovered([ran('charge')]) as { status: number })
  })
  const app = unique('app')
  const runner = { app, url: 'http://127.0.0.1:9/', protocolVersion: 1, workflows: [{ name }] }
  expect((await api.post('/register', runner)).status).toBe(200)
  const { runId } = await api.send({ name })
  const isBegun = (messages: readonly { data: { status?: unknown } }[]) =>
    messages.some(({ data }) => data.status === 'running')
  const stream = api.stream(runId, {
    stopWhen: messages => {
      if (isBegun(messages)) followed.open()
      return false
    },
  })
  await told.opened
  return { runId, app, stream, end: () => go.open() }
}

test('a step that runs is listed with its start, and named by the run, its lists and its streams; nothing is stored', async () => {
  const list = await api.follow('/runs/stream', {
    stopWhen: messages => messages.some(({ data }) => data.status === 'succeeded'),
  })
  const { runId, app, stream, end } = await start(async ({ checkpoint }) => {
    await checkpoint([ran('reserve')])
    expect(await checkpoint([], { running: [running('charge', 1500)] })).toEqual({ seq: 2, steps: [] })
  })
  const step = { id: stepId('charge'), name: 'charge', op: 'StepRun', index: 1, status: 'running', attempt: 1 }
  const shown = { ...step, startedAt: ago(1500), ranAt: ago(1500) }
  expect(await api.steps(runId)).toEqual([expect.objectContaining({ name: 'reserve' }), shown])
  expect((await api.get(`/runs/${runId}/steps/${step.id}`)).json).toEqual({ ...shown, attempts: [] })
  expect(await api.run(runId)).toMatchObject({ status: 'running', currentStepName: 'charge' })
  expect(await api.runs(`?app=${app}`)).toMatchObject([{ currentStepName: 'charge' }])
  const names = async (query: string) =>
    ((await api.get(`/runs/${runId}/steps?${query}`)).json as { name: string }[]).map(({ name }) => name)
  expect(await names('status=running')).toEqual(['charge'])
  expect(await names('status=succeeded')).toEqual(['reserve'])
  expect(await names('q=CHAR')).toEqual(['charge'])
  expect(await names('limit=1')).toEqual(['reserve'])
  end()
  await api.succeeded(runId)
  expect(await api.step(runId, 'charge')).toMatchObject({ status: 'succeeded', attempt: 1, index: 1 })
  const { messages } = await stream
  const live = messages.filter(({ data }) => data.currentStepName !== undefined)
  const frame = { kind: 'run_status', status: 'running', attempt: 1, runId, currentStepName: 'charge' }
  expect(live.map(({ id, data }) => [id, data])).toEqual([[undefined, expect.objectContaining(frame)]])
  const seqs = messages.map(({ data }) => data.seq as number)
  expect(seqs).toEqual([...seqs].sort((a, b) => a - b))
  expect((await api.stream(runId)).messages.some(({ data }) => data.currentStepName !== undefined)).toBe(false)
  const { messages: moves } = await list.over
  expect(moves.filter(({ data }) => data.currentStepName === 'charge')).toHaveLength(1)
})

test('pages go on to the steps that run', async () => {
  const { runId, end } = await start(async ({ checkpoint }) => {
    await checkpoint([ran('a'), ran('b')])
    await checkpoint([], { running: [running('charge', 0), running('notify', 0)] })
  })
  const names: string[] = []
  for (let cursor = ''; ; ) {
    const page = await api.get(`/runs/${runId}/steps?limit=1${cursor && `&cursor=${cursor}`}`)
    names.push(...(page.json as { name: string }[]).map(({ name }) => name))
    const next = page.headers.get('x-next-cursor')
    if (next === null) break
    cursor = next
  }
  expect(names).toEqual(['a', 'b', 'charge', 'notify'])
  end()
  await api.succeeded(runId)
})

test('a step that is tried again runs with its next attempt; one whose end was reported runs no more', async () => {
  const { runId, end } = await start(async ({ checkpoint }) => {
    await checkpoint([ran('charge', { error: { message: 'no' }, retryAfterMs: 60_000 })])
    await checkpoint([], { running: [running('charge', 10), running('b', 10)] })
    await checkpoint([ran('b')])
  })
  expect(await api.steps(runId)).toMatchObject([
    { name: 'charge', status: 'running', attempt: 2, ranAt: ago(10) },
    { name: 'b', status: 'succeeded' },
  ])
  expect((await api.steps(runId))[0]).not.toHaveProperty('error')
  end()
  await until(async () => (await api.steps(runId))[0]?.status !== 'running')
})

test('what cannot be read of it is left out, an old notice changes nothing, and a checkpoint with steps is stored', async () => {
  const { runId, end } = await start(async ({ checkpoint }) => {
    const bad = [
      null,
      1,
      {},
      { id: '', name: 'a', startedMs: 0 },
      { ...running('a', -1) },
      { ...running('a', 0), name: 7 },
    ]
    await checkpoint([ran('first')], { running: [...bad, running('charge', 5)] })
    await checkpoint([], { seq: 5, running: [running('charge', 5)] })
    await checkpoint([], { seq: 3, running: [running('old', 5)] })
    await checkpoint([], { seq: 6, running: 'none' })
  })
  expect((await api.steps(runId)).map(({ name, status }) => [name, status])).toEqual([
    ['first', 'succeeded'],
    ['charge', 'running'],
  ])
  end()
  await api.succeeded(runId)
})
