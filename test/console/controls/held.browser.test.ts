// An engine that was started on hold: the console says so, and releases it.

import { expect, test } from 'vitest'
import { openPage } from '../../kit/browser/page.ts'
import { openEngine, returned, unique } from '../../kit/index.ts'

test('the overview and the page of the engine say that it is held, and its runs start with the release', async () => {
  const engine = await openEngine({ env: { ENGINE_HOLD: '1' } })
  const name = unique('order')
  await engine.runner({ workflows: { [name]: () => returned(1) } })
  const { runId } = await engine.api.send({ name })
  const page = await openPage(engine.url)
  await page.goto(`${engine.url}/console/n/default/`)
  await page.getByText('is held: nothing is claimed').waitFor()
  await page.getByRole('link', { name: 'An engine', exact: true }).click()
  await page.getByText('It claims, fires and delivers nothing until it is released').waitFor()
  await page.getByRole('button', { name: 'Release…' }).click()
  await page.getByRole('button', { name: 'Release', exact: true }).click()
  await engine.api.reaches(runId, 'succeeded')
  await page.getByText('It claims, fires and delivers nothing until it is released').waitFor({ state: 'detached' })
  expect((await engine.api.get('/readyz')).status).toBe(200)
})
