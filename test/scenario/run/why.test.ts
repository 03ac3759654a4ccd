// `GET /runs/{id}/why`: its answer for a run at every stage (docs/http-api/runs.md#get-runsidwhy).

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ListedRun, RunExplanation, SendEventReply } from '@perdure/protocol'
import { expect, test } from 'vitest'
import {
  child,
  flow,
  gate,
  run,
  StepFailure,
  scenario,
  skipWait,
  sleep,
  step,
  unique,
  until,
  wait,
  waitsFor,
} from '../../kit/index.ts'

const { api, clock, engine, start } = await scenario()

const why = async (runId: string) => (await api.get(`/runs/${runId}/why`)).json as RunExplanation

test('a run that waits for an event says which, until when, and which runners could take it', async () => {
  const [name, event] = [unique('why'), unique('paid')]
  const { app } = await engine.runner({ workflows: { [name]: flow([wait('pay', event, 60_000)]) } })
  const { runId } = await api.send({ name })
  await waitsFor(api, runId, 'event')
  const until = new Date(clock.now() + 60_000).toISOString()
  expect(await why(runId)).toEqual({
    runId,
    status: 'waiting',
    sentence: `Step "pay" waits for event "${event}", until ${until} at the latest.`,
    since: new Date(clock.now()).toISOString(),
    waitingFor: { kind: 'event', stepName: 'pay', until, eventName: event },
    wakeAt: until,
    event: { name: event },
    openSteps: 1,
    runners: { live: 1, stale: 0 },
  })
  expect(app).toBeDefined()
})

test('a run whose wait cannot be compared with the event that came says so', async () => {
  const event = unique('paid')
  const pay = step('WaitForEvent', 'pay', { eventName: event, timeoutMs: 60_000, if: 'async.data.orderId == 1' })
  const { runId } = await start(flow([pay]))
  await waitsFor(api, runId, 'event')
  const sent = (await api.post('/events', { name: event, data: { order: 1 } })).json as SendEventReply
  const sentence = `Its expression "async.data.orderId == 1" could not be evaluated for event ${sent.eventId}, so the event did not wake the run: No such key`
  expect((await why(runId)).sentence).toContain(sentence)
})

test('a sleeping run, then paused, then ended', async () => {
  const { runId } = await start(flow([sleep('nap', 5000)]))
  await waitsFor(api, runId, 'sleep')
  const wakeAt = new Date(clock.now() + 5000).toISOString()
  expect(await why(runId)).toMatchObject({ status: 'waiting', wakeAt, waitingFor: { kind: 'sleep' } })
  await api.post(`/runs/${runId}/pause`)
  expect(await why(runId)).toMatchObject({ status: 'paused', wakeAt })
  await api.post(`/runs/${runId}/resume`)
  clock.jump(5000)
  await api.succeeded(runId)
  const { sentence, runners } = await why(runId)
  expect(sentence).toMatch(/^It succeeded after 5\.\ds, at .*Z\.$/)
  expect(runners).toBeUndefined()
})

test('a run whose passes fail says why, and so does the log', async () => {
  const name = unique('why')
  const { runner } = await engine.runner({
    runner: unique('r'),
    workflows: { [name]: () => ({ status: 500, body: { error: 'no database', logs: [] } }) },
  })
  const { runId } = await api.send({ name })
  const { waitingFor } = await waitsFor(api, runId, 'retry')
  const error = 'The runner answered 500: no database.'
  expect(waitingFor).toEqual({ kind: 'retry', until: expect.any(String), error })
  expect(await why(runId)).toMatchObject({
    waitingFor,
    sentence: `The last pass failed (try 1 of 8). It is repeated at ${waitingFor?.until}. The error: ${error}`,
  })
  await skipWait(api, clock, runId, 'retry')
  await until(async () => (await why(runId)).sentence.includes('(try 2 of 8)'))
  const warned = engine.log.map(line => JSON.parse(line)).filter(line => line.runId === runId)
  expect(warned).toEqual([
    expect.objectContaining({ level: 40, runnerId: runner, tries: 1, error, msg: 'a pass failed' }),
  ])
})

test('a run whose runner registered a wrong port or path: both name the address, its answer, and the remedy', async () => {
  const other = createServer((_, response) => response.writeHead(404).end('<pre>Cannot POST /wrong</pre>'))
  await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
  const { port } = other.address() as AddressInfo
  const register = async (url: string) => {
    const [name, app] = [unique('why'), unique('app')]
    await api.post('/register', { app, runner: 'r1', url, workflows: [{ name }] })
    return (await api.send({ name })).runId
  }
  const path = await register(`http://127.0.0.1:${port}/wrong`)
  await api.reaches(path, 'failed')
  expect((await why(path)).sentence).toContain(
    `: http://127.0.0.1:${port}/wrong answered 404: Cannot POST /wrong. Check the path of the url that the runner registers. (runner_rejected)`,
  )
  await new Promise(resolve => other.close(resolve))
  const refused = await register(`http://127.0.0.1:${port}/api`)
  await waitsFor(api, refused, 'runner')
  expect((await why(refused)).sentence).toContain(
    `: http://127.0.0.1:${port}/api: connect ECONNREFUSED 127.0.0.1:${port}. The run is tried again at`,
  )
})

test('a parent and its child; a running run names its runner', async () => {
  const [name, inner] = [unique('parent'), unique('inner')]
  const open = gate()
  const { runner } = await engine.runner({
    runner: unique('r'),
    workflows: { [name]: flow([child('sub', inner)]), [inner]: flow([run('work', () => open.opened)]) },
  })
  const { runId } = await api.send({ name })
  const parked = await waitsFor(api, runId, 'child')
  const childRunId = parked.waitingFor?.childRunId as string
  await api.reaches(childRunId, 'running')
  expect(await why(runId)).toMatchObject({
    childRunId,
    children: [{ stepName: 'sub', runId: childRunId, status: 'running' }],
  })
  expect(await why(childRunId)).toMatchObject({
    status: 'running',
    runner,
    sentence: expect.stringContaining(`Runner "${runner}" has been working on it since`),
  })
  open.open()
  await api.succeeded(runId)
})

test('a run held by its limit shows its place in the queue, and the runs that hold the slot', async () => {
  const name = unique('held')
  const open = gate()
  const handler = flow([run('work', () => open.opened)])
  await engine.runner({ workflows: { [name]: { handler, registration: { concurrency: { limit: 1 } } } } })
  const { runId: first } = await api.send({ name })
  await api.reaches(first, 'running')
  const since = new Date(clock.now()).toISOString()
  const waiting = []
  for (let i = 0; i < 2; i++) {
    clock.jump(1)
    waiting.push((await api.send({ name })).runId)
  }
  const [second, third] = waiting as [string, string]
  await waitsFor(api, second, 'concurrency')
  await waitsFor(api, third, 'concurrency')
  expect(await why(second)).toMatchObject({ blockedBy: [{ runId: first, since }], position: 0 })
  expect(await why(first)).not.toHaveProperty('blockedBy')
  expect(await why(third)).toMatchObject({
    status: 'queued',
    position: 1,
    waitingFor: { kind: 'concurrency' },
  })
  const listed = async (query: string) => (await api.get(`/runs?workflow=${name}&dir=asc${query}`)).json as ListedRun[]
  expect((await listed('&position=1')).map(({ position }) => position)).toEqual([undefined, 0, 1])
  expect((await listed('')).map(({ position }) => position)).toEqual([undefined, undefined, undefined])
  open.open()
  for (const runId of [first, second, third]) await api.succeeded(runId)
})

test('a failed run says what failed it; an unknown run is 404', async () => {
  const name = unique('fails')
  const fails = run('work', () => {
    throw new StepFailure('no money', { retriable: false })
  })
  await engine.runner({ workflows: { [name]: flow([fails]) } })
  const { runId } = await api.send({ name })
  await api.reaches(runId, 'failed')
  expect(await why(runId)).toMatchObject({
    status: 'failed',
    sentence: expect.stringContaining('no money (step_failed in step "work")'),
    error: { code: 'step_failed' },
  })
  expect(await api.get('/runs/run_none/why')).toMatchObject({ status: 404, code: 'not_found' })
})
