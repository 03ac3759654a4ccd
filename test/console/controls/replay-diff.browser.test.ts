// The comparison of a fork with its source when results are large: a worker makes it, and only for steps that are opened.

import { expect, test } from 'vitest'
import { openPage } from '../../kit/browser/page.ts'
import { flow, openEngine, run, unique } from '../../kit/index.ts'

const { api, url, runner } = await openEngine()

const STEPS = 6
const LINES = 8000

test('six results of 250 KB that differ are compared by a worker, each when its step is opened', async () => {
  const name = unique('heavy')
  let passes = 0
  const result = () => ({ pass: passes++, lines: Array.from({ length: LINES }, (_, i) => `a line of the result ${i}`) })
  const steps = Array.from({ length: STEPS }, (_, i) => run(`load ${i}`, result))
  await runner({ workflows: { [name]: flow(steps, () => 'done') } })
  const { runId } = await api.send({ name })
  await api.succeeded(runId)
  const fork = ((await api.post(`/runs/${runId}/replay`)).json as { id: string }).id
  await api.succeeded(fork)
  const page = await openPage(url)
  const workers: string[] = []
  page.on('worker', worker => workers.push(worker.url()))
  await page.goto(`${url}/console/n/default/runs/${fork}?diff=${runId}`)
  await page.getByText(`Steps: 0 unchanged, ${STEPS} changed`).waitFor()
  const differences = page.getByRole('region', { name: /^Diff of load/ })
  await differences.getByText('"pass": 6').waitFor()
  const made = () => workers.filter(address => address.includes('diff-worker')).length
  expect(made()).toBe(1)
  expect(await page.locator('section[aria-label^="Diff of load"]').count()).toBe(1)
  await page.locator('summary', { hasText: 'load 3' }).click()
  await page.getByRole('region', { name: 'Diff of load 3' }).getByText('"pass": 9').waitFor()
  expect(made()).toBe(2)
})
