// Limits on browsers: headers of every answer, and requests that an engine without keys refuses
// (docs/security.md#without-keys).

import { connect } from 'node:net'
import { type Operation, operationList } from '@perdure/protocol/operations'
import { expect, test } from 'vitest'
import { scenario, within } from '../../kit/index.ts'
import { ConnectClient } from '../../kit/runner/connect-client.ts'

const { api, engine } = await scenario({ realTime: true })
const { host, hostname, port } = new URL(engine.url)

/** The head of the answer to raw bytes. */
async function headOf(bytes: string): Promise<Headers> {
  const socket = connect(Number(port), hostname)
  const text = new Promise<string>((resolve, reject) => {
    let received = ''
    socket.on('data', chunk => {
      received += chunk
    })
    socket.on('close', () => resolve(received)).on('error', reject)
  })
  socket.write(bytes)
  const lines = (await within(text, 'the end of the connection')).split('\r\n\r\n', 1)[0]?.split('\r\n').slice(1) ?? []
  return new Headers(lines.map(line => line.split(': ', 2) as [string, string]))
}

/** An address of the operation, for a resource that does not exist. */
const pathOf = ({ path }: Operation): string => path.replace(/\{\w+\}/g, 'none')

const upgrade = `GET /nowhere HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`

test.each<[string, () => Promise<Headers>]>([
  ['a list', async () => (await api.get('/runs')).headers],
  ['a probe', async () => (await api.get('/healthz')).headers],
  ['metrics', async () => (await api.get('/metrics')).headers],
  ['an accepted event', async () => (await api.post('/events', { name: 'a' })).headers],
  ['a refusal', async () => (await api.post('/events', {})).headers],
  ['an unknown path', async () => (await api.get('/nowhere')).headers],
  ['an unknown method', async () => (await api.request('PUT', '/runs')).headers],
  ['a path that cannot be decoded', async () => (await api.get('/runs/%E0%A4%A')).headers],
  ['bytes that are no request', () => headOf('NONSENSE\r\n\r\n')],
  ['a refused upgrade', () => headOf(`${upgrade}\r\n`)],
  ['a malformed upgrade', () => headOf(`${upgrade.replace('nowhere', 'connect')}\r\n`)],
])('%s is no content to guess at or to embed', async (_, headersOf) => {
  const headers = await headersOf()
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
})

test('a stream is none either', async () => {
  const response = await fetch(`${engine.url}/runs/stream`)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  expect(response.headers.get('cross-origin-resource-policy')).toBe('same-origin')
  await response.body?.cancel()
})

test('without keys no operation answers a page of another site, whatever its method', async () => {
  const headers = { 'sec-fetch-site': 'cross-site' }
  const closed = operationList.filter(({ access, alwaysKeyed }) => access !== 'public' && !alwaysKeyed)
  expect(closed.length).toBeGreaterThan(20)
  for (const operation of closed) {
    const answer = await api.request(operation.method, pathOf(operation), { headers })
    expect([answer.status, answer.code], `${operation.method} ${operation.path}`).toEqual([403, 'forbidden'])
  }
  const head = await api.request('HEAD', '/runs', { headers })
  expect(head.status).toBe(403)
})

test('without keys a page of another site opens no socket', async () => {
  const client = new ConnectClient(engine.url, { headers: { 'sec-fetch-site': 'cross-site' } })
  expect((await client.next('error')).payload.code).toBe('forbidden')
  expect(await client.closes()).toBe(4401)
})

test('a page of the same site is answered: another port of this machine is one', async () => {
  for (const site of ['same-origin', 'same-site', 'none'])
    expect((await api.request('GET', '/runs', { headers: { 'sec-fetch-site': site } })).status).toBe(200)
})
