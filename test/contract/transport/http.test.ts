import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { HttpTransport } from '../../../packages/engine/src/adapters/transport/http.ts'
import { verifyBody } from '../../../packages/protocol/src/index.ts'
import { answer, openServer, type RawServer, unusedPort } from '../../kit/servers/raw-server.ts'
import { betweenPasses, clock, closesOpened, NOW, ok, open, opened, plays } from './open-http.ts'
import { never, type RunnerAct, transportContract } from './transport-contract.ts'

closesOpened()

transportContract('http', async () => {
  let act: RunnerAct | ((body: string) => RunnerAct) = 'hang'
  const server = await openServer(request => {
    const now = typeof act === 'function' ? act(request.body) : act
    if (now === 'vanish') request.socket.resetAndDestroy()
    else if (now !== 'hang') answer(request, now.status, now.body)
  })
  const transport = new HttpTransport({ clock, signingKeys: [], closeGraceMs: 200 })
  return {
    transport,
    url: `${server.origin}/invoke`,
    deadUrl: `http://127.0.0.1:${await unusedPort()}/invoke`,
    act: next => {
      act = next
    },
    abandoned: count => server.until(() => server.connections - server.open >= count),
    async received(count) {
      await server.until(() => server.requests.length >= count)
      expect(server.requests).toHaveLength(count)
    },
    async close() {
      await transport.close()
      await server.close()
    },
  }
})

describe('the request', () => {
  it('is a signed POST of JSON to path and query', async () => {
    const keys = ['a'.repeat(32), 'b'.repeat(32)]
    const { server, invoke } = await open(request => answer(request, 200), { signingKeys: keys })
    const body = '{"ctx":{"runId":"run_é"}}'
    await invoke({ url: `${server.origin}/api/perdure?a=1&b=%20#fragment`, body })
    const [request] = server.requests
    expect(request).toMatchObject({ method: 'POST', path: '/api/perdure?a=1&b=%20', body })
    expect(request?.headers).toMatchObject({
      host: `127.0.0.1:${server.port}`,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'x-engine-protocol': '1',
    })
    const header = request?.headers['x-engine-signature']
    expect(header).toMatch(/^t=1700000000,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/)
    for (const key of keys) expect(verifyBody({ keys: [key], body, nowMs: NOW, header })).toBe(true)
    expect(verifyBody({ keys, body: `${body} `, nowMs: NOW, header })).toBe(false)
  })

  it('has the signature v0 without a key', async () => {
    const { server, invoke } = await open(request => answer(request, 200))
    await invoke()
    expect(server.requests[0]?.headers['x-engine-signature']).toBe('v0')
  })
})

describe('an answer', () => {
  it('may have no body, come in pieces, or end with the connection', async () => {
    const bodies = [ok('content-length: 0'), ok('transfer-encoding: chunked', '2\r\n{}\r\n0\r\n\r\n')]
    const { invoke } = await open(({ socket }) =>
      socket.write(bodies.shift() ?? ok('connection: close', '{}'), () => {
        if (bodies.length === 0) socket.end()
      }),
    )
    expect(await invoke()).toEqual({ kind: 'answered', status: 200, body: '' })
    expect(await invoke()).toEqual({ kind: 'answered', status: 200, body: '{}' })
    expect(await invoke()).toEqual({ kind: 'answered', status: 200, body: '{}' })
  })

  it('may follow informational ones', async () => {
    const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'
    const { invoke } = await open(plays(hints, hints, 'HTTP/1.1 206 P\r\ncontent-length: 2\r\n\r\n{}'))
    expect(await invoke()).toEqual({ kind: 'answered', status: 206, body: '{}' })
  })

  it('may be split within a character', async () => {
    const bytes = Buffer.from('{"a":"€𝄞"}')
    const { invoke } = await open(({ socket }) => {
      socket.write(ok(`content-length: ${bytes.length}`))
      let i = 0
      const drip = () => {
        socket.write(bytes.subarray(i, ++i))
        if (i < bytes.length) setTimeout(drip, 1)
      }
      drip()
    })
    expect(await invoke()).toEqual({ kind: 'answered', status: 200, body: '{"a":"€𝄞"}' })
  })

  it('that redirects is just answered', async () => {
    const elsewhere = await open(request => answer(request, 200))
    const { invoke } = await open(request => answer(request, 307, 'moved', { location: `${elsewhere.server.origin}/` }))
    expect(await invoke()).toEqual({ kind: 'answered', status: 307, body: 'moved' })
    expect(elsewhere.server.connections).toBe(0)
  })

  it.each([
    ['a lone continuation byte', [0x80]],
    ['a truncated sequence', [0x22, 0xe2, 0x82]],
    ['an overlong form', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
  ])('that is not UTF-8 is broken: %s', async (_, bytes) => {
    const { invoke } = await open(request => answer(request, 200, Buffer.from(bytes)))
    expect(await invoke()).toEqual({ kind: 'broken', message: 'the answer is not UTF-8' })
  })
})

describe('connections', () => {
  it('are kept alive: one for calls in sequence', async () => {
    const { server, invoke } = await open(request => answer(request, 200, '{}'))
    for (let i = 0; i < 20; i++) {
      expect(await invoke()).toMatchObject({ kind: 'answered' })
      await betweenPasses()
    }
    expect(server.connections).toBe(1)
  })

  it('are at most two for calls that follow each other without a pause', async () => {
    const { server, invoke } = await open(request => answer(request, 200, '{}'))
    for (let i = 0; i < 20; i++) expect(await invoke()).toMatchObject({ kind: 'answered' })
    expect(server.connections).toBeLessThanOrEqual(2)
  })

  it('are bounded per origin; further calls wait', async () => {
    let atOnce = 0
    let most = 0
    const { server, invoke } = await open(
      request => {
        most = Math.max(most, ++atOnce)
        setTimeout(() => {
          atOnce--
          answer(request, 200, '{}')
        }, 5)
      },
      { connectionsMax: 3 },
    )
    const replies = await Promise.all(Array.from({ length: 20 }, () => invoke()))
    expect(replies.every(reply => reply.kind === 'answered')).toBe(true)
    expect(most).toBe(3)
    expect(server.connections).toBe(3)
  })

  it('carry one call at a time', async () => {
    const { server, invoke } = await open(request => setTimeout(() => answer(request, 200), 20), {
      connectionsMax: 2,
    })
    await Promise.all([invoke(), invoke(), invoke(), invoke()])
    const [first, second, third] = server.requests
    expect(first?.connection).not.toBe(second?.connection)
    expect(third?.connection).toBeLessThanOrEqual(2)
  })

  it('that closed while idle are replaced without an error', async () => {
    const { server, invoke } = await open(request => {
      answer(request, 200, '{}')
      request.socket.end()
    })
    for (let i = 1; i <= 5; i++) {
      expect(await invoke()).toMatchObject({ kind: 'answered' })
      await server.until(() => server.open === 0)
      expect(server.connections).toBe(i)
    }
  })

  it('that close during a second call break it: the runner may have received it', async () => {
    const { server, invoke } = await open(request => {
      if (server.requests.length % 2 === 1) answer(request, 200, '{}')
      else request.socket.destroy()
    })
    expect(await invoke()).toMatchObject({ kind: 'answered' })
    await betweenPasses()
    expect(await invoke()).toMatchObject({ kind: 'broken' })
    expect(server.connections).toBe(1)
    expect(await invoke()).toMatchObject({ kind: 'answered' })
  })

  it('survive the abort of a call that waits for one', async () => {
    const { server, invoke } = await open(request => setTimeout(() => answer(request, 200, '{}'), 30), {
      connectionsMax: 1,
    })
    const first = invoke({ body: '{"n":1}' })
    const controller = new AbortController()
    const second = invoke({ body: '{"n":2}', signal: controller.signal })
    controller.abort()
    expect(await second).toEqual({ kind: 'aborted' })
    expect(await first).toMatchObject({ kind: 'answered' })
    expect(await invoke({ body: '{"n":3}' })).toMatchObject({ kind: 'answered' })
    expect(server.requests.map(({ body }) => body)).toEqual(['{"n":1}', '{"n":3}'])
    expect(server.connections).toBe(1)
  })

  it('are closed by an abort within the body', async () => {
    const { server, invoke } = await open(plays(ok('content-length: 100', '{')))
    const controller = new AbortController()
    const reply = invoke({ signal: controller.signal })
    await server.until(() => server.requests.length === 1)
    setTimeout(() => controller.abort(), 20)
    expect(await reply).toEqual({ kind: 'aborted' })
    await server.until(() => server.open === 0)
  })

  it('leave no listener on the signal', async () => {
    const { invoke } = await open(request => answer(request, 200))
    const controller = new AbortController()
    for (let i = 0; i < 5; i++) await invoke({ signal: controller.signal })
    await invoke({ url: `http://127.0.0.1:${await unusedPort()}/`, signal: controller.signal })
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
  })
})

describe('pools', () => {
  const servers = async (count: number) => {
    const all: RawServer[] = []
    for (let i = 0; i < count; i++) all.push((await open(request => answer(request, 200))).server)
    return all
  }

  it('are bounded: the one idle for the longest time is closed', async () => {
    const { transport, invoke } = await open(request => answer(request, 200), { poolsMax: 2 })
    const [a, b, c] = (await servers(3)) as [RawServer, RawServer, RawServer]
    await invoke({ url: a.origin })
    await invoke({ url: b.origin })
    await invoke({ url: a.origin })
    await invoke({ url: c.origin })
    expect(transport.poolCount).toBe(2)
    await b.until(() => b.open === 0)
    expect([a.connections, a.open, c.open]).toEqual([1, 1, 1])
  })

  it('in use are never closed to make room', async () => {
    const { server, transport, invoke } = await open(request => setTimeout(() => answer(request, 200), 50), {
      poolsMax: 1,
    })
    const [other] = (await servers(1)) as [RawServer]
    const slow = invoke()
    await server.until(() => server.requests.length === 1)
    expect(await invoke({ url: other.origin })).toMatchObject({ kind: 'answered' })
    expect(transport.poolCount).toBe(2)
    expect(await slow).toMatchObject({ kind: 'answered' })
  })

  it('are closed when idle', async () => {
    const { server, transport, invoke } = await open(request => answer(request, 200), { idleMs: 40 })
    await invoke()
    expect(server.open).toBe(1)
    await server.until(() => server.open === 0)
    expect(transport.poolCount).toBe(0)
    expect(await invoke()).toMatchObject({ kind: 'answered' })
  })
})

describe('close', () => {
  it('waits for pending calls', async () => {
    const { server, transport, invoke } = await open(request => setTimeout(() => answer(request, 200, '{}'), 50), {
      closeGraceMs: 5000,
    })
    const reply = invoke()
    await server.until(() => server.requests.length === 1)
    const started = performance.now()
    await transport.close()
    expect(await reply).toMatchObject({ kind: 'answered' })
    expect(performance.now() - started).toBeLessThan(2000)
    await server.until(() => server.open === 0)
  })

  it('refuses pending calls that were not sent, and breaks the others', async () => {
    const { server, transport, invoke } = await open(() => {}, { connectionsMax: 1, closeGraceMs: 50 })
    const sent = invoke()
    const waiting = invoke()
    await server.until(() => server.requests.length === 1)
    await transport.close()
    expect((await sent).kind).toBe('broken')
    expect((await waiting).kind).toBe('refused')
    await server.until(() => server.open === 0)
  })

  it('ends a call whose connection had to be opened a second time', async () => {
    // The first handshake fails. undici moves the waiting call to a client that its pool no longer knows.
    const server = await openServer(
      () => {},
      (socket, connection) => connection === 1 && socket.end('no TLS here'),
    )
    const limits = { connectionsMax: 1, connectTimeoutMs: 300, closeGraceMs: 20 }
    const transport = new HttpTransport({ clock, signingKeys: [], ...limits })
    opened.push(server)
    const call = { url: `https://127.0.0.1:${server.port}/`, body: '{}', timeoutMs: 60_000, signal: never() }
    const [first, second] = [transport.invoke(call), transport.invoke(call)]
    expect(await first).toMatchObject({ kind: 'refused' })
    await server.until(() => server.connections === 2)
    await transport.close()
    expect(await second).toEqual({ kind: 'refused', message: 'the engine is closing' })
  })
})
