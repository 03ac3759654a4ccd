// `perdure dev` as a process in a separate project: new code is loaded, a crash is reported, and nothing is left behind.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { Api, onCleanup, until, within } from '../../kit/index.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const PERDURE = join(ROOT, 'packages/cli/bin/perdure.js')

/** A directory where packages are found as in a project that has installed them. */
function project(): string {
  const directory = mkdtempSync(join(tmpdir(), 'perdure-dev-'))
  onCleanup(() => rmSync(directory, { recursive: true, force: true }))
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}')
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
  mkdirSync(join(directory, 'src'))
  return directory
}

/** A runner whose workflow returns `answer`: TypeScript, in two files. */
function write(directory: string, answer: string): void {
  writeFileSync(join(directory, 'src/answer.ts'), `export const answer: string = '${answer}'\n`)
}

const WORKER = `import { createWorkflow } from '@perdure/sdk'
import { connect } from '@perdure/sdk/connect'
import { answer } from './answer.ts'

const greet = createWorkflow({ name: 'greet', triggers: { event: 'greet' } }, ({ step }) =>
  step.run('answer', () => answer satisfies string),
)
console.log('greeting', process.env.GREETING)
console.log('pid', process.pid, Object.keys(process.env).filter(name => name.startsWith('ENGINE_')).join())
await connect({ app: 'dev', workflows: [greet] }).ready
`

/** Starts `perdure dev`, and keeps its output. */
function start(directory: string, ...args: string[]) {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('ENGINE_'))
  const child = spawn(process.execPath, [PERDURE, 'dev', ...args, '--port', '0'], {
    cwd: directory,
    env: { ...Object.fromEntries(inherited), ENGINE_ENCRYPTION_KEY: 'k'.repeat(32) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onCleanup(() => void child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  const exit = once(child, 'close').then(([code, signal]) => ({ code, signal }))
  const says = (pattern: RegExp) =>
    until(() => pattern.exec(output), { what: `${pattern} in ${output}` }).catch(() => {
      throw new Error(`${pattern} was not said:\n${output}`)
    })
  return {
    says,
    output: () => output,
    api: async () => {
      const url = (await says(/open (http:\S+)/))[1] as string
      return new Api(() => url)
    },
    end: (signal: NodeJS.Signals) => {
      child.kill(signal)
      return within(exit, `the end by ${signal}`)
    },
  }
}

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('perdure dev with a runner', () => {
  const directory = project()
  let dev: ReturnType<typeof start>
  let api: Api

  beforeAll(async () => {
    write(directory, 'one')
    writeFileSync(join(directory, 'src/worker.ts'), WORKER)
    writeFileSync(join(directory, '.env'), 'GREETING="hello"\nENGINE_ENCRYPTION_KEY=too-short\n')
    dev = start(directory, './src/worker.ts')
    api = await dev.api()
  })

  /** Sends events until a run has this result. */
  const answers = (expected: string) =>
    until(
      async () => {
        const { runId } = await api.send({ name: 'greet' }).catch(() => ({ runId: undefined }))
        return runId !== undefined && (await api.reaches(runId, 'succeeded')).result === expected
      },
      { what: `a run that answers "${expected}"` },
    )

  test('shows where to look, and gives the runner the engine but not its secrets', async () => {
    // A run that ends before the reporter follows the engine gets no line.
    await until(async () => {
      await answers('one')
      return /^run {4}\| run_\w{26} {2}greet {2}succeeded after /m.test(dev.output())
    })
    await dev.says(/^dev {4}\| {3}interface {4}http:\S+\/openapi\.json$/m)
    await dev.says(/^runner \| pid \d+ ENGINE_URL$/m)
    // The environment has precedence: this encryption key would have stopped the engine.
    await dev.says(/^runner \| greeting hello$/m)
    await dev.says(/^dev {4}\| {3}variables {4}2 from \.env; variables that were already set are unchanged$/m)
    await dev.says(/^engine \| \d\d:\d\d:\d\d info {2}runner connected/m)
    await dev.says(/^dev {4}\| {3}webhooks {5}may go to 127\.0\.0\.0\/8,::1 /m)
    await dev.says(/^dev {4}\| {3}console {2}http:\S+\/console\/$/m)
    // Without a terminal there are no colours.
    expect(dev.output()).not.toContain('\u001b')
  })

  test('a change of .env restarts the runner with it', async () => {
    writeFileSync(join(directory, '.env'), 'GREETING=good evening\n')
    await dev.says(/^runner \| greeting good evening$/m)
  })

  test('new code answers as soon as a file has changed, once for many changes', async () => {
    for (const _ of [1, 2, 3]) write(directory, 'two')
    await answers('two')
    expect(dev.output().match(/src\/answer\.ts changed: restarting the runner/g)).toHaveLength(1)
  })

  test('a crash is reported with its code, and waits for the next change', async () => {
    write(directory, "'.unknown()+'")
    await dev.says(/^runner \| .*unknown is not a function/m)
    await dev.says(/^dev {4}\| the runner ended with code 1; waiting for a file to change$/m)
    mkdirSync(join(directory, 'src/new'))
    writeFileSync(join(directory, 'src/new/config.json'), '{}')
    await dev.says(/^dev {4}\| src\/new\/config\.json changed/m)
    write(directory, 'three')
    await answers('three')
  })

  test('an interrupt ends the runner, then the engine', async () => {
    const pids = [...dev.output().matchAll(/pid (\d+)/g)].map(([, pid]) => Number(pid))
    expect(pids.map(isAlive)).toEqual(pids.map((_, i) => i === pids.length - 1))
    expect(await dev.end('SIGINT')).toEqual({ code: 0, signal: null })
    expect(pids.map(isAlive)).not.toContain(true)
    await expect(fetch(api.base)).rejects.toThrow()
  })
})

test('a runner does not outlive a perdure dev that is killed', async () => {
  const directory = project()
  writeFileSync(join(directory, 'worker.mjs'), "console.log('pid', process.pid); setInterval(() => {}, 1000)")
  const dev = start(directory, 'worker.mjs')
  const pid = Number((await dev.says(/pid (\d+)/))[1])
  await dev.end('SIGKILL')
  await until(() => !isAlive(pid))
})

test('without a file the engine runs alone, and says how to start a runner', async () => {
  const dev = start(project())
  const { base } = await dev.api()
  await dev.says(new RegExp(`runner +none: start one with ENGINE_URL=${base}`))
  expect(await dev.end('SIGTERM')).toEqual({ code: 0, signal: null })
})
