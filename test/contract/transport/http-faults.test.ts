import { describe, expect, it } from 'vitest'
import { answer, type Script, unusedPort } from '../../kit/servers/raw-server.ts'
import { betweenPasses, closesOpened, ok, open, plays } from './open-http.ts'

closesOpened()

const MIB = 1_048_576

describe('a fault after the request was written is broken', () => {
  it.each<[string, Script]>([
    ['reset before the headers', plays(null)],
    ['closed before the headers', plays('')],
    ['reset within the headers', plays('HTTP/1.1 200 OK\r\ncontent-le', null)],
    ['closed within the headers', plays('HTTP/1.1 200 OK\r\ncontent-le', '')],
    ['reset within the body', plays(ok('content-length: 10', '{"a":'), null)],
    ['closed within the body', plays(ok('content-length: 10', '{"a":'), '')],
    ['closed within the body, as announced', plays(ok('content-length: 10\r\nconnection: close', '{"a":'), '')],
    ['reset within chunks', plays(ok('transfer-encoding: chunked', '5\r\n{"a":\r\n'), null)],
    ['closed within chunks', plays(ok('transfer-encoding: chunked', '5\r\n{"a":\r\n'), '')],
    ['no HTTP at all', plays('SSH-2.0-OpenSSH_9.2\r\n\r\n')],
    ['HTTP with a broken header', plays(ok('content-length: x'))],
    ['a broken chunk size', plays(ok('transfer-encoding: chunked', 'zz\r\n{}\r\n0\r\n\r\n'))],
    ['two lengths', plays(ok('content-length: 2\r\ncontent-length: 3', '{}'))],
    ['endless headers', plays(ok(`x: ${'y'.repeat(100_000)}`))],
    ['an upgrade that was not requested', plays('HTTP/1.1 101 S\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')],
    ['dripping headers', ({ socket }) => void setInterval(() => socket.write('x'), 10).unref()],
    [
      'dripping body',
      ({ socket }) => {
        socket.write(ok('content-length: 100000'))
        const timer = setInterval(() => socket.write('x'), 10)
        socket.on('close', () => clearInterval(timer))
      },
    ],
  ])('%s', async (_, script) => {
    const { server, invoke } = await open(script)
    const reply = await invoke({ timeoutMs: 300 })
    expect(reply).toMatchObject({ kind: 'broken', message: expect.stringMatching(/./) })
    await server.until(() => server.open === 0)
    await betweenPasses()
    expect(server.requests, 'never sent twice').toHaveLength(1)
    expect(server.connections, 'and no connection opened in vain').toBe(1)
  })
})

describe('an answer over 1 MiB', () => {
  const megabytes = Buffer.alloc(MIB, 'x')
  /** Writes for as long as the other side reads, and counts the bytes. */
  const floods = (head: string, frame: (bytes: Buffer) => (string | Buffer)[]) => {
    const sent = { bytes: 0 }
    const script: Script = ({ socket }) => {
      socket.write(head)
      const flood = () => {
        while (!socket.destroyed && sent.bytes < 200 * MIB) {
          sent.bytes += megabytes.length
          const [last, ...before] = frame(megabytes).reverse()
          for (const part of before.reverse()) socket.write(part)
          if (!socket.write(last as Buffer)) return socket.once('drain', flood)
        }
        return socket
      }
      flood()
    }
    return { script, sent }
  }

  it.each([
    ['with a length', floods(ok(`content-length: ${200 * MIB}`), bytes => [bytes])],
    ['in chunks', floods(ok('transfer-encoding: chunked'), bytes => ['100000\r\n', bytes, '\r\n'])],
    ['until the end of the connection', floods(ok('connection: close'), bytes => [bytes])],
  ])('is too large, and reading stops: %s', async (_, { script, sent }) => {
    const { server, invoke } = await open(script)
    expect(await invoke()).toEqual({ kind: 'tooLarge' })
    await server.until(() => server.open === 0)
    expect(sent.bytes).toBeLessThan(50 * MIB)
  })
})

describe('a call that reached no runner is refused', () => {
  it.each([
    ['not a URL', 'cannot be read'],
    ['', 'cannot be read'],
    ['/relative', 'cannot be read'],
    ['ftp://127.0.0.1/', 'ftp:'],
    ['file:///etc/passwd', 'file:'],
    ['ws://127.0.0.1/', 'ws:'],
    ['http://user:pass@127.0.0.1/', 'credentials'],
    ['http://nonexistent.invalid/', 'nonexistent.invalid'],
  ])('%s', async (url, why) => {
    const { invoke } = await open(request => answer(request, 200))
    expect(await invoke({ url })).toMatchObject({ kind: 'refused', message: expect.stringContaining(why) })
  })

  it('closed ports, by address and by name', async () => {
    const { invoke } = await open(request => answer(request, 200))
    const port = await unusedPort()
    for (const host of ['127.0.0.1', 'localhost']) {
      const reply = await invoke({ url: `http://${host}:${port}/` })
      expect(reply).toMatchObject({ kind: 'refused', message: expect.stringContaining('ECONNREFUSED') })
    }
  })

  it('a port that does not speak TLS', async () => {
    const { server, invoke } = await open(() => {})
    expect(await invoke({ url: `https://127.0.0.1:${server.port}/`, timeoutMs: 100 })).toMatchObject({
      kind: 'refused',
    })
    expect(server.requests).toHaveLength(0)
  })

  it('a handshake that never ends', async () => {
    const { server, invoke } = await open(() => {}, { connectTimeoutMs: 200 })
    const url = `https://127.0.0.1:${server.port}/`
    const reply = await invoke({ url })
    expect(reply).toMatchObject({ kind: 'refused', message: expect.stringContaining('Connect Timeout') })
    await server.until(() => server.open === 0)
  })

  it('no connection within the deadline', async () => {
    const { server, invoke } = await open(() => {}, { connectionsMax: 1 })
    const controller = new AbortController()
    const hanging = invoke({ signal: controller.signal })
    await server.until(() => server.requests.length === 1)
    expect(await invoke({ timeoutMs: 50 })).toEqual({
      kind: 'refused',
      message: 'no connection within 50 ms',
    })
    controller.abort()
    expect(await hanging).toEqual({ kind: 'aborted' })
    expect(server.requests).toHaveLength(1)
  })
})
