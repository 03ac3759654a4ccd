// The page of schedules around a night when clocks change, and while the engine cannot fire. Also a look at one schedule.

import { expect, test } from 'vitest'
import { axeViolations, openPage, reusePage } from '../../kit/browser/page.ts'
import { JumpClock, openDatabase, openEngine, returned, unique, until } from '../../kit/index.ts'

const plain = await openEngine()
const TITLES = "[...document.querySelectorAll('tbody tr [title]')].map(each => each.title)"

test('the next five of a nightly schedule are right over the nights on which clocks change', async () => {
  const clock = new JumpClock(Date.parse('2031-10-24T12:00:00Z'))
  const engine = await openEngine({ clock })
  const nightly = { cron: '30 2 * * *', timezone: 'Europe/Berlin', event: { name: 'report/nightly' } }
  await engine.api.put('/schedules/nightly', nightly)
  const page = await openPage(engine.url)
  const row = page.getByRole('row', { name: /nightly/ })
  const next = async () => {
    await page.goto(`${engine.url}/console/n/default/schedules`)
    await row.waitFor()
    const titles = await page.evaluate<string[]>(TITLES)
    const five = titles.map(title => title.split('\n')).find(lines => lines.length === 5) ?? []
    return five.map(local => new Date(local.replace(' ', 'T')).toISOString().slice(0, 16))
  }
  // The hour occurs twice on the 26th: the first one counts.
  await expect
    .poll(next, { timeout: 10_000 })
    .toEqual(['2031-10-25T00:30', '2031-10-26T00:30', '2031-10-27T01:30', '2031-10-28T01:30', '2031-10-29T01:30'])
  // The hour is skipped on the 28th: it fires when the gap ends.
  clock.jumpTo(Date.parse('2032-03-26T12:00:00Z'))
  await expect
    .poll(next, { timeout: 10_000 })
    .toEqual(['2032-03-27T01:30', '2032-03-28T01:00', '2032-03-29T00:30', '2032-03-30T00:30', '2032-03-31T00:30'])
})

test('a schedule that the engine cannot fire is late, and is fired when it can', async () => {
  const clock = new JumpClock()
  const engine = await openEngine({ onDisk: true, clock })
  await engine.api.put('/schedules/hourly', { every: '1h', event: { name: 'report/hourly' } })
  const events = async () => ((await engine.api.get('/events?name=report/hourly')).json as unknown[]).length
  const database = await openDatabase(engine.storeFile)
  const page = await openPage(engine.url)
  await page.goto(`${engine.url}/console/n/default/schedules`)
  const row = page.getByRole('row', { name: /hourly/ })
  await row.waitFor()
  // The engine waits five seconds for another writer.
  database.exec('BEGIN IMMEDIATE')
  clock.jump(65 * 60_000)
  await page.reload()
  await row.getByText('5 min late').waitFor({ timeout: 4000 })
  expect(await events()).toBe(0)
  database.exec('ROLLBACK')
  const fired = async () => {
    clock.jump(1000)
    return (await events()) === 1
  }
  await until(fired, { what: 'the event of the late schedule' })
  await page.reload()
  await row.waitFor()
  expect(await row.getByText(/late/).count()).toBe(0)
})

test('a look at a schedule says when it starts and ends, and which missed times fire', async () => {
  const bounds = { startsAt: '2031-01-05T10:00:00Z', endsAt: '2031-02-06T11:30:00Z', catchUp: 'none' }
  await plain.api.put('/schedules/bounded', { every: '1h', event: { name: 'report/bounded' }, ...bounds })
  const page = await reusePage(plain.url)
  await page.goto(`${plain.url}/console/n/default/schedules`)
  await page.getByRole('row', { name: /bounded/ }).waitFor()
  await page.locator('h1').focus()
  for (const key of ['j', 'Space']) await page.keyboard.press(key)
  const look = page.getByRole('complementary', { name: 'Preview of a row in Schedules' })
  await look.getByText('2031-01-05 10:00').first().waitFor()
  const text = await look.innerText()
  expect(text).toMatch(/Starts \(local time\)\s+2031-01-05 10:00/)
  expect(text).toMatch(/Ends \(local time\)\s+2031-02-06 11:30/)
  expect(text).toMatch(/Catch-up\s+none over a minute late/)
  expect(await axeViolations(page)).toEqual([])
})

test('the list of workflows says when a schedule starts one next, and how many live runners serve it', async () => {
  const [app, name] = [unique('shop'), unique('nightly')]
  const registration = { triggers: [{ cron: '30 2 * * *' }] }
  await plain.runner({ app, workflows: { [name]: { handler: () => returned(1), registration } } })
  const page = await reusePage(plain.url)
  await page.goto(`${plain.url}/console/n/default/workflows`)
  const row = page.getByRole('row', { name: new RegExp(name) })
  await row.getByText('1 runner', { exact: false }).waitFor()
  await row.locator('td', { hasText: ', next in' }).waitFor()
})
