// `ENGINE_URL` with several engines of one cluster (docs/postgresql.md#load-balancers): runners and clients continue with
// another engine when one stops.

import { createClient as createReader } from '@perdure/client'
import { createClient, createWorkflow } from '@perdure/sdk'
import { connect } from '@perdure/sdk/connect'
import { serve } from '@perdure/sdk/node'
import { expect, test } from 'vitest'
import { freshSchema, onCleanup, openEngine, perdure, unique, until } from '../../kit/index.ts'

const silent = { log: () => {}, handleSignals: false }

test('an engine of the list stops: sockets, registrations, sends, reads and streams go on', async () => {
  const storeFile = await freshSchema()
  const env = { ENGINE_DRAIN_TIMEOUT: '100ms' }
  const [first, second] = [await openEngine({ storeFile, env }), await openEngine({ storeFile, env })]
  const engineUrl = `${first.url}, ${second.url}`
  const [connected, served] = [unique('connected'), unique('served')]
  const workflow = (name: string) =>
    createWorkflow({ name, triggers: { event: name } }, ({ step }) => step.run('double', () => 2))
  const runner = connect({ app: connected, workflows: [workflow(connected)], engineUrl, sockets: 2, ...silent })
  onCleanup(() => runner.close())
  await runner.ready
  const client = createClient({ url: engineUrl })
  const reader = createReader({ url: [first.url, second.url] })
  const results = async (name: string, times: number) => {
    for (let i = 0; i < times; i++)
      expect(await client.send({ name }, { wait: '20s' })).toMatchObject({ run: { status: 'succeeded', result: 2 } })
  }
  await results(connected, 3)
  const frames: unknown[] = []
  const stop = new AbortController()
  const following = (async () => {
    for await (const frame of reader.streamEvents({}, { signal: stop.signal })) frames.push(frame)
  })().catch(() => {})

  await first.stop()
  await until(() => runner.connected, { what: 'the runner at the other engine' })
  await results(connected, 3)
  const server = await serve({ app: served, workflows: [workflow(served)], port: 0, engineUrl, ...silent })
  onCleanup(() => server.close())
  await server.ready
  await results(served, 2)
  expect((await reader.listRuns({ app: served })).items).toHaveLength(2)
  expect((await perdure(['runs', 'list', '--app', served, '--json'], { env: { ENGINE_URL: engineUrl } })).code).toBe(0)
  await until(async () => {
    await client.send({ name: unique('seen') })
    return frames.length > 0
  })
  stop.abort()
  await following
})
