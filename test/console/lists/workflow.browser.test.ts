// The list of workflows: whole in every width, with the runs over time. The page of a workflow: which step costs is whole on a
// laptop and on a phone, and its newest runs do not repeat what they all have in common.

import { expect, test } from 'vitest'
import { axeViolations, reusePage } from '../../kit/browser/page.ts'
import { flow, openEngine, run, unique } from '../../kit/index.ts'

const { api, url, runner } = await openEngine()

/** For each row, the boxes of its name, its bar's track and its numbers, and whether the numbers are cut. */
const ROWS = `[...document.querySelectorAll('section[aria-label^="Steps by total time"] li')].map(row => {
  const [name, track, numbers] = [...row.children].map(each => each.getBoundingClientRect())
  const { scrollWidth, clientWidth } = row.children[2]
  return { row: row.getBoundingClientRect(), name, track, numbers, isCut: scrollWidth > clientWidth + 1 }
})`

interface Box {
  left: number
  right: number
  top: number
  bottom: number
  width: number
  height: number
}
interface StepRow {
  row: Box
  name: Box
  track: Box
  numbers: Box
  isCut: boolean
}

test('the rows of steps have their numbers in one line, and bars that can be compared', async () => {
  const [app, name] = [unique('shop'), unique('order')]
  const handler = flow([run('charge-card-of-the-customer-in-the-north'), run('pack')])
  await runner({ app, workflows: { [name]: { handler } } })
  await api.succeeded((await api.send({ name, app })).runId)
  const page = await reusePage(url)
  await page.goto(`${url}/console/n/default/workflows/${app}/${name}?since=1h`)
  await page.getByText('charge-card-of-the-customer-in-the-north', { exact: true }).waitFor()
  for (const width of [1280, 380]) {
    await page.setViewportSize({ width, height: 900 })
    const rows = await page.evaluate<StepRow[]>(ROWS)
    expect(rows).toHaveLength(2)
    for (const { row, track, numbers, isCut } of rows) {
      expect([isCut, numbers.height], `at ${width}`).toEqual([false, 20])
      expect(numbers.right).toBeCloseTo(row.right, 0)
      expect(track.left).toBe(rows[0]?.track.left)
      expect(track.width).toBe(rows[0]?.track.width)
      // On a phone the bar is below its words and as wide as the row.
      if (width === 380) expect([track.width, track.top >= numbers.bottom]).toEqual([row.width, true])
      else expect([track.right <= numbers.left, track.top < numbers.bottom]).toEqual([true, true])
    }
  }
  await page.setViewportSize({ width: 1280, height: 900 })
  const newest = page.getByRole('table', { name: 'Newest runs of the workflow' })
  await newest.waitFor()
  const heads = await newest.getByRole('columnheader').allTextContents()
  expect(heads).toEqual(['Status', 'Run', 'Trigger', 'Current step', 'Created', 'Duration'])
  expect(await axeViolations(page)).toEqual([])
})

test('charts of durations say that no runs ended, until one has', async () => {
  const [app, name] = [unique('shop'), unique('order')]
  await runner({ app, workflows: { [name]: { handler: flow([run('pack')]) } } })
  const page = await reusePage(url)
  const address = `${url}/console/n/default/workflows/${app}/${name}?since=1h`
  await page.goto(address)
  const nothing = page.getByText('No runs ended in this window.')
  await expect.poll(() => nothing.count()).toBe(2)
  expect(await axeViolations(page)).toEqual([])
  await api.succeeded((await api.send({ name, app })).runId)
  // For a moment the engine gives the same answer to the same request.
  const counted = async () => {
    await page.goto(address)
    await page.getByText('p99').first().waitFor()
    return page.getByText('p99, up to').count()
  }
  await expect.poll(counted, { timeout: 10_000 }).toBe(1)
  expect(await nothing.count()).toBe(0)
})

/** Texts in the table that are cut off. */
const CUT = `[...document.querySelectorAll('table[aria-label="Workflows"] :is(th, td, td *)')]
  .filter(each => each.clientWidth > 2 && each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).overflow === 'hidden')
  .map(each => each.textContent)`

test('the list of workflows is whole in every width, and has the runs over time as a text too', async () => {
  const [app, name] = [unique('shop-of-the-north'), unique('send-the-weekly-report')]
  const refuse = () => {
    throw Object.assign(new Error('no'), { retriable: false })
  }
  const registration = {
    retry: { maxAttempts: 1 },
    triggers: [{ event: name, if: 'event.data.total > 10' }, { cron: '0 9 * * 1-5' }],
  }
  await runner({ app, workflows: { [name]: { handler: flow([run('a', refuse)]), registration } } })
  await api.failed((await api.send({ name, app, data: { total: 11 } })).runId)
  const page = await reusePage(url)
  await page.goto(`${url}/console/n/default/workflows?app=${app}`)
  const row = page.getByRole('row', { name })
  for (const width of [1280, 1440, 1920, 380]) {
    await page.setViewportSize({ width, height: 800 })
    await row.getByText(/next in /).waitFor()
    const text = /^1 run in 1 of 25 intervals, most in interval 2[45]; 1 failed, in 1 interval$/
    expect(await row.getByRole('img', { name: text }).isVisible(), `${width} px`).toBe(true)
    expect(await page.evaluate(CUT), `${width} px`).toEqual([])
  }
  expect(await axeViolations(page)).toEqual([])
})

test('zooming one chart of a workflow zooms all of them, and the link opens the runs of that window', async () => {
  const [app, name] = [unique('shop'), unique('order')]
  await runner({ app, workflows: { [name]: { handler: flow([run('pack')]) } } })
  await api.succeeded((await api.send({ name, app })).runId)
  const page = await reusePage(url)
  await page.goto(`${url}/console/n/default/workflows/${app}/${name}`)
  const spansOf = (chart: string) => page.getByRole('group', { name: `${chart}: time range` }).getByRole('button')
  const [starts, durations] = [spansOf(`Runs of ${name} over time`), spansOf(`Duration of ${name} runs`)]
  await durations.last().focus()
  for (const key of ['Shift+ArrowLeft', 'Shift+ArrowLeft', 'Enter']) await page.keyboard.press(key)
  await page.waitForURL(/since=.*&until=/)
  await expect.poll(() => Promise.all([starts.count(), durations.count()])).toEqual([3, 3])
  await page.getByRole('link', { name: 'Runs in this window' }).click()
  await page.getByRole('row', { name }).waitFor()
  expect(new URL(page.url()).searchParams.get('workflow')).toBe(name)
  await page.goBack()
  await page.getByRole('button', { name: 'Zoom out' }).click()
  await page.waitForURL(address => !address.search.includes('until'))
  await expect.poll(() => starts.count()).toBeGreaterThan(3)
})
