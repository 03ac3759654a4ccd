// `serve()` on node:http: its own server, registration and shutdown. The adapter suite tests how it answers invokes.

import { once } from 'node:events'
import { Agent, request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { type EngineServer, startEngine } from '../engine/engine-server.testkit.ts'
import { signal } from '../replay/engine.testkit.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'
import { type RunnerServer, type ServeOptions, serve } from './node.ts'

const hello = createWorkflow({ name: 'hello' }, ({ step }) => step.run('greet', () => 'hello'))
const json = { 'content-type': 'application/json' }
const invoke = () => JSON.stringify({ event: { name: 'hello' }, ctx: { runId: 'run_1', workflow: 'hello' } })

let runner: RunnerServer | undefined
let engine: EngineServer | undefined

async function start(options: Partial<ServeOptions> = {}): Promise<RunnerServer> {
  runner = await serve({
    app: 'shop',
    workflows: [hello],
    port: 0,
    register: false,
    signingKey: [],
    ...options,
  })
  return runner
}

afterEach(async () => {
  await runner?.close()
  await engine?.close()
  runner = undefined
  engine = undefined
})

describe('a served runner', () => {
  test('answers invokes at its path, whatever their query, and nothing elsewhere', async () => {
    const { url, port } = await start({ path: '/api/perdure' })
    expect(url).toBe(`http://127.0.0.1:${port}/api/perdure`)
    const answered = await fetch(`${url}?x=1`, { method: 'POST', headers: json, body: invoke() })
    expect([answered.status, await answered.json()]).toMatchObject([206, { opcodes: [{ name: 'greet' }] }])
    const elsewhere = await fetch(new URL('/invoke', url), { method: 'POST', headers: json, body: invoke() })
    expect([elsewhere.status, await elsewhere.json()]).toMatchObject([
      404,
      { error: { message: 'Invokes are answered at /api/perdure' } },
    ])
  })

  test('by default answers at /invoke, and keeps connections longer than the engine does', async () => {
    const { url } = await start()
    expect(new URL(url).pathname).toBe('/invoke')
    const response = await fetch(url, { method: 'POST', headers: json, body: invoke() })
    expect(response.headers.get('keep-alive')).toBe('timeout=75')
    await response.text()
  })

  test('a port that is taken rejects', async () => {
    const { port } = await start()
    await expect(serve({ app: 'shop', workflows: [hello], port, register: false })).rejects.toMatchObject({
      code: 'EADDRINUSE',
      message: `Port ${port} of 127.0.0.1 is taken (EADDRINUSE): give \`serve\` another \`port\`, or 0 for a free one`,
    })
  })

  test('stops a registration when it is closed', async () => {
    engine = await startEngine('hang')
    const { ready, close } = await start({ register: true, engineUrl: engine.url })
    await engine.called(1)
    await close()
    await expect(ready).rejects.toThrow('The registration was stopped')
  })

  test('without a key does not listen beyond this machine, unless that is allowed', async () => {
    const options = { app: 'shop', workflows: [hello], port: 0, register: false, signingKey: [] }
    await expect(serve({ ...options, host: '0.0.0.0' })).rejects.toThrow('it would listen on 0.0.0.0')
    await expect(serve({ ...options, url: 'http://shop:3000' })).rejects.toThrow('its url at http://shop:3000')
    const { port } = await start({ host: '0.0.0.0', allowUnsigned: true })
    const answered = await fetch(`http://127.0.0.1:${port}/invoke`, { method: 'POST', headers: json, body: invoke() })
    expect([answered.status, await answered.json()]).toMatchObject([206, {}])
  })

  test('registers with the configured url', async () => {
    engine = await startEngine({ status: 200, body: {} })
    await start({
      register: true,
      engineUrl: engine.url,
      url: 'https://runner.example/invoke',
      allowUnsigned: true,
      log: () => undefined,
    })
    await engine.called(1)
    expect(engine.calls[0]?.body).toMatchObject({ url: 'https://runner.example/invoke' })
  })
})

describe('cancelling', () => {
  test('an answered invoke aborts nothing', async () => {
    let seen: AbortSignal | undefined
    const quick = createWorkflow({ name: 'hello' }, ({ step }) =>
      step.run('quick', context => {
        seen = context.signal
      }),
    )
    const { url, close } = await start({ workflows: [quick] })
    await (await fetch(url, { method: 'POST', headers: json, body: invoke() })).text()
    await close()
    expect(seen?.aborted).toBe(false)
  })
})

describe('closing', () => {
  test('waits for the invoke in flight and closes its connection', async () => {
    const [started, gate] = [signal(), signal()]
    const slow = createWorkflow({ name: 'hello' }, ({ step }) =>
      step.run('slow', () => {
        started.resolve()
        return gate.promise
      }),
    )
    const { port, close } = await start({ workflows: [slow] })
    const agent = new Agent({ keepAlive: true })
    const request = httpRequest({ port, host: '127.0.0.1', path: '/invoke', method: 'POST', headers: json, agent })
    request.end(invoke())
    await started.promise
    let closed = false
    const closing = close().then(() => {
      closed = true
    })
    expect(closed).toBe(false)
    gate.resolve()
    const [response] = await once(request, 'response')
    expect([response.statusCode, response.headers.connection]).toEqual([206, 'close'])
    response.resume()
    await closing
    agent.destroy()
  })

  test('does not wait for idle connections', async () => {
    const { port, close } = await start()
    const socket = connect(port, '127.0.0.1')
    const body = invoke()
    const head = `host: localhost\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}`
    socket.write(`POST /invoke HTTP/1.1\r\n${head}\r\n\r\n${body}`)
    await once(socket, 'data')
    await close()
  })

  test('does not wait for connections that never sent a request', async () => {
    const { port, close } = await start()
    const socket = connect(port, '127.0.0.1')
    const answered = fetch(`http://127.0.0.1:${port}/invoke`, { method: 'POST', headers: json, body: invoke() })
    await once(socket, 'connect')
    await (await answered).text()
    await close()
  })
})

test('a body beyond 64 MiB is a 413', async () => {
  const { port } = await start()
  const request = httpRequest({ port, host: '127.0.0.1', path: '/invoke', method: 'POST', headers: json })
  request.on('error', () => undefined)
  const chunk = Buffer.alloc(1024 * 1024)
  const response = once(request, 'response')
  for (let i = 0; i < 65; i++) request.write(chunk)
  const [{ statusCode }] = await response
  expect(statusCode).toBe(413)
  request.destroy()
})
