// A runner and the engine's signing key, with the real SDK: mismatched keys are reported at once.

import { createWorkflow } from '@perdure/sdk'
import { connect } from '@perdure/sdk/connect'
import { serve } from '@perdure/sdk/node'
import { expect, test } from 'vitest'
import { onCleanup, openEngine } from '../../kit/index.ts'

/** The list of keys, each long enough. */
const long = (keys: string) => keys.replace(/\w+/g, name => name.repeat(16))

const hello = createWorkflow({ name: 'hello', triggers: { event: 'hello' } }, () => 'hi')

/** An engine and a runner, each with a list of keys. */
async function open(engineKeys: string, signingKey: string) {
  const { api, url } = await openEngine({ env: { ENGINE_SIGNING_KEY: long(engineKeys) } })
  const logged: string[] = []
  const runner = await serve({
    app: 'shop',
    workflows: [hello],
    port: 0,
    engineUrl: url,
    signingKey: long(signingKey),
    log: (level, message) => logged.push(`${level} ${message.replaceAll(url, 'ENGINE')}`),
  })
  onCleanup(() => runner.close())
  return { api, runner, logged }
}

test.each([
  ['', 'The engine has no signing key, and this runner has one'],
  ['other', 'The engine and this runner have different signing keys'],
])('an engine with the key %j is refused by a runner with another', async (engineKeys, why) => {
  const { runner, logged } = await open(engineKeys, 'ours')
  await expect(runner.ready).rejects.toMatchObject({ code: 'untrusted_engine' })
  expect(logged).toEqual([
    `error This runner refuses ENGINE: ${why} (ENGINE_SIGNING_KEY on both sides): every invoke would be refused`,
  ])
})

test.each([
  ['old', 'new,old'],
  ['new,old', 'old'],
  ['new', 'new,old'],
])('while keys are rotated: the engine has %j, the runner %j', async (engineKeys, runnerKeys) => {
  const { api, runner, logged } = await open(engineKeys, runnerKeys)
  expect(await runner.ready).toMatchObject({ keyMatches: true })
  expect(logged).toHaveLength(1)
  const { runId } = await api.send({ name: 'hello' })
  expect((await api.succeeded(runId as string)).result).toBe('hi')
  expect((await api.get('/runners')).json).toMatchObject([{ keyMatches: true }])
})

test('over Connect a rotation causes no warning: the handshake has shown a common key', async () => {
  const { url } = await openEngine({ env: { ENGINE_SIGNING_KEY: long('old') } })
  const logged: string[] = []
  const log = (level: string) => logged.push(level)
  const runner = connect({ app: 'shop', workflows: [hello], engineUrl: url, signingKey: long('new,old'), log })
  onCleanup(() => runner.close())
  await runner.ready
  expect(logged).toEqual(['info'])
})
