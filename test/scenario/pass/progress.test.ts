// The progress of runs: reports of handlers with answers and checkpoints, how often they are stored, and where they are visible
// (docs/concepts.md#progress).

import type { InvokeReply } from '@perdure/engine'
import { describe, expect, test } from 'vitest'
import { discovered, gate, opcode, returned, scenario, unique, until } from '../../kit/index.ts'
import { answeredWith, broken, type ScriptedPass, ScriptedTransport } from '../../kit/runner/scripted-transport.ts'

const transport = new ScriptedTransport()
const { api, clock } = await scenario({ ports: { transport } })

type Script = (pass: ScriptedPass) => InvokeReply | Promise<InvokeReply>

/** Starts a run whose passes follow the script. Its runner knows progress, unless the features say otherwise. */
async function start(script: Script, { features = ['attributes'], registration = {}, event = {} } = {}) {
  const name = unique('reporting')
  transport.scripts.set(name, async pass => script(pass))
  const workflows = [{ name, ...registration }]
  const runner = { app: name, url: 'http://127.0.0.1:9/', protocolVersion: 1, features, workflows }
  expect((await api.post('/register', runner)).status).toBe(200)
  return (await api.send({ name, ...event })).runId
}

const reply = (status: number, body: object) => answeredWith({ status, body: { logs: [], ...body } })
const step = (name: string, progress?: unknown) =>
  reply(206, { opcodes: [opcode('StepRun', name, { data: 1 })], progress })
const done = (progress?: unknown) => reply(200, { data: 1, progress })
const at = () => new Date(clock.now()).toISOString()
/** The values of the progress frames of an ended run. */
const framesOf = async (runId: string) =>
  (await api.stream(runId)).messages.filter(({ event }) => event === 'progress').map(({ data }) => data.value)

describe('an answer', () => {
  test('has the newest progress of its pass: the run shows it with its time, and lists do not', async () => {
    const first = gate()
    const runId = await start(async ({ no }) => {
      if (no === 1) return step('a', { done: 1, of: [2, null] })
      await first.opened
      return done()
    })
    const shown = await until(async () => (await api.run(runId)).progress)
    expect(shown).toEqual({ value: { done: 1, of: [2, null] }, at: at() })
    const [listed] = await api.runs(`?app=${(await api.run(runId)).app}`)
    expect(listed?.id).toBe(runId)
    expect(listed).not.toHaveProperty('progress')
    first.open()
    expect((await api.succeeded(runId)).progress).toEqual(shown)
  })

  test('with the value that is stored changes nothing', async () => {
    const held = gate()
    const runId = await start(async ({ no }) => {
      if (no === 1) return step('a', 'half')
      await held.opened
      return done('half')
    })
    const before = await until(async () => (await api.run(runId)).progress)
    clock.jump(1000)
    held.open()
    expect((await api.succeeded(runId)).progress).toEqual(before)
  })

  test('brings what came too soon after the last one with a later commit, and the end brings the last', async () => {
    const runId = await start(({ no }) => (no <= 3 ? step(`s${no}`, no) : done(4)))
    const { progress } = await api.succeeded(runId)
    expect(progress?.value).toBe(4)
    expect(await framesOf(runId)).toEqual([4])
  })

  test('that parks the run stores it', async () => {
    const runId = await start(({ no }) =>
      no === 1
        ? step('a', 1)
        : reply(206, { opcodes: [opcode('Sleep', 'nap', { sleepMs: 3_600_000 })], progress: 'asleep' }),
    )
    await api.reaches(runId, 'waiting')
    expect((await api.run(runId)).progress?.value).toBe('asleep')
  })

  test('that fails its run has its progress too', async () => {
    const runId = await start(() => reply(400, { error: { message: 'no' }, progress: 'nearly' }))
    expect((await api.failed(runId)).progress?.value).toBe('nearly')
  })

  test.each([
    ['too large', 'x'.repeat(16 * 1024 - 1)],
    ['too deep', JSON.parse('['.repeat(201) + ']'.repeat(201))],
  ])('with a progress that is %s fails its run', async (_, value) => {
    const runId = await start(() => step('a', value))
    const { error, progress } = await api.failed(runId)
    expect(error).toMatchObject({ code: 'invalid_response', message: expect.stringContaining('/progress') })
    expect(progress).toBeUndefined()
  })

  test('may have 16 KiB of it; null is none, and one that was not negotiated is ignored', async () => {
    const largest = 'x'.repeat(16 * 1024 - 2)
    expect((await api.succeeded(await start(() => done(largest)))).progress?.value).toBe(largest)
    expect(await api.succeeded(await start(() => done(null)))).not.toHaveProperty('progress')
    const unknown = await start(() => done({ a: 1 }), { features: [] })
    expect(await api.succeeded(unknown)).not.toHaveProperty('progress')
  })
})

describe('a checkpoint', () => {
  test('brings progress while a step runs; at most five a second are stored, and the last of them always', async () => {
    const [reported, held] = [gate(), gate()]
    const runId = await start(async ({ checkpoint }) => {
      for (let n = 1; n <= 20; n++) expect(await checkpoint([], { progress: n })).toEqual({ seq: n, steps: [] })
      reported.open()
      await held.opened
      return done()
    })
    const stream = api.stream(runId)
    await reported.opened
    expect((await api.run(runId)).progress?.value).toBe(1)
    clock.jump(199)
    expect((await api.run(runId)).progress?.value).toBe(1)
    clock.jump(1)
    await until(async () => (await api.run(runId)).progress?.value === 20)
    held.open()
    await api.succeeded(runId)
    const values = (await stream).messages.filter(({ event }) => event === 'progress').map(({ data }) => data.value)
    expect(values).toEqual([1, 20])
    expect(await framesOf(runId)).toEqual([20])
  })

  test('that is repeated brings no old progress back', async () => {
    const runId = await start(async ({ checkpoint }) => {
      await checkpoint([], { progress: 1 })
      clock.jump(1000)
      await checkpoint([], { progress: 2 })
      clock.jump(1000)
      await checkpoint([], { seq: 1, progress: 1 })
      return done()
    })
    expect((await api.succeeded(runId)).progress?.value).toBe(2)
  })

  test('of progress alone gives a failing pass no further tries', async () => {
    const script: Script = async ({ no, checkpoint }) => {
      await checkpoint([], { progress: no })
      return broken
    }
    const runId = await start(script, { registration: { handlerRetries: 2 } })
    await until(async () => (await api.run(runId)).waitingFor?.kind === 'retry')
    clock.jump(3_600_000)
    const { error, progress } = await api.failed(runId)
    expect(error?.code).toBe('runner_unreachable')
    expect(progress?.value).toBe(2)
  })

  test('that waits for its time is stored by the step that comes first', async () => {
    const [reported, held] = [gate(), gate()]
    const runId = await start(async ({ checkpoint }) => {
      await checkpoint([], { progress: 1 })
      await checkpoint([], { progress: 2 })
      clock.jump(150)
      await checkpoint([opcode('StepRun', 'a', { data: 1 })])
      reported.open()
      await held.opened
      return answeredWith(returned('x') as { status: number })
    })
    await reported.opened
    expect((await api.run(runId)).progress?.value).toBe(1)
    held.open()
    expect((await api.succeeded(runId)).progress?.value).toBe(2)
  })
})

test('a run that reports none has no frame and no field', async () => {
  const runId = await start(({ no }) =>
    no === 1 ? answeredWith(discovered([opcode('StepRun', 'a', { data: 1 })]) as { status: number }) : done(),
  )
  expect(await api.succeeded(runId)).not.toHaveProperty('progress')
  expect(await framesOf(runId)).toEqual([])
})
