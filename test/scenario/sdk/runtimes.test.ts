// The published package on runtimes other than Node, as real processes. A runtime that is not installed is skipped (both are
// optional), and the report says so.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { onCleanup, scenario, unique, until, within } from '../../kit/index.ts'
import { isNight } from '../../part.ts'

const { api, engine } = await scenario({ realTime: true })

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const RUNTIMES = {
  bun: { binary: fileOf('../../../node_modules/@oven/bun-linux-x64/bin/bun'), args: ['run', '--no-install'] },
  deno: {
    binary: fileOf('../../../node_modules/@deno/linux-x64-glibc/deno'),
    args: ['run', '--allow-all', '--cached-only', '--no-lock', '--node-modules-dir=manual'],
  },
}

interface RunnerRow {
  app: string
  runtime: string
  framework: string
  live: boolean
}

interface Started {
  row: RunnerRow
  process: ChildProcess
  /** The output of the process so far. */
  said(): string
}

/** Starts `runtimes/<file>.ts` and waits until the engine knows its app. */
async function start(runtime: keyof typeof RUNTIMES, file: string): Promise<Started> {
  const { binary, args } = RUNTIMES[runtime]
  const app = unique(`on-${runtime}`)
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('ENGINE_'))
  const child = spawn(binary, [...args, fileOf(`runtimes/${file}.ts`)], {
    env: { ...Object.fromEntries(inherited), ENGINE_URL: engine.url, RUNNER_APP: app, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onCleanup(() => void child.kill('SIGKILL'))
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  }
  const row = await until(
    async () => {
      const { json } = await api.get('/runners')
      return (json as RunnerRow[]).find(one => one.app === app)
    },
    { what: `the registration of ${file} on ${runtime}` },
  ).catch(error => {
    throw new Error(`${error.message}; the process said: ${said}`)
  })
  return { row, process: child, said: () => said }
}

/** `ends`: the runner leaves at a signal and ends the process properly. `rare`: only `npm run test:night` runs the case. */
const CASES: { runtime: keyof typeof RUNTIMES; file: string; framework: string; ends: boolean; rare?: boolean }[] = [
  { runtime: 'bun', file: 'bun', framework: 'bun', ends: true },
  { runtime: 'bun', file: 'elysia', framework: 'elysia', ends: true },
  { runtime: 'bun', file: 'connect', framework: 'connect', ends: true },
  { runtime: 'deno', file: 'deno', framework: 'deno', ends: false },
  { runtime: 'deno', file: 'node', framework: 'node', ends: true },
  { runtime: 'bun', file: 'hono', framework: 'hono', ends: true },
  { runtime: 'deno', file: 'hono', framework: 'hono', ends: true, rare: true },
  { runtime: 'bun', file: 'express', framework: 'express', ends: true, rare: true },
  { runtime: 'deno', file: 'express', framework: 'express', ends: true, rare: true },
  { runtime: 'bun', file: 'fastify', framework: 'fastify', ends: true, rare: true },
  { runtime: 'deno', file: 'fastify', framework: 'fastify', ends: true, rare: true },
]

describe('a runner on another runtime', () => {
  for (const { runtime, file, framework, ends, rare = false } of CASES) {
    test.runIf(existsSync(RUNTIMES[runtime].binary) && (isNight || !rare))(
      `registers, runs a workflow, and learns that one is cancelled: ${framework} on ${runtime}`,
      async () => {
        const { row, process, said } = await start(runtime, file)
        const { app } = row
        expect(row).toMatchObject({ runtime, framework, live: true })
        const { runId } = await api.send({ name: app, data: { to: 'wörld' } })
        const run = await api.reaches(runId, 'succeeded')
        expect(run.result).toBe('HELLÖ WÖRLD')
        expect(await api.logs(runId)).toMatchObject([{ message: 'greeting', scope: 'greet' }])
        const slow = await api.send({ name: `${app}/slow` })
        await until(() => said().includes('slow started'), { what: 'the callback' })
        await api.post(`/runs/${slow.runId}/cancel`)
        await until(() => said().includes('slow aborted'), { what: 'the abort of the callback' })
        if (!ends) return
        const exited = once(process, 'exit')
        process.kill('SIGTERM')
        expect(await within(exited, 'the end of the process')).toEqual([0, null])
      },
    )
  }
})
