// `perdure console`: the address with a code that signs in once, on an engine with keys and on an engine without.

import { expect, test } from 'vitest'
import { CommandHost, openEngine } from '../../kit/index.ts'

const SECRET = { label: 'bob', namespace: 'default', kind: 'secret', key: 'a secret key of a test' }
const READ = { label: 'ada', namespace: 'default', kind: 'read', key: 'a read key of a test' }
const commands = new CommandHost()

test('without keys it prints the address', async () => {
  const { url } = await openEngine()
  expect(await commands.run(['console', '--url', url])).toMatchObject({ code: 0, stdout: `${url}/console/\n` })
})

test('with a secret key its code opens one session, which reads; a read key makes no code', async () => {
  const { api, url: base } = await openEngine({ env: { ENGINE_API_KEYS: JSON.stringify([SECRET, READ]) } })
  const { stdout } = await commands.run(['console', '--json', '--url', `${base}/`, '--api-key', SECRET.key])
  const { url, expiresAt } = JSON.parse(stdout)
  expect(Date.parse(expiresAt)).toBeGreaterThan(0)
  const [home, code] = url.split('#code=')
  expect(home).toBe(`${base}/console/`)
  const opened = await api.post('/session', { code })
  expect(opened).toMatchObject({ status: 201, json: { kind: 'read', namespace: 'default' } })
  expect((await api.post('/session', { code })).status).toBe(401)
  const refused = await commands.run(['console', '--url', base, '--api-key', READ.key])
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('forbidden') })
})
