// Links with an absolute window keep showing the same: the overview, the errors, the audit log and the counts next to the runs
// leave out anything later.

import { expect, test } from 'vitest'
import { axeViolations, reusePage } from '../../kit/browser/page.ts'
import { flow, openEngine, returned, run, unique, wait } from '../../kit/index.ts'

const { api, url, runner } = await openEngine()
const at = (path: string) => `${url}/console/n/default${path}`
const [app, name, parked] = [unique('shop'), unique('order'), unique('parked')]
const refuse = () => {
  throw Object.assign(new Error('the card was refused'), { retriable: false })
}
await runner({
  app,
  workflows: {
    [name]: { handler: flow([run('charge', refuse)]), registration: { retry: { maxAttempts: 1 } } },
    [parked]: flow([wait('w', `${parked}.never`)]),
    fine: () => returned(1),
  },
})
const { runId: waitingId } = await api.send({ name: parked })
await api.reaches(waitingId, 'waiting')
await api.post(`/runs/${waitingId}/pause`)
const first = (await api.failed((await api.send({ name })).runId)).finishedAt as string
const until = new Date(Date.parse(first) + 1).toISOString()
const since = new Date(Date.parse(first) - 3_600_000).toISOString()
await api.post(`/runs/${waitingId}/resume`)
await api.failed((await api.send({ name })).runId)
await api.reaches(waitingId, 'waiting')
const pinned = `since=${since}&until=${until}`

test('a pinned overview shows what happened then, and says what is of now', async () => {
  const page = await reusePage(url)
  await page.goto(at(`/?${pinned}`))
  const looks = page.getByRole('region', { name: 'Needs attention' })
  await looks.getByRole('link', { name: '1 run failed in 1 open group' }).waitFor()
  await looks.getByText('have no history').waitFor()
  const inFlight = page.getByRole('region', { name: 'In flight now' })
  await inFlight.getByRole('link', { name: 'active 1', exact: true }).waitFor()
  const workflows = page.getByRole('table', { name: 'Workflows in this window' })
  await workflows.getByRole('row', { name }).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await looks.getByRole('link', { name: '1 run failed in 1 open group' }).click()
  const row = page.getByRole('row', { name: 'the card was refused' })
  await row.getByRole('cell', { name: '1', exact: true }).waitFor()
  await page.getByRole('button', { name: /^until \d{4}-/ }).waitFor()
  expect(new URL(page.url()).searchParams.get('until')).toBe(until)
  await row.getByRole('link').first().click()
  await page.getByRole('heading', { name: 'Group' }).waitFor()
  expect(await page.getByRole('row').and(page.locator('[data-key]')).count()).toBe(1)
  await page.goto(at(`/?since=${since}&until=${first}`))
  await looks.getByText('Nothing. No open errors').waitFor()
  await page.goto(at(`/?since=${since}&until=${new Date(Date.parse(since) + 60_000).toISOString()}`))
  await page
    .getByText('No workflows ran.')
    .or(workflows.getByRole('row', { name: parked }))
    .waitFor()
  expect(await workflows.getByRole('row', { name }).count()).toBe(0)
  await looks.getByRole('link', { name: 'show them now' }).click()
  await looks.getByRole('link', { name: '2 runs failed in 1 open group' }).waitFor()
  // The number of the link is the number of rows in its list.
  await page.getByRole('link', { name: 'active 1', exact: true }).click()
  await page.getByRole('row', { name: parked }).waitFor()
  expect(await page.getByRole('row').and(page.locator('[data-key]')).count()).toBe(1)
})

test('errors are shown with their runners, and up to a time, as the audit log is', async () => {
  const page = await reusePage(url)
  await page.goto(at('/errors'))
  const row = page.getByRole('row', { name: 'the card was refused' })
  await row.getByRole('cell', { name: '2', exact: true }).waitFor()
  await row.getByRole('cell', { name: `${app}, 1 runner` }).waitFor()
  await row.getByRole('link').first().click()
  await page.getByText(/: 2 runs.*, most recent/).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.goto(at(`/audit?${pinned}`))
  await page.getByRole('row', { name: 'pause' }).waitFor()
  expect(await page.getByRole('row', { name: 'resume' }).count()).toBe(0)
  await page.getByRole('button', { name: /^until \d{4}-/ }).click()
  await page.getByLabel('To (local time)').fill('')
  await page.keyboard.press('Enter')
  await page.getByRole('row', { name: 'resume' }).waitFor()
})

test('the counts beside the runs are those of the window: runs in flight count where they were created', async () => {
  const page = await reusePage(url, { width: 1600 })
  const facets = page.getByRole('complementary', { name: 'Facets' })
  // The engine counts in spans of five minutes: this window ends before all runs.
  await page.goto(at(`/runs?since=${since}&until=${new Date(Date.parse(since) + 60_000).toISOString()}&app=${app}`))
  await page.getByText('No matching runs').waitFor()
  expect(await facets.getByRole('button').count()).toBe(0)
  await page.goto(at(`/runs?since=${since}&app=${app}`))
  await facets.getByRole('button', { name: 'active 1', exact: true }).click()
  const rows = page.getByRole('row').and(page.locator('[data-key]'))
  await expect.poll(() => rows.allTextContents()).toEqual([expect.stringContaining(parked)])
  // A count is the number of runs left in the list after a press on it.
  const workflows = facets.getByRole('group', { name: 'Workflow' }).getByRole('button')
  await expect.poll(() => workflows.allTextContents()).toEqual([`${parked} 1`])
  await page.goto(at(`/runs?since=${since}&app=${app}&q=refused`))
  await facets.getByText('Counts ignore text').waitFor()
})
