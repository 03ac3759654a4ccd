// Runs the runner of runner.mjs against the real engine, each in its own process: every kind of step, over both transports.

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { gate, onCleanup, openDestination, startEngine, until, waitsFor, within } from '../kit/index.ts'

const RUNNER = fileURLToPath(new URL('./runner.mjs', import.meta.url))

/** Resolves when the runner has registered. */
async function startRunner(transport: string, engineUrl: string): Promise<void> {
  const child = spawn(process.execPath, [RUNNER, transport, engineUrl], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onCleanup(() => void child.kill('SIGKILL'))
  const registered = gate()
  child.stdout.once('data', () => registered.open())
  await within(registered.opened, 'the registration')
}

test.each(['http', 'connect'])('an order goes through all its steps over %s', async transport => {
  const engine = await startEngine({ env: { ENGINE_WEBHOOK_ALLOW_PRIVATE: '1' } })
  const { api } = engine
  await startRunner(transport, engine.url)
  const destination = await openDestination()
  const data = { item: 'a hat', amount: 12, callback: destination.url }
  const { runId } = await api.send({ name: 'order.placed', data })
  await waitsFor(api, runId, 'event')
  expect((await api.send({ name: 'order.approved', data: { by: 'Ada' } })).woke).toBe(1)
  const result = { reserved: 'a hat', charged: 12, approvedBy: 'Ada', box: 'a box for a hat' }
  expect(await api.succeeded(runId)).toMatchObject({ result, attempt: 2 })
  expect((await api.steps(runId)).map(({ name, status, attempt }) => [name, status, attempt])).toEqual([
    ['reserve', 'succeeded', 1],
    ['charge', 'succeeded', 2],
    ['cool down', 'succeeded', 1],
    ['approval', 'succeeded', 1],
    ['pack', 'succeeded', 1],
    ['tell', 'succeeded', 1],
    ['call back', 'succeeded', 1],
  ])
  const emitted = (await api.get('/events?name=order.packed')).json as { data: unknown }[]
  expect(emitted.map(({ data }) => data)).toEqual([{ box: 'a box for a hat' }])
  await until(() => destination.requests.length === 1)
  expect(JSON.parse(destination.requests[0]?.body ?? '')).toEqual({
    item: 'a hat',
    box: { box: 'a box for a hat' },
  })
})
