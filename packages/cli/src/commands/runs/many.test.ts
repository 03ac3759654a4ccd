// `perdure runs cancel` and similar commands with a filter, against a server that answers like an engine.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { ran } from '../../ran.testkit.ts'

const PARENT = 'run_01JD8Z5Q4M7V0X3Y6B9C2E5G8H'

test('attributes, a parent, waits, patterns and texts select runs; a preview counts them and starts nothing', async () => {
  const bodies: string[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    bodies.push(`${request.method} ${request.url} ${body}`)
    const counted = { matched: 3, eligible: 2, skipped: 1, sample: [] }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(counted))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const given = ['--attribute', 'customer:c-17', '--attribute', 'plan:pro', '--parent', PARENT]
  const others = [
    '--waiting-for',
    'concurrency',
    '--workflow',
    'sync-*',
    '--query',
    'A-4711',
    '--deep',
    '--preview',
    '--no-cleanup',
    '--root',
  ]
  const { code, stdout } = await ran(['runs', 'cancel', ...given, ...others, '--url', url])
  expect(code).toBe(0)
  expect(stdout).toContain('3 matched, 2 to act on, 1 would be skipped')
  expect(bodies.map(body => JSON.parse(body.replace('POST /bulk ', '')))).toEqual([
    {
      action: 'cancel',
      cleanup: false,
      filter: {
        ...{ attribute: ['customer:c-17', 'plan:pro'], parentRunId: PARENT },
        ...{ waitingFor: 'concurrency', workflow: 'sync-*', q: 'A-4711', deep: true, root: true },
      },
      dryRun: true,
    },
  ])
})
