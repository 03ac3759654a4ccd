// `perdure console`: the address with a code that signs in once, on an engine with keys and on an engine without.

import { expect, test } from 'vitest'
import { openEngine, perdure } from '../../kit/index.ts'

const SECRET = { label: 'bob', namespace: 'default', kind: 'secret', key: 'a secret key of a test' }
const READ = { label: 'ada', namespace: 'default', kind: 'read', key: 'a read key of a test' }

test('without keys it prints the address', async () => {
  const engine = await openEngine()
  expect(await perdure(['console', '--url', engine.url])).toMatchObject({
    code: 0,
    stdout: `${engine.url}/console/\n`,
  })
})

test('with a secret key its code opens one session, which reads', async () => {
  const engine = await openEngine({ env: { ENGINE_API_KEYS: JSON.stringify([SECRET, READ]) } })
  const options = ['--url', `${engine.url}/`, '--api-key', SECRET.key]
  const { stdout } = await perdure(['console', '--json', ...options])
  const { url, expiresAt } = JSON.parse(stdout)
  expect(Date.parse(expiresAt)).toBeGreaterThan(0)
  const [home, code] = url.split('#code=')
  expect(home).toBe(`${engine.url}/console/`)
  const opened = await engine.api.post('/session', { code })
  expect(opened).toMatchObject({ status: 201, json: { kind: 'read', namespace: 'default' } })
  expect((await engine.api.post('/session', { code })).status).toBe(401)
})

test('a read key makes no code', async () => {
  const engine = await openEngine({ env: { ENGINE_API_KEYS: JSON.stringify([SECRET, READ]) } })
  const refused = await perdure(['console', '--url', engine.url, '--api-key', READ.key])
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('forbidden') })
})
