// `perdure conform` finds no fault of the SDK and of a runner in Python, and finds each fault that is planted in a runner.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { connect } from '@perdure/sdk/connect'
import { serve } from '@perdure/sdk/node'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { Group } from '../../packages/cli/src/commands/conform/groups.ts'
import { conform, type SuiteOptions, type Verdict } from '../../packages/cli/src/commands/conform/suite.ts'
import { ran } from '../../packages/cli/src/ran.testkit.ts'
import { jsonLines, onCleanup, openEngine, PlainRunner } from '../kit/index.ts'
import { BREAKAGES } from './breakages.ts'
import { handler } from './reporting.ts'
import { APP, guarded, RUNNER, SIGNING_KEY, workflowsOf } from './runner.ts'
import { SDK_WORKFLOWS } from './sdk-workflows.ts'

const WORKFLOWS = workflowsOf(guarded(handler))
const UNGUARDED = workflowsOf(handler)
const PYTHON = fileURLToPath(new URL('./runner.py', import.meta.url))
const hasPython = spawnSync('python3', ['--version']).status === 0
if (!hasPython) process.stderr.write('SKIPPED: there is no python3, so the runner in Python is not checked\n')

const plainRunner = (workflows = WORKFLOWS) => new PlainRunner({ app: APP, runner: RUNNER, workflows }).listen()

async function verdictsOf(url: string, options: Partial<SuiteOptions> = {}): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  const suite = conform({
    url: new URL(url),
    app: APP,
    runner: RUNNER,
    signingKey: SIGNING_KEY,
    timeoutMs: 20_000,
    includes: () => true,
    signal: new AbortController().signal,
    onListening: () => {},
    ...options,
  })
  for await (const verdict of suite) verdicts.push(verdict)
  return verdicts
}

const failedOf = (verdicts: readonly Verdict[]) => verdicts.filter(({ verdict }) => verdict === 'failed')
const checksOf = (verdicts: readonly Verdict[]) => verdicts.map(({ check }) => check)

/** Starts the Python runner. Resolves with its first line. */
async function startPython(...args: string[]): Promise<string> {
  const child = spawn('python3', [PYTHON, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ENGINE_SIGNING_KEY: SIGNING_KEY },
  })
  onCleanup(() => void child.kill('SIGKILL'))
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return String(line).trim()
}

describe('over HTTP', () => {
  test('the runner that breakages change keeps every rule, and the command says so', async () => {
    const { url } = await plainRunner()
    const args = ['conform', url, '--signing-key', SIGNING_KEY, '--runner', RUNNER, '--json']
    const { code, stdout, stderr } = await ran(args)
    const verdicts = jsonLines(stdout) as Verdict[]
    expect(failedOf(verdicts)).toEqual([])
    expect(code).toBe(0)
    expect(stderr).toBe(`${verdicts.length} passed, 0 failed\n`)
    expect(new Set(checksOf(verdicts))).toEqual(new Set(Object.keys(BREAKAGES)))
  })

  test('the SDK keeps every rule', async () => {
    const options = { app: APP, workflows: SDK_WORKFLOWS, signingKey: SIGNING_KEY }
    const runner = await serve({ ...options, runner: RUNNER, port: 0, register: false, handleSignals: false })
    onCleanup(() => runner.close())
    const failed = checksOf(failedOf(await verdictsOf(runner.url)))
    // Before its registration the runner does not know its own id.
    expect(failed).toEqual(['refuses what is signed for another runner, with a 5xx'])
  })

  test.skipIf(!hasPython)('a runner in Python keeps every rule', async () => {
    expect(failedOf(await verdictsOf(await startPython('http')))).toEqual([])
  })

  test.each(Object.entries(BREAKAGES))(
    'a runner is found out that breaks: %s',
    async (check, { workflow, handler }) => {
      const runner = await plainRunner({ ...WORKFLOWS, [workflow]: handler })
      const groups = new Set<Group>((await groupOf(check)).map(({ group }) => group))
      const verdicts = await verdictsOf(runner.url, { includes: group => groups.has(group) })
      expect(checksOf(failedOf(verdicts))).toContain(check)
      await runner.close()
    },
  )

  test('the report says what was expected and what came, and what was not checked', async () => {
    const { url } = await plainRunner({ ...UNGUARDED, 'conform-wait': () => ({ status: 200, body: { data: 1 } }) })
    const { code, stdout } = await ran(['conform', url, '--only', 'waits,signatures'])
    expect(code).toBe(1)
    expect(stdout).toContain('failed   waits: reports a wait with its event, timeout and filter\n')
    expect(stdout).toContain('expected a 206 with step "approval", got 200 {"data":1}')
    expect(stdout).toContain('skipped  signatures: checks signatures\n         there is no --signing-key')
  })

  test('a runner that is not there, and bad usage, have exit codes of their own', async () => {
    const runner = await plainRunner()
    const { url } = runner
    const taken = await ran(['conform', `ws://${new URL(url).host}`])
    expect(taken).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot listen on 127.0.0.1:') })
    await runner.close()
    expect(await ran(['conform', url])).toMatchObject({ code: 3, stderr: expect.stringContaining('cannot be reached') })
    expect((await ran(['conform', 'shop'])).code).toBe(2)
    expect((await ran(['conform', 'ftp://127.0.0.1'])).code).toBe(2)
    expect((await ran(['conform', url, '--only', 'dances'])).code).toBe(2)
  })
})

/** The verdicts of all checks on the plain runner. */
let known: Promise<Verdict[]> | undefined
async function groupOf(check: string): Promise<Verdict[]> {
  known ??= plainRunner().then(({ url }) => verdictsOf(url))
  return (await known).filter(each => each.check === check)
}

describe('over Connect', () => {
  test.each([
    ['the proof of the engine included', SIGNING_KEY, 'passed'],
    ['without a key', undefined, 'skipped'],
  ])('the SDK keeps every rule, %s', async (_, signingKey, proof) => {
    const onListening = (url: string) => {
      const options = { app: APP, workflows: SDK_WORKFLOWS, runner: RUNNER, ...(signingKey && { signingKey }) }
      const runner = connect({ ...options, engineUrl: url, handleSignals: false })
      runner.ready.catch(() => {})
      onCleanup(() => runner.close())
    }
    const verdicts = await verdictsOf('ws://127.0.0.1:0', { signingKey, onListening })
    expect(failedOf(verdicts)).toEqual([])
    const ofConnect = verdicts.filter(({ group }) => group === 'connect').map(({ verdict }) => verdict)
    expect(ofConnect).toEqual([proof, ...Array(4).fill('passed')])
  })

  test.skipIf(!hasPython)('a runner in Python keeps every rule, the proof of the engine included', async () => {
    const onListening = (address: string) => void startPython('connect', address)
    expect(failedOf(await verdictsOf('ws://127.0.0.1:0', { onListening }))).toEqual([])
  })

  test('a runner is found out that breaks the rules of Connect', async () => {
    const onListening = (address: string) => {
      // It requires no proof, does not say hello, answers no ping, ends at unknown frames, and does not dial again.
      const dial = () => {
        const socket = new WebSocket(`${address.replace('http', 'ws')}/connect`, 'engine.connect.v0', {
          autoPong: false,
        })
        socket.on('error', () => {})
        socket.on('open', () =>
          socket.send(JSON.stringify({ type: 'runner.register', id: '1', payload: { app: APP } })),
        )
        socket.on('message', text => {
          if (JSON.parse(String(text)).type === 'news') socket.terminate()
        })
        return socket
      }
      dial().once('close', () => dial())
    }
    const timing = { timeoutMs: 300, includes: (group: Group) => group === 'connect' }
    const verdicts = await verdictsOf('ws://127.0.0.1:0', { onListening, ...timing })
    expect(checksOf(failedOf(verdicts))).toEqual(checksOf(verdicts))
    expect(verdicts).toHaveLength(5)
  })
})

describe('the workflows of the suite', () => {
  test('are on the page that authors of runners read', () => {
    const page = readFileSync(new URL('../../docs/conformance.md', import.meta.url), 'utf8')
    for (const { name } of SDK_WORKFLOWS) expect(page).toContain(`\`${name}\``)
  })

  test('end on the engine as the suite says', async () => {
    const engine = await openEngine()
    await engine.runner({ app: APP, workflows: UNGUARDED })
    const start = async (name: string, data?: unknown) => (await engine.api.send({ name, data })).runId
    const ended = async (name: string, data?: unknown) => engine.api.succeeded(await start(name, data))
    expect(await ended('conform-sequence', { n: 4 })).toMatchObject({ result: { result: 10 } })
    expect(await ended('conform-repeat')).toMatchObject({ result: { sum: 6 } })
    expect(await ended('conform-child', { n: 4 })).toMatchObject({ result: { child: { result: 10 } } })
    expect(await engine.api.failed(await start('conform-final'))).toMatchObject({ error: { message: 'never' } })
    expect(await ended('conform-echo', [1])).toMatchObject({ result: [1] })
  })
})
