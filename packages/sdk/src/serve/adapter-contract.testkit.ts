// The suite that every adapter must pass, on every framework, over real connections.

import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { signBody } from '@perdure/protocol'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startEngine } from '../engine/engine-server.testkit.ts'
import { signal } from '../replay/engine.testkit.ts'
import type { HandlerOptions } from '../runner/handler.ts'
import type { RegistrationOptions } from '../runner/registration.ts'
import { REQUEST_BYTES_MAX } from '../wire/limits.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'
import type { Workflow } from '../workflow/workflow.ts'

interface Mounted {
  /** URL of the invoke endpoint. */
  readonly url: string
  close(): unknown
}

export interface AdapterUnderTest {
  /** The `framework` field of a registration. */
  framework: string
  /** Serves on a real port of 127.0.0.1, registered with the engine or not. */
  mount(options: HandlerOptions & RegistrationOptions & { register: boolean }): Promise<Mounted>
  /** Whether the adapter registers by itself. Default true. */
  registers?: boolean
  /** Whether the runner leaves when it is closed. Default true. */
  leaves?: boolean
  /** Status of the response to a GET. Default 405. */
  getStatus?: number
}

const hello = createWorkflow({ name: 'hello' }, async ({ event, step }) => {
  const text = await step.run('greet', () => `hello ${(event.data as { name: string }).name}`)
  return text.toUpperCase()
})

/** A body with multi-byte characters, and with white space that parsing and printing would lose. */
const invoke = (fields: object = {}) =>
  JSON.stringify(
    {
      event: { name: 'hello', data: { name: 'wörld 🌍' } },
      steps: {},
      ctx: { runId: 'run_1', workflow: 'hello', attempt: 1, app: 'shop', runner: '' },
      ...fields,
    },
    undefined,
    2,
  )

const json = { 'content-type': 'application/json' }
const KEY = 'k'.repeat(32)
const signedHeaders = (body: string) => ({
  ...json,
  'x-engine-signature': signBody({ keys: [KEY], body, nowMs: Date.now() }),
})

export function adapterContract(name: string, adapter: AdapterUnderTest): void {
  async function serve(options: { signingKey?: string; workflows?: Workflow<never, unknown>[] } = {}): Promise<string> {
    const mounted = await adapter.mount({
      app: 'shop',
      workflows: [hello],
      signingKey: [],
      register: false,
      ...options,
    })
    onTestFinished(async () => void (await mounted.close()))
    return mounted.url
  }

  describe(`adapter ${name}`, () => {
    test('answers a pass, and the pass that returns', async () => {
      const url = await serve()
      const discovered = await fetch(url, { method: 'POST', headers: json, body: invoke() })
      expect([discovered.status, discovered.headers.get('content-type')]).toEqual([206, 'application/json'])
      expect(discovered.headers.get('x-perdure-runner')).toBe('1')
      const { opcodes } = (await discovered.json()) as { opcodes: { id: string; data: string }[] }
      expect(opcodes).toMatchObject([{ op: 'StepRun', name: 'greet', data: 'hello wörld 🌍' }])
      const steps = { [opcodes[0]?.id ?? '']: { data: opcodes[0]?.data } }
      const returned = await fetch(url, { method: 'POST', headers: json, body: invoke({ steps }) })
      expect([returned.status, await returned.json()]).toEqual([200, { data: 'HELLO WÖRLD 🌍', logs: [] }])
    })

    test('checks the signature over the raw bytes', async () => {
      const url = await serve({ signingKey: KEY })
      const body = invoke()
      const headers = signedHeaders(body)
      const statusOf = async (init: RequestInit) => {
        const response = await fetch(url, { method: 'POST', ...init })
        await response.text()
        return response.status
      }
      expect(await statusOf({ body, headers })).toBe(206)
      expect(await statusOf({ body: `${body} `, headers })).toBe(401)
      expect(await statusOf({ body, headers: json })).toBe(401)
    })

    test('refuses requests that are not invokes', async () => {
      const url = await serve()
      const post = async (body: string, headers: Record<string, string> = json) => {
        const response = await fetch(url, { method: 'POST', headers, body })
        expect(response.headers.get('x-perdure-runner')).toBe('1')
        return [response.status, response.headers.get('content-type'), await response.json()]
      }
      const refused = (status: number, message: string) => [
        status,
        'application/json',
        expect.objectContaining({ error: expect.objectContaining({ message }) }),
      ]
      expect(await post('')).toEqual(refused(400, 'The body of the request is not JSON'))
      const ctx = { runId: 'run_1', workflow: 'other', attempt: 1, app: 'shop', runner: '' }
      expect(await post(invoke({ ctx }))).toEqual(refused(404, 'This runner has no workflow "other"'))
      const got = await fetch(url)
      await got.text()
      expect(got.status).toBe(adapter.getStatus ?? 405)
    })

    test('without a key answers no web page and no foreign host', async () => {
      let ran = 0
      const counted = createWorkflow({ name: 'hello' }, () => {
        ran++
      })
      const url = await serve({ workflows: [counted] })
      const statusOf = async (headers: Record<string, string>) => {
        const request = httpRequest(url, { method: 'POST', headers })
        request.end(invoke())
        const [response] = await once(request, 'response')
        response.resume()
        return response.statusCode
      }
      expect(await statusOf({ ...json, origin: 'https://evil.example' })).toBe(403)
      expect(await statusOf({ ...json, 'sec-fetch-site': 'cross-site' })).toBe(403)
      expect(await statusOf({ ...json, host: 'evil.example' })).toBe(403)
      expect(await statusOf({ 'content-type': 'text/plain' })).toBe(415)
      expect(ran).toBe(0)
      expect(await statusOf(json)).toBe(200)
      expect(ran).toBe(1)
    })

    test('reads bodies of any content type, in several chunks', async () => {
      const url = await serve({ signingKey: KEY })
      const body = invoke({ event: { name: 'hello', data: { name: 'x'.repeat(300_000) } } })
      const half = body.length / 2
      for (const type of ['text/plain', 'application/octet-stream']) {
        const request = httpRequest(url, { method: 'POST', headers: { ...signedHeaders(body), 'content-type': type } })
        request.write(body.slice(0, half))
        setImmediate(() => request.end(body.slice(half)))
        const [response] = await once(request, 'response')
        response.resume()
        expect(response.statusCode).toBe(206)
      }
    })

    test('refuses a body over the limit before it is sent', async () => {
      const url = await serve()
      const headers = { ...json, 'content-length': REQUEST_BYTES_MAX + 1 }
      const request = httpRequest(url, { method: 'POST', headers })
      request.on('error', () => undefined)
      request.write('{')
      const [response] = await once(request, 'response')
      expect([response.statusCode, response.headers['content-type']]).toEqual([413, 'application/json'])
      request.destroy()
    })

    test('aborts the callback when the client disconnects', async () => {
      const [started, aborted] = [signal(), signal()]
      const slow = createWorkflow({ name: 'hello' }, ({ step }) =>
        step.run('slow', async context => {
          context.signal.addEventListener('abort', () => aborted.resolve())
          started.resolve()
          await aborted.promise
        }),
      )
      const url = await serve({ workflows: [slow] })
      const controller = new AbortController()
      const response = fetch(url, {
        method: 'POST',
        headers: json,
        body: invoke(),
        signal: controller.signal,
      })
      await started.promise
      controller.abort()
      await expect(response).rejects.toThrow('aborted')
      await aborted.promise
    })

    test.runIf(adapter.registers ?? true)('registers where it is served, and repeats that until it ends', async () => {
      const reply = {
        ok: true,
        protocolVersion: 1,
        runnerId: 'r',
        workflows: 1,
        heartbeatMs: 10,
        warnings: [],
      }
      const engine = await startEngine({ status: 200, body: reply })
      onTestFinished(() => engine.close())
      const mounted = await adapter.mount({
        app: 'shop',
        workflows: [hello],
        signingKey: [],
        register: true,
        engineUrl: engine.url,
        log: () => undefined,
      })
      await engine.called(2)
      const answered = await fetch(mounted.url, { method: 'POST', headers: json, body: invoke() })
      expect([answered.status, (await answered.text()).length > 0]).toEqual([206, true])
      await mounted.close()
      const { framework } = adapter
      const body = { app: 'shop', url: mounted.url, framework, runtime: 'node', language: 'typescript' }
      expect(engine.calls[0]).toMatchObject({ path: '/register', body })
      expect(engine.calls[1]?.body).toEqual(engine.calls[0]?.body)
      const leaving = (adapter.leaves ?? true) ? { leaving: true } : {}
      expect(engine.calls.at(-1)?.body).toEqual({ ...(engine.calls[0]?.body as object), ...leaving })
    })
  })
}
