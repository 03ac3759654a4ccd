// The SDK's Connect runner with the real engine: every kind of step, lost sockets, dying engines, and its own end.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, connect as dial, type Server, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createWorkflow, type WorkflowArgs } from '@perdure/sdk'
import { type ConnectOptions, connect } from '@perdure/sdk/connect'
import { afterEach, describe, expect, test } from 'vitest'
import {
  type Api,
  gate,
  onCleanup,
  openDestination,
  openEngine,
  scenario,
  startEngine,
  tempStoreFile,
  unique,
  until,
  within,
} from '../../kit/index.ts'

const { engine } = await scenario({ realTime: true, env: { ENGINE_WEBHOOK_ALLOW_PRIVATE: '1' } })
const { api } = engine
const opened: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const runner of opened.splice(0)) await runner.close()
})

async function start(options: Partial<ConnectOptions> & Pick<ConnectOptions, 'workflows'>) {
  const runner = connect({
    app: unique('app'),
    engineUrl: engine.url,
    handleSignals: false,
    retryInitialMs: 5,
    log: () => undefined,
    ...options,
  })
  opened.push(runner)
  await runner.ready
  return runner
}

/** A proxy between runner and engine, to cut the connection and to replace the engine. */
class Between {
  target: () => string
  cuts = 0
  readonly #sockets = new Set<Socket>()
  readonly #server: Server

  constructor(target: () => string) {
    this.target = target
    this.#server = createServer(socket => {
      const { hostname, port } = new URL(this.target())
      const other = dial(Number(port), hostname)
      for (const [one, two] of [
        [socket, other],
        [other, socket],
      ] as const) {
        this.#sockets.add(one)
        one.pipe(two)
        one.on('error', () => two.destroy())
        one.on('close', () => {
          this.#sockets.delete(one)
          two.destroy()
        })
      }
    })
    onCleanup(() => {
      this.cut()
      this.#server.close()
    })
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    const address = this.#server.address()
    return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
  }

  cut(): void {
    this.cuts++
    for (const socket of this.#sockets) socket.destroy()
  }
}

describe('a workflow over Connect', () => {
  test('takes every kind of step', async () => {
    const destination = await openDestination()
    const [parent, childName, go, said] = ['parent', 'child', 'go', 'said'].map(unique) as [
      string,
      string,
      string,
      string,
    ]
    let tries = 0
    let passes = 0
    const workflows = [
      createWorkflow(
        { name: parent, triggers: { event: parent }, retry: { maxAttempts: 3, initialMs: 1 } },
        async ({ event, step, ctx }: WorkflowArgs<{ n: number }>) => {
          passes++
          const one = await step.run('one', () => ({ at: new Date(0), n: event.data.n }))
          const sides = await Promise.all([step.run('left', async () => 'l'), step.run('right', () => 'r')])
          const flaky = await step.run('flaky', () => {
            if (++tries < 2) throw new Error('once more')
            return tries
          })
          await step.sleep('nap', 5)
          const paid = await step.waitForEvent('paid', { event: go, timeout: '1m' })
          const child = await step.runWorkflow('child', { workflow: childName, data: { n: one.n } })
          await step.emit('notify', { event: said, data: { child } })
          await ctx.webhook.send('hook', { url: destination.url, data: sides })
          ctx.logger.info('done')
          return { one, sides, flaky, paid: paid?.data, child, hasTime: (await ctx.now()) > 0 }
        },
      ),
      createWorkflow(
        { name: childName, triggers: { event: unique('never') } },
        ({ event }: WorkflowArgs<{ n: number }>) => event.data,
      ),
    ]
    await start({ workflows })
    const { runId } = await api.send({ name: parent, data: { n: 7 } })
    await api.reaches(runId, 'waiting')
    await until(async () =>
      (await api.steps(runId)).some(({ name, status }) => name === 'paid' && status === 'waiting'),
    )
    await api.send({ name: go, data: 'yes' })
    const { result } = await api.reaches(runId, 'succeeded')
    expect(result).toMatchObject({
      one: { at: '1970-01-01T00:00:00.000Z', n: 7 },
      sides: ['l', 'r'],
      flaky: 2,
      paid: 'yes',
      child: { n: 7 },
      hasTime: true,
    })
    await until(() => destination.requests.length === 1)
    expect(JSON.parse(destination.requests[0]?.body ?? '')).toEqual(['l', 'r'])
    expect((await api.logs(runId)).map(({ message }) => message)).toEqual(['done'])
    // Finished steps do not end a pass here: only the retry, the nap, the event and the child do.
    expect(passes).toBeLessThanOrEqual(6)
  })

  test('is one pass, however many steps it has, and a run may be pinned to the runner', async () => {
    const name = unique('many')
    const runner = unique('runner')
    let passes = 0
    const workflow = createWorkflow({ name, triggers: { event: name } }, async ({ step }) => {
      passes++
      let sum = 0
      for (let n = 0; n < 100; n++) sum += await step.run(`add-${n}`, () => n)
      return sum
    })
    await start({ workflows: [workflow], runner, sockets: 3 })
    const { runId } = await api.send({ name, runner })
    expect((await api.reaches(runId, 'succeeded')).result).toBe(4950)
    expect(passes).toBe(1)
    expect(await api.steps(runId)).toHaveLength(100)
  })

  test('spreads over several sockets within its concurrency', async () => {
    const name = unique('wide')
    let now = 0
    let most = 0
    // No step ends before this many have begun, so one too many would show.
    const together = gate()
    const workflow = createWorkflow({ name, triggers: { event: name } }, ({ step }) =>
      step.run('count', async () => {
        most = Math.max(most, ++now)
        if (now === 10) together.open()
        await together.opened
        await new Promise(resolve => setImmediate(resolve))
        now--
      }),
    )
    await start({ workflows: [workflow], runner: unique('runner'), sockets: 4, maxConcurrency: 10 })
    const runs = await Promise.all(Array.from({ length: 100 }, () => api.send({ name })))
    await Promise.all(runs.map(({ runId }) => api.reaches(runId, 'succeeded')))
    expect(most).toBe(10)
  })

  test('of a cancelled run is aborted', async () => {
    const name = unique('endless')
    const began = gate()
    const aborted = gate<unknown>()
    const workflow = createWorkflow({ name, triggers: { event: name } }, ({ step }) =>
      step.run('endless', ({ signal }) => {
        began.open()
        return new Promise(() => signal.addEventListener('abort', () => aborted.open(signal.reason)))
      }),
    )
    await start({ workflows: [workflow] })
    const { runId } = await api.send({ name })
    await began.opened
    await api.post(`/runs/${runId}/cancel`)
    expect(await within(aborted.opened, 'the abort')).toMatchObject({
      message: 'The engine cancelled the invoke',
    })
  })
})

describe('a socket that is cut', () => {
  test('in the middle of steps, again and again: each is run once', async () => {
    const name = unique('cut')
    const between = new Between(() => engine.url)
    const engineUrl = await between.listen()
    const ran: string[] = []
    let passes = 0
    const workflow = createWorkflow({ name, triggers: { event: name } }, async ({ step }) => {
      passes++
      for (let n = 0; n < 5; n++) {
        await step.run(`step-${n}`, async () => {
          ran.push(`step-${n}`)
          between.cut()
          await new Promise(setImmediate)
          return n
        })
      }
      return 'whole'
    })
    await start({ workflows: [workflow], runner: unique('runner'), engineUrl })
    const { runId } = await api.send({ name })
    expect((await api.reaches(runId, 'succeeded')).result).toBe('whole')
    expect(ran).toEqual(['step-0', 'step-1', 'step-2', 'step-3', 'step-4'])
    expect(between.cuts).toBe(5)
    expect(passes).toBe(1)
  })

  test('an engine that drains lets the step in flight finish, and its successor goes on after it', async () => {
    const name = unique('drain')
    const storeFile = tempStoreFile()
    const first = await openEngine({ storeFile, env: { ENGINE_DRAIN_TIMEOUT: '10s' } })
    let current = first
    const between = new Between(() => current.url)
    const engineUrl = await between.listen()
    const ran: string[] = []
    const began = gate()
    const go = gate()
    const workflow = createWorkflow({ name, triggers: { event: name } }, async ({ step }) => {
      await step.run('during', async () => {
        ran.push('during')
        began.open()
        await go.opened
      })
      await step.run('after', () => void ran.push('after'))
    })
    const runner = await start({ workflows: [workflow], runner: unique('runner'), engineUrl })
    const { runId } = await first.api.send({ name })
    await began.opened
    const stopped = first.stop()
    await until(async () => (await first.api.get('/readyz')).status === 503)
    go.open()
    await within(stopped, 'the end of the drain')
    expect(ran).toEqual(['during'])
    current = await openEngine({ storeFile })
    await current.api.reaches(runId, 'succeeded')
    expect(ran).toEqual(['during', 'after'])
    await runner.close()
  })

  test('an engine that is killed and comes back finishes the runs it had', async () => {
    const name = unique('restart')
    const other = await startEngine()
    const between = new Between(() => other.url)
    const engineUrl = await between.listen()
    let ran = 0
    const began = gate()
    const go = gate()
    const workflow = createWorkflow({ name, triggers: { event: name } }, async ({ step }) => {
      await step.run('before', () => ++ran)
      await step.run('during', async () => {
        began.open()
        await go.opened
      })
      return ran
    })
    const runner = await start({ workflows: [workflow], runner: unique('runner'), engineUrl })
    const { runId } = await other.api.send({ name })
    await began.opened
    await other.kill9()
    await until(() => !runner.connected)
    go.open()
    await other.start()
    await until(() => runner.connected)
    expect((await other.api.reaches(runId, 'succeeded')).result).toBe(1)
  })
})

describe('a runner process', () => {
  const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

  /** Runs a workflow whose step ends when a file appears. `how` starts the runner. */
  function launch(how: string, { name, url, file }: { name: string; url: string; file: string }) {
    const source = `import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { createWorkflow } from '@perdure/sdk'
import { connect } from '@perdure/sdk/connect'
import { serve as serveExpress } from '@perdure/sdk/express'
import { serve as serveHono } from '@perdure/sdk/hono'
import { serve } from '@perdure/sdk/node'
import express from 'express'
import { Hono } from 'hono'
const workflow = createWorkflow({ name: '${name}', triggers: { event: '${name}' } }, ({ step }) =>
  step.run('long', async () => {
    console.log('began')
    while (!existsSync('${file}')) await new Promise(resolve => setTimeout(resolve, 5))
    return 'finished'
  }),
)
const options = { app: '${name}', workflows: [workflow] }
const inServer = async (listener, mount) => {
  const server = createServer(listener)
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  return mount({ ...options, url: \`http://127.0.0.1:\${server.address().port}/invoke\` })
}
const inFetchServer = app => async (incoming, outgoing) => {
  const body = await new Response(Readable.toWeb(incoming)).text()
  const init = { method: 'POST', headers: incoming.headers, body }
  const response = await app.fetch(new Request(\`http://\${incoming.headers.host}\${incoming.url}\`, init))
  outgoing.writeHead(response.status, Object.fromEntries(response.headers)).end(await response.text())
}
const [inExpress, inHono] = [express(), new Hono()]
const runner = ${how}
await runner.ready
`
    const script = join(dirname(file), `${name}.mjs`)
    writeFileSync(script, source)
    const loader = `import { register } from 'node:module'; register('data:text/javascript,' + encodeURIComponent(\`
export const resolve = (specifier, context, next) =>
  next(specifier, /^(@perdure\\\\/|express$|hono$)/.test(specifier) ? { ...context, parentURL: 'file://${ROOT}package.json' } : context)
\`))`
    const child = spawn(process.execPath, ['--import', `data:text/javascript,${encodeURIComponent(loader)}`, script], {
      env: { ...process.env, ENGINE_URL: url },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onCleanup(() => void child.kill('SIGKILL'))
    const exit = once(child, 'close').then(([code, signal]) => ({ code, signal }))
    return { child, exit, said: outputOf(child) }
  }

  function outputOf(child: ChildProcess): () => string {
    let output = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    return () => output
  }

  async function began(how: string, api: Api, name: string) {
    const file = join(dirname(tempStoreFile()), 'go')
    const runner = launch(how, { name, url: api.base, file })
    const sent = until(async () => (await api.send({ name })).triggered[0], { what: 'the registration' })
    const { runId } = await sent
    await until(() => runner.said().includes('began'))
    return { ...runner, runId, finish: () => writeFileSync(file, '') }
  }

  test.each([
    ['connect()', 'connect(options)'],
    ['serve()', 'await serve({ ...options, port: 0 })'],
    ['serve() in Express', 'await inServer(inExpress, options => serveExpress(inExpress, options))'],
    ['serve() in Hono', 'await inServer(inFetchServer(inHono), options => serveHono(inHono, options))'],
  ])('of %s that has to stop finishes its step first, and ends with 0', async (_, how) => {
    const name = unique('term')
    const runner = await began(how, api, name)
    runner.child.kill('SIGTERM')
    runner.finish()
    expect(await within(runner.exit, 'the end of the runner')).toEqual({ code: 0, signal: null })
    expect(await api.step(runner.runId, 'long')).toMatchObject({ status: 'succeeded', data: 'finished' })
    expect(runner.said().match(/began/g)).toHaveLength(1)
    const runners = (await api.get(`/runners?app=${name}`)).json as { live: boolean }[]
    expect(runners.filter(({ live }) => live)).toEqual([])
  })

  test('that gets two signals ends at once', async () => {
    const name = unique('twice')
    const runner = await began('connect(options)', api, name)
    // Until one signal has been handled, all count as one; and of two different signals either may be handled first.
    await until(() => {
      runner.child.kill('SIGTERM')
      return runner.child.exitCode !== null
    })
    expect(await runner.exit).toEqual({ code: 143, signal: null })
  })
})
