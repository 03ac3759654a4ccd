// `npm run first-hour`: types the commands of a new user, in an empty folder, with the packages as they would be published, and
// prints how long each command takes. The installation is timed separately, because it depends on the network. Fails if the first
// run takes longer than two minutes.

import { closeOpened } from '../test/kit/cleanup.ts'
import { Project } from '../test/kit/packages/project.ts'
import { openRegistry } from '../test/kit/packages/registry.ts'
import { until, within } from '../test/kit/until.ts'

const FIRST_RUN_MS_MAX = 120_000
const FOLDER = 'my-app'

const seconds = (fromMs: number) => `${((performance.now() - fromMs) / 1000).toFixed(1)} s`
const print = (text: string) => void process.stdout.write(`${text}\n`)
const indented = (text: string) => text.trimEnd().replace(/^/gm, '  ')

/** Types a command, and prints its output and how long it took. Returns the output; throws if the command fails. */
async function type(project: Project, command: string, folder = FOLDER): Promise<string> {
  const startedAt = performance.now()
  const typed = project.type(folder, command)
  const code = await within(typed.ended, command)
  print(`\n$ ${command}    (${seconds(startedAt)})\n${indented(typed.printed())}`)
  if (code !== 0) throw new Error(`${command} ended with ${code}`)
  return typed.stdout()
}

async function firstHour(): Promise<void> {
  const project = new Project(await openRegistry())
  // Another process may have the default port.
  project.env.ENGINE_PORT = '0'
  const installAt = performance.now()
  await type(project, `npm create perdure ${FOLDER}`, '.')
  await type(project, 'npm install')
  print(`\ninstallation: ${seconds(installAt)}`)

  const beginAt = performance.now()
  const dev = project.type(FOLDER, 'npm run dev')
  const url = await until(() => /listens on (http:\S+)/.exec(dev.printed())?.[1], { what: 'the engine' })
  await until(() => dev.printed().includes('Connected to'), { what: 'the worker' })
  project.env.ENGINE_URL = url
  const sent = await type(project, `npx perdure events send user/signed-up --data '{"id": "u1", "name": "Ada"}'`)
  await type(project, `npx perdure events send user/confirmed --data '{"id": "u1"}'`)
  await type(project, `npx perdure runs watch ${/run_\w+/.exec(sent)?.[0]}`)
  const firstRunMs = performance.now() - beginAt
  print(`\nfrom the installed project to the end of the first run: ${seconds(beginAt)}`)
  print(`\n$ npm run dev\n${indented(dev.printed())}`)
  dev.interrupt()
  await within(dev.ended, 'the end of dev')
  await type(project, 'npm test')
  if (firstRunMs > FIRST_RUN_MS_MAX) throw new Error('the first run took longer than two minutes')
}

await firstHour().finally(closeOpened)
