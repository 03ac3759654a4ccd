// An engine that shuts down: one line says so for the whole page, actions wait, and the page continues with the engine that
// answers next.

import { expect, test } from 'vitest'
import { axeViolations, openPage } from '../../kit/browser/page.ts'
import { openEngine, returned, unique } from '../../kit/index.ts'

const { api, url, runner } = await openEngine()

test('while the engine shuts down one banner says so, actions are disabled, and the page is read again afterwards', async () => {
  const [app, name] = [unique('shop'), unique('order')]
  await runner({ app, workflows: { [name]: () => returned(1) } })
  await api.succeeded((await api.send({ name })).runId)
  const page = await openPage(url, { expected: ['status of 503'] })
  await page.goto(`${url}/console/n/default/workflows/${app}/${name}`)
  const runNow = page.getByRole('button', { name: 'Run now…' })
  await runNow.waitFor()
  expect(await runNow.getAttribute('aria-disabled')).not.toBe('true')
  let isDown = true
  await page.route(
    ({ pathname }) => !pathname.startsWith('/console/') && pathname !== '/stream',
    route => {
      if (!isDown) return route.continue()
      const message = 'the engine is shutting down'
      const error = { code: 'unavailable', message, details: { reason: 'shutting_down' } }
      return route.fulfill({ status: 503, json: { error } })
    },
  )
  await page.keyboard.press('g')
  await page.keyboard.press('l')
  await page.getByRole('heading', { level: 1, name: 'Limits' }).waitFor()
  const banner = page
    .getByRole('alert')
    .filter({ hasText: 'The engine is not responding: the engine is shutting down' })
  await banner.waitFor()
  const alerts = await page.getByRole('alert').allInnerTexts()
  expect(alerts.filter(text => text !== '')).toHaveLength(1)
  expect(await page.getByText('Could not load this.').count()).toBe(0)
  expect(await axeViolations(page)).toEqual([])
  await page.goBack()
  await runNow.waitFor()
  expect(await runNow.getAttribute('aria-disabled')).toBe('true')
  await page.goForward()
  isDown = false
  await page.getByText('No limits in use').waitFor()
  await banner.waitFor({ state: 'detached' })
})

test('reads that fail together count as one failure: the engine is sought again after a second', async () => {
  const page = await openPage(url, { expected: ['ERR_CONNECTION_REFUSED'] })
  await page.goto(`${url}/console/n/default/engine`)
  await page.getByRole('button', { name: 'Live', exact: true }).waitFor()
  let isDown = true
  await page.route(
    ({ pathname }) => !pathname.startsWith('/console/') && pathname !== '/stream',
    route => (isDown ? route.abort('connectionrefused') : route.continue()),
  )
  await page.keyboard.press('g')
  await page.keyboard.press('o')
  const banner = page.getByRole('alert').filter({ hasText: 'The engine is not responding' })
  await banner.waitFor()
  isDown = false
  await banner.waitFor({ state: 'detached', timeout: 4000 })
})

test('a replay that is pressed twice is done once; when its answer is lost, the dialog says so and counts it', async () => {
  const [app, name] = [unique('shop'), unique('order')]
  await runner({ app, workflows: { [name]: () => returned(1) } })
  const { runId } = await api.send({ name })
  await api.succeeded(runId)
  const page = await openPage(url, { expected: ['ERR_CONNECTION_RESET'] })
  await page.goto(`${url}/console/n/default/runs/${runId}`)
  let presses = 0
  await page.route(
    ({ pathname }) => pathname.endsWith('/replay'),
    async route => {
      presses++
      await route.fetch()
      await route.abort('connectionreset')
    },
  )
  await page.getByRole('button', { name: 'Replay', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Replay', exact: true }).dblclick()
  await dialog.getByText('It may have succeeded: check before you retry.').waitFor()
  await dialog.getByText('1 replay exists already.').waitFor()
  expect(presses).toBe(1)
})
