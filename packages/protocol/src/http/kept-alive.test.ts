// Calls over kept-alive connections, to real servers that keep, close and break them.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { callKeptAlive, type KeptAliveCall } from './kept-alive.ts'

type Script = (response: ServerResponse, request: IncomingMessage) => void

interface TestServer {
  server: Server
  url: string
  /** `METHOD path body` of every request, with the number of its connection. */
  seen: string[]
  sockets: Socket[]
}

async function open(script: Script): Promise<TestServer> {
  const seen: string[] = []
  const sockets: Socket[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    seen.push([request.method, request.url, body, sockets.indexOf(request.socket)].join(' '))
    script(response, request)
  })
  server.on('connection', socket => sockets.push(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, sockets }
}

const call = (given: Partial<KeptAliveCall> = {}): KeptAliveCall => ({
  method: 'GET',
  headers: {},
  signal: new AbortController().signal,
  ...given,
})
const textOf = async (url: string, given?: Partial<KeptAliveCall>) => (await callKeptAlive(url, call(given))).text()

afterEach(() => vi.unstubAllGlobals())

test('calls share a connection, and carry their body and headers', async () => {
  const heard: unknown[] = []
  const { url, seen } = await open((response, { headers }) => {
    heard.push([headers['content-length'], headers['x-a']])
    response.writeHead(201, { 'X-Next': 'n' }).end('zwölf ☃')
  })
  const answer = await callKeptAlive(`${url}/a?b=1`, call({ method: 'POST', headers: { 'x-a': 'y' }, body: 'ü' }))
  expect([answer.status, answer.ok]).toEqual([201, true])
  expect([answer.headers.get('X-Next'), answer.headers.get('x-none')]).toEqual(['n', null])
  expect(await answer.text()).toBe('zwölf ☃')
  await textOf(`${url}/b`, { method: 'DELETE', body: '{}' })
  await textOf(`${url}/c`, { method: 'POST' })
  expect(seen).toEqual(['POST /a?b=1 ü 0', 'DELETE /b {} 0', 'POST /c  0'])
  expect(heard).toEqual([
    ['2', 'y'],
    ['2', undefined],
    ['0', undefined],
  ])
})

test('an answer in gzip is unpacked, one in another encoding is refused', async () => {
  const { url } = await open((response, { url, headers }) => {
    expect(headers['accept-encoding']).toBe('gzip')
    if (url === '/br') response.writeHead(200, { 'content-encoding': 'br' }).end('x')
    else if (url === '/bad') response.writeHead(200, { 'content-encoding': 'gzip' }).end('no gzip')
    else response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('ü'.repeat(9000)))
  })
  expect(await textOf(`${url}/gz`)).toBe('ü'.repeat(9000))
  await expect(textOf(`${url}/br`)).rejects.toThrow('not asked for: br')
  await expect(textOf(`${url}/bad`)).rejects.toThrow('incorrect header check')
})

/** A server that answers the first request, and then breaks the connection when the next request arrives on it. */
async function breaking(): Promise<TestServer> {
  const opened = await open(response => response.end('ok'))
  const { server, sockets } = opened
  await textOf(opened.url)
  const [first] = sockets as [Socket]
  // The client has not seen the end of the connection when it sends its next request.
  first.removeAllListeners('data')
  server.removeAllListeners('upgrade')
  first.on('data', () => first.resetAndDestroy())
  return opened
}

test('a connection that the server closed between two calls fails no call that may be repeated', async () => {
  for (const given of [{ method: 'GET' }, { method: 'POST', body: '1', isRepeatable: true }]) {
    const { url, sockets } = await breaking()
    expect(await textOf(url, given)).toBe('ok')
    expect(sockets).toHaveLength(2)
  }
})

test('a call that may not be repeated fails with it, and is sent once', async () => {
  for (const given of [
    { method: 'POST', body: '1' },
    { method: 'GET', isRepeatable: false },
  ]) {
    const { url, sockets } = await breaking()
    await expect(textOf(url, given)).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(sockets).toHaveLength(1)
  }
})

test('a call is repeated once only, and never on a new connection', async () => {
  const { url, seen } = await open((response, { url }) => (url === '/' ? response.end('ok') : response.destroy()))
  await expect(textOf(`${url}/breaks`)).rejects.toMatchObject({ code: 'ECONNRESET' })
  expect(seen).toHaveLength(1)
  await textOf(`${url}/`)
  await expect(textOf(`${url}/breaks`)).rejects.toMatchObject({ code: 'ECONNRESET' })
  expect(seen.map(line => line.split(' ')[1])).toEqual(['/breaks', '/', '/breaks', '/breaks'])
})

test('an answer that is cut off is an error, and is not asked for again', async () => {
  const { url, seen } = await open((response, { url }) => {
    if (url === '/') response.end('ok')
    else response.writeHead(200, { 'content-length': 10 }).write('[', () => response.destroy())
  })
  await textOf(`${url}/`)
  await expect(textOf(`${url}/cut`)).rejects.toMatchObject({ code: 'ECONNRESET' })
  expect(seen).toHaveLength(2)
})

test('the signal aborts a call before its answer, within it, and before it began', async () => {
  const { url, seen } = await open((response, { url }) => {
    if (url === '/part') response.writeHead(200).write('[1,')
  })
  for (const path of ['/silent', '/part']) {
    const stop = new AbortController()
    const text = textOf(url + path, { signal: stop.signal })
    await vi.waitFor(() => expect(seen.some(line => line.includes(path))).toBe(true))
    stop.abort(new Error('enough'))
    await expect(text).rejects.toThrow('enough')
  }
  await expect(textOf(`${url}/never`, { signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow('before')
  expect(seen).toHaveLength(2)
})

test('a deadline is a signal', async () => {
  const { url } = await open(() => undefined)
  await expect(textOf(url, { signal: AbortSignal.timeout(20) })).rejects.toMatchObject({ name: 'TimeoutError' })
})

test('an answer may take longer than a connection is kept idle', async () => {
  const { url, sockets } = await open(response => {
    // The timeout of the client's agent is emitted by its sockets; it must not end a call.
    for (const socket of clientSockets()) socket.emit('timeout')
    response.end('late')
  })
  const clientSockets = () =>
    (process as unknown as { _getActiveHandles(): Socket[] })
      ._getActiveHandles()
      .filter(handle => 'remotePort' in handle && handle.remotePort === Number(new URL(url).port))
  expect(await textOf(url)).toBe('late')
  expect(sockets).toHaveLength(1)
})

test('redirects are followed', async () => {
  const { url, seen } = await open((response, { url }) => {
    if (url === '/old') response.writeHead(307, { location: '/new' }).end()
    else response.end('here')
  })
  expect(await textOf(`${url}/old`, { method: 'POST', body: 'b' })).toBe('here')
  expect(seen.map(line => line.slice(0, -2))).toEqual(['POST /old b', 'POST /old b', 'POST /new b'])
})

test('an address with credentials, or that is none, is refused as by fetch', async () => {
  const { url, seen } = await open(response => response.end())
  await expect(textOf(url.replace('//', '//user:pass@'))).rejects.toBeInstanceOf(TypeError)
  await expect(textOf('nowhere')).rejects.toBeInstanceOf(TypeError)
  expect(seen).toEqual([])
})

test('a process that has replaced fetch, or the dispatcher behind it, is obeyed', async () => {
  const { url, seen } = await open(response => response.end('server'))
  vi.stubGlobal('fetch', async () => new Response('mock'))
  expect(await textOf(url)).toBe('mock')
  vi.unstubAllGlobals()
  const dispatcher = Symbol.for('undici.globalDispatcher.1')
  const global = globalThis as unknown as Record<symbol, unknown>
  await fetch(url)
  const before = global[dispatcher]
  class MockAgent {
    dispatch(): never {
      throw new Error('by the dispatcher')
    }
  }
  global[dispatcher] = new MockAgent()
  onTestFinished(() => {
    global[dispatcher] = before
  })
  await expect(textOf(url)).rejects.toMatchObject({ cause: { message: 'by the dispatcher' } })
  expect(seen).toHaveLength(1)
})

test.each([['Bun'], ['Deno'], ['navigator']])('on other runtimes it is fetch: %s', async name => {
  const { url, sockets } = await open(response => response.end('x'))
  vi.stubGlobal(name, { userAgent: 'Cloudflare-Workers' })
  await textOf(url)
  vi.unstubAllGlobals()
  await textOf(url)
  expect(sockets).toHaveLength(2)
})
