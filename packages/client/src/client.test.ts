// Calls and lists against a real server: requests, results and failures.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createClient } from './client.ts'
import { ApiError, ConnectionError } from './errors/call-errors.ts'
import { closedUrl, hangs, json, openServer, type Script } from './server.testkit.ts'

afterEach(() => vi.unstubAllEnvs())

describe('a request', () => {
  test('has placeholders, query values and the key', async () => {
    const server = await openServer(json({}))
    const client = createClient({ url: `${server.url}/prefix/`, apiKey: 'k' })
    await client.getRun({ id: 'a/b ?' })
    await client.listRuns({ deep: true, q: 'x y', since: new Date(0), limit: 3, app: undefined })
    await client.listRuns({ deep: false, since: '2026-01-01T00:00:00Z' })
    await client.listRuns()
    expect(server.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /prefix/runs/a%2Fb%20%3F',
      'GET /prefix/runs?deep=1&q=x+y&since=1970-01-01T00%3A00%3A00.000Z&limit=3',
      'GET /prefix/runs?since=2026-01-01T00%3A00%3A00Z',
      'GET /prefix/runs',
    ])
    for (const { headers, body } of server.seen) {
      expect(headers.authorization).toBe('Bearer k')
      expect([headers['content-type'], body]).toEqual([undefined, ''])
    }
  })

  test('has the body as JSON, and no body when it is left out', async () => {
    const server = await openServer(json({ id: 'run_2' }))
    const client = createClient({ url: server.url })
    expect(await client.replayRun({ id: 'run_1', body: { input: null } })).toEqual({ id: 'run_2' })
    await client.replayRun({ id: 'run_1' })
    expect(server.seen.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['POST', '/runs/run_1/replay', '{"input":null}'],
      ['POST', '/runs/run_1/replay', ''],
    ])
    expect(server.seen[0]?.headers).toMatchObject({ 'content-type': 'application/json' })
    expect(server.seen[0]?.headers).not.toHaveProperty('authorization')
  })

  test('and its answer are written and read by the codec of the caller', async () => {
    const server = await openServer(json({ id: 'run_2' }))
    const client = createClient({
      url: server.url,
      json: { parse: text => [text], stringify: () => '[18446744073709551615]' },
    })
    expect(await client.replayRun({ id: 'run_1', body: { input: null } })).toEqual(['{"id":"run_2"}'])
    expect(server.seen[0]?.body).toBe('[18446744073709551615]')
  })

  test('with an empty id is refused before anything is sent', async () => {
    const server = await openServer(json([]))
    await expect(createClient({ url: server.url }).getRun({ id: '' })).rejects.toThrow('id must be')
    expect(server.seen).toEqual([])
  })

  test.each(['', 'localhost:4777', 'ftp://x', 'http://'])('cannot go to %j: it is not a URL of an engine', url => {
    expect(() => createClient({ url })).toThrow(TypeError)
  })
})

describe('the environment', () => {
  test('has the address and the key, which options replace', async () => {
    const server = await openServer(json([]))
    vi.stubEnv('ENGINE_URL', server.url)
    vi.stubEnv('ENGINE_API_KEY', ' k ')
    await createClient().listApps()
    await createClient({ apiKey: 'other' }).listApps()
    vi.stubEnv('ENGINE_API_KEY', '')
    await createClient().listApps()
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer k', 'Bearer other', undefined])
  })

  test('may name a file that has the key', async () => {
    const server = await openServer(json([]))
    const file = join(mkdtempSync(join(tmpdir(), 'client-')), 'key')
    writeFileSync(file, 'from-file\n')
    vi.stubEnv('ENGINE_API_KEY_FILE', file)
    await createClient({ url: server.url }).listApps()
    expect(server.seen[0]?.headers.authorization).toBe('Bearer from-file')
    vi.stubEnv('ENGINE_API_KEY', 'k')
    expect(() => createClient()).toThrow('both set')
    expect(createClient({ apiKey: 'k' })).toBeDefined()
  })
})

test.each([
  [
    { adress: 'x' },
    'createClient has no option "adress"; known are url, apiKey, app, timeoutMs, middleware, fetch, stream, json',
  ],
  [{ timeout: 1 }, 'createClient has no option "timeout"; did you mean "timeoutMs"?'],
  [{ stream: { silence: 1 } }, 'createClient: stream has no option "silence"; did you mean "silenceMs"?'],
])('%j has an unknown option', (options, message) => {
  expect(() => createClient(options as object)).toThrow(message)
})

describe('a list with pages', () => {
  const script = [json([{ id: 'a' }, { id: 'b' }], 200, { 'x-next-cursor': 'c 1' }), json([{ id: 'c' }])] as const

  test('gives each page with the cursor of the next', async () => {
    const server = await openServer(...script)
    const client = createClient({ url: server.url })
    const first = await client.listRuns({ limit: 2 })
    expect(first).toEqual({ items: [{ id: 'a' }, { id: 'b' }], nextCursor: 'c 1' })
    expect(await client.listRuns({ limit: 2, cursor: first.nextCursor })).toEqual({ items: [{ id: 'c' }] })
  })

  test('says how far a search came that was answered in part', async () => {
    const server = await openServer(json([], 200, { 'x-next-cursor': 'c', 'x-scanned-to': '2026-01-02T03:04:05.678Z' }))
    expect(await createClient({ url: server.url }).listRuns({ partial: true })).toEqual({
      items: [],
      nextCursor: 'c',
      scannedTo: '2026-01-02T03:04:05.678Z',
    })
  })

  test('gives all items, page after page', async () => {
    const server = await openServer(...script)
    const ids: string[] = []
    for await (const { id } of createClient({ url: server.url }).pages.listRuns({ app: 'x', limit: 2 })) ids.push(id)
    expect(ids).toEqual(['a', 'b', 'c'])
    expect(server.seen.map(({ path }) => path)).toEqual(['/runs?app=x&limit=2', '/runs?app=x&limit=2&cursor=c+1'])
  })

  test('fetches no page that the loop does not reach', async () => {
    const server = await openServer(...script)
    for await (const { id } of createClient({ url: server.url }).pages.listRuns()) if (id === 'b') break
    expect(server.seen).toHaveLength(1)
  })
})

describe('failures', () => {
  test("the engine's refusal is an ApiError with all fields of the error body", async () => {
    const error = {
      code: 'invalid_request',
      message: 'bad limit',
      details: { field: 'limit' },
      requestId: 'req_9',
    }
    const server = await openServer(json({ error }, 400))
    const failure = await createClient({ url: server.url })
      .listRuns()
      .catch(thrown => thrown)
    expect(failure).toBeInstanceOf(ApiError)
    expect(failure).toMatchObject({ ...error, status: 400, name: 'ApiError' })
  })

  test('a refusal without a code keeps its body', async () => {
    const body = { status: 'not_ready', checks: { store: 'unavailable' } }
    const server = await openServer(json(body, 503), response => response.writeHead(502).end('<h1>Bad gateway'))
    const client = createClient({ url: server.url })
    await expect(client.getReadiness()).rejects.toMatchObject({ status: 503, code: 'http_503', details: body })
    await expect(client.getReadiness()).rejects.toMatchObject({
      status: 502,
      code: 'http_502',
      details: '<h1>Bad gateway',
      message: `${server.url}/readyz answered 502: Bad gateway. Is the engine behind this proxy running?`,
    })
  })

  test('a refused connection is a ConnectionError that names the URL', async () => {
    const url = await closedUrl()
    const failure = await createClient({ url })
      .listApps()
      .catch(thrown => thrown)
    expect(failure).toBeInstanceOf(ConnectionError)
    expect(failure).toMatchObject({ code: 'unreachable', status: 0, url: `${url}/apps` })
    expect(failure.message).toMatch(
      /^cannot reach the engine: connect ECONNREFUSED \S+\. Is the engine running\? `npx perdure dev` starts one; ENGINE_URL says where it listens \(http:.+\/apps\)$/,
    )
  })

  test('silence beyond the deadline is a ConnectionError, before the answer and within it', async () => {
    const server = await openServer(hangs, response => response.writeHead(200).write('[1,'))
    const client = createClient({ url: server.url, timeoutMs: 50 })
    for (let i = 0; i < 2; i++) {
      const failure = await client.listApps().catch(thrown => thrown)
      expect(failure).toBeInstanceOf(ConnectionError)
      expect(failure).toMatchObject({ code: 'timeout', message: expect.stringContaining('no answer within 50 ms') })
    }
    const { signal } = new AbortController()
    const late = createClient({ url: server.url }).listApps({}, { signal, timeoutMs: 50 })
    await expect(late).rejects.toThrow('within 50 ms')
  })

  test('a call that has the engine wait is not silence until then', async () => {
    const late =
      (ms: number): Script =>
      response =>
        setTimeout(() => json({ runId: 'run_1' })(response, undefined as never), ms)
    const server = await openServer(late(150), late(150), hangs)
    const client = createClient({ url: server.url, timeoutMs: 50 })
    expect(await client.getRunResult({ id: 'run_1', wait: '30s' })).toEqual({ runId: 'run_1' })
    expect(await client.sendEvent({ body: { name: 'e' }, wait: '30s' })).toEqual({ runId: 'run_1' })
    await expect(client.sendEvent({ body: { name: 'e' }, wait: '20ms' })).rejects.toThrow('no answer within 70 ms')
  })

  test('an answer that is not JSON, or that is cut off, is a ConnectionError', async () => {
    const server = await openServer(
      response => response.end('<html><h1>No route'),
      response => response.writeHead(200, { 'content-length': 10 }).write('[', () => response.destroy()),
    )
    const client = createClient({ url: server.url })
    const broken = await client.listApps().catch(thrown => thrown)
    expect(broken.message).toContain(
      `the answer is not JSON: ${server.url}/apps answered 200: No route. Is this the engine? Check ENGINE_URL`,
    )
    expect(broken).toMatchObject({ name: 'ConnectionError', code: 'invalid_response' })
    await expect(client.listApps()).rejects.toMatchObject({ name: 'ConnectionError', code: 'unreachable' })
  })

  test('a call that the caller aborts rejects with the reason of the signal', async () => {
    const server = await openServer(hangs)
    const stop = new AbortController()
    const call = createClient({ url: server.url }).listApps({}, { signal: stop.signal })
    stop.abort(new Error('enough'))
    await expect(call).rejects.toThrow('enough')
  })
})
