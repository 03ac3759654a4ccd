import { connect, type Socket } from 'node:net'
import { operationList } from '@perdure/protocol/operations'
import { describe, expect, test } from 'vitest'
import { aRun } from '../../../../test/kit/http/rows.ts'
import { aroundReads } from '../../../../test/kit/http/stream.ts'
import {
  blockCommits,
  eventually,
  JSON_TYPE,
  listen,
  openStream,
  postJson,
  recordedData,
  refusal,
  testApp,
} from '../../../../test/kit/http/test-app.ts'

/** Sends raw bytes; `answer` resolves with everything that came back once the server has closed the socket. */
function rawRequest(port: number, bytes: string): { socket: Socket; answer: Promise<string> } {
  const socket = connect(port, '127.0.0.1')
  socket.setEncoding('utf8')
  socket.write(bytes)
  const answer = new Promise<string>(resolve => {
    let text = ''
    socket.on('data', chunk => {
      text += chunk
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(text))
  })
  return { socket, answer }
}

const { app } = await testApp()

describe('routing', () => {
  test.each(['/', '/nowhere', '/runs/run_1/nothing', '/runs/run_1/steps/', '//runs', '/RUNS', '/events/a/b'])(
    'GET %s is not found',
    async url => {
      expect(refusal(await app.inject(url))).toBe('404 not_found')
    },
  )

  test.each([
    ['/event', '; did you mean /events?'],
    ['/healthz/', '; did you mean /healthz?'],
    ['/api/runs/run_1', '; did you mean /runs/{id}?'],
    ['/run/run_1/step', '; did you mean /runs/{id}/steps?'],
    ['/runs/run_1/nothing', ''],
    [`/${'x'.repeat(10_000)}`, ''],
  ])('GET %s names the nearest path', async (url, hint) => {
    expect((await app.inject(url)).json().error.message).toBe(`no such path${hint}`)
  })

  test.each([
    ['DELETE', '/runs', 'GET, HEAD'],
    ['POST', '/runs', 'GET, HEAD'],
    ['PUT', '/events', 'GET, HEAD, POST'],
    ['PATCH', '/runs/run_1', 'DELETE, GET, HEAD'],
    ['DELETE', '/runs/stats', 'GET, HEAD'],
    ['GET', '/runs/run_1/cancel', 'POST'],
    ['GET', '/register', 'POST'],
    ['OPTIONS', '/runs', 'GET, HEAD'],
    ['POST', '/healthz', 'GET, HEAD'],
    ['POST', '/runs/run_1/stream?from=1', 'GET'],
    // Literal paths that do not match `/{id}`.
    ['GET', '/runs/bulk-replay', 'POST'],
    ['HEAD', '/runs/bulk-replay', 'POST'],
    ['GET', '/runs/bulk%2Dreplay', 'POST'],
    ['HEAD', '/runs/stream', 'GET'],
    ['POST', '/runs/stats', 'GET, HEAD'],
    ['POST', '/events/stream', 'GET'],
    ['HEAD', '/events/stream', 'GET'],
    ['PATCH', '/webhook-endpoints/stats', 'GET, HEAD'],
    ['DELETE', '/webhook-endpoints/stats', 'GET, HEAD'],
    ['POST', '/webhook-endpoints/stats', 'GET, HEAD'],
  ] as const)('%s %s is not allowed', async (method, url, allow) => {
    const response = await app.inject({ method, url })
    if (method !== 'HEAD') expect(refusal(response)).toBe('405 method_not_allowed')
    expect([response.statusCode, response.headers.allow]).toEqual([405, allow])
  })

  test('a wrong method is refused before a wrong body', async () => {
    const headers = { 'content-type': 'text/plain' }
    const response = await app.inject({ method: 'PUT', url: '/events', headers, payload: 'x' })
    expect(refusal(response)).toBe('405 method_not_allowed')
    expect(refusal(await app.inject({ method: 'PATCH', url: '/webhook-endpoints/stats', headers, payload: 'x' }))).toBe(
      '405 method_not_allowed',
    )
    expect(refusal(await app.inject({ method: 'POST', url: '/x', headers, payload: 'x' }))).toBe('404 not_found')
  })

  test('HEAD answers as GET does, without the body', async () => {
    const response = await app.inject({ method: 'HEAD', url: '/healthz' })
    expect([response.statusCode, response.body]).toEqual([200, ''])
  })
})

describe('malformed URLs', () => {
  test.each(['/%ff', '/%', '/runs/%E0%A4%A', '/runs/%ff/steps', '/events/%c0%80'])('%s', async url => {
    expect(refusal(await app.inject(url))).toBe('400 invalid_request')
  })

  test('an unknown method, a star, an absolute URL', async () => {
    const { app } = await testApp()
    const port = await listen(app)
    const statusLineOf = async (line: string): Promise<string> => {
      const { answer } = rawRequest(port, `${line} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`)
      return (await answer).split('\r\n', 1)[0] as string
    }
    expect(await statusLineOf('PROPFIND /runs')).toContain('405')
    expect(await statusLineOf('OPTIONS *')).toContain('404')
    expect(await statusLineOf(`GET http://127.0.0.1:${port}/healthz`)).toContain('200')
    expect(await statusLineOf('BREW /runs')).toContain('400')
  })
})

describe('request ids', () => {
  test('are on every answer, all different', async () => {
    const answers = await Promise.all([
      app.inject('/healthz'),
      app.inject('/runs'),
      app.inject('/nowhere'),
      app.inject('/%ff'),
      postJson(app, '/events', '{"name":"n"}'),
      postJson(app, '/events', '{'),
    ])
    const ids = answers.map(answer => String(answer.headers['x-request-id']))
    expect(new Set(ids).size).toBe(answers.length)
    for (const id of ids) expect(id).toMatch(/^req_[0-9a-z]{9,20}$/)
  })

  test('are not taken from the caller', async () => {
    const response = await app.inject({ url: '/healthz', headers: { 'x-request-id': 'mine' } })
    expect(response.headers['x-request-id']).not.toBe('mine')
  })
})

describe('bytes that are no HTTP request', () => {
  const bodyOf = (answer: string) => {
    const [head, body] = answer.split('\r\n\r\n') as [string, string]
    expect(head).toContain(`x-request-id: ${JSON.parse(body).error.requestId}`)
    return [Number(head.split(' ', 2)[1]), JSON.parse(body).error.code]
  }

  test('get an error body too, and so does a URL that is too long', async () => {
    const port = await listen((await testApp()).app)
    expect(bodyOf(await rawRequest(port, 'hello\r\n\r\n').answer)).toEqual([400, 'invalid_request'])
    const line = `GET /runs/${'x'.repeat(20_000)} HTTP/1.1\r\nhost: localhost\r\n\r\n`
    expect(bodyOf(await rawRequest(port, line).answer)).toEqual([431, 'invalid_request'])
  })

  test('a client that sends nothing, half its headers or half its body, and waits, is disconnected', async () => {
    const limits = { headersTimeoutMs: 30, requestTimeoutMs: 60, timeoutCheckMs: 10 }
    const { app, store } = await testApp({ limits })
    const port = await listen(app)
    const head = 'POST /events HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n'
    for (const bytes of ['', head, `${head}content-length: 9\r\n\r\n{"a"`])
      expect(bodyOf(await rawRequest(port, bytes).answer), bytes).toEqual([408, 'invalid_request'])
    expect(await recordedData(store)).toEqual([])
  })
})

describe('bodies over the wire', () => {
  test('a chunked body is put together', async () => {
    const { app, store } = await testApp()
    const head = 'POST /events HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n'
    const chunks = ['{"name":"n","da', 'ta":"é"}'].map(part => `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`)
    const bytes = `${head}transfer-encoding: chunked\r\n\r\n${chunks.join('')}0\r\n\r\n`
    expect(await rawRequest(await listen(app), bytes).answer).toContain('202 Accepted')
    expect(await recordedData(store)).toEqual(['"é"'])
  })

  test('a client that sends too much reads the refusal, and may go on', async () => {
    const port = await listen((await testApp()).app)
    const size = 8 * 1024 * 1024
    const head = 'POST /events HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n'
    const next = 'GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n'
    const { answer } = rawRequest(port, `${head}content-length: ${size}\r\n\r\n${'x'.repeat(size)}${next}`)
    expect((await answer).match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200'])
  })

  test('a body too large to discard is refused unread', async () => {
    const { app } = await testApp({ limits: { bodyMax: 10, discardMax: 100 } })
    const port = await listen(app)
    const head = 'POST /events HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n'
    const told = await rawRequest(port, `${head}content-length: 111\r\n\r\n`).answer
    expect(told).toContain('413 Payload Too Large')
    const untold = `${head}transfer-encoding: chunked\r\n\r\n6f\r\n${'x'.repeat(111)}\r\n`
    expect(await rawRequest(port, untold).answer).toContain('413 Payload Too Large')
  })

  test('a client that disconnects in the middle is logged as aborted', async () => {
    const { app, logged } = await testApp({ logLevel: 'debug' })
    const head = 'POST /events HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 99\r\n'
    // The interim answer shows that the server has begun to wait for the body.
    const { socket } = rawRequest(await listen(app), `${head}expect: 100-continue\r\n\r\n{`)
    await eventually(() => socket.bytesRead > 0)
    socket.destroy()
    await eventually(() => logged.length > 0)
    expect(logged).toMatchObject([{ level: 20, aborted: true }])
    await app.close()
  })
})

describe('closing', () => {
  const send = (port: number, body: string) =>
    fetch(`http://127.0.0.1:${port}/events`, { method: 'POST', headers: JSON_TYPE, body })

  /** An app with a request in flight, whose commit waits to be released. */
  async function inFlight() {
    const { app, store, clock, timers } = await testApp({ limits: { drainMs: 10_000 } })
    const port = await listen(app)
    const blocked = blockCommits(store)
    const answer = send(port, '{"name":"n"}')
    await eventually(() => blocked.length === 1)
    const closed = app.close()
    await eventually(() => timers() === 1)
    return { store, clock, timers, port, blocked, answer, closed }
  }

  test('waits for the requests in flight, and refuses new ones', async () => {
    const { timers, port, blocked, answer, closed } = await inFlight()
    const late = await send(port, '{"name":"late"}')
    expect(late.status).toBe(503)
    expect(await late.json()).toMatchObject({ error: { code: 'unavailable', details: { reason: 'shutting_down' } } })
    expect(late.headers.get('retry-after')).toBe('1')
    expect(late.headers.get('connection')).toBe('close')
    blocked[0]?.()
    expect(await (await answer).json()).toMatchObject({ eventId: expect.any(String) })
    await closed
    expect(blocked).toHaveLength(1)
    expect(timers()).toBe(0)
  })

  test('cuts the requests in flight after the drain time', async () => {
    const { clock, blocked, answer, closed } = await inFlight()
    const cut = expect(answer).rejects.toThrow()
    await clock.advance(10_000)
    await closed
    await cut
    blocked[0]?.()
  })

  test('does not wait for idle or silent connections', async () => {
    const { app } = await testApp()
    const port = await listen(app)
    const silent = rawRequest(port, '')
    const idle = rawRequest(port, 'GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n')
    const half = rawRequest(port, 'GET /healthz HTTP/1.1\r\n')
    await eventually(() => idle.socket.bytesRead > 0 && half.socket.bytesWritten > 0)
    await app.close()
    await Promise.all([silent.answer, idle.answer, half.answer])
  })

  test('ends a stream that opens too late', async () => {
    const { app, store, timers, seed } = await testApp()
    await seed({ type: 'run.created', run: aRun() })
    // The request is accepted before the drain, and opens its stream after the drain has begun.
    let release: (() => void) | undefined
    aroundReads(store, async read => {
      await new Promise<void>(resolve => (release = resolve))
      return read()
    })
    const opening = openStream(await listen(app), '/runs/run_1/stream')
    await eventually(() => release !== undefined)
    const closed = app.close()
    await eventually(() => timers() === 1)
    release?.()
    expect(await (await opening).over).toBe(true)
    await closed
  })
})

/** `METHOD /path/{placeholder}` of every route, read from the router's own tree; a HEAD is listed with its GET. */
function mounted(tree: string): string[] {
  const parents: string[] = []
  return tree.split('\n').flatMap(line => {
    const [, indent = '', part = '', methods = ''] = /^([│├└─ ]*)([/\w]\S*) \((.*)\)$/.exec(line) ?? []
    const depth = indent.length / 4
    const path = (parents[depth - 1] ?? '') + part
    parents[depth] = path
    const shown = path.replace(/:(\w+)/g, '{$1}')
    return methods.split(', ').flatMap(method => (/^(HEAD)?$/.test(method) ? [] : [`${method} ${shown}`]))
  })
}

/** Literal paths with routes that refuse, since the router would take them for ids. */
const REFUSED = [
  'GET /events/batch',
  'GET /events/redrive',
  'GET /runs/bulk-replay',
  ...['bulk-replay', 'facets', 'series', 'stats', 'stream'].map(name => `DELETE /runs/${name}`),
  'GET /webhook-deliveries/redeliver',
  ...['series', 'stats'].flatMap(name => [`DELETE /webhook-endpoints/${name}`, `PATCH /webhook-endpoints/${name}`]),
]

/** Preflights of the route that is open to the pages of every origin. */
const OPEN_TO_PAGES = ['OPTIONS /callbacks/{token}']

/** Routes of the wire protocol that only runners call. */
const OF_RUNNERS = ['POST /invokes/{token}/checkpoints', 'POST /invokes/{token}/streams/{name}']

/** The route of the Model Context Protocol. */
const OF_ASSISTANTS = ['POST /mcp']

test('every route is an operation, and every operation has its route', async () => {
  const { app } = await testApp({ config: { console: false } })
  await app.ready()
  const withSlashes = operationList.filter(({ takesSlashes }) => takesSlashes)
  for (const { method, path } of withSlashes)
    expect(app.hasRoute({ method, url: path.replace('{id}', ':id').replace('{name}', '*') })).toBe(true)
  const described = operationList.flatMap(one => (withSlashes.includes(one) ? [] : `${one.method} ${one.path}`))
  expect(mounted(app.printRoutes({ commonPrefix: false })).sort()).toEqual(
    [...described, ...REFUSED, ...OPEN_TO_PAGES, ...OF_RUNNERS, ...OF_ASSISTANTS].sort(),
  )
})
