// A handler that awaits something other than steps while a step is open looks stuck, and its pass is answered. When it
// continues, its runner asks for another pass, over every transport (docs/steps.md#io-between-steps).

import { setTimeout as pause } from 'node:timers/promises'
import { createWorkflow, type Workflow } from '@perdure/sdk'
import { describe, expect, test } from 'vitest'
import { gate, scenario, unique, until } from '../../kit/index.ts'
import { serveOver, TRANSPORTS } from './transports.entry.ts'

const { api, url } = await scenario({ realTime: true })

const RUNS = 30

/** A workflow that races two waits, and then awaits something that is not a step, for as long as a query takes. */
function racing(name: string, finish: (step: Parameters<Workflow['handler']>[0]['step']) => unknown) {
  return createWorkflow({ name }, async ({ event, step }) => {
    const { id } = event.data as { id: number }
    const wait = (which: string) =>
      step.waitForEvent(which, { event: `${name}.${which}`, if: `async.data.id == ${id}`, timeout: '1h' })
    await Promise.race([wait('a'), wait('b')])
    await pause(5)
    return finish(step)
  })
}

/** Starts the runs, sends an event to each, and returns them when they have ended. */
async function ended(name: string, count: number, status: 'succeeded' | 'failed' = 'succeeded') {
  const ids = Array.from({ length: count }, (_, id) => id)
  const runIds = await Promise.all(ids.map(async id => (await api.send({ name, data: { id } })).runId))
  for (const runId of runIds) await api.reaches(runId, 'waiting')
  await Promise.all(ids.map(id => api.send({ name: `${name}.a`, data: { id } })))
  return Promise.all(runIds.map(runId => api.reaches(runId, status, 20_000)))
}

describe.each(TRANSPORTS)('over %s', transport => {
  test('a step that is called late is run, in every run', { timeout: 60_000 }, async () => {
    const name = unique('late')
    const workflow = racing(name, step => step.run('finish', () => 'done'))
    await serveOver(transport, { app: name, workflows: [workflow], engineUrl: url })
    const runs = await ended(name, RUNS)
    expect(runs.map(({ result }) => result)).toEqual(Array(RUNS).fill('done'))
  })

  test('a late return ends the run', async () => {
    const name = unique('late')
    await serveOver(transport, { app: name, workflows: [racing(name, () => 'early')], engineUrl: url })
    expect(await ended(name, 3)).toMatchObject(Array(3).fill({ result: 'early' }))
  })

  test('a late throw fails the run', async () => {
    const name = unique('late')
    const workflow = createWorkflow({ name, handlerRetries: 1 }, async args => {
      await racing(name, () => {
        throw new Error('no stock')
      }).handler(args as never)
    })
    await serveOver(transport, { app: name, workflows: [workflow], engineUrl: url })
    const [run] = await ended(name, 1, 'failed')
    expect(run).toMatchObject({ error: { message: expect.stringContaining('no stock') } })
  })

  test('the runner warns once for a place, and the log of the run that was late says it', async () => {
    const name = unique('late')
    const lines: string[] = []
    const query = gate()
    const workflow = createWorkflow({ name }, async ({ step }) => {
      const wait = (which: string) => step.waitForEvent(which, { event: `${name}.${which}`, timeout: '1h' })
      await Promise.race([wait('a'), wait('b')])
      await query.opened
      await pause(5)
      return step.run('finish', () => 'done')
    })
    const log = (level: string, message: string) => void (level === 'warn' && lines.push(message))
    await serveOver(transport, { app: name, workflows: [workflow], engineUrl: url, log })
    const { runId } = await api.send({ name })
    await api.reaches(runId, 'waiting')
    await api.send({ name: `${name}.a` })
    await until(async () => (await api.step(runId, 'a')).status === 'succeeded')
    await api.reaches(runId, 'waiting')
    query.open()
    await api.succeeded(runId)
    await ended(name, 3)
    const sentence = expect.stringMatching(
      `^Workflow "${name}" awaited something other than a step for \\d+m?s, after step "a" and before step "finish", while step "b" was open:`,
    )
    expect(lines).toEqual([sentence])
    expect(await api.logs(runId)).toMatchObject([{ level: 'warn', scope: '@replay', message: sentence }])
  })
})
