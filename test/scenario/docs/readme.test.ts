// The README's promises to a newcomer: its example and the demo run unchanged.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { onCleanup, startEngine, until } from '../../kit/index.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Runs a TypeScript file as the README says; resolves with its output once `done` matches. */
async function run(file: string, env: Record<string, string>, done: RegExp): Promise<string> {
  const child = spawn(process.execPath, ['--import', 'tsx', file], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onCleanup(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  let printed = ''
  child.stdout.on('data', chunk => {
    printed += chunk
  })
  await until(() => done.test(printed), { what: `${file} prints ${done}`, deadlineMs: 20_000 })
  return printed
}

test("the README's own workflow runs, copied as it stands", async () => {
  const readme = readFileSync(`${root}/README.md`, 'utf8')
  const code = /Save this as `examples\/hello.ts`:\n\n```ts\n(.*?)```/s.exec(readme)?.[1] as string
  // The only difference is the port, which may be taken on this machine.
  const folder = mkdtempSync(`${root}/examples/readme-`)
  onCleanup(async () => rmSync(folder, { recursive: true }))
  writeFileSync(`${folder}/hello.ts`, code.replace('port: 3000', 'port: 0'))
  const engine = await startEngine()

  const printed = await run(`${folder}/hello.ts`, { ENGINE_URL: engine.url }, /run_\w+/)

  const runId = /run_\w+/.exec(printed)?.[0] as string
  const ended = await engine.api.reaches(runId, 'succeeded', 20_000)
  expect(ended.result).toEqual({ greeting: 'Hello, Ada!' })
})

test('the demo shows every kind of step, and the commands at its end work', async () => {
  const child = spawn(process.execPath, ['--import', 'tsx', 'examples/order/demo.ts', '--stay'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onCleanup(() => void child.kill('SIGINT'))
  let printed = ''
  child.stdout.on('data', chunk => {
    printed += chunk
  })
  const exited = once(child, 'exit')
  const shows = until(() => printed.includes('Ctrl-C'), { what: 'the end of the demo', deadlineMs: 60_000 })
  await Promise.race([shows, exited])
  const commands = /in this folder:\n\n(.*?)\n\n/s.exec(printed)?.[1] as string
  expect(commands.match(/^ {2}\S/gm)).toHaveLength(6)
  const shell = spawn('sh', ['-e', '-c', commands], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  let answered = ''
  shell.stdout.on('data', chunk => {
    answered += chunk
  })
  expect(await once(shell, 'exit'), answered).toEqual([0, null])
  expect(answered.match(/process-order/g)?.length).toBeGreaterThan(2)
  expect(answered).toContain('cooling-off')
  child.kill('SIGINT')
  expect(await exited, printed).toEqual([0, null])
  for (const shown of ['retrying  charge-card', 'cooling-off', 'approval', 'ship', 'announce', 'tell-warehouse']) {
    expect(printed).toContain(shown)
  }
  expect(printed).toContain('"status": "shipped"')
})
