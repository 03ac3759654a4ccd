// Rollbacks and `onCancel` of the SDK on a real engine, over every transport (docs/steps.md#rollbacks).

import { readFileSync } from 'node:fs'
import type { RunSummary } from '@perdure/protocol'
import { createWorkflow, NonRetriableError } from '@perdure/sdk'
import { describe, expect, test } from 'vitest'
import { gate, onCleanup, scenario, tempStoreFile, unique, until } from '../../kit/index.ts'
import { MortalRunner } from '../../kit/runner/mortal-runner.ts'
import { freePort } from '../../kit/servers/free-port.ts'
import { serveOver, TRANSPORTS } from './transports.entry.ts'

const { api, url } = await scenario({ realTime: true })

/** Waits until the cleanup run of a run has ended. */
function cleanedUp(runId: string): Promise<RunSummary> {
  const ended = async () => {
    const [run] = (await api.get(`/runs?parentRunId=${runId}&kind=cleanup`)).json as RunSummary[]
    return run?.finishedAt === undefined ? undefined : run
  }
  return until(ended, { what: 'the end of the cleanup run' })
}

describe.each(TRANSPORTS)('over %s', transport => {
  /** A workflow that waits for an event, and then fails. `lines` has the steps that were undone. */
  async function trip(options: { child?: boolean } = {}) {
    const name = unique('trip')
    const lines: string[] = []
    const undo = (what: string) => ({ rollback: (result: unknown) => void lines.push(`${what} ${result}`) })
    const child = createWorkflow({ name: `${name}-child` }, async ({ step }) => {
      await step.run('seat', () => 's1', undo('seat'))
      await step.waitForEvent('boarding', { event: `${name}/boarding` })
    })
    const workflow = createWorkflow(
      {
        name,
        retry: { maxAttempts: 2, initialMs: 1 },
        onCancel: async ({ event, step, steps }) => {
          const names = Object.keys(steps).join(' ')
          await step.run('tell', () => lines.push(`cancelled ${(event.data as { n: number }).n} after ${names}`))
          await step.sleep('a moment', 1)
        },
      },
      async ({ step }) => {
        await step.run('hotel', () => 'h1', undo('hotel'))
        await step.map('leg', ['out', 'back'], leg => `l-${leg}`, { concurrency: 1, ...undo('leg') })
        if (options.child) await step.runWorkflow('fly', { workflow: child })
        await step.waitForEvent('departure', { event: `${name}/departure` })
        await step.run('car', () => {
          throw new NonRetriableError('no car is left')
        })
      },
    )
    await serveOver(transport, { app: name, workflows: [workflow, child], engineUrl: url })
    const { runId } = await api.send({ name, data: { n: 7 } })
    await api.reaches(runId, 'waiting')
    return { name, runId, lines }
  }

  test('a saga that fails is undone', async () => {
    const { name, runId, lines } = await trip()
    await api.send({ name: `${name}/departure` })
    expect((await api.failed(runId)).error).toMatchObject({ code: 'step_failed', stepName: 'car' })
    expect(await cleanedUp(runId)).toMatchObject({ status: 'succeeded' })
    expect(lines).toEqual(['leg l-back', 'leg l-out', 'hotel h1'])
  })

  test('a run that is cancelled in the middle is undone after its onCancel, unless the cancel says no', async () => {
    const { runId, lines } = await trip()
    await api.post(`/runs/${runId}/cancel`)
    expect(await cleanedUp(runId)).toMatchObject({ status: 'succeeded' })
    expect(lines).toEqual(['cancelled 7 after hotel leg:0 leg:1', 'leg l-back', 'leg l-out', 'hotel h1'])
    const other = await trip()
    await api.post(`/runs/${other.runId}/cancel`, { cleanup: false })
    expect((await api.get(`/runs?parentRunId=${other.runId}`)).json).toEqual([])
    expect(other.lines).toEqual([])
  })

  test('a step that succeeds after the cancel of its run is undone, and the next is not begun', async () => {
    const name = unique('late')
    const [begun, booked] = [gate(), gate()]
    const lines: string[] = []
    const workflow = createWorkflow({ name }, async ({ step }) => {
      const callback = async () => {
        begun.open()
        await booked.opened
        return 'b1'
      }
      await step.run('room', callback, { rollback: id => void lines.push(`room ${id}`) })
      await step.run('never', () => lines.push('never'))
    })
    await serveOver(transport, { app: name, workflows: [workflow], engineUrl: url })
    const { runId } = await api.send({ name })
    await begun.opened
    await api.post(`/runs/${runId}/cancel`)
    booked.open()
    expect(await cleanedUp(runId)).toMatchObject({ status: 'succeeded' })
    expect(lines).toEqual(['room b1'])
  })

  test('a parent and its child are undone, each by a cleanup run of its own', async () => {
    const { runId, lines } = await trip({ child: true })
    const childRunId = await until(async () => (await api.steps(runId)).find(({ name }) => name === 'fly')?.childRunId)
    await api.reaches(childRunId, 'waiting')
    await api.post(`/runs/${runId}/cancel`)
    const runs = await Promise.all([cleanedUp(runId), cleanedUp(childRunId)])
    expect(runs.map(({ status }) => status)).toEqual(['succeeded', 'succeeded'])
    expect(lines.filter(line => line !== 'seat s1')).toEqual([
      'cancelled 7 after hotel leg:0 leg:1',
      'leg l-back',
      'leg l-out',
      'hotel h1',
    ])
    expect(lines).toContain('seat s1')
  })
})

test('a cleanup run that failed is retried from its failed step, under the same key', async () => {
  const name = unique('mended')
  const keys: string[] = []
  let isBroken = true
  const workflow = createWorkflow({ name }, async ({ step }) => {
    await step.run('hotel', () => 'h1', {
      rollback: (_, { idempotencyKey }) => void keys.push(`hotel ${idempotencyKey}`),
    })
    await step.run('flight', () => 'f1', {
      rollback: (_, { idempotencyKey }) => {
        keys.push(`flight ${idempotencyKey}`)
        if (isBroken) throw new NonRetriableError('not yet')
      },
    })
    throw new NonRetriableError('nothing is left')
  })
  await serveOver('HTTP', { app: name, workflows: [workflow], engineUrl: url })
  const { runId } = await api.send({ name })
  await api.failed(runId)
  const failed = await cleanedUp(runId)
  expect(failed).toMatchObject({ status: 'failed', error: { stepName: 'rollback:flight' } })
  isBroken = false
  const { json } = await api.post(`/runs/${failed.id}/retry-from-step`, { step: 'rollback:flight' })
  const mended = await api.succeeded((json as RunSummary).id)
  expect(mended).toMatchObject({ kind: 'cleanup', replayOf: failed.id })
  expect(keys.map(key => key.split(' ')[0])).toEqual(['flight', 'hotel', 'flight', 'hotel'])
  expect([new Set(keys).size, keys.every(key => key.includes(`${runId}:`))]).toEqual([2, true])
})

test.each(['http', 'connect'] as const)(
  'a runner that dies in a rollback over %s neither skips nor repeats another',
  { timeout: 60_000 },
  async transport => {
    const undone = `${tempStoreFile()}.undone`
    const times = { handlerRetries: 8, crashMs: 0, longMs: 0 }
    const runner = new MortalRunner({ transport, engineUrl: url, port: await freePort(), undone, ...times }).start()
    onCleanup(() => runner.stop())
    await until(async () => ((await api.get(`/runners?app=${runner.app}`)).json as unknown[]).length > 0)
    const { runId } = await api.send({ name: runner.saga })
    await api.failed(runId)
    expect(await cleanedUp(runId)).toMatchObject({ status: 'succeeded' })
    expect(readFileSync(undone, 'utf8')).toBe('flight hotel hotel car ')
    expect(runner.deaths).toBe(1)
  },
)
