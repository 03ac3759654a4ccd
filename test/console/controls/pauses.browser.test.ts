// A paused run and a paused workflow say who paused them, unless that is not certain.

import { expect, test } from 'vitest'
import { axeViolations, enterKey, openPage } from '../../kit/browser/page.ts'
import { flow, openEngine, PlainRunner, sleep, unique, until } from '../../kit/index.ts'

const OPS = { label: 'ops', namespace: 'default', kind: 'secret', key: 'a secret key of ops' }
const { api, url } = await openEngine({ env: { ENGINE_API_KEYS: JSON.stringify([OPS]) } })
const ops = api.as(OPS.key)

test('who paused a run is in its header, and who paused a workflow on its page', async () => {
  const [app, name] = [unique('shop'), unique('order')]
  const runner = await new PlainRunner({ app, workflows: { [name]: flow([sleep('nap', 3_600_000)]) } }).listen()
  await runner.register(ops)
  const { runId } = await ops.send({ name, app })
  await ops.reaches(runId, 'waiting')
  await ops.post(`/runs/${runId}/pause`)
  await ops.post(`/workflows/${app}/${name}/pause`)
  const page = await openPage(url, { expected: ['401'] })
  await page.goto(`${url}/console/n/default/runs/${runId}`)
  await enterKey(page, OPS.key)
  const fact = page.locator('dl > div').filter({ has: page.locator('dt', { hasText: /^Paused$/ }) })
  await fact.getByText('by ops').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await fact.getByRole('link').click()
  await page.getByRole('table', { name: 'Actions on the run' }).getByText('pause').waitFor()
  // The record of a job that paused the run again does not name the run, so nobody is named.
  await ops.post(`/runs/${runId}/resume`)
  await fact.waitFor({ state: 'detached' })
  const { json } = await ops.post('/bulk', { action: 'pause', ids: [runId] })
  const { bulkId } = json as { bulkId: string }
  await until(async () => ((await ops.get(`/bulk/${bulkId}`)).json as { status: string }).status === 'done', {
    what: 'the end of the job',
  })
  await page.goto(`${url}/console/n/default/workflows/${app}/${name}`)
  await page.getByText('by ops: new runs stay queued').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.goto(`${url}/console/n/default/runs/${runId}`)
  await page.locator('dl').getByText('paused').first().waitFor()
  await expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0)
  expect(await fact.count()).toBe(0)
})
