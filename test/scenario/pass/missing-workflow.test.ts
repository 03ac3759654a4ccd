// Workflows that some runners do not have (docs/wire-protocol.md#routing): never routed to them, and held while nobody serves
// them.

import type { RunExplanation } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import {
  child,
  flow,
  overHttp,
  type PlainRunner,
  returned,
  run,
  scenario,
  sleep,
  unique,
  waitsFor,
} from '../../kit/index.ts'

const { api, clock, engine } = await scenario()

const why = async (runId: string) => (await api.get(`/runs/${runId}/why`)).json as RunExplanation

/** Registers the runner again, without the workflow. */
async function drop(runner: PlainRunner, name: string) {
  const { [name]: dropped } = runner.workflows
  delete runner.workflows[name]
  await runner.register(api)
  return async () => {
    Object.assign(runner.workflows, { [name]: dropped })
    await runner.register(api)
  }
}

describe('with one runner', () => {
  test('a run whose workflow is gone stays queued, says which one is missing, and goes on when it is back', async () => {
    const [name, other] = [unique('gone'), unique('kept')]
    const stages = [run('first'), sleep('nap', 60_000), run('second')]
    const runner = await engine.runner({ workflows: { [name]: flow(stages), [other]: flow([]) } })
    const { runId } = await api.send({ name })
    await waitsFor(api, runId, 'sleep')
    const before = runner.record.passes(runId)
    const restore = await drop(runner, name)
    clock.jump(60_000)
    expect(await waitsFor(api, runId, 'runner')).toMatchObject({ status: 'queued', attempt: 1 })
    const { sentence, missing, runners } = await why(runId)
    expect(sentence).toContain(`No runner of app "${runner.app}" has workflow "${name}": 1 is registered without it.`)
    expect({ missing, runners }).toEqual({
      missing: { app: runner.app, workflow: name },
      runners: { live: 0, stale: 0, without: 1 },
    })
    expect(runner.record.passes(runId)).toBe(before)
    await restore()
    await api.succeeded(runId)
    expect(runner.record.names(runId)).toEqual(['first', 'nap', 'second'])
  })

  const http = overHttp('a registration over the socket of an invoke says that the invoke is lost')
  http(
    'a runner that registers without the workflow during an invoke, and answers 404, does not fail the run',
    async () => {
      const name = unique('gone')
      let restore = async () => {}
      const runner: PlainRunner = await engine.runner({
        workflows: {
          [name]: async ({ pass }) => {
            if (pass > 1) return returned()
            restore = await drop(runner, name)
            return { status: 404, body: { error: { message: 'no such workflow' }, logs: [] } }
          },
        },
      })
      const { runId } = await api.send({ name })
      expect(await waitsFor(api, runId, 'runner')).toMatchObject({ status: 'queued' })
      await restore()
      await api.succeeded(runId)
    },
  )
})

describe('with many runners', () => {
  test('passes go to those that serve the workflow only', async () => {
    const [app, name, other] = [unique('app'), unique('some'), unique('all')]
    const handler = flow([run('one'), run('two'), run('three')])
    const open = (runner: string, names: string[]) =>
      engine.runner({ app, runner, workflows: Object.fromEntries(names.map(name => [name, handler])) })
    const without = [await open('a', [other]), await open('b', [other])]
    await open('c', [name, other])
    for (let i = 0; i < 5; i++) await api.succeeded((await api.send({ name })).runId)
    expect(without.flatMap(({ record }) => record.invokes)).toEqual([])
  })

  test('a run pinned to one that lacks the workflow waits for it', async () => {
    const [app, name, other] = [unique('app'), unique('some'), unique('other')]
    await engine.runner({ app, runner: 'able', workflows: { [name]: flow([]) } })
    const lacking = await engine.runner({ app, runner: 'lacking', workflows: { [other]: flow([]) } })
    const { runId } = await api.send({ name, runner: 'lacking' })
    await waitsFor(api, runId, 'runner')
    expect((await why(runId)).missing).toEqual({ app, workflow: name, runner: 'lacking' })
    Object.assign(lacking.workflows, { [name]: flow([]) })
    await lacking.register(api)
    await api.succeeded(runId)
  })

  test('a child waits for the runner that serves it, while the parent waits for the child', async () => {
    const [app, parent, kid] = [unique('app'), unique('parent'), unique('kid')]
    const old = await engine.runner({ app, runner: 'old', workflows: { [kid]: flow([run('say')]) } })
    await engine.runner({ app, runner: 'new', workflows: { [parent]: flow([child('ask', kid)]) } })
    await old.close()
    const { runId } = await api.send({ name: parent })
    const { waitingFor } = await waitsFor(api, runId, 'child')
    const childRunId = waitingFor?.childRunId as string
    expect(await waitsFor(api, childRunId, 'runner')).toMatchObject({ status: 'queued', workflow: kid })
    const explained = await why(childRunId)
    expect(explained.sentence).toContain(`with workflow "${kid}", and 1 without it`)
    await old.listen()
    await old.register(api)
    await api.succeeded(runId)
  })
})

describe('a child whose workflow nobody has registered', () => {
  test('waits for it, says so, and starts as soon as it is registered', async () => {
    const [parent, kid] = [unique('parent'), unique('kid')]
    await engine.runner({ workflows: { [parent]: flow([child('ask', kid, { n: 1 })]) } })
    const { runId } = await api.send({ name: parent })
    expect(await waitsFor(api, runId, 'runner')).toMatchObject({
      status: 'waiting',
      waitingFor: { kind: 'runner', stepName: 'ask' },
    })
    expect((await why(runId)).sentence).toContain(`Step "ask" waits until a runner registers workflow "${kid}"`)
    await engine.runner({ workflows: { [kid]: ({ event }) => returned(event.data) } })
    expect((await api.succeeded(runId)).result).toEqual({ ask: { n: 1 } })
  })

  test('fails with the nearest names after the grace', async () => {
    const [parent, kid] = [unique('parent'), unique('kid-of-nobody')]
    await engine.runner({ workflows: { [parent]: flow([child('ask', `${kid}x`)]), [kid]: () => returned() } })
    const { runId } = await api.send({ name: parent })
    await waitsFor(api, runId, 'runner')
    clock.jump(600_000)
    await api.succeeded(runId)
    const message = `No app has a workflow "${kid}x". Did you mean "${kid}"`
    expect(await api.step(runId, 'ask')).toMatchObject({
      status: 'failed',
      error: { name: 'ChildNotStartedError', message: expect.stringContaining(message) },
    })
  })
})
