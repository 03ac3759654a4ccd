// Actions on selected rows of lists: events start a workflow, schedules are paused, deliveries are posted again; the failed runs of
// an error group are replayed.

import type { RunSummary, ScheduleEntry } from '@perdure/protocol'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { axeViolations, enterKey, openPage, reusePage, unlock } from '../../kit/browser/page.ts'
import { flow, openDestination, openEngine, returned, run, unique, until } from '../../kit/index.ts'
import { answer } from '../../kit/servers/raw-server.ts'
import { API_KEYS, SECRET_KEY, Webhooks } from '../../kit/webhook/webhooks.ts'

const engine = await openEngine()
const { api, url } = engine
const at = (path: string, origin = url) => `${origin}/console/n/default/${path}`

/** Moves to rows of the list with keys, and selects them. */
async function select(page: Page, count: number): Promise<void> {
  await page.locator('h1').focus()
  for (let i = 0; i < count; i++) {
    await page.keyboard.press('j')
    await page.keyboard.press('x')
  }
}

test('selected events start a workflow that has no trigger for them, the oldest first', async () => {
  const [app, name, placed] = ['shop', 'bill', 'order.placed'].map(unique) as [string, string, string]
  const bills = { [name]: { handler: flow([run('work')]), registration: { triggers: [] } } }
  const runner = await engine.runner({ app, workflows: bills })
  // One call: they arrive within a millisecond, and still have an order.
  const events = [0, 1, 2].map(i => ({ name: placed, data: { i } }))
  const ids = ((await api.post('/events/batch', events)).json as { eventId: string }[]).map(({ eventId }) => eventId)
  const page = await reusePage(url, { expected: ['status of 404'] })
  await page.goto(at(`events?name=${placed}`))
  await page.getByRole('row', { name: placed }).nth(2).waitFor()
  await select(page, 2)
  await page.getByText('2 events selected').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Start a workflow…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Workflow').selectOption({ label: `${name} in ${app} (no trigger for it)` })
  await dialog.getByText('Show CLI / curl').click()
  const [second, third] = ids.slice(1) as [string, string]
  await dialog.getByText(`perdure events redrive ${second} --workflow ${name} --app ${app}`).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Start 2 runs' }).click()
  await page.getByText('2 runs started').waitFor()
  const runs = (await api.runs(`?workflow=${name}`)) as unknown as RunSummary[]
  expect(runs.map(({ eventId }) => eventId)).toEqual([third, second])
  await page.getByText('2 events selected').waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('2 events selected').waitFor({ state: 'detached' })
  // The workflow disappears while its dialog is open.
  await select(page, 1)
  await page.getByRole('button', { name: 'Start a workflow…' }).click()
  await dialog.getByLabel('Workflow').selectOption({ label: `${name} in ${app} (no trigger for it)` })
  await runner.register(api, { leaving: true })
  expect((await api.request('DELETE', `/workflows/${app}/${name}`)).status).toBe(204)
  await dialog.getByRole('button', { name: 'Start 1 run' }).click()
  await page.getByText('1 event refused: ').waitFor()
})

test('selected schedules are paused and resumed; a filter shows those that are', async () => {
  const names = ['daily', 'weekly', 'yearly'].map(unique)
  for (const name of names) await api.put(`/schedules/${name}`, { every: '9d', event: { name } })
  const page = await reusePage(url)
  await page.goto(at('schedules?source=api'))
  await page.getByRole('row', { name: /yearly/ }).waitFor()
  await select(page, 2)
  await page.getByText('2 schedules selected').waitFor()
  expect(await page.getByRole('button', { name: 'Resume…' }).first().getAttribute('aria-disabled')).toBe('true')
  const bar = page.locator('[data-at-end]')
  await bar.getByRole('button', { name: 'Pause…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Pause 2' }).click()
  await page.getByText('Pause: 2 schedules done').waitFor()
  const paused = async () =>
    ((await api.get('/schedules?source=api')).json as ScheduleEntry[]).filter(each => each.paused).map(({ id }) => id)
  expect(await paused()).toEqual(names.slice(0, 2))
  await page.getByLabel('State').selectOption('active')
  await page.getByRole('row', { name: /daily/ }).waitFor({ state: 'detached' })
  await page.getByRole('row', { name: /yearly/ }).waitFor()
  await page.getByLabel('State').selectOption('paused')
  await page.getByRole('row', { name: /daily/ }).getByRole('checkbox').check()
  await bar.getByRole('button', { name: 'Resume…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Resume 1' }).click()
  await page.getByRole('row', { name: /daily/ }).waitFor({ state: 'detached' })
  expect(await paused()).toEqual([names[1]])
  expect(await axeViolations(page)).toEqual([])
})

test('selected deliveries are posted again; the page of one follows its attempts', async () => {
  const keyed = await openEngine({
    env: { ENGINE_API_KEYS: API_KEYS, ENGINE_WEBHOOK_ALLOW_PRIVATE: '1', ENGINE_WEBHOOK_SCHEDULE: '1ms' },
  })
  const as = keyed.api.as(SECRET_KEY)
  const webhooks = new Webhooks(as)
  let isDown = true
  const destination = await openDestination(request => answer(request, isDown ? 500 : 200, ''))
  await webhooks.endpoint({ url: destination.url, eventKinds: ['run.succeeded'] })
  const app = unique('shop')
  const runner = await engine.runner({ app, workflows: { order: () => returned(1) } })
  await runner.register(as)
  for (let i = 0; i < 3; i++) await as.succeeded((await as.send({ name: 'order', app })).runId)
  const ended = (status: string, count: number) =>
    until(async () => (await webhooks.list(`?status=${status}`)).length === count, { what: `${count} ${status}` })
  await ended('exhausted', 3)
  isDown = false
  const page = await openPage(keyed.url, { expected: ['401'] })
  await page.goto(at('webhooks/deliveries', keyed.url))
  await enterKey(page, SECRET_KEY)
  await page
    .getByRole('row', { name: /exhausted/ })
    .nth(2)
    .waitFor()
  await select(page, 2)
  const bar = page.locator('[data-at-end]')
  expect(await bar.getByRole('button', { name: 'Redeliver…' }).getAttribute('title')).toBe('needs a secret key')
  await unlock(page, SECRET_KEY)
  await bar.getByRole('button', { name: 'Redeliver…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Redeliver 2' }).click()
  await page.getByText('Redeliver: 2 deliveries done').waitFor()
  await ended('succeeded', 2)
  await ended('exhausted', 1)
  const [left] = await webhooks.list('?status=exhausted')
  await page
    .getByRole('row', { name: /exhausted/ })
    .getByText('exhausted')
    .click()
  await page.getByText('Attempts: 2 of 2').waitFor()
  // Another client posts it again: the page shows that without a reload.
  await as.post(`/webhook-deliveries/${left?.id}/redeliver`)
  await page.getByText('Attempts: 3 of 4').waitFor()
  await page.getByText('succeeded').first().waitFor()
})

test('the failed runs of an error group are counted and replayed, and a message is shown above a dialog', async () => {
  const name = unique('broken')
  const refuse = () => {
    throw Object.assign(new Error('card 4711 was refused'), { retriable: false })
  }
  const workflow = { handler: flow([run('charge', refuse)]), registration: { retry: { maxAttempts: 1 } } }
  await engine.runner({ workflows: { [name]: workflow } })
  for (let i = 0; i < 3; i++) await api.failed((await api.send({ name })).runId)
  const page = await reusePage(url)
  await page.goto(at(`errors?workflow=${name}`))
  await page.getByRole('row', { name: /was refused/ }).waitFor()
  await page.locator('h1').focus()
  await page.keyboard.press('j')
  await page.keyboard.press('.')
  await page.getByRole('menuitem', { name: 'Replay all in group…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('3 matched, 3 can be replayed').waitFor()
  await dialog.getByText('Show CLI / curl').click()
  await dialog.getByRole('button', { name: 'Copy curl command' }).click()
  const message = page.getByText('Copied', { exact: true })
  await message.waitFor()
  // The message is inside the modal dialog, so it is neither behind the backdrop nor inert.
  expect(await message.evaluate(element => element.closest('dialog:modal') !== null)).toBe(true)
  await dialog.getByRole('button', { name: 'Replay 3' }).click()
  await page.getByText('3 done, 0 skipped, 0 failed').waitFor()
  await until(async () => (await api.runs(`?workflow=${name}&status=failed`)).length === 6, { what: 'three replays' })
  await page.goto(at(`errors?workflow=${name}`))
  await page.getByRole('link', { name: 'card 4711 was refused' }).click()
  await page.getByRole('button', { name: 'Retry failed step in all…' }).click()
  await dialog.getByText('6 matched, 6 can be retried').waitFor()
  expect(await axeViolations(page)).toEqual([])
})
