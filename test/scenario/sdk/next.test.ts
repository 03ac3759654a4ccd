// The adapter in a real Next server, in both routers: one development server, which builds each page on request.

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { onCleanup, scenario, until } from '../../kit/index.ts'

const SIGNING_KEY = 'next-secret'.repeat(3)
const { engine } = await scenario({ realTime: true, env: { ENGINE_SIGNING_KEY: SIGNING_KEY } })
const { api } = engine

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))

let said = ''
let url = ''

beforeAll(async () => {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(ENGINE_|NODE_ENV|VITEST)/.test(name))
  // A separate process group: the command starts further processes, which would outlive it.
  const child = spawn(
    process.execPath,
    [
      fileOf('../../../node_modules/next/dist/bin/next'),
      ...['dev', fileOf('next-app'), '--port', '0', '--hostname', '127.0.0.1'],
    ],
    {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...Object.fromEntries(inherited),
        ENGINE_URL: engine.url,
        ENGINE_SIGNING_KEY: SIGNING_KEY,
        NEXT_TELEMETRY_DISABLED: '1',
      },
    },
  )
  onCleanup(() => {
    if (child.exitCode === null) process.kill(-(child.pid as number), 'SIGKILL')
  })
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  }
  url = await until(() => /Local:\s+(http:\/\/\S+)/.exec(said)?.[1], { what: 'the address of Next' })
})

describe.each([
  { app: 'next-app', path: '/api/perdure' },
  { app: 'next-page', path: '/api/perdure-page' },
])('$path', ({ app, path }) => {
  test.each(['GET', 'PUT'])('a %s registers the app and says so', async method => {
    const response = await fetch(`${url}${path}`, { method })
    const reported = (await response.json()) as object
    expect([response.status, reported]).toEqual([
      200,
      { app, workflows: 2, registered: true, runnerId: expect.any(String) },
    ])
    const { json } = await api.get('/runners')

    const at = expect.stringMatching(new RegExp(`:${new URL(url).port}${path}$`))
    expect(json).toContainEqual(
      expect.objectContaining({ app, url: at, framework: 'next', runtime: 'node', live: true }),
    )
  })

  test('runs a workflow, signed', async () => {
    const { runId } = await api.send({ name: `${app}/greet`, data: { to: 'wörld' } })
    expect((await api.reaches(runId, 'succeeded')).result).toBe('HELLÖ WÖRLD')
    const unsigned = await fetch(`${url}${path}`, { method: 'POST', body: '{}' })
    expect(unsigned.status).toBe(401)
  })

  test('a cancelled run aborts its callback', async () => {
    const { runId } = await api.send({ name: `${app}/slow` })
    await until(() => said.includes(`${app} started`), { what: 'the callback' })
    await api.post(`/runs/${runId}/cancel`)
    await until(() => said.includes(`${app} aborted`), { what: 'the abort of the callback' })
  })
})
