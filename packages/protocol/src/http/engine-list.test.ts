import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { callAnyEngine, EngineList } from './engine-list.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** An engine that gives this answer to every call, and the calls that it received. */
async function engine(status: number | 'cut' | 'silent', body: object = {}) {
  const calls: string[] = []
  const server = createServer((request, response) => {
    calls.push(`${request.method} ${request.url}`)
    if (status === 'cut') response.destroy()
    else if (status !== 'silent') response.writeHead(status).end(JSON.stringify(body))
  })
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls }
}

const GONE = 'http://127.0.0.1:1'
const call = (engines: EngineList, method = 'GET', rest: object = {}) =>
  callAnyEngine(engines, {
    path: '/any',
    method,
    headers: {},
    signal: AbortSignal.timeout(5000),
    timeoutMs: 2000,
    ...rest,
  })

test('a list is a text or an array; a bad item is named, and it starts anywhere', () => {
  expect(EngineList.of('http://a/, http://b:1/p/\nhttp://a', { random: 0 }).urls).toEqual(['http://a', 'http://b:1/p'])
  expect(EngineList.of(['http://a', 'http://b'], { random: 0.99 }).url).toBe('http://b')
  expect(() => EngineList.of('http://a,ftp://b')).toThrow('is not an http or https URL: ftp://b')
  expect(() => EngineList.of(' , ')).toThrow('is not an http or https URL')
})

test('an engine that is gone or shuts down is passed over by every call, and stays so', async () => {
  const good = await engine(200)
  const leaving = await engine(503, { error: { code: 'unavailable', details: { reason: 'shutting_down' } } })
  for (const [first, calls] of [
    [GONE, undefined],
    [leaving.url, leaving.calls],
  ] as const) {
    const engines = EngineList.of([first, good.url], { random: 0 })
    expect((await call(engines, 'POST')).status).toBe(200)
    expect(engines.url).toBe(good.url)
    await call(engines, 'POST')
    if (calls) expect(calls).toEqual(['POST /any'])
  }
})

test.each([
  ['breaks off', 'cut'],
  ['is silent', 'silent'],
  ['is not available', 503],
] as const)('an engine that %s may have done the call: it is made again only if it may be', async (_, how) => {
  const [bad, good] = [await engine(how), await engine(200)]
  expect((await call(EngineList.of([bad.url, good.url], { random: 0 }), 'GET')).status).toBe(200)
  expect((await call(EngineList.of([bad.url, good.url], { random: 0 }), 'POST', { isRepeatable: true })).status).toBe(
    200,
  )
  const engines = EngineList.of([bad.url, good.url], { random: 0 })
  const before = good.calls.length
  const signal = AbortSignal.timeout(300)
  await expect(call(engines, 'POST', { signal }).then(({ ok }) => ok || Promise.reject(new Error()))).rejects.toThrow()
  expect(good.calls).toHaveLength(before)
  if (how !== 503) expect(engines.url).toBe(good.url)
})

test('with all gone the error is the last one', async () => {
  await expect(call(EngineList.of([GONE, 'http://127.0.0.1:2'], { random: 0 }))).rejects.toMatchObject({
    code: 'ECONNREFUSED',
  })
})
