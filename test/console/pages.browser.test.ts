// Pages of the console in use: errors lead to runs, the send page shows what an event would start, and a schedule is fired and
// paused.

import type { SendEventReply } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { loaded, reusePage } from '../kit/browser/page.ts'
import { flow, openEngine, run, unique, wait } from '../kit/index.ts'

const full = await openEngine({ env: { ENGINE_WEBHOOK_ALLOW_PRIVATE: '1' } })

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

async function opened(origin: string, path: string, colorScheme: 'light' | 'dark') {
  const page = await reusePage(origin, { colorScheme })
  await page.goto(`${origin}/console/n/default/${path}`)
  await loaded(page)
  return page
}

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
  await page.getByText('No runs are waiting for it.').waitFor()
  await page.getByText(name).waitFor()
  await page.getByText('event.data.total > 10', { exact: true }).waitFor()
  expect(await page.getByText('starts a run').count()).toBe(0)
  await page.goto(`${full.url}/console/n/default/events/send?like=${eventId}`)
  await page.getByText('starts a run').waitFor()
  const before = (await full.api.runs(`?q=${name}`)).length
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByRole('heading', { name: 'Sent' }).waitFor()
  await page.getByRole('link', { name }).click()
  await page.getByRole('heading', { name }).waitFor()
  expect(await full.api.runs(`?q=${name}`)).toHaveLength(before + 1)
  await page.goto(`${full.url}/console/n/default/events`)
  await page.getByRole('link', { name: 'order.placed' }).first().click()
  await page.getByRole('link', { name: /^run_/ }).first().click()
  await page.getByRole('tab', { name: 'Tree' }).click()
  const tree = page.getByRole('tabpanel').getByRole('listitem')
  await tree.first().getByRole('link', { name: 'order.placed' }).waitFor()
  await tree.nth(1).getByText('this run').waitFor()
})

test('the window that a select shows is the one that counts; failed runs are hatched in a chart as in its legend', async () => {
  const page = await opened(full.url, 'workflows', 'light')
  expect(await page.getByLabel('Since').inputValue()).toBe('24h')
  expect(await page.getByLabel('Since').getByRole('option').allTextContents()).toEqual(['1h', '24h', '7d', '30d'])
  await page.getByRole('link', { name: 'broken', exact: true }).click()
  const bar = page.locator('rect[data-kind=failed]').first()
  await bar.waitFor()
  expect(await page.getByLabel('Since').inputValue()).toBe('24h')
  const id = /^url\(#(.+)\)$/.exec((await bar.getAttribute('fill')) ?? '')?.[1]
  expect(await page.locator('pattern').getAttribute('id')).toBe(id)
})

test('a schedule is fired and paused from its row', async () => {
  const page = await opened(full.url, 'schedules', 'light')
  const row = page.getByRole('row', { name: /weekly-report/ })
  await row.getByRole('button', { name: 'Fire now…' }).click()
  await page.getByRole('button', { name: 'Fire', exact: true }).click()
  await page.getByText(/Fired: evt_/).waitFor()
  await row.getByRole('button', { name: 'Pause…' }).click()
  await page.getByRole('button', { name: 'Pause', exact: true }).click()
  await row.getByText('paused').waitFor()
})

test('a double click on Send sends one event, with a dedupe id; another one has its own', async () => {
  const page = await opened(full.url, 'events/send?name=clicked', 'light')
  const sent: string[] = []
  page.on('request', request => {
    if (request.method() !== 'POST' || !/\/events$/.test(request.url())) return
    sent.push((request.postDataJSON() as { dedupeId: string }).dedupeId)
  })
  const send = page.getByRole('button', { name: 'Send', exact: true })
  const dedupeId = page.getByLabel('Deduplication ID')
  const proposed = await dedupeId.inputValue()
  expect(proposed).not.toBe('')
  await send.dblclick()
  await page.getByRole('link', { name: /^evt_/ }).waitFor()
  await send.click({ force: true })
  expect(sent).toEqual([proposed])
  await page.getByRole('button', { name: 'Send another' }).click()
  await expect.poll(() => dedupeId.inputValue()).not.toBe(proposed)
  await send.click()
  await page.getByRole('link', { name: /^evt_/ }).waitFor()
  expect(sent).toHaveLength(2)
  expect((await full.api.get('/events?name=clicked')).json).toHaveLength(2)
})

test('Y pins the window of a chart, which stays the same; so does one that was pinned weeks ago', async () => {
  const page = await opened(full.url, '?since=7d', 'light')
  const spans = page.getByRole('group', { name: 'Runs over time: time range' }).getByRole('button')
  await spans.last().waitFor()
  const count = await spans.count()
  await page.keyboard.press('Y')
  await page.waitForURL(/since=20\d\d-.*&until=20\d\d-/)
  await expect.poll(() => page.locator('[aria-busy]').count()).toBe(0)
  await expect.poll(() => spans.count()).toBe(count)
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
  const read = page.waitForRequest(/\/runs\/series/)
  await page.goto(`${full.url}/console/n/default/?since=${ago(30)}&until=${ago(29.96)}`)
  expect((await read).url()).toContain('step=1h')
  await page.getByText('No runs in this window').waitFor()
  // No command creates a run in the past.
  expect(await page.getByRole('button', { name: 'Copy commands' }).count()).toBe(0)
})
