// `perdure runs cancel` and similar commands with a filter, against a server that answers like an engine.

import { expect, test } from 'vitest'
import { json, openServer } from '../../../../client/src/server.testkit.ts'
import { ran } from '../../ran.testkit.ts'

const PARENT = 'run_01JD8Z5Q4M7V0X3Y6B9C2E5G8H'

test('attributes, a parent, waits, patterns and texts select runs; a preview counts them and starts nothing', async () => {
  const { url, seen } = await openServer(json({ matched: 3, eligible: 2, skipped: 1, sample: [] }))
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
  expect(seen.map(({ method, path, body }) => [`${method} ${path}`, JSON.parse(body)])).toEqual([
    [
      'POST /bulk',
      {
        action: 'cancel',
        cleanup: false,
        filter: {
          ...{ attribute: ['customer:c-17', 'plan:pro'], parentRunId: PARENT },
          ...{ waitingFor: 'concurrency', workflow: 'sync-*', q: 'A-4711', deep: true, root: true },
        },
        dryRun: true,
      },
    ],
  ])
})
