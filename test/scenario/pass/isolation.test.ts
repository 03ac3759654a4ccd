// One namespace cannot keep another's runs from their passes, whatever its own runs wait for and however long its runners take
// (docs/limits.md#fair-shares).

import { describe, expect, test } from 'vitest'
import { type Api, flow, type Handler, run, scenario, sleep, unique, until } from '../../kit/index.ts'
import { dial } from '../../kit/runner/connect-client.ts'
import { openRunner } from '../../kit/runner/runner.ts'

/** The engine's permits. */
const PERMITS = 6
const MINUTE = 60_000

const keyOf = (namespace: string) => `secret-key-of-${namespace}-0123456789`

async function open() {
  const keys = ['loud', 'quiet'].map(namespace => ({ label: 'ops', namespace, kind: 'secret', key: keyOf(namespace) }))
  const { engine, clock, url } = await scenario({
    env: { ENGINE_API_KEYS: JSON.stringify(keys) },
    bounds: { passesMax: PERMITS },
  })
  const [loud, quiet] = ['loud', 'quiet'].map(namespace => engine.api.as(keyOf(namespace))) as [Api, Api]
  return { loud, quiet, clock, url }
}

/** A workflow in a separate app; returns the event that starts it, and the passes it got. */
async function serve(api: Api, handler: Handler, registration: Record<string, unknown> = {}) {
  const name = unique('workflow')
  const runner = await openRunner({ workflows: { [name]: { handler, registration } } })
  await runner.register(api)
  return { name, record: runner.record }
}

/** Never answers. */
const hangs: Handler = () => new Promise(() => {})

const THREE_STEPS = flow([run('one'), run('two'), run('three')])

async function sendMany(api: Api, name: string, count: number): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, async () => (await api.send({ name })).runId))
}

/** Expects that a run of three steps in the namespace ends. */
async function endsThreeSteps(api: Api): Promise<void> {
  const { name } = await serve(api, THREE_STEPS)
  await api.succeeded((await api.send({ name })).runId)
}

describe('a run of another namespace ends while', () => {
  test('runs wait for room on a Connect runner, and they get it one after the other', async () => {
    const { loud, quiet, url } = await open()
    const app = unique('full')
    const runner = await dial(url, { key: keyOf('loud') })
    await runner.register({ app, runner: 'r1', workflows: [app], maxConcurrency: 1 })
    const sent = await sendMany(loud, app, 3 * PERMITS)
    await until(() => runner.count('invoke') === 1)
    await endsThreeSteps(quiet)
    expect(runner.count('invoke')).toBe(1)
    for (let i = 0; i < sent.length; i++) {
      const { id } = await runner.next('invoke')
      runner.result(id, 200, '{"logs":[]}')
    }
    for (const runId of sent) await loud.succeeded(runId)
  })

  test('invokes hang that hold every permit of the engine, and so does one of another app of that namespace', async () => {
    const { loud, quiet } = await open()
    const { name, record } = await serve(loud, hangs)
    await sendMany(loud, name, 2 * PERMITS)
    await until(() => record.invokes.length === PERMITS)
    await endsThreeSteps(quiet)
    await endsThreeSteps(loud)
    expect(record.invokes).toHaveLength(PERMITS)
  })

  test('runs of the highest priority are due with it, and hang', async () => {
    const { loud, quiet, clock } = await open()
    const flood = await serve(loud, flow([sleep('nap', MINUTE), run('hang', () => new Promise(() => {}))]), {
      priority: '1000000',
    })
    const other = await serve(quiet, flow([sleep('nap', MINUTE), run('one'), run('two')]))
    const runIds = await sendMany(loud, flood.name, 3 * PERMITS)
    for (const runId of runIds) await loud.reaches(runId, 'waiting')
    const { runId } = await quiet.send({ name: other.name })
    await quiet.reaches(runId, 'waiting')
    clock.jump(MINUTE)
    await quiet.succeeded(runId)
  })
})
