// Every page of the console, empty in light and full in dark: it opens without a fault and without a violation of accessibility.
// The send page shows what an event would start, and sends it.

import type { SendEventReply } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { axeViolations, openPage } from '../kit/browser/page.ts'
import { flow, openEngine, run, unique, wait } from '../kit/index.ts'

const full = await openEngine({ env: { ENGINE_WEBHOOK_ALLOW_PRIVATE: '1' } })
const empty = await openEngine()

const [name, app] = ['process-order', unique('shop')]
const refuse = () => {
  throw Object.assign(new Error('card 4711 was refused'), { retriable: false })
}
await full.runner({
  app,
  workflows: {
    [name]: {
      handler: flow([run('charge-card'), wait('approval', 'order.approved')]),
      registration: {
        triggers: [{ event: 'order.placed', if: 'event.data.total > 10' }, { cron: '0 9 * * 1-5' }],
        concurrency: { limit: 2, key: 'event.data.customer' },
      },
    },
    broken: { handler: flow([run('refuse', refuse)]), registration: { retry: { maxAttempts: 1 } } },
  },
})
const { eventId } = (await full.api.post('/events', { name: 'order.placed', data: { total: 20, customer: 'acct-17' } }))
  .json as SendEventReply
const failed = await full.api.send({ name: 'broken' })
await full.api.reaches(failed.runId, 'failed')
await full.api.put('/schedules/weekly-report', { cron: '0 9 * * 1', event: { name: 'report/weekly' } })
await full.api.post(`/runs/${failed.runId}/replay`)
await full.api.post('/webhook-endpoints', { url: 'http://127.0.0.1:9/', eventKinds: ['run.failed'] })
await full.api.post('/webhook-receivers', { scheme: 'github', eventName: 'github/push', name: 'pushes' })

const LISTS = [
  'runs',
  'workflows',
  'events',
  'events/send',
  'schedules',
  'limits',
  'runners',
  'errors',
  'webhooks/deliveries',
  'webhooks/endpoints',
  'webhooks/receivers',
  'audit',
  'keys',
  'engine',
] as const

async function opened(origin: string, path: string, colorScheme: 'light' | 'dark') {
  const page = await openPage(origin, { colorScheme })
  await page.goto(`${origin}/console/n/default/${path}`)
  await page.locator('h1').waitFor()
  await page.waitForFunction('document.querySelector("[aria-busy]") === null')
  return page
}

test.each(['', ...LISTS])('the page /%s of an empty engine has no violation', async path => {
  const page = await opened(empty.url, path, 'light')
  expect(await axeViolations(page)).toEqual([])
})

test.each(['', ...LISTS, `workflows/${app}/${name}`, `events/${eventId}`])(
  'the page /%s with rows has no violation',
  async path => {
    const page = await opened(full.url, path, 'dark')
    expect(await axeViolations(page)).toEqual([])
  },
)

test('an error group leads to its runs', async () => {
  const page = await opened(full.url, 'errors', 'light')
  await page.getByRole('link', { name: 'card 4711 was refused' }).click()
  await page
    .getByRole('row', { name: /broken/ })
    .first()
    .waitFor()
  await page.getByRole('link', { name: 'Open in runs' }).click()
  await page
    .getByRole('row', { name: /broken/ })
    .first()
    .waitFor()
})

test('the send page shows what an event would start, names the near miss, and sends', async () => {
  const page = await opened(full.url, 'events/send?data={"total":5}', 'light')
  const field = page.getByLabel('Name', { exact: true })
  await field.fill('order.place')
  await page.getByText('did you mean').waitFor()
  await page.getByText('order.placed', { exact: true }).waitFor()
  await field.fill('order.placed')
  await page.getByText('No run waits for it.').waitFor()
  await page.getByText(name).waitFor()
  expect(await page.getByText('starts a run').count()).toBe(0)
  await page.goto(`${full.url}/console/n/default/events/send?like=${eventId}`)
  await page.getByText('starts a run').waitFor()
  const before = (await full.api.runs(`?q=${name}`)).length
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByText('Sent').waitFor()
  await page.getByRole('link', { name }).click()
  await page.getByRole('heading', { name }).waitFor()
  expect(await full.api.runs(`?q=${name}`)).toHaveLength(before + 1)
})

test('a schedule is fired and paused from its row', async () => {
  const page = await opened(full.url, 'schedules', 'light')
  const row = page.getByRole('row', { name: /weekly-report/ })
  await row.getByRole('button', { name: 'Fire now…' }).click()
  await page.getByRole('button', { name: 'Fire', exact: true }).click()
  await page.getByText(/Fired: evt_/).waitFor()
  await row.getByRole('button', { name: 'Pause' }).click()
  await row.getByText('paused').waitFor()
})
