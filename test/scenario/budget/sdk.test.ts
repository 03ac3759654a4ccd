// Budgets of workflows of the SDK on a real engine, over every transport (docs/budgets.md#beyond-a-limit). Checkpoints store the steps
// of a pass while it runs, and the pass stops at the next step boundary.

import type { PassRecord } from '@perdure/protocol'
import { createWorkflow } from '@perdure/sdk'
import { describe, expect, test } from 'vitest'
import { gate, scenario, unique, until } from '../../kit/index.ts'
import { serveOver, TRANSPORTS } from '../sdk/transports.entry.ts'

const { api, url } = await scenario({ realTime: true })

const passes = async (runId: string) => (await api.get(`/runs/${runId}/passes`)).json as PassRecord[]

describe.each(TRANSPORTS)('over %s', transport => {
  /** Serves a workflow of four steps that spend a dollar each, with a limit that the second one exceeds. */
  async function spender(whenExceeded?: 'fail') {
    const executed: string[] = []
    const workflow = createWorkflow(
      { name: unique('spender'), budget: { usd: 1.5, ...(whenExceeded && { whenExceeded }) } },
      async ({ step }) => {
        for (const name of ['a', 'b', 'c', 'd'])
          await step.run(name, ({ spend }) => {
            executed.push(name)
            spend({ usd: 1 })
          })
        return 'done'
      },
    )
    await serveOver(transport, { app: unique('app'), workflows: [workflow], engineUrl: url })
    const { runId } = await api.send({ name: workflow.name })
    return { runId, executed }
  }

  test('a run stops before the step after the limit, and goes on there', async () => {
    const { runId, executed } = await spender()
    const { waitingFor } = await api.reaches(runId, 'paused')
    expect(waitingFor).toEqual({ kind: 'budget', name: 'usd', limit: 1.5, spent: 2, runId })
    expect(executed).toEqual(['a', 'b'])
    // With checkpoints, all of this is one pass.
    const sent = (await passes(runId)).length
    if (transport === 'HTTP') expect(sent).toBeGreaterThan(1)
    else expect(sent).toBe(1)
    expect((await api.post(`/runs/${runId}/budget`, { usd: 2.5 })).status).toBe(200)
    await until(async () => (await api.run(runId)).waitingFor?.limit === 2.5, { what: 'the next pause' })
    expect(executed).toEqual(['a', 'b', 'c'])
    await api.post(`/runs/${runId}/budget`, { usd: null })
    expect((await api.succeeded(runId)).result).toBe('done')
    expect(executed).toEqual(['a', 'b', 'c', 'd'])
  })

  test('a run that fails beyond its limit executes no further step', async () => {
    const { runId, executed } = await spender('fail')
    expect((await api.failed(runId)).error).toMatchObject({ code: 'budget_exceeded' })
    expect((await api.run(runId)).budget).toEqual({ usd: { limit: 1.5, spent: 2 } })
    expect(executed).toEqual(['a', 'b'])
  })

  test('steps under way finish and count, and those behind them wait', async () => {
    const [begun, exceeded] = [gate(), gate()]
    const executed: string[] = []
    const workflow = createWorkflow({ name: unique('pair'), budget: { usd: 1 } }, async ({ step }) => {
      const dear = step.run('dear', async ({ spend }) => {
        await begun.opened
        spend({ usd: 2 })
      })
      const slow = step.run('slow', async ({ spend }) => {
        begun.open()
        await exceeded.opened
        spend({ usd: 0.5 })
      })
      await dear
      await step.run('next', () => void executed.push('next'))
      await slow
    })
    await serveOver(transport, { app: unique('app'), workflows: [workflow], engineUrl: url })
    const { runId } = await api.send({ name: workflow.name })
    if (transport === 'HTTP') await begun.opened
    else await until(async () => (await api.run(runId)).waitingFor?.kind === 'budget', { what: 'the pause' })
    exceeded.open()
    await until(async () => (await api.run(runId)).budget?.usd?.spent === 2.5, { what: 'both spends' })
    await api.reaches(runId, 'paused')
    expect((await api.steps(runId)).map(({ name, status }) => `${name} ${status}`).sort()).toEqual([
      'dear succeeded',
      'slow succeeded',
    ])
    expect(executed).toEqual([])
    await api.post(`/runs/${runId}/budget`, { usd: 5 })
    await api.succeeded(runId)
    expect(executed).toEqual(['next'])
  })
})
