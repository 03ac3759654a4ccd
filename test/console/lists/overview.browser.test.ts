// The overview in use: a span of its chart opens its runs, several zoom, by a drag and by keys; it follows new runs; and it
// does not say that all is well while something could not be read.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { axeViolations, openPage, reusePage } from '../../kit/browser/page.ts'
import { flow, openEngine, returned, run, unique, until, wait } from '../../kit/index.ts'

const { api, url, runner } = await openEngine()
const overview = `${url}/console/n/default/`
const HOUR = 3_600_000

/** The time window of the list of runs or the overview, in hours. */
async function chosenHours(page: Page, path: 'runs' | ''): Promise<number> {
  await page.waitForURL(new RegExp(`/default/${path}\\?since=.*&until=`))
  const query = new URL(page.url()).searchParams
  return (Date.parse(query.get('until') as string) - Date.parse(query.get('since') as string)) / HOUR
}

test('a span of the chart opens its runs; several zoom, by Shift and the arrows or by a drag, and back out', async () => {
  const name = unique('order')
  await runner({ workflows: { [name]: () => returned(1) } })
  await api.succeeded((await api.send({ name })).runId)
  const page = await openPage(url)
  await page.goto(overview)
  const spans = page.getByRole('group', { name: 'Runs over time: time range' }).getByRole('button')
  await spans.last().waitFor()
  expect(await spans.and(page.locator('[tabindex="0"]')).count()).toBe(1)
  await spans.last().focus()
  for (const key of ['Shift+ArrowLeft', 'Shift+ArrowLeft']) await page.keyboard.press(key)
  expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toMatch(
    / to .*: 1 started, 1 succeeded/,
  )
  expect(await axeViolations(page)).toEqual([])
  await page.keyboard.press('Enter')
  expect(await chosenHours(page, '')).toBe(3)
  await expect.poll(() => spans.count()).toBe(3)
  await page.getByRole('link', { name: 'Runs in this window' }).click()
  expect(await chosenHours(page, 'runs')).toBe(3)
  await page.getByRole('row', { name }).waitFor()
  await page.goBack()
  await page.getByRole('button', { name: 'Zoom out' }).click()
  // Three times the window reaches the present, and moves on with it.
  await page.waitForURL(address => !address.search.includes('until'))
  await expect.poll(() => spans.count()).toBeGreaterThan(3)
  await page.goto(overview)
  await spans.last().focus()
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('Enter')
  expect(await chosenHours(page, 'runs')).toBe(1)
  await page.goBack()
  const box = await page.getByRole('group', { name: 'Runs over time: time range' }).boundingBox()
  if (!box) throw new Error('there is no chart')
  const at = (span: number) => [box.x + ((span + 0.5) * box.width) / 24, box.y + box.height / 2] as const
  await page.mouse.move(...at(23))
  await page.mouse.down()
  await page.mouse.move(...at(19), { steps: 4 })
  await page
    .locator('output')
    .getByText(/ to .*: 1 started/)
    .waitFor()
  await page.mouse.up()
  expect(await chosenHours(page, '')).toBe(5)
  // The key - on the chart also zooms out.
  await expect.poll(() => spans.count()).toBe(5)
  await spans.last().focus()
  await page.keyboard.press('-')
  await expect.poll(() => spans.count()).toBeGreaterThan(5)
})

test('the overview goes on with the runs; j goes to its sentences', async () => {
  const [app, name] = [unique('shop'), unique('patient')]
  const page = await reusePage(url)
  await page.goto(overview)
  await page.getByRole('heading', { name: 'In flight' }).waitFor()
  const waiting = page.getByRole('link', { name: /^waiting/ })
  await waiting.getByText('0').waitFor()
  await page.getByRole('button', { name: 'Live', exact: true }).waitFor()
  const patient = await runner({ app, workflows: { [name]: flow([wait('w', `${name}.never`)]) } })
  await api.send({ name })
  await waiting.getByText('1').waitFor({ timeout: 20_000 })
  await patient.register(api, { leaving: true })
  await olderEngines(page)
  await page.reload()
  await page.locator('h1').focus()
  await page.getByText('has no live runner').first().waitFor()
  await page.keyboard.press('j')
  expect(await page.evaluate('document.activeElement.closest("section").getAttribute("aria-label")')).toBe(
    'Needs attention',
  )
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

/** Shows an engine that has run for an hour, because a newly started engine does not miss runners yet. */
async function olderEngines(page: Page): Promise<void> {
  await page.route(
    address => address.pathname === '/engines',
    async route => {
      const response = await route.fetch()
      const engines = (await response.json()) as object[]
      const startedAt = new Date(Date.now() - HOUR).toISOString()
      await route.fulfill({ response, json: engines.map(engine => ({ ...engine, startedAt })) })
    },
  )
}

test('what needs attention names each cause, and the waits in flight add up', async () => {
  const own = await openEngine()
  const [stranded, fragile, stopped] = [unique('stranded'), unique('fragile'), unique('stopped')]
  const breaks = run('charge', () => {
    throw new Error('no card')
  })
  const gone = await own.runner({ app: 'gone', workflows: { [stranded]: () => returned(1) } })
  await own.runner({
    app: 'shop',
    workflows: {
      [fragile]: { handler: flow([breaks]), registration: { whenExhausted: 'pause', retry: { maxAttempts: 1 } } },
      [stopped]: () => returned(1),
    },
  })
  await own.api.post(`/workflows/shop/${stopped}/pause`)
  await own.api.send({ name: stopped })
  await own.api.reaches((await own.api.send({ name: fragile })).runId, 'paused')
  await gone.close()
  await gone.register(own.api, { leaving: true })
  for (let i = 0; i < 2; i++) await own.api.send({ name: stranded })
  await until(async () => (await own.api.runs('?waitingFor=runner')).length === 2)
  const page = await openPage(own.url)
  // The engine has just started, so no runner is blamed for the time without it.
  await page.goto(`${own.url}/console/n/default/`)
  const panel = page.getByRole('region', { name: 'Needs attention' })
  await panel.getByText('1 run is paused after a failure').waitFor()
  expect(await panel.getByText('has no live runner').count()).toBe(0)
  await olderEngines(page)
  await page.reload()
  await panel.getByText('2 runs wait').waitFor()
  expect(await panel.getByRole('listitem').filter({ hasText: '2 runs wait' }).innerText()).toMatch(
    /^App gone has no live runner/,
  )
  await panel.getByText(`1 run of ${stopped} in shop waits: the workflow is paused`).waitFor()
  const items = page.getByRole('region', { name: 'In flight' }).getByRole('listitem')
  expect((await items.allInnerTexts()).map(text => text.replaceAll(/\s+/g, ' ').replace(/^\W+/, ''))).toEqual([
    ...['queued 3', '2 for runner', '1 for workflow-paused', 'active 0', 'waiting 0'],
    ...['paused 1', '1 after a failure'],
  ])
  expect(await axeViolations(page)).toEqual([])
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

test('a schedule that is late and missed instants has one line, with their number and the cause', async () => {
  const own = await openEngine()
  await own.api.put('/schedules/nightly', { every: '1d', event: { name: 'night' } })
  const page = await openPage(own.url)
  const at = (hours: number) => new Date(Date.now() - hours * HOUR).toISOString()
  const gap = { from: at(9), until: at(2), count: 3, cause: 'no-engine' }
  await page.route(
    address => address.pathname === '/schedules',
    async route => {
      const response = await route.fetch()
      const schedules = (await response.json()) as object[]
      const missed = { ...gap, earlier: [{ ...gap, count: 1, cause: 'suspended' }] }
      // `sort=missed` lists only schedules that missed instants.
      const listed = schedules.length > 0 ? schedules : await (await fetch(`${own.url}/schedules`)).json()
      await route.fulfill({
        response,
        json: (listed as object[]).map(each => ({ ...each, missed, lateMs: 120_000 })),
      })
    },
  )
  await page.goto(`${own.url}/console/n/default/`)
  const lines = page
    .getByRole('region', { name: 'Needs attention' })
    .getByRole('listitem')
    .filter({ hasText: 'nightly' })
  await lines.first().waitFor()
  expect(await lines.allInnerTexts()).toEqual([
    expect.stringMatching(
      /^Schedule nightly is 2 min late, and missed 3 runs, most recently 2 h ago.*: no engine was running; 1 earlier gap$/s,
    ),
  ])
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

test('the overview names what it could not read, and does not say that nothing needs attention', async () => {
  const page = await reusePage(url, { expected: ['status of 400'] })
  const body = JSON.stringify({
    error: { code: 'invalid_request', message: 'no answer of a test', requestId: 'req_1' },
  })
  await page.route(
    address => ['/limits', '/engines'].includes(address.pathname),
    answer => answer.fulfill({ status: 400, contentType: 'application/json', body }),
  )
  await page.goto(overview)
  const panel = page.getByRole('region', { name: 'Needs attention' })
  await panel.getByText('Not checked: limits, engines.').waitFor()
  expect(await panel.getByText('Nothing.').count()).toBe(0)
  expect(await axeViolations(page)).toEqual([])
})

test('the next schedules are the soonest of all, not of a first page', async () => {
  const put = (id: string, every: string) => api.put(`/schedules/${id}`, { every, event: { name: id } })
  await Promise.all(Array.from({ length: 50 }, (_, i) => put(`later-${i}`, '2d')))
  await put('soonest', '1d')
  const page = await reusePage(url)
  await page.goto(overview)
  const items = page.getByRole('region', { name: 'Next schedules' }).getByRole('listitem')
  await items.first().getByText('soonest').waitFor()
  expect(await items.count()).toBe(5)
  // The overview names late schedules, with a link to their list.
  await page.route(
    address => address.pathname === '/schedules',
    async route => {
      const response = await route.fetch()
      const schedules = (await response.json()) as object[]
      await route.fulfill({ response, json: schedules.slice(0, 5).map(each => ({ ...each, lateMs: 120_000 })) })
    },
  )
  await page.reload()
  const look = page.getByRole('region', { name: 'Needs attention' }).getByRole('link', { name: 'soonest' })
  expect(await look.getAttribute('href')).toContain('?state=late')
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})
