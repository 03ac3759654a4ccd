// Runs the code blocks of docs/schemas.md and docs/middleware.md on a real engine: each block is in
// `schemas.workflows.ts` (`snippets.test.ts` checks that), and does what the page says.

import { createClient } from '@perdure/sdk'
import { serve } from '@perdure/sdk/node'
import { expect, test } from 'vitest'
import { onCleanup, scenario, until, waitsFor } from '../../kit/index.ts'
import { book, everyStep, failing, observed, orderRefunded, reported, send, ship } from './schemas.workflows.ts'

const { api, url } = await scenario({ realTime: true })
const workflows = [ship, book, everyStep, observed, failing]
const runner = await serve({ app: 'docs', workflows, port: 0, engineUrl: url, log: () => {} })
onCleanup(() => runner.close())
await runner.ready
const client = createClient({ url })

test('input that violates the schema fails the run at once and names the place', async () => {
  const { runId } = await api.send({ name: 'ship', data: { orderId: 'A', items: [{ sku: 's', count: 0 }] } })
  const run = await api.failed(runId)
  expect(run).toMatchObject({ status: 'failed', attempt: 1, error: { name: 'InvalidDataError' } })
  expect(run.error?.message).toMatch(
    /^The input of workflow "ship" is invalid: data\.items\.0\.count: .*data\.placedAt: /,
  )
})

test('typed events start, wake and follow; a child gets its input as its schema parses it', async () => {
  const { runId } = await api.send({ name: 'every-step', data: { orderId: 'A-1' } })
  await waitsFor(api, runId, 'event')
  await send(client)
  expect((await api.succeeded(runId)).result).toBe('TRK-A-1')
  const booked = async () => {
    const runs = await api.runs('?q=book&status=succeeded')
    return Promise.all(runs.map(async ({ id }) => (await api.run(id)).result))
  }
  const results = await until(
    async () => {
      const all = await booked()
      return all.length === 2 && all
    },
    { what: 'both bookings' },
  )
  expect(results.sort()).toEqual([4200, '4200 too many'])
})

test('data that violates its schema is not sent', async () => {
  const wrong = { orderId: 'A-1' } as { orderId: string; reason: string }
  await expect(client.send(orderRefunded, wrong)).rejects.toThrow('data.reason: ')
})

test('middleware times the steps, counts the passes and keeps dates', async () => {
  reported.length = 0
  const good = await api.send({ name: 'observed' })
  expect((await api.succeeded(good.runId)).result).toBe(true)
  expect(reported).toEqual([
    'observed.look at the clock took a while',
    'observed parked',
    'observed.look again took a while',
    'observed returned',
  ])
  expect((await api.step(good.runId, 'look at the clock')).data).toEqual({ $date: 0 })
})

test.each([
  ['step', 'Error: no step in {"workflow":"failing","step":"break"}'],
  ['caught step', 'Error: no step in {"workflow":"failing","step":"break"}'],
  ['handler', 'NonRetriableError: no handler in {"workflow":"failing"}'],
])('middleware reports the failure of a %s once', async (where, report) => {
  reported.length = 0
  const { runId } = await api.send({ name: 'failing', data: { where } })
  await api.failed(runId)
  expect(reported.filter(line => line.includes('Error'))).toEqual([report])
})
