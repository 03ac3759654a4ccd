// Makes every mistake of docs/mistakes.md, and compares the message with the sentence there.

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient, createWorkflow, type WorkflowArgs } from '@perdure/sdk'
import { connect } from '@perdure/sdk/connect'
import { serve } from '@perdure/sdk/node'
import { testEngine } from '@perdure/sdk/testing'
import { expect, test, vi } from 'vitest'
import { ran } from '../../../packages/cli/src/ran.testkit.ts'
import { onCleanup, scenario } from '../../kit/index.ts'

interface Row {
  section: string
  code: string
  sentence: string
}

const page = readFileSync(new URL('../../../docs/mistakes.md', import.meta.url), 'utf8')
const rows: Row[] = page.split('\n## ').flatMap(text =>
  [...text.matchAll(/^\| `(.*)` \| (.*) \|$/gm)].map(([, code = '', sentence = '']) => ({
    section: text.split('\n', 1)[0] as string,
    code: code.replaceAll('\\|', '|'),
    sentence: sentence.replaceAll('\\|', '|'),
  })),
)
const of = (section: string) => rows.filter(row => row.section === section)

/** Whether the text contains the sentence; `…` matches any text. */
function expectSaid(said: string, { code, sentence }: Row): void {
  const parts = sentence.split('…').map(part => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  expect(said, code).toMatch(new RegExp(parts.join('[\\s\\S]*')))
}

const AsyncFunction = (async () => undefined).constructor as new (...args: string[]) => (...args: unknown[]) => unknown

test('the page has at least 46 mistakes', () => {
  expect(rows.length).toBeGreaterThan(46)
  expect(new Set(rows.map(({ code }) => code)).size).toBe(rows.length)
})

const taken = createServer().listen(0, '127.0.0.1')
await once(taken, 'listening')
onCleanup(() => void taken.close())

test.each(of('When a runner or a client starts'))('$code', async row => {
  const scope = {
    createWorkflow,
    serve,
    connect,
    createClient,
    testEngine,
    run: () => 1,
    ship: createWorkflow({ name: 'ship' }, () => 1),
    takenPort: (taken.address() as AddressInfo).port,
  }
  const mistake = new AsyncFunction(...Object.keys(scope), `return ${row.code}`)
  const error = await Promise.resolve(mistake(...Object.values(scope))).then(
    () => 'nothing',
    error => (error as Error).message,
  )
  expectSaid(error, row)
})

test('in a handler', async () => {
  // Runners also report errors of handlers there.
  const console = vi.spyOn(globalThis.console, 'error').mockReturnValue()
  onCleanup(() => console.mockRestore())
  const made = of('In a handler').map((row, index) => {
    const state = 'let passes = 0; return async ({ event, step, ctx }) => {'
    const handler = new Function(`${state} ${row.code} }`)() as (args: WorkflowArgs) => unknown
    const options = { name: `mistake-${index}`, handlerRetries: 1, retry: { maxAttempts: 1 } }
    return { row, workflow: createWorkflow(options, handler) }
  })
  const ship = createWorkflow({ name: 'ship' }, () => 1)
  const engine = await testEngine([ship, ...made.map(({ workflow }) => workflow)])
  onCleanup(() => engine.stop({ leaveRuns: true }))
  for (const { row, workflow } of made) {
    const { id } = await engine.start(workflow as typeof ship)
    const { error } = await engine.api.getRun({ id })
    const logs = await engine.api.listRunLogs({ id })
    expectSaid([error?.message, ...logs.map(({ message }) => message)].join('\n'), row)
  }
})

const { api, engine } = await scenario()

test.each(of('Requests'))('$code', async row => {
  const [, method = '', path = '', body] = /^(\w+) (\S+)(?: (.*))?$/.exec(row.code) ?? []
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${api.base}${path}`, { method, ...(body === undefined ? {} : { body, headers }) })
  const { error, warnings } = (await response.json()) as { error?: { message: string }; warnings?: string[] }
  expectSaid(error?.message ?? warnings?.join() ?? 'nothing', row)
})

test.each(of('Commands'))('$code', async row => {
  const [command = '', ...args] = [...row.code.matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, word]) => quoted ?? word ?? '',
  )
  const [name = '', value = ''] = command.includes('=') ? command.split('=') : ['ENGINE_URL', engine.url]
  vi.stubEnv(name, value)
  onCleanup(() => void vi.unstubAllEnvs())
  const { code, stderr } = await ran(command === 'perdure' ? args : args.slice(1))
  expect(code).not.toBe(0)
  expectSaid(stderr, row)
})
