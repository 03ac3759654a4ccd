// Every block of TypeScript on the project's pages runs. The blocks of some pages are in a file that other tests compile and
// run; the others run here, one by one, as they are on the page.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ApiError, createClient, createWorkflow, type Workflow } from '@perdure/sdk'
import { testEngine } from '@perdure/sdk/testing'
import { Elysia } from 'elysia'
import express from 'express'
import { fastify } from 'fastify'
import { Hono } from 'hono'
import { expect, test, vi } from 'vitest'
import { stopNextHeartbeats } from '../../../packages/sdk/src/serve/next.testkit.ts'
import { type Block, blocksOf, pages, root, runBlock, type Scope } from '../../kit/docs/blocks.ts'
import { VERIFIERS } from '../../kit/docs/verifiers.ts'
import { flow, onCleanup, run, scenario, signedHeaders, unique, until } from '../../kit/index.ts'
import { alertsChat, pagesAboutFailure } from './alerted.ts'
import { collects } from './collected.ts'
import { givesToken } from './gives-token.ts'

/** Pages whose blocks are in a file, and the file. The test of the file, beside it, runs them. */
const STANDS_IN: Record<string, string> = {
  'docs/budgets.md': 'test/scenario/docs/steps.workflows.ts',
  'docs/signals.md': 'test/scenario/docs/steps.workflows.ts',
  'docs/steps.md': 'test/scenario/docs/steps.workflows.ts',
  'docs/streams.md': 'test/scenario/docs/streams.workflows.ts',
  'docs/schemas.md': 'test/scenario/docs/schemas.workflows.ts',
  'docs/middleware.md': 'test/scenario/docs/schemas.workflows.ts',
  'docs/agents.md': 'test/scenario/docs/agents.test.ts',
  'docs/ai.md': 'test/scenario/docs/ai.workflows.ts',
  'docs/cookbook.md': 'test/scenario/docs/cookbook.workflows.ts',
  'docs/testing.md': 'packages/sdk/src/testing/docs.test.ts',
  // `quickstart.test.ts` runs the project that has this file.
  'docs/quickstart.md': 'packages/cli/template/src/workflows.ts',
}

/** `npm run docs` writes these pages from types and comments. Their blocks are declarations. */
const isGenerated = (page: string) => page.startsWith('docs/sdk/')

const { engine, api } = await scenario({ realTime: true })
const handler = async () => 'done'
const workflows = [createWorkflow({ name: 'paid', triggers: { event: 'paid' } }, handler)]

/** Redirects calls to the fixed address in the pages to the engine of this file. */
const realFetch = globalThis.fetch
vi.stubGlobal('fetch', (input: string | URL | Request, init?: RequestInit) => {
  const url = input instanceof Request ? input.url : String(input)
  const here = url.replace(/^http:\/\/(127\.0\.0\.1|localhost):4777/, engine.url)
  return realFetch(input instanceof Request ? new Request(here, input) : here, init)
})
vi.stubEnv('ENGINE_URL', engine.url)
onCleanup(() => vi.unstubAllGlobals().unstubAllEnvs())
onCleanup(stopNextHeartbeats)

/** Takes a free port, and keeps the server that the block starts, so that the test can stop it. */
const started = (code: string) =>
  code
    .replace('port: 3000', 'port: 0')
    .replace('https://shop.example/invoke', 'http://127.0.0.1:3000/invoke')
    .replace(/^(await )?((?:serve|startRegistration)\()/m, 'const started = $1$2')
    .replace(/^(?:await )?(connect\(.*?\))(?:\.ready)?$/m, 'const started = $1')
const serving = { workflows }

/** Runs a block that registers a runner. Resolves once the engine has accepted the registration. */
async function registers(run: Run, scope: Scope = {}): Promise<Scope> {
  const all = await run({ ...serving, ...scope }, started)
  const { ready, stop, close } = all.started as { ready: Promise<unknown>; stop?(): void; close?(): Promise<void> }
  await ready
  stop?.()
  await close?.()
  return all
}

/** `Deno.serve` and `Bun.serve`, which keep their arguments. `runtimes.test.ts` runs the real ones. */
const served: unknown[] = []
const runtime = { serve: (...given: unknown[]) => served.push(...given) }

type Run = (scope?: Scope, edit?: (text: string) => string) => Promise<Scope>
type Check = (run: Run, block: Block) => Promise<unknown>

let runId = ''
let client: Scope[string]

/** The checks of a page's blocks, in the order of the page. */
const CHECKS: Record<string, Check[]> = {
  'docs/alerts.md': [alertsChat],
  'README.md': [
    async block => {
      const scope = {
        createWorkflow,
        reserve: () => 'reserved',
        charge: () => 'charged',
        shipOrder: createWorkflow({ name: 'ship-order' }, async () => ({ label: 'L-1' })),
      }
      const { processOrder } = (await block(scope)) as { processOrder: Workflow }
      await using test = await testEngine([processOrder, scope.shipOrder])
      const order = await test.start(processOrder, { item: 'tea', amount: 3 })
      await test.advance('2d')
      await test.send('order.approved')
      expect(await order.result()).toEqual({ status: 'shipped', label: 'L-1' })
    },
    // readme.test.ts runs the file that the page says to save.
    async (_, { code }) => expect(code).toContain("from 'perdure/node'"),
  ],
  'docs/best-practices.md': [
    async block => {
      const pass: unknown[] = []
      const packing = createWorkflow({ name: 'packing' }, async ({ step }) => {
        const { parcel, packed } = await block({ step })
        pass.push(parcel)
        return packed
      })
      await using test = await testEngine([packing])
      const run = await test.start(packing, {})
      expect(await run.result({ within: '1h' })).toBe('P-2')
      expect(pass).toEqual([{}])
    },
  ],
  'docs/connect-or-http.md': [
    async block => {
      const { runner } = (await block(serving)) as { runner: { close(): Promise<void> } }
      await runner.close()
    },
  ],
  'docs/deploy-a-worker.md': [
    async block => {
      const { greet } = (await registers(block)) as { greet: Workflow }
      await using test = await testEngine([greet])
      const run = await test.start(greet, { name: 'Ada' })
      expect(await run.result()).toBe('Hello, Ada!')
    },
  ],
  'docs/client.md': [
    async block => {
      await engine.runner({
        workflows: {
          'client-order': { handler: flow([run('one')]), registration: { triggers: [{ event: 'order.placed' }] } },
        },
      })
      const scope = await block()
      client = scope.client
      runId = scope.runId as string
      expect(scope.run).toMatchObject({ id: runId })
    },
    async block => {
      await api.succeeded(runId)
      expect(await block({ client, runId })).toHaveProperty('result')
    },
    async block => {
      expect(await block({ client, id: runId, console: { log: () => {} } })).toMatchObject({ items: expect.any(Array) })
    },
    async block => block({ client, signal: AbortSignal.timeout(10_000) }),
    async block => {
      const scope = await block({ client, id: runId })
      expect(scope).toMatchObject({ run: { status: 'succeeded' }, status: 'succeeded' })
    },
    async block => {
      const registration = { triggers: [{ event: 'tea.ordered' }] }
      await engine.runner({ workflows: { 'client-tea': { handler: flow([run('one')]), registration } } })
      const { token, later } = await block({ client })
      expect([token, later]).toEqual([
        expect.stringMatching(/^pdt_/),
        { token: expect.stringMatching(/^pdt_/), expiresAt: expect.any(String) },
      ])
    },
    async block => block({ client, ApiError, id: 'run_of-nobody' }),
  ],
  'docs/react.md': [block => givesToken(engine, block)],
  'docs/concepts.md': [
    async block => {
      const { orderId } = { orderId: '4711' }
      await engine.runner({ app: 'shop', workflows: { 'fulfil-order': flow([], () => ({ parcel: orderId })) } })
      const fulfilOrder = createWorkflow({ name: 'fulfil-order' }, async () => ({ parcel: '' }))
      expect(await block({ fulfilOrder })).toMatchObject({ parcel: orderId })
    },
    block => block({ client: createClient({ url: engine.url, app: 'shop' }), syncAccount: 'fulfil-order' }),
  ],
  'docs/events.md': [
    async block => {
      await engine.runner({
        workflows: {
          ship: { handler: flow([], () => 'DE-77'), registration: { triggers: [{ event: 'order/placed' }] } },
        },
      })
      expect(await block({ client: createClient() })).toMatchObject({ parcel: 'DE-77' })
    },
    async block => block({ createWorkflow, handler }),
    pagesAboutFailure,
    async block => {
      const waits = createWorkflow({ name: 'waits', triggers: { event: 'order/placed' } }, async ({ event, step }) => {
        void event
        return (await block({ step, cancelOrder: () => 'cancelled' })).paid
      })
      await using test = await testEngine([waits])
      const waiting = await test.start(waits, { id: 'A-1' })
      await waiting.parkedAt('payment')
      await test.send('order/paid', { orderId: 'A-1' })
      expect(await waiting.result()).toMatchObject({ data: { orderId: 'A-1' } })
    },
    async (_, { code }) => {
      const billed: unknown[] = []
      const bill = (event: { name: string }) => void billed.push(event.name)
      const plan = createWorkflow({ name: 'plan', triggers: { event: 'plan/started' } }, async ({ step }) => {
        const { ended } = await runBlock({ code: `const ended = await (async () => {${code}})()` } as Block, {
          step,
          bill,
        })
        return ended
      })
      await using test = await testEngine([plan])
      const run = await test.start(plan, {})
      await run.parkedAt('change')
      for (const name of ['plan/changed', 'plan/cancelled']) await test.send(name, {})
      expect(await run.result()).toBe('cancelled')
      expect(billed).toEqual(['plan/changed'])
    },
  ],
  'docs/flow-control.md': [
    async block => block({ createWorkflow, handler }),
    collects,
    ...[0, 1, 2, 3].map(
      (): Check =>
        async (_, { code }) => {
          // Each line is the policy of a registration.
          for (const policy of code.trim().split('\n')) {
            const made = await runBlock({ code: `const made = { ${policy.replace(/\/\/.*/, '')} }` } as Block)
            const name = unique('policy')
            await engine.runner({
              workflows: { [name]: { handler: flow([]), registration: made.made as Record<string, unknown> } },
            })
          }
        },
    ),
  ],
  'docs/serving.md': [
    async block => registers(block),
    async block => registers(block, { Deno: runtime }),
    async block => {
      await registers(block, { Bun: runtime })
      expect(served).toEqual([
        ...[{ port: 0 }, expect.any(Function)],
        { port: 0, routes: { '/invoke': expect.any(Function) } },
      ])
    },
    async block => registers(block, { app: express(), express }),
    async block => {
      const app = fastify()
      await block({ app, ...serving }, started)
      await app.close()
    },
    async block => registers(block, { app: new Hono() }),
    async block => {
      // Elysia listens only on Bun; elsewhere an app has no such function.
      const listen = vi.fn()
      class Listening extends Elysia {
        override listen = listen
      }
      await block({ Elysia: Listening, ...serving })
      expect(listen).toHaveBeenCalledWith({ port: 3000, hostname: '127.0.0.1' })
    },
    async block => expect(await block(serving)).toEqual(functions('GET', 'POST', 'PUT')),
    async block =>
      expect(await block(serving)).toEqual({ config: { api: { bodyParser: false } }, ...functions('exported') }),
  ],
  'docs/webhooks.md': [
    async block => {
      const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
      vi.stubEnv('WEBHOOK_SECRET', secret)
      const verified: unknown[] = []
      const log = (_: string, message: unknown) => verified.push(message)
      const { server } = (await block({ console: { log } }, code =>
        code.replace(/^createServer/m, 'const server = createServer').replace('listen(8080)', "listen(0, '127.0.0.1')"),
      )) as { server: Server }
      onCleanup(() => server.close())
      await once(server, 'listening')
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const headers = signedHeaders({
        scheme: 'standard-webhooks',
        secret,
        body: '{"type":"run.failed"}',
        at: Date.now(),
      })
      const post = (body: string) => fetch(url, { method: 'POST', headers, body })
      expect((await post('{"type":"run.failed"}')).status).toBe(204)
      expect(verified).toEqual([{ type: 'run.failed' }])
      expect((await post('{"type":"run.forged"}')).status).toBe(401)
    },
  ],
  'packages/client/README.md': [
    async block => {
      await engine.runner({ app: 'shop', workflows: { ship: flow([run('one')]) } })
      expect((await block()).run).toMatchObject({ workflow: 'ship', app: 'shop' })
    },
  ],
  'packages/perdure/README.md': [
    async block => {
      const { ship } = (await registers(block)) as { ship: Workflow }
      await using test = await testEngine([ship])
      const shipping = await test.start(ship, { order: '7' })
      expect(await shipping.result({ within: '2d' })).toBe('label of 7')
    },
  ],
  'packages/perdure/skill/SKILL.md': [
    async block => {
      const { ship } = (await registers(block, { pay: () => 'paid' })) as { ship: Workflow }
      await using test = await testEngine([ship])
      const shipping = await test.start(ship, { id: '7', cents: 1200 })
      expect(await shipping.result({ within: '15d' })).toEqual({ charge: 'paid', delivered: false })
    },
  ],
  'packages/sdk/README.md': [async block => registers(block, { printLabel: String })],
}

const functions = (...names: string[]) => Object.fromEntries(names.map(name => [name, expect.any(Function)]))

test.each(Object.entries(STANDS_IN))('the blocks of %s stand in %s', (page, file) => {
  const flat = (text: string) => text.replace(/\s+/g, ' ').trim()
  const code = flat(readFileSync(join(root, file), 'utf8'))
  const blocks = blocksOf(page).filter(({ language }) => language === 'ts')
  expect(blocks.length).toBeGreaterThan(0)
  for (const block of blocks) expect(code).toContain(flat(block.code))
})

test.each(pages().filter(page => !(page in STANDS_IN) && !isGenerated(page)))('the blocks of %s run', async page => {
  const blocks = blocksOf(page).filter(({ language }) => language === 'ts')
  const checks = CHECKS[page] ?? []
  expect(checks.length, 'one check for each block').toBe(blocks.length)
  for (const [index, block] of blocks.entries())
    await (checks[index] as Check)((scope, edit) => runBlock(block, scope, edit), block)
})

/** Reports a missing program. */
function isInstalled(program: string, page: string): boolean {
  const found = spawnSync(program, ['--version']).error === undefined
  if (!found) console.warn(`${program} is not installed: its block on ${page} was not run`)
  return found
}

test.each(Object.entries(VERIFIERS))('docs/webhooks.md: the function in %s', async (language, verifier) => {
  const [program = '', ...args] = verifier.command
  if (!isInstalled(program, 'docs/webhooks.md')) return
  const [block] = blocksOf('docs/webhooks.md').filter(one => one.language === language) as [Block]
  const folder = mkdtempSync(join(tmpdir(), 'perdure-verify-'))
  onCleanup(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, verifier.file), verifier.program(block.code))
  const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
  const headers = signedHeaders({ scheme: 'standard-webhooks', secret, body: '{"a":1}', at: Date.now() })
  const verdict = (body: string) =>
    spawnSync(program, [...args, secret, JSON.stringify(headers), body], { cwd: folder, encoding: 'utf8' }).stdout
  expect([verdict('{"a":1}'), verdict('{"a":2}')].map(text => text.trim().toLowerCase())).toEqual(['true', 'false'])
})

test('docs/wire-protocol.md: the runner in Python drives a run to its end', async () => {
  if (!isInstalled('python3', 'docs/wire-protocol.md')) return
  const [block] = blocksOf('docs/wire-protocol.md').filter(({ language }) => language === 'python') as [Block]
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  const code = block.code.replace('http://127.0.0.1:4777', engine.url).replace('3001', String(port))
  const child = spawn('python3', ['-c', code], { stdio: 'ignore' })
  onCleanup(() => void child.kill('SIGKILL'))
  const isThere = async () => ((await api.get('/apps')).json as { name: string }[]).some(({ name }) => name === 'py')
  await until(isThere, { what: 'the registration of the runner' })
  const { runId } = await api.send({ name: 'order.placed', app: 'py', data: { item: 'tea', amount: 3 } })
  expect((await api.succeeded(runId)).result).toEqual({ status: 'done' })
})
