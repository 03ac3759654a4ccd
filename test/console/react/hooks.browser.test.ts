// The hooks of `perdure/react` on a page of another origin, with an engine that has keys (docs/react.md).

import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openPage } from '../../kit/browser/page.ts'
import {
  discovered,
  gate,
  JumpClock,
  opcode,
  openEngine,
  openRunner,
  returned,
  stepId,
  unique,
  until,
} from '../../kit/index.ts'
import { dialAs } from '../../kit/runner/connect-client.ts'
import { TcpProxy } from '../../kit/servers/tcp-proxy.ts'

const KEY = 'secret-key-of-default-0123456789'
const ENGINE_API_KEYS = JSON.stringify([{ label: 'ops', namespace: 'default', kind: 'secret', key: KEY }])
const env = { ENGINE_API_KEYS, ENGINE_CORS_ORIGINS: '*' }
const clock = new JumpClock()
const engine = await openEngine({ env, clock })
const api = engine.api.as(KEY)
const { url } = engine

/** Shows both views of the argument of `show`, and keeps them in `shown`. */
const PAGE = `
import { createElement, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { useRun, useStream } from ${JSON.stringify(fileURLToPath(new URL('../../../packages/client/src/react/index.ts', import.meta.url)))}
function App(options) {
  const { error, ...run } = useRun(options)
  const { error: broken, ...output } = useStream({ ...options, stream: 'answer' })
  window.shown = { run: { ...run, error: error && { message: error.message, status: error.status } }, output, broken: broken?.status }
  return createElement('pre', null, output.text)
}
const root = createRoot(document.body.appendChild(document.createElement('main')))
window.show = options => root.render(createElement(StrictMode, null, createElement(App, options)))
`
const { outputFiles } = await build({
  stdin: { contents: PAGE, resolveDir: import.meta.dirname },
  bundle: true,
  format: 'iife',
  conditions: ['perdure-source', 'browser'],
  define: { 'process.env.NODE_ENV': '"production"' },
  write: false,
})
const script = (outputFiles[0] as { text: string }).text

interface Shown {
  run: {
    status?: string
    progress?: unknown
    result?: unknown
    isLive: boolean
    error?: { message: string; status?: number }
  }
  output: {
    text: string
    chunks: { chunk: unknown; step: string; attempt: number }[]
    isLive: boolean
    isEnded: boolean
  }
  broken?: number
}

async function shownPage(options: {
  url: string
  runId: string
  token: string
}): Promise<{ page: Page; reaches(what: string, holds: (shown: Shown) => boolean): Promise<Shown> }> {
  const page = await openPage(options.url, { expected: ['401', '404', 'ERR_'] })
  await page.setContent('<!doctype html><title>hooks</title>')
  await page.addScriptTag({ content: script })
  await page.evaluate(given => (globalThis as unknown as { show(options: object): void }).show(given), options)
  const reaches = (what: string, holds: (shown: Shown) => boolean) =>
    until(
      async () => {
        const shown = (await page.evaluate('window.shown')) as Shown
        return holds(shown) && shown
      },
      { what },
    )
  return { page, reaches }
}

test('useRun shows the status, the progress and then the result, of the last run of a chain', async () => {
  const name = unique('shown')
  const [held, last] = [gate(), gate()]
  const runner = await openRunner({
    workflows: {
      [name]: async ({ pass, event }) => {
        if ((event.data as { isLast?: true }).isLast) {
          await last.opened
          return returned({ done: 7 })
        }
        const step = opcode('StepRun', 'first', { data: 1 })
        if (pass === 1) return { status: 206, body: { opcodes: [step], logs: [], progress: { percent: 50 } } }
        await held.opened
        return { status: 200, body: { continueAs: { data: { isLast: true } }, logs: [] } }
      },
    },
  })
  await runner.register(api, { features: ['continue-as', 'attributes'] })
  const { json } = await api.post('/events?token=1h', { name, data: {} })
  const { runId, token } = json as { runId: string; token: string }
  const { reaches } = await shownPage({ url, runId, token })
  const running = await reaches('the progress', ({ run }) => run.progress !== undefined)
  expect(running.run).toEqual({ status: 'running', progress: { percent: 50 }, isLive: true })
  held.open()
  await reaches('the next run', ({ run }) => run.status === 'running')
  last.open()
  const ended = await reaches('the result', ({ run }) => run.result !== undefined)
  expect(ended.run).toMatchObject({ status: 'succeeded', result: { done: 7 }, isLive: false })
})

test('useRun shows the error of a run that failed, and begins anew with another run', async () => {
  const [bad, good] = [unique('bad'), unique('good')]
  const error = { message: 'no card', name: 'CardError' }
  const runner = await openRunner({
    workflows: { [bad]: () => ({ status: 400, body: { error, logs: [] } }), [good]: () => returned('fine') },
  })
  await runner.register(api)
  const start = async (name: string) =>
    (await api.post('/events?token=1h', { name })).json as { runId: string; token: string }
  const first = await start(bad)
  const { page, reaches } = await shownPage({ url, ...first })
  const failed = await reaches('the error', ({ run }) => run.error !== undefined)
  expect(failed.run).toMatchObject({ status: 'failed', error: { message: 'no card' } })
  const { runId, token } = await start(good)
  await page.evaluate(given => (globalThis as unknown as { show(options: object): void }).show(given), {
    url,
    runId,
    token,
  })
  const { run } = await reaches('the other run', shown => shown.run.result === 'fine')
  expect(run.error).toBeUndefined()
})

test('useStream shows what counts, over a rollback and a lost connection, to the end', async () => {
  const [name, id] = [unique('streams'), stepId('ask')]
  const client = await dialAs(
    url,
    { app: name, runner: `${name}-1`, features: ['streams'], workflows: [name] },
    { key: KEY },
  )
  const { runId } = await api.send({ name })
  const { token } = (await api.post(`/runs/${runId}/tokens`)).json as { token: string }
  const first = await client.next('invoke')
  const append = async (invoke: string, seq: number, chunks: unknown[]) => {
    client.send('invoke.stream', { stepId: id, step: 'ask', name: 'answer', seq, chunks }, invoke)
    await client.next('stream.ack')
  }
  const proxy = await TcpProxy.open(url, 80)
  const { reaches } = await shownPage({ url: new URL(proxy.urlOf(url)).origin, runId, token })
  await append(first.id, 1, ['Hel', 'lo'])
  const begun = await reaches('the first chunks', ({ output }) => output.text === 'Hello')
  expect(begun.output).toMatchObject({ isLive: true, isEnded: false })
  proxy.down()
  await reaches('the lost connection', ({ output }) => !output.isLive)
  await append(first.id, 2, [' you'])
  proxy.up()
  await reaches('the chunks that were missed', ({ output }) => output.isLive && output.text === 'Hello you')
  const retry = { op: 'StepRun', id, name: 'ask', error: { message: 'again' }, retryable: true, retryAfterMs: 1 }
  client.result(first.id, 206, JSON.stringify({ opcodes: [retry], logs: [] }))
  await reaches('the rollback', ({ output }) => output.text === '')
  clock.jump(1000)
  const second = await client.next('invoke')
  await append(second.id, 1, ['Better'])
  client.result(second.id, 206, JSON.stringify({ opcodes: [{ op: 'StepRun', id, name: 'ask', data: 1 }], logs: [] }))
  const last = await client.next('invoke')
  client.result(last.id, 200, JSON.stringify({ data: 'Better', logs: [] }))
  const { output } = await reaches('the end', shown => shown.output.isEnded)
  expect(output).toMatchObject({
    text: 'Better',
    chunks: [{ chunk: 'Better', step: 'ask', attempt: 2 }],
    isLive: false,
  })
})

test('useStream follows a chain: the chunks of the next run come after those of the run before', async () => {
  const [name, id] = [unique('links'), stepId('ask')]
  const features = ['streams', 'continue-as']
  const client = await dialAs(url, { app: name, runner: `${name}-1`, features, workflows: [name] }, { key: KEY })
  const { runId } = await api.send({ name, data: { link: 1 } })
  const { token } = (await api.post(`/runs/${runId}/tokens`)).json as { token: string }
  /** Drives the newest run to the end that `body` names. */
  const drive = async (chunks: readonly unknown[], body: object) => {
    const { id: invoke, payload } = await client.next('invoke')
    if (chunks.length > 0) {
      client.send('invoke.stream', { stepId: id, step: 'ask', name: 'answer', seq: 1, chunks }, invoke)
      await client.next('stream.ack')
    }
    client.result(invoke, 206, JSON.stringify({ opcodes: [{ op: 'StepRun', id, name: 'ask', data: 1 }], logs: [] }))
    client.result((await client.next('invoke')).id, 200, JSON.stringify({ ...body, logs: [] }))
    return (payload as { ctx: { runId: string } }).ctx.runId
  }
  const { reaches } = await shownPage({ url, runId, token })
  const goOn = { continueAs: { data: {} } }
  await drive(['Hel'], goOn)
  const between = await reaches('the first run', ({ output }) => output.text === 'Hel')
  expect(between.output.isEnded).toBe(false)
  // A run of the chain without the stream.
  await drive([], goOn)
  const last = await drive(['lo'], { data: 'Hello' })
  const { output } = await reaches('the end of the chain', shown => shown.output.isEnded)
  expect(output).toMatchObject({ text: 'Hello', isLive: false })
  expect(output.chunks).toMatchObject([
    { n: 0, runId, chunk: 'Hel' },
    { n: 0, runId: last, chunk: 'lo' },
  ])
})

test('both hooks say so when the token has ended', async () => {
  const name = unique('hung')
  const held = gate()
  const runner = await openRunner({
    workflows: {
      [name]: async ({ pass }) => {
        if (pass === 1) return discovered([opcode('StepRun', 'first', { data: 1 })])
        await held.opened
        return returned(1)
      },
    },
  })
  await runner.register(api)
  const { runId, token } = (await api.post('/events?token=1m', { name })).json as { runId: string; token: string }
  const { reaches } = await shownPage({ url, runId, token })
  await reaches('both streams', ({ run, output }) => run.isLive && output.isLive)
  clock.jump(60_000)
  const { run, output, broken } = await reaches(
    'the refusals',
    shown => shown.broken !== undefined && !shown.run.isLive,
  )
  expect([run.error?.status, broken, output.isLive]).toEqual([401, 401, false])
  held.open()
  await api.succeeded(runId)
})
