// The thread in which `perdure serve` runs the engine, for a larger young generation.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { onCleanup, tempStoreFile } from '../../kit/index.ts'

const COMMAND = fileURLToPath(new URL('../../kit/engine/reported-threads.mjs', import.meta.url))

/** Starts `perdure serve` with these flags of Node, and resolves when the engine listens. */
async function serve(nodeFlags: string[], env: Record<string, string> = {}) {
  const { NODE_OPTIONS: _, ...inherited } = process.env
  const args = [...nodeFlags, COMMAND, 'serve', '--port', '0', '--store', `sqlite:${tempStoreFile()}`]
  const child = spawn(process.execPath, args, { env: { ...inherited, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  onCleanup(() => void child.kill('SIGKILL'))
  const read = { stdout: '', stderr: '' }
  child.stderr.on('data', data => {
    read.stderr += data
  })
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', data => {
      read.stdout += data
      if (read.stdout.includes('perdure listens on')) resolve()
    })
    child.on('exit', () => reject(new Error(read.stderr)))
  })
  const end = async (signal: NodeJS.Signals): Promise<number> => {
    const ended = once(child, 'close')
    child.kill(signal)
    return (await ended)[0]
  }
  return { read, end }
}

test('has semi-spaces of 64 MiB, and writes its log until the engine has stopped', async () => {
  const { read, end } = await serve([])
  expect(read.stdout).toContain('thread perdure engine: 192\n')
  expect(read.stdout).not.toContain('thread perdure writer')
  expect(await end('SIGTERM')).toBe(0)
  expect(read.stderr).toContain('"signal":"SIGTERM","msg":"draining"')
})

test('ends the process with an error when it ends early', async () => {
  const { read, end } = await serve([])
  expect(await end('SIGUSR2')).toBe(1)
  expect(read.stderr).toContain("the engine's thread has ended with exit code 1")
})

test.each<[string, string[], Record<string, string>]>([
  ['the command line', ['--max-old-space-size=512'], {}],
  ['NODE_OPTIONS', [], { NODE_OPTIONS: '--max-old-space-size=512' }],
])('is not used with flags of Node in %s, which are meant for the first thread', async (_, flags, env) => {
  const { read, end } = await serve(flags, env)
  expect(read.stdout).toContain('thread perdure writer: default\n')
  expect(read.stdout).not.toContain('thread perdure engine')
  expect(await end('SIGTERM')).toBe(0)
})
