// The turn of a long callback begins to count at its start. The runner reports the start during the callback, over Connect and
// with checkpoints over HTTP (docs/steps.md#limits-that-steps-share).

import { createWorkflow } from '@perdure/sdk'
import { connect } from '@perdure/sdk/connect'
import { serve } from '@perdure/sdk/node'
import { expect, test } from 'vitest'
import { gate, onCleanup, scenario, unique, until, waitsFor } from '../../kit/index.ts'

const { api, clock, url } = await scenario()

test.each(['connect', 'http'])('the next step has its turn while the first still runs, over %s', async transport => {
  const [name, hold, started] = [unique('long'), gate(), [] as string[]]
  const limits = { vendor: { limit: 1, period: '1h' } } as const
  const long = createWorkflow<string>({ name }, ({ step, ctx }) =>
    step.run('ask', () => (started.push(ctx.runId) === 1 ? hold.opened.then(() => 'first') : 'second'), {
      limit: 'vendor',
    }),
  )
  const options = { app: name, workflows: [long], limits, engineUrl: url, log: () => {} }
  const runner =
    transport === 'connect'
      ? connect({ ...options, handleSignals: false })
      : await serve({ ...options, port: 0, checkpoints: true })
  onCleanup(() => runner.close())
  await runner.ready
  const first = (await api.send({ name })).runId
  await until(() => started.length === 1)
  const second = (await api.send({ name })).runId
  await waitsFor(api, second, 'limit')
  const wakeAt = async () => ((await api.get(`/runs/${second}/why`)).json as { wakeAt?: string }).wakeAt
  // The report arrives once the callback has run for a while.
  const next = await until(async () => Date.parse((await wakeAt()) ?? ''), { what: 'the time of the next turn' })
  const sinceStart = next - Date.parse((await api.run(first)).startedAt as string)
  expect(Math.abs(sinceStart - 3_600_000)).toBeLessThan(5000)
  clock.jump(3_600_000)
  expect((await api.succeeded(second)).result).toBe('second')
  expect((await api.run(first)).status).toBe('running')
  hold.open()
  expect((await api.succeeded(first)).result).toBe('first')
  expect(started).toEqual([first, second])
})
