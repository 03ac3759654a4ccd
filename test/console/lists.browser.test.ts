// Journeys over lists: filters by qualifiers and the way back among many runs; a bulk job; a failed run that is
// found, read and replayed without a pointer, in the dark, at 200 % zoom.

import type { Bulk, BulkDetail, ControlAction } from '@perdure/protocol'
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { axeViolations, openPage, reusePage } from '../kit/browser/page.ts'
import { flow, openEngine, openRunner, returned, run, unique, until } from '../kit/index.ts'

const SECRET = { label: 'ops', namespace: 'default', kind: 'secret', key: 'a secret key of a test' }
const READ = { label: 'ada', namespace: 'default', kind: 'read', key: 'a read key of a test' }

const engine = await openEngine()
const app = unique('many')
/** Three lines of a card on a phone. */
const LONG = `import-the-orders-${'of-every-region-'.repeat(6)}`
await engine.runner({
  app,
  workflows: { batch: () => returned(1), other: () => returned(2), [LONG]: () => returned(3) },
})
/** More presses than any page has controls. */
const TABS_MAX = 80
/** Three pages of the list. */
const RUNS = 300
const sent = await Promise.all(Array.from({ length: RUNS }, () => engine.api.send({ name: 'batch', app })))
for (const { runId } of sent) await engine.api.succeeded(runId)
for (let i = 0; i < 20; i++) await engine.api.send({ name: LONG, app })
await engine.api.send({ name: 'other', app })

test('among many runs: qualifiers narrow the list, a run far below is opened, back restores scroll, row and selection', async () => {
  const page = await reusePage(engine.url)
  await page.goto(`${engine.url}/console/n/default/runs`)
  await page.getByRole('row', { name: /other/ }).first().waitFor()
  await page.keyboard.press('f')
  await page.keyboard.type(`app:${app} workflow:batch status:succeeded`)
  await page.keyboard.press('Enter')
  await page.waitForURL(/workflow=batch/)
  await page.getByRole('row', { name: /other/ }).first().waitFor({ state: 'detached' })
  await page.locator('h1').focus()
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await page.getByText('1 run selected').waitFor()
  const active = () => page.evaluate<string>('document.activeElement.dataset.key ?? ""')
  const place = async () => (await page.locator('tr[data-active]').getAttribute('aria-rowindex')) ?? ''
  for (let at = 3; at <= 152; at++) {
    await page.keyboard.press('j')
    await expect.poll(place).toBe(String(at))
  }
  const scrolled = () => page.evaluate<number>('document.querySelector("[data-scroller]").scrollTop')
  const [top, key] = [await scrolled(), await active()]
  expect(top).toBeGreaterThan(2000)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: /batch/ }).waitFor()
  await page.goBack()
  await page.getByText('1 run selected').waitFor()
  await expect.poll(active).toBe(key)
  expect(Math.abs((await scrolled()) - top)).toBeLessThan(64)
})

/** Runs in the page: scrolls up a few hundred times, and finds cards that something other than the scroll moved. */
const JUMPS = `(async () => {
  const scroller = document.querySelector('[data-scroller]')
  const frames = () => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))
  const card = key => document.querySelector('tr[data-key="' + key + '"]')
  const jumps = []
  while (scroller.scrollTop > 300) {
    const first = [...document.querySelectorAll('tr[data-key]')].find(each => each.getBoundingClientRect().top > 0)
    const [key, top] = [first.dataset.key, first.getBoundingClientRect().top]
    scroller.scrollTop -= 200
    await frames()
    const moved = card(key).getBoundingClientRect().top - top
    if (Math.abs(moved - 200) > 1) jumps.push(moved)
  }
  return jumps
})()`

test('on a phone cards are as high as their texts; scrolling up past cards of other heights makes no jump, and back restores the place', async () => {
  const page = await reusePage(engine.url, { width: 380 })
  await page.goto(`${engine.url}/console/n/default/runs`)
  const heightOf = async (name: string) => {
    const card = page.locator('tbody tr[data-key]').filter({ hasText: name }).first()
    await card.scrollIntoViewIfNeeded()
    return (await card.boundingBox())?.height ?? 0
  }
  const [long, other] = [await heightOf(LONG), await heightOf('other')]
  expect(long).toBeGreaterThanOrEqual(other + 40)
  expect(
    await page
      .locator('tr[data-key] td')
      .evaluateAll(cells => cells.filter(each => each.scrollHeight > each.clientHeight + 1).length),
  ).toBe(0)
  const scrollTo = (top: number) => page.evaluate(`document.querySelector('[data-scroller]').scrollTop = ${top}`)
  const scrolled = () => page.evaluate<number>('document.querySelector("[data-scroller]").scrollTop')
  await scrollTo(9000)
  await page.locator('tr[data-key]').filter({ hasText: 'batch' }).first().waitFor()
  expect(await page.evaluate(JUMPS)).toEqual([])
  // After starting from the top, the heights of all cards above are known.
  for (let top = 0; top < 4000; top += 400) {
    await scrollTo(top)
    await page.evaluate('new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
  }
  const card = page.locator('tr[data-key]').filter({ hasText: 'batch' }).nth(14)
  const key = await card.getAttribute('data-key')
  const top = await page.locator(`tr[data-key="${key}"]`).evaluate(each => each.getBoundingClientRect().top)
  await page.locator(`tr[data-key="${key}"] a`).first().click()
  await page.getByRole('heading', { level: 1, name: /batch/ }).waitFor()
  await page.goBack()
  await expect.poll(() => page.evaluate('document.activeElement.dataset.key')).toBe(key)
  expect(await scrolled()).toBeGreaterThan(2000)
  await expect
    .poll(() => page.locator(`tr[data-key="${key}"]`).evaluate(each => each.getBoundingClientRect().top))
    .toBeCloseTo(top, -1)
})

test('a bulk job takes the number typed; its counts add up with its results and the audit log', async () => {
  const page = await reusePage(engine.url)
  await page.goto(`${engine.url}/console/n/default/runs?app=${app}&workflow=batch&status=succeeded`)
  await page.getByRole('checkbox', { name: 'Select row 1', exact: true }).click()
  await page.getByRole('button', { name: 'Select all matching' }).click()
  await page.getByText(`All ${RUNS} runs matching`).waitFor()
  await page.getByRole('button', { name: 'Replay…' }).click()
  await page.getByLabel(`Type ${RUNS} to confirm`).fill(String(RUNS))
  await page.getByRole('button', { name: `Replay ${RUNS}` }).click()
  await page.getByRole('heading', { name: /^Bulk replay: / }).waitFor()
  const id = new URL(page.url()).pathname.split('/').at(-1) as string
  const read = async (query = '') => (await engine.api.get(`/bulk/${id}${query}`)).json as BulkDetail
  const job = await until(async () => (await read()).status !== 'running' && read('?limit=200'), { what: 'its end' })
  await page.getByText(`${job.done} done, ${job.skipped} skipped, ${job.failed} failed`).waitFor()
  expect(job.matched).toBe(job.done + job.skipped + job.failed)
  const entries = (await engine.api.get('/control-actions?action=bulk.replay')).json as ControlAction[]
  const details = entries.map(({ detail }) => detail as Bulk & { bulkId: string })
  expect(details.find(({ status }) => status === job.status)).toMatchObject({ bulkId: id, done: job.done })
})

const hasFocus = (locator: Locator) => expect.poll(() => locator.evaluate(each => each.matches(':focus'))).toBe(true)

/** Presses Tab until the element has the focus. */
async function tabTo(page: Page, locator: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  for (let i = 0; i < TABS_MAX; i++) {
    if (await locator.evaluate(each => each.matches(':focus'))) return
    await page.keyboard.press(key)
  }
  throw new Error(`${TABS_MAX} presses of ${key} do not lead to ${locator}`)
}

test('a failed run is found, read, replayed and shared by keyboard alone, in the dark, at 200 % zoom', async () => {
  const keyed = await openEngine({ env: { ENGINE_API_KEYS: JSON.stringify([READ, SECRET]) } })
  const api = keyed.api.as(SECRET.key)
  const refuse = () => {
    throw Object.assign(new Error('card 4711 was refused'), { retriable: false })
  }
  const order = { handler: flow([run('charge', refuse)]), registration: { retry: { maxAttempts: 1 } } }
  const runner = await openRunner({ workflows: { order, fine: () => returned(1) } })
  await runner.register(api)
  await api.succeeded((await api.send({ name: 'fine', app: runner.app })).runId)
  const { runId } = await api.send({ name: 'order', app: runner.app })
  await api.failed(runId)
  // Half of 1,280 is the width of the page at 200 %.
  const page = await openPage(keyed.url, { colorScheme: 'dark', width: 640, expected: ['401'] })
  const { keyboard } = page
  await page.goto(`${keyed.url}/console/n/default/runs`)
  await page.getByLabel('API key').waitFor()
  await keyboard.type(READ.key)
  await keyboard.press('Enter')
  await page.getByRole('row', { name: /fine/ }).waitFor()
  await hasFocus(page.getByRole('heading', { level: 1 }))
  await keyboard.press('f')
  await keyboard.type('status:failed')
  await keyboard.press('Enter')
  await page.getByRole('row', { name: /fine/ }).waitFor({ state: 'detached' })
  await keyboard.press('Escape')
  await keyboard.press('j')
  await expect.poll(() => page.evaluate('document.activeElement.dataset.key')).toBe(runId)
  expect(await page.locator('main').ariaSnapshot()).toMatch(/row .*failed.*order/)
  await keyboard.press('Enter')
  await page.getByText('card 4711 was refused').first().waitFor()
  const tree = await page.locator('main').ariaSnapshot()
  expect(tree).toMatch(/heading .*order.* \[level=1\]/)
  expect(tree).toContain('card 4711 was refused')
  expect(await axeViolations(page)).toEqual([])
  await hasFocus(page.getByRole('heading', { level: 1 }))
  await tabTo(page, page.getByRole('button', { name: 'Unlock' }), 'Shift+Tab')
  await keyboard.press('Enter')
  await page.getByLabel('Secret key').waitFor()
  await keyboard.type(SECRET.key)
  await keyboard.press('Enter')
  await page.getByRole('button', { name: /^Lock/ }).waitFor()
  await keyboard.press('r')
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  expect(await dialog.ariaSnapshot()).toContain('button "Replay')
  await tabTo(page, dialog.getByRole('button', { name: /^Replay/ }))
  await keyboard.press('Enter')
  await until(async () => (await api.runs(`?replayOf=${runId}`)).length === 1, { what: 'the replay' })
  await keyboard.press('Escape')
  await keyboard.press('y')
  await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toContain('/console/n/default/runs/run_')
})
