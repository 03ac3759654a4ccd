// Versions side by side: a runner of an earlier commit on this engine, and a runner of this SDK on an earlier engine. Features
// that both know work; a feature that one lacks is refused by its name (docs/wire-protocol.md#features).

import { createWorkflow } from '@perdure/sdk'
import { describe, expect, test } from 'vitest'
import { Api, onCleanup, openEngine, unique } from '../../kit/index.ts'
import { olderSdk, openOlderEngine } from '../../kit/older/older.ts'
import { serveOver, TRANSPORTS } from '../sdk/transports.entry.ts'

type Create = typeof createWorkflow

/** A workflow and its child that use only what every version knows. */
function common(create: Create, name: string) {
  let tries = 0
  const child = create({ name: `${name}.child` }, async ({ event, step }) =>
    step.run('double', () => Number(event.data) * 2),
  )
  const parent = create({ name, retry: { maxAttempts: 2, initialMs: 10 } }, async ({ step }) => {
    const [one, two] = await Promise.all([
      step.run('one', () => 1),
      step.run('flaky', () => {
        if (++tries === 1) throw new Error('once')
        return 2
      }),
    ])
    await step.sleep('nap', '20ms')
    const doubled = await step.runWorkflow('child', { workflow: child, data: one + two })
    const caught = await step
      .run('hopeless', () => Promise.reject(new Error('no')))
      .catch((error: Error) => error.message)
    const { data } = (await step.waitForEvent('go', { event: `${name}.go`, timeout: '1m' })) ?? {}
    return { doubled, caught, data }
  })
  return [parent, child]
}

async function runs(api: Api, name: string) {
  const { runId } = await api.send({ name })
  await api.reaches(runId, 'waiting')
  await api.send({ name: `${name}.go`, data: 'went' })
  const { result } = await api.reaches(runId, 'succeeded')
  expect(result).toEqual({ doubled: 6, caught: 'no', data: 'went' })
}

test('an earlier engine names the options that it does not know', async () => {
  const { url } = await openOlderEngine()
  const api = new Api(() => url)
  const registration = {
    app: 'shop',
    runner: 'shop-1',
    url: 'http://127.0.0.1:9',
    workflows: [
      {
        name: 'order',
        triggers: [{ event: 'order' }],
        concurrency: { limit: 1, hold: 'run' },
        fairness: { key: 'event.data.customer' },
        retention: { succeeded: '1d' },
      },
    ],
  }
  const { json } = await api.post('/register', registration)
  const named = ['concurrency.hold', 'fairness', 'retention'].map(option =>
    expect.stringContaining(`"${option}" is not known`),
  )
  expect(json).toMatchObject({ warnings: named })
})

describe.each(TRANSPORTS)('over %s', transport => {
  test('an earlier runner works on this engine', async () => {
    const { api, url } = await openEngine()
    const { createWorkflow: create, connect, serve } = await olderSdk()
    const name = unique('order')
    const options = { app: unique('app'), workflows: common(create as Create, name), engineUrl: url, log: () => {} }
    const quiet = { ...options, signingKey: [], handleSignals: false }
    const runner =
      transport === 'Connect'
        ? connect(quiet)
        : await serve({ ...quiet, port: 0, checkpoints: transport === 'HTTP with checkpoints' })
    onCleanup(() => runner.close())
    await runner.ready
    await runs(api, name)
  })

  test('a runner of this SDK works on an earlier engine, which is told what it lacks', async () => {
    const { url } = await openOlderEngine()
    const api = new Api(() => url)
    const name = unique('order')
    const lacking = [
      createWorkflow({ name: `${name}.callback` }, async ({ ctx }) => ctx.callback('approval').wait()),
      createWorkflow({ name: `${name}.undo` }, async ({ step }) => step.run('charge', () => 1, { rollback: () => {} })),
      createWorkflow({ name: `${name}.onCancel`, onCancel: () => {} }, async () => 1),
      createWorkflow({ name: `${name}.continue` }, async ({ ctx }) => ctx.continueAs(1)),
    ]
    const workflows = [...common(createWorkflow, name), ...lacking]
    await serveOver(transport, { app: unique('app'), workflows, engineUrl: url })
    await runs(api, name)
    for (const { name: workflow } of lacking) {
      const { runId } = await api.send({ name: workflow })
      const { error } = await api.reaches(runId, 'failed')
      expect(error).toMatchObject({
        name: 'NonRetriableError',
        message: expect.stringContaining('this engine does not support'),
      })
    }
  })
})
