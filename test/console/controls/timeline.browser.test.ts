// The axis of the timeline: skipped idle time, the critical path, moving it by the pointer, and how many passes it draws.

import { expect, test } from 'vitest'
import { openBundle } from '../../kit/browser/bundles.ts'
import { openPage } from '../../kit/browser/page.ts'
import { flow, openEngine, returned, run, unique } from '../../kit/index.ts'

const engine = await openEngine()
const { api, url } = engine
const HOUR_MS = 3_600_000

/** The width of the bar of a step, as a part of the track. */
const WIDTH = (name: string) => `(() => {
  const row = [...document.querySelectorAll('[role=row]')].find(each => each.ariaLabel?.startsWith('${name},'))
  const track = row.querySelectorAll('[role=gridcell]')[1]
  return row.querySelector('[data-kind=run]').getBoundingClientRect().width / track.getBoundingClientRect().width
})()`

/** Where bars and the mark of a cut begin, in order. */
const ORDER = `[...document.querySelectorAll('[role=row] [data-kind=run], [title*="in which nothing ran"]')]
  .map(element => [element.getBoundingClientRect().left, element.dataset.kind ?? 'cut'])
  .sort(([a], [b]) => a - b)
  .map(([, what]) => what)`

test('Skip idle cuts an hour in which nothing ran out of the axis, and marks it with its length', async () => {
  const page = await openPage(url)
  await openBundle(page, url, [
    { name: 'before', fromMs: 0, toMs: 2000 },
    { name: 'after', fromMs: HOUR_MS, toMs: HOUR_MS + 2000 },
  ])
  const before = await page.evaluate<number>(WIDTH('before'))
  await page.getByRole('button', { name: 'Skip idle' }).click()
  await page.getByTitle(/in which nothing ran/).waitFor()
  expect(await page.getByTitle(/in which nothing ran/).getAttribute('title')).toMatch(/^59 min 58 s|^1 h/)
  const after = await page.evaluate<number>(WIDTH('before'))
  expect(before).toBeLessThan(0.05)
  expect(after).toBeGreaterThan(0.3)
  expect(await page.evaluate<number>(WIDTH('after'))).toBeCloseTo(after, 1)
  expect(await page.evaluate(ORDER)).toEqual(['run', 'cut', 'run'])
  await page.getByRole('button', { name: 'Skip idle' }).click()
  await expect.poll(() => page.evaluate<number>(WIDTH('before'))).toBe(before)
})

test('Critical path pales the steps that did not determine the duration', async () => {
  const page = await openPage(url)
  await openBundle(page, url, [
    { name: 'slow', fromMs: 0, toMs: 900 },
    { name: 'beside', fromMs: 0, toMs: 200 },
    { name: 'last', fromMs: 900, toMs: 1000 },
  ])
  const faint = () =>
    page
      .locator('[role=row][data-faint]')
      .evaluateAll(rows => rows.map(row => row.getAttribute('aria-label')?.split(',')[0]))
  expect(await faint()).toEqual([])
  await page.getByRole('button', { name: 'Critical path' }).click()
  await expect.poll(faint).toEqual(['beside'])
})

test('dragging the track moves the zoomed part, and selects nothing', async () => {
  const page = await openPage(url)
  await openBundle(
    page,
    url,
    ['load', 'check', 'store', 'tell'].map((name, i) => ({ name, fromMs: i * 1000, toMs: i * 1000 + 900 })),
  )
  for (const key of ['+', '+']) await page.keyboard.press(key)
  await page.waitForURL(/[?&]t=\d+-\d+/)
  const spanOf = () => (/[?&]t=(\d+)-(\d+)/.exec(page.url()) ?? []).slice(1).map(Number) as [number, number]
  const [from, to] = spanOf()
  const track = await page.locator('[data-lines]').boundingBox()
  if (!track) throw new Error('there is no track')
  const y = track.y + 13
  await page.mouse.move(track.x + track.width / 2, y)
  await page.mouse.down()
  await page.mouse.move(track.x + track.width / 4, y, { steps: 5 })
  await page.mouse.up()
  await expect.poll(() => spanOf()[0]).toBeGreaterThan(from)
  const [movedFrom, movedTo] = spanOf()
  expect(movedTo - movedFrom).toBeCloseTo(to - from, -1)
  expect(movedFrom - from).toBeCloseTo((to - from) / 4, -2)
  expect(await page.getByRole('row', { selected: true }).count()).toBe(0)
})

test('numbers of a part say that there is more: replays of a run, and the passes that its timeline draws', async () => {
  const name = unique('long')
  const steps = Array.from({ length: 205 }, (_, i) => run(`step ${i}`, () => i))
  await engine.runner({ workflows: { [name]: flow(steps, () => 'done') } })
  const { runId } = await api.send({ name })
  await api.reaches(runId, 'succeeded', 60_000)
  const short = unique('short')
  await engine.runner({ workflows: { [short]: () => returned(1) } })
  const replayed = (await api.send({ name: short })).runId
  await api.succeeded(replayed)
  for (let i = 0; i < 31; i++) await api.post(`/runs/${replayed}/replay`)
  const page = await openPage(url)
  await page.goto(`${url}/console/n/default/runs/${replayed}`)
  await page.locator('dl > div').filter({ hasText: 'Replays' }).getByText('30+', { exact: true }).waitFor()
  await page.goto(`${url}/console/n/default/runs/${runId}`)
  await page.getByRole('button', { name: 'The first 200 passes: draw more' }).click()
  await expect.poll(() => page.getByRole('button', { name: /passes: draw more/ }).count()).toBe(0)
  expect(await page.getByTitle(/^pass 20[1-6]/).count()).toBe(6)
})
