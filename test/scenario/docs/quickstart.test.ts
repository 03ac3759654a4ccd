// Carries out docs/quickstart.md: its file and its commands as they are, in its order.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { onCleanup } from '../../kit/cleanup.ts'
import { tempStoreFile } from '../../kit/temp.ts'
import { until, within } from '../../kit/until.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const page = readFileSync(`${root}/docs/quickstart.md`, 'utf8')
const commands = [...page.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block]) => (block as string).trim().split('\n'))

/** The command of the page that contains `part`. */
function commandWith(part: string): string {
  const found = commands.filter(command => command.includes(part))
  expect(found, part).toHaveLength(1)
  return found[0] as string
}

/** Differences from a newcomer's machine: other processes may have the port, and the data is removed. */
const env: Record<string, string> = { ENGINE_PORT: '0', ENGINE_STORE: `sqlite:${tempStoreFile()}` }

interface Running {
  printed(): string
  ended: Promise<number | null>
  interrupt(): void
  kill9(): Promise<void>
}

/** Runs a command in a shell of its own. */
function type(command: string): Running {
  const child: ChildProcess = spawn('bash', ['-c', `exec ${command}`], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
  }
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const kill9 = async () => {
    child.kill('SIGKILL')
    await ended
  }
  onCleanup(kill9)
  return { printed: () => printed, ended, interrupt: () => child.kill('SIGINT'), kill9 }
}

/** Runs a command to its end; answers what it printed. */
async function read(command: string): Promise<string> {
  const { ended, printed } = type(command)
  expect(await within(ended, command), printed()).toBe(0)
  return printed()
}

async function startEngine(): Promise<Running> {
  const engine = type(commandWith('perdure serve'))
  const url = await until(() => /listens on (http:\S+)/.exec(engine.printed())?.[1], { what: 'the engine' })
  env.ENGINE_URL = url
  env.ENGINE_PORT = new URL(url).port
  return engine
}

async function startRunner(file: string): Promise<Running> {
  const runner = type(commandWith('tsx examples/welcome.ts').replace('examples/welcome.ts', file))
  await until(() => runner.printed().includes('Connected to'), { what: 'the runner' })
  return runner
}

/** The page's file, in a folder of its own. */
function saveWelcome(): string {
  const folder = mkdtempSync(`${root}/examples/readme-`)
  onCleanup(() => rmSync(folder, { recursive: true }))
  const code = /Save this as `examples\/welcome.ts`:\n\n```ts\n(.*?)```/s.exec(page)?.[1] as string
  writeFileSync(`${folder}/welcome.ts`, code)
  return `${folder}/welcome.ts`
}

test('from a fresh engine to a run that survives kill -9 of engine and runner', async () => {
  const file = saveWelcome()
  const engine = await startEngine()
  const runner = await startRunner(file)
  const runId = /run_\w+/.exec(await read(commandWith('user/signed-up')))?.[0] as string
  const on = (command: string) => read(command.replace('RUN_ID', runId))
  const isWaiting = async () => (await (await fetch(`${env.ENGINE_URL}/runs/${runId}`)).text()).includes('waiting')
  await until(isWaiting, { what: 'the wait' })
  expect(await on(commandWith('runs list'))).toContain('waiting')
  expect(await on(commandWith('runs steps'))).toMatch(/compose.*confirmation/s)

  await Promise.all([engine.kill9(), runner.kill9()])
  await startEngine()
  await startRunner(file)
  await read(commandWith('user/confirmed'))
  const timeline = await on(commandWith('runs watch'))
  expect(timeline.match(/compose/g)).toHaveLength(1)
  const run = JSON.parse(await on(commandWith('runs get')))
  expect(run.result).toEqual({ greeting: 'Hello, Ada!', status: 'welcome' })
  expect(await on(commandWith('runs replay'))).toMatch(/run_\w+/)
})

test('engine and runner in one terminal', async () => {
  env.ENGINE_PORT = '0'
  env.ENGINE_STORE = `sqlite:${tempStoreFile()}`
  const dev = type(commandWith('perdure dev').replace('examples/welcome.ts', saveWelcome()))
  await until(() => dev.printed().includes('Connected to'), { what: 'the runner' })
  dev.interrupt()
  expect(await within(dev.ended, 'the end')).toBe(0)
})
