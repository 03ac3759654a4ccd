// The question of `perdure runs bulk-replay` on a terminal, against a server that answers like an engine.

import { Readable } from 'node:stream'
import { expect, onTestFinished, test, vi } from 'vitest'
import { json, openServer } from '../../../../client/src/server.testkit.ts'
import { ran } from '../../ran.testkit.ts'

test('shows how many failed runs match before it asks, and replays none without a yes', async () => {
  const { url, seen } = await openServer(
    json([1, 2].map(n => ({ id: `run_${n}`, workflow: 'ship', status: 'failed' }))),
  )
  const wasTty = process.stderr.isTTY
  process.stderr.isTTY = true
  onTestFinished(() => {
    process.stderr.isTTY = wasTty
  })
  // Nobody answers: standard input ends at once.
  const stdin = vi
    .spyOn(process, 'stdin', 'get')
    .mockReturnValue(Object.assign(Readable.from([]), { isTTY: true }) as never)
  onTestFinished(() => stdin.mockRestore())
  const { code, stderr } = await ran(['runs', 'bulk-replay', '--workflow', 'ship', '--url', url])
  expect(stderr).toContain('Replay 2 finished runs with workflow ship, status failed? [y/N]')
  expect(stderr).toContain('nothing was replayed')
  expect(code).toBe(1)
  expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /runs?workflow=ship&status=failed&limit=200',
  ])
})
