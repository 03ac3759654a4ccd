import type { LookupAddress } from 'node:dns'
import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../packages/engine/src/adapters/clock/system.ts'
import { VirtualClock } from '../../../packages/engine/src/adapters/clock/virtual.ts'
import { HttpSender, type HttpSenderOptions } from '../../../packages/engine/src/adapters/sender/http-sender.ts'
import { AddressList } from '../../../packages/engine/src/domain/text/address-list.ts'
import type { SendCall, SendReply } from '../../../packages/engine/src/ports/sender.ts'
import { answer, openServer, type Script, unusedPort } from '../../kit/servers/raw-server.ts'
import { type ReceiverAct, senderContract } from './sender-contract.ts'

const MIB = 1_048_576

senderContract('http', async () => {
  let act: ReceiverAct = 'hang'
  const server = await openServer(request => {
    if (act === 'vanish') request.socket.resetAndDestroy()
    else if (act !== 'hang') answer(request, act.status, act.body, act.headers)
  })
  const sender = new HttpSender({ clock: new VirtualClock(), allowPrivate: true, closeGraceMs: 100 })
  return {
    sender,
    url: `${server.origin}/hook`,
    deadUrl: `http://127.0.0.1:${await unusedPort()}/hook`,
    act: next => {
      act = next
    },
    received: () => server.requests,
    async close() {
      await sender.close()
      await server.close()
    },
  }
})

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of opened.splice(0).reverse()) await thing.close()
})

/** A receiver that plays a script, and a sender that may call it. */
async function open(script: Script, options: Partial<HttpSenderOptions> = { allowPrivate: true }) {
  const server = await openServer(script)
  const clock = new VirtualClock()
  const sender = new HttpSender({ clock, closeGraceMs: 100, ...options })
  opened.push(server, sender)
  const send = (call: Partial<SendCall> = {}): Promise<SendReply> =>
    sender.send({ url: `${server.origin}/`, headers: {}, body: '{}', timeoutMs: 5000, ...call })
  return { server, sender, send, clock }
}

/** A resolver that gives one answer per lookup, and repeats the last. */
function resolver(...answers: (string[] | Error)[]) {
  const lookups: string[] = []
  const lookup = (hostname: string, _: object, callback: (error: Error | null, addresses: LookupAddress[]) => void) => {
    const addresses = answers[Math.min(lookups.length, answers.length - 1)] as string[] | Error
    lookups.push(hostname)
    setImmediate(() => {
      if (addresses instanceof Error) callback(addresses, [])
      else
        callback(
          null,
          addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 })),
        )
    })
  }
  return { lookups, lookup: lookup as unknown as NonNullable<HttpSenderOptions['lookup']> }
}

describe('addresses that are not public', () => {
  // All spellings are in test/faults/forbidden-addresses.test.ts.
  it.each(['127.0.0.1', '2130706433', '[::1]', '[::ffff:7f00:1]', 'LOCALHOST'])(
    '%s is refused, and nothing connects',
    async host => {
      const { server, send } = await open(request => answer(request, 200), {})
      expect(await send({ url: `http://${host}:${server.port}/` })).toMatchObject({
        kind: 'refusedAddress',
        error: expect.stringContaining('is not a public address'),
      })
      expect(server.connections).toBe(0)
    },
  )

  it.each(['https:', 'http:'])('are refused over %s alike', async scheme => {
    const { server, send } = await open(request => answer(request, 200), {})
    expect((await send({ url: `${scheme}//127.0.0.1:${server.port}/` })).kind).toBe('refusedAddress')
    expect(server.connections).toBe(0)
  })

  it.each([
    [['127.0.0.1']],
    [['::1', '127.0.0.1']],
    [['93.184.215.14', '127.0.0.1']],
    [['127.0.0.1', '93.184.215.14']],
    [['::ffff:10.0.0.1']],
  ])('are refused behind a name, also as one of many: %j', async addresses => {
    const { lookup, lookups } = resolver(addresses)
    const { server, send } = await open(request => answer(request, 200), { lookup })
    const reply = await send({ url: `http://partner.example:${server.port}/` })
    expect(reply).toEqual({ kind: 'refusedAddress', error: 'partner.example is not a public address' })
    expect(server.connections).toBe(0)
    expect(lookups).toEqual(['partner.example'])
  })

  it.each(['ftp://127.0.0.1/', 'not a URL', 'file:///etc/passwd', 'http://u:p@example.com/'])(
    '%s is not a URL that can be called',
    async url => {
      const { send } = await open(request => answer(request, 200))
      expect(await send({ url })).toMatchObject({ kind: 'refusedAddress' })
    },
  )
})

describe('a name that changes its address', () => {
  // 127.0.0.1 stands for all public addresses, which a test must not call.
  const allowList = AddressList.of(['127.0.0.1']) as AddressList

  it('is resolved once per connection, and the connection goes to that address', async () => {
    const { lookup, lookups } = resolver(['127.0.0.1'], ['127.0.0.2'])
    const { server, send } = await open(request => answer(request, 200, '', { connection: 'close' }), {
      lookup,
      allowList,
    })
    const url = `http://rebinding.example:${server.port}/`
    expect(await send({ url })).toMatchObject({ kind: 'answered', status: 200 })
    expect(lookups).toHaveLength(1)
    expect(server.requests[0]?.headers.host).toBe(`rebinding.example:${server.port}`)

    expect(await send({ url })).toMatchObject({ kind: 'refusedAddress' })
    expect(lookups).toHaveLength(2)
    expect(server.connections).toBe(1)
  })

  it('is checked again for each new connection, not for one that is kept alive', async () => {
    const { lookup, lookups } = resolver(['127.0.0.1'], ['10.0.0.1'])
    const { server, send } = await open(request => answer(request, 200), { lookup, allowList })
    const url = `http://rebinding.example:${server.port}/`
    for (let i = 0; i < 3; i++) {
      expect(await send({ url })).toMatchObject({ kind: 'answered' })
      await new Promise(resolve => setTimeout(resolve, 5))
    }
    expect([lookups.length, server.connections]).toEqual([1, 1])
    server.requests.at(-1)?.socket.destroy()
    await server.until(() => server.open === 0)
    expect(await send({ url })).toMatchObject({ kind: 'refusedAddress' })
    expect(server.connections).toBe(1)
  })

  it('may fail to resolve', async () => {
    const { lookup } = resolver(new Error('getaddrinfo EAI_AGAIN partner.example'), [], ['127.0.0.1'])
    const { server, send } = await open(request => answer(request, 200), { lookup, allowList })
    const url = `http://partner.example:${server.port}/`
    expect(await send({ url })).toMatchObject({
      kind: 'connectionError',
      error: expect.stringContaining('EAI_AGAIN'),
    })
    expect(await send({ url })).toMatchObject({
      kind: 'connectionError',
      error: 'partner.example has no address',
    })
    expect(await send({ url })).toMatchObject({ kind: 'answered' })
  })

  it('that does not exist is a connection error', async () => {
    const { send } = await open(request => answer(request, 200))
    expect(await send({ url: 'http://nonexistent.invalid/' })).toMatchObject({ kind: 'connectionError' })
  })
})

describe('a body', () => {
  it('of any length is read up to a bound, then the connection is dropped', async () => {
    const sent = { bytes: 0 }
    const chunk = Buffer.alloc(65_536, 'x')
    const { server, send } = await open(({ socket }) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${100 * MIB}\r\n\r\n`)
      const flood = () => {
        while (!socket.destroyed && sent.bytes < 100 * MIB) {
          sent.bytes += chunk.length
          if (!socket.write(chunk)) return void socket.once('drain', flood)
        }
      }
      flood()
    })
    const reply = await send()
    expect(reply).toMatchObject({ kind: 'answered', status: 200, responseSnippet: 'x'.repeat(4096) })
    await server.until(() => server.open === 0)
    expect(sent.bytes).toBeLessThan(50 * MIB)
    await new Promise(resolve => setTimeout(resolve, 5))
    expect(server.connections, 'no connection opened in vain').toBe(1)
  })

  it('may come in small pieces', async () => {
    const { send } = await open(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n')
      let pieces = 0
      const drip = () => {
        socket.write('x'.repeat(50))
        if (++pieces < 100) setImmediate(drip)
      }
      drip()
    })
    expect(await send()).toMatchObject({ kind: 'answered', responseSnippet: 'x'.repeat(4096) })
  })

  it('that drips only shortens the snippet: the status has come', async () => {
    const { server, send } = await open(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n')
      const timer = setInterval(() => socket.write('x'), 20)
      socket.on('close', () => clearInterval(timer))
    })
    const reply = await send({ timeoutMs: 500 })
    expect(reply).toMatchObject({
      kind: 'answered',
      status: 200,
      responseSnippet: expect.stringMatching(/^x{1,30}$/),
    })
    await server.until(() => server.open === 0)
  })

  it('that is reset only shortens the snippet', async () => {
    const { send } = await open(({ socket }) => {
      socket.write('HTTP/1.1 503 No\r\nretry-after: 7\r\ncontent-length: 1000\r\n\r\nsorr')
      setTimeout(() => socket.resetAndDestroy(), 20)
    })
    expect(await send()).toMatchObject({
      kind: 'answered',
      status: 503,
      responseSnippet: 'sorr',
      retryAfterMs: 7000,
    })
  })
})

describe('no answer', () => {
  it.each<[string, Script]>([
    [
      'headers that drip',
      ({ socket }) => {
        const timer = setInterval(() => socket.write('x'), 20)
        socket.write('HTTP/1.1 200 OK\r\nx: ')
        socket.on('close', () => clearInterval(timer))
      },
    ],
    ['only informational answers', ({ socket }) => void socket.write('HTTP/1.1 103 Early Hints\r\n\r\n')],
  ])('%s: timeout, and the connection is dropped', async (_, script) => {
    const { server, send } = await open(script)
    expect(await send({ timeoutMs: 150 })).toMatchObject({ kind: 'timeout' })
    await server.until(() => server.open === 0)
  })

  it.each<[string, Script]>([
    ['closed', ({ socket }) => void socket.end()],
    [
      'reset within the headers',
      ({ socket }) => {
        socket.write('HTTP/1.1 200 OK\r\nx: ')
        setTimeout(() => socket.resetAndDestroy(), 20)
      },
    ],
    ['no HTTP', ({ socket }) => void socket.write('220 smtp.example ESMTP\r\n')],
    ['a status that is none', ({ socket }) => void socket.write('HTTP/1.1 099 Early\r\n\r\n')],
    ['another protocol', ({ socket }) => void socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')],
  ])('%s: connection error', async (_, script) => {
    const { server, send } = await open(script)
    const reply = await send()
    expect(reply).toMatchObject({ kind: 'connectionError', error: expect.stringMatching(/\w \w/) })
    expect(reply).not.toMatchObject({ error: expect.stringMatching(/assert|==|falsy/) })
    await server.until(() => server.open === 0)
  })

  it('a handshake that never ends: timeout', async () => {
    const { server, send } = await open(() => {}, { allowPrivate: true, connectTimeoutMs: 200 })
    const reply = await send({ url: `https://127.0.0.1:${server.port}/` })
    expect(reply).toMatchObject({ kind: 'timeout', error: expect.stringContaining('Connect Timeout') })
    await server.until(() => server.open === 0)
  })

  it('headers that cannot be sent are a connection error, not a throw', async () => {
    const { server, send } = await open(request => answer(request, 200))
    expect(await send({ headers: { 'x-bad': 'a\r\nb: c' } })).toMatchObject({ kind: 'connectionError' })
    expect(server.requests).toHaveLength(0)
  })
})

it('Retry-After as a date counts from the clock', async () => {
  const clock = new VirtualClock({ start: Date.UTC(2030, 0, 6, 8, 49, 0) })
  const headers = { 'retry-after': 'Sun, 06 Jan 2030 08:49:37 GMT' }
  const { send } = await open(request => answer(request, 429, '', headers), { allowPrivate: true, clock })
  expect(await send()).toMatchObject({ kind: 'answered', retryAfterMs: 37_000 })
})

it('durations come from the monotonic clock', async () => {
  const times = [5000, 5250]
  const clock = { ...systemClock, now: () => times.length * 1_000_000, elapsed: () => times.shift() ?? 0 }
  const { send } = await open(request => answer(request, 200), { allowPrivate: true, clock })
  expect(await send()).toMatchObject({ durationMs: 250 })
})

it('many origins leave no connection behind', async () => {
  const { sender } = await open(request => answer(request, 200), {
    allowPrivate: true,
    poolsMax: 2,
    idleMs: 40,
  })
  const receivers = []
  for (let i = 0; i < 5; i++) receivers.push((await open(request => answer(request, 200))).server)
  for (const { origin } of receivers) {
    await sender.send({ url: origin, headers: {}, body: '{}', timeoutMs: 5000 })
  }
  for (const receiver of receivers) {
    await receiver.until(() => receiver.open === 0)
    expect(receiver.connections).toBe(1)
  }
})
