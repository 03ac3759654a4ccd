// The page of an app: its health in a sentence, its workflows and runners, its registration, and the links that lead to it.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { axeViolations, reusePage } from '../../kit/browser/page.ts'
import { flow, openEngine, openRunner, run, unique } from '../../kit/index.ts'

const { api, url, runner } = await openEngine()
const refuse = () => {
  throw Object.assign(new Error('card 4711 was refused'), { retriable: false })
}
const once = { registration: { retry: { maxAttempts: 1 } } }

async function opened(path: string, expected: readonly string[] = []): Promise<Page> {
  const page = await reusePage(url, { expected })
  await page.goto(`${url}/console/n/default/${path}`)
  await page.locator('h1').waitFor()
  return page
}

test('the list of workflows leads to the app, which has its health, its workflows, its runner and its registration', async () => {
  const [app, order, refund] = [unique('shop'), unique('order'), unique('refund')]
  await runner({
    app,
    workflows: { [order]: flow([run('a', () => 1)]), [refund]: { handler: flow([run('b', refuse)]), ...once } },
  })
  await api.succeeded((await api.send({ name: order, app })).runId)
  const page = await opened(`workflows?app=${app}`)
  await page.getByRole('link', { name: app, exact: true }).first().click()
  await page.waitForURL(`**/apps/${app}`)
  await page.getByRole('heading', { level: 1, name: app }).waitFor()
  expect(await page.title()).toBe(`${app} · app · Perdure`)
  await page.getByText('All 2 workflows have a live runner (1 in total)').waitFor()
  const workflows = page.getByRole('table', { name: 'Workflows of the app' })
  await workflows.getByRole('row', { name: new RegExp(`${order}.*1 runner`) }).waitFor()
  expect(await workflows.getByRole('columnheader', { name: 'App' }).count()).toBe(0)
  await page.getByRole('table', { name: 'Runners of the app' }).getByRole('row', { name: /live/ }).waitFor()
  const registration = page.getByRole('region', { name: 'Registration' })
  await registration.getByText('1 live of 1').waitFor()
  await registration.getByRole('link', { name: new RegExp(`${order}|${refund}`) }).waitFor()
  await registration.getByText('HTTP', { exact: true }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.waitForURL(new RegExp(`/workflows/${app}/`))
  await page.goBack()
  // Back up to the list, as it was left.
  await page.getByRole('heading', { level: 1, name: app }).waitFor()
  await page.keyboard.press('Escape')
  await page.waitForURL(`**/workflows?app=${app}`)
})

test('failed runs and runs that wait for a runner are in the sentence', async () => {
  const [app, name] = [unique('shop'), unique('refund')]
  const failing = await openRunner({ app, workflows: { [name]: { handler: flow([run('b', refuse)]), ...once } } })
  await failing.register(api)
  await api.failed((await api.send({ name, app })).runId)
  const page = await opened(`apps/${app}?since=1h`)
  await page.getByText('1 of the 1 run that ended in this window failed.').waitFor()
  await page.getByRole('row', { name: new RegExp(`${name}.*0 %`) }).waitFor()
  expect(await axeViolations(page)).toEqual([])
})

test('an app that is not registered says so, and leads to the runs that it may have', async () => {
  const page = await opened(`apps/${unique('nobody')}`)
  await page.getByRole('heading', { name: 'No app of this name is registered' }).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('link', { name: 'Runs of the app' }).click()
  await page.waitForURL(/\/runs\?app=nobody/)
})

test('a read that fails is shown where its part would be, and can be tried again', async () => {
  const app = unique('shop')
  await runner({ app, workflows: { [unique('order')]: flow([run('a', () => 1)]) } })
  const page = await reusePage(url, { expected: ['status of 400'] })
  let isFailing = true
  await page.route('**/workflows/stats*', route =>
    isFailing
      ? route.fulfill({
          status: 400,
          contentType: 'application/json',
          body: JSON.stringify({ error: { code: 'invalid_request', message: 'no counts', requestId: 'req_1' } }),
        })
      : route.continue(),
  )
  await page.goto(`${url}/console/n/default/apps/${app}`)
  await page.getByText('no counts').waitFor()
  await page.getByRole('table', { name: 'Runners of the app' }).waitFor()
  isFailing = false
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('The workflow has a live runner').waitFor()
})

test('a run, a runner and the palette lead to the app', async () => {
  const [app, name] = [unique('warehouse'), unique('pack')]
  await runner({ app, workflows: { [name]: flow([run('a', () => 1)]) } })
  const { runId } = await api.send({ name, app })
  await api.succeeded(runId)
  const page = await opened(`runs/${runId}`)
  const arrived = async () => {
    await page.waitForURL(`**/apps/${app}`)
    await page.getByRole('heading', { level: 1, name: app }).waitFor()
  }
  await page.getByRole('main').getByRole('link', { name: app, exact: true }).click()
  await arrived()
  await page.goto(`${url}/console/n/default/runners?app=${app}`)
  await page.getByRole('row').getByRole('link', { name: app, exact: true }).click()
  await arrived()
  await page.goto(`${url}/console/n/default/runs`)
  await page.locator('h1').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: /^Go to/ }).fill(app)
  await page.getByRole('option', { name: `${app} app`, exact: true }).click()
  await arrived()
})
