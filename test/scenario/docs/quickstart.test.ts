// Follows docs/quickstart.md: its commands unchanged and in order, in an empty folder outside the repository.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { Project, type Typed } from '../../kit/packages/project.ts'
import { openRegistry } from '../../kit/packages/registry.ts'
import { until, within } from '../../kit/until.ts'

const page = readFileSync(fileURLToPath(new URL('../../../docs/quickstart.md', import.meta.url)), 'utf8')
const commands = [...page.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block]) => (block as string).trim().split('\n'))
const FOLDER = 'my-app'
const typed = new Set<string>()

let project: Project

/** The command of the page that contains `part`. */
function commandWith(part: string): string {
  const found = commands.filter(command => command.includes(part))
  expect(found, part).toHaveLength(1)
  typed.add(found[0] as string)
  return found[0] as string
}

/** Runs a command of the page to its end; resolves with its output. */
async function read(command: string): Promise<string> {
  const { ended, stdout, printed } = project.type(FOLDER, command)
  expect(await within(ended, command), printed()).toBe(0)
  return stdout()
}

beforeAll(async () => {
  project = new Project(await openRegistry())
  // Other processes may use the port.
  project.env.ENGINE_PORT = '0'
  expect(await project.run('.', 'bash', '-c', commandWith('npm create'))).toContain('Next:')
  await project.run('.', 'bash', '-c', commandWith('npm install'))
}, 180_000)

async function startEngine(): Promise<Typed> {
  const engine = project.type(FOLDER, commandWith('perdure serve'))
  const url = await until(() => /listens on (http:\S+)/.exec(engine.printed())?.[1], { what: 'the engine' })
  project.env.ENGINE_URL = url
  project.env.ENGINE_PORT = new URL(url).port
  return engine
}

async function startWorker(): Promise<Typed> {
  const worker = project.type(FOLDER, commandWith('npm start'))
  await until(() => worker.printed().includes('Connected to'), { what: 'the worker' })
  return worker
}

test("the project's tests and its types are green", async () => {
  expect(await read(commandWith('npm test'))).toMatch(/pass 2\b/)
  await read('npm run typecheck')
})

test('from a fresh engine to a run that survives kill -9 of engine and worker', async () => {
  const engine = await startEngine()
  const worker = await startWorker()
  const runId = /run_\w+/.exec(await read(commandWith('user/signed-up')))?.[0] as string
  const on = (command: string) => read(command.replace('RUN_ID', runId))
  const isWaiting = async () =>
    (await (await fetch(`${project.env.ENGINE_URL}/runs/${runId}`)).text()).includes('waiting')
  await until(isWaiting, { what: 'the wait' })
  expect(await on(commandWith('runs list'))).toContain('waiting')
  expect(await on(commandWith('runs steps'))).toMatch(/compose.*confirmation/s)

  await Promise.all([engine.kill9(), worker.kill9()])
  const again = await startEngine()
  const workerAgain = await startWorker()
  await read(commandWith('user/confirmed'))
  const timeline = await on(commandWith('runs watch'))
  expect(timeline.match(/compose/g)).toHaveLength(1)
  const run = JSON.parse(await on(commandWith('runs get')))
  expect(run.result).toEqual({ greeting: 'Hello, Ada!', status: 'welcome' })
  expect(await on(commandWith('runs replay'))).toMatch(/run_\w+/)
  await Promise.all([again.kill9(), workerAgain.kill9()])
})

test('engine and worker in one terminal', async () => {
  project.env.ENGINE_PORT = '0'
  delete project.env.ENGINE_URL
  const dev = project.type(FOLDER, commandWith('npm run dev'))
  await until(() => dev.printed().includes('Connected to'), { what: 'the worker' })
  expect(existsSync(join(project.home, FOLDER, '.perdure/dev.db'))).toBe(true)
  dev.interrupt()
  await within(dev.ended, 'the end')
})

test('no command of the page is left out', () => {
  expect(commands.filter(command => !typed.has(command))).toEqual([])
})
