// The axis of the timeline: its strip and its height, skipped idle time, the critical path, moving it with the pointer, and the
// number of passes it draws.

import { expect, test } from 'vitest'
import { openBundle } from '../../kit/browser/bundles.ts'
import { openPage, reusePage } from '../../kit/browser/page.ts'
import { flow, openEngine, returned, run, unique, wait } from '../../kit/index.ts'

const engine = await openEngine()
const { api, url } = engine
const HOUR_MS = 3_600_000

/** The width of a step's bar, as a fraction of the track. */
const WIDTH = (name: string) => `(() => {
  const row = [...document.querySelectorAll('[role=row]')].find(each => each.ariaLabel?.startsWith('${name},'))
  const track = row.querySelectorAll('[role=gridcell]')[1]
  return row.querySelector('[data-kind=run]').getBoundingClientRect().width / track.getBoundingClientRect().width
})()`

/** The starts of bars and of the mark of a cut, in order. */
const ORDER = `[...document.querySelectorAll('[role=row] [data-kind=run], [title$=" idle"]')]
  .map(element => [element.getBoundingClientRect().left, element.dataset.kind ?? 'cut'])
  .sort(([a], [b]) => a - b)
  .map(([, what]) => what)`

/** The position of the last of two steps in the strip, and the position of the bar in its row, in pixels of the page. */
const DRAWN = `(() => {
  const canvas = document.querySelector('canvas')
  const { width, height } = canvas
  const { data } = canvas.getContext('2d').getImageData(0, height / 2, width, height / 2)
  const painted = Array.from({ length: width }, (_, x) => x).filter(x =>
    Array.from({ length: height / 2 }, (_, y) => data[(y * width + x) * 4 + 3]).some(alpha => alpha > 128))
  const { left } = canvas.getBoundingClientRect()
  const bar = document.querySelector('#step-row-1 [data-kind]').getBoundingClientRect()
  return { strip: [left + painted[0], left + painted.at(-1) + 1], row: [bar.left, bar.right] }
})()`

test.each([380, 1280])(
  'a bar is in the strip where it is in its row, at %i px, and has the colours of the theme',
  async width => {
    const page = await reusePage(url, { width })
    await openBundle(page, url, [
      { name: 'before', fromMs: 0, toMs: 1000 },
      { name: 'after', fromMs: 300, toMs: 600 },
    ])
    await page.getByRole('searchbox', { name: 'Filter steps by name' }).waitFor()
    const apart = async () => {
      const { strip, row } = await page.evaluate<Record<'strip' | 'row', [number, number]>>(DRAWN)
      return Math.max(Math.abs(strip[0] - row[0]), Math.abs(strip[1] - row[1]))
    }
    // The strip is drawn after the rows.
    await expect.poll(apart).toBeLessThan(2)
    const drawing = () => page.evaluate<string>('document.querySelector("canvas").toDataURL()')
    const light = await drawing()
    await page.emulateMedia({ colorScheme: 'dark' })
    await expect.poll(drawing).not.toBe(light)
  },
)

test('the timeline is as high as its rows, keeps its height while the run goes on, and says why no step is shown', async () => {
  const [name, approved] = [unique('grows'), unique('approved')]
  const row = (i: number) => run(`row-${i}`, () => i)
  const stages = [[0, 1, 2, 3, 4].map(row), wait('approval', approved), row(5), wait('another', unique('never'))]
  await engine.runner({ workflows: { [name]: flow(stages) } })
  const { runId } = await api.send({ name })
  const page = await reusePage(url)
  await page.goto(`${url}/console/n/default/runs/${runId}`)
  const grid = page.getByRole('treegrid')
  const rows = async () => (await grid.evaluate(element => element.clientHeight)) / 26
  await page.getByRole('row', { name: /^approval/ }).waitFor()
  await expect.poll(rows).toBe(6)
  await api.send({ name: approved })
  await page.getByRole('row', { name: /^row-0…5, 6 steps/ }).waitFor()
  await expect.poll(() => grid.getAttribute('aria-rowcount')).toBe('4')
  expect(await rows()).toBe(6)
  await page.getByRole('button', { name: 'Only failed' }).click()
  await page.getByRole('heading', { name: 'No matching steps' }).waitFor()
  expect(await rows()).toBe(0)
  await page.getByRole('button', { name: 'Remove Only failed' }).click()
  await expect.poll(rows).toBe(3)
  // A link may name a sort order of another version.
  await page.goto(`${url}/console/n/default/runs/${runId}?order=other`)
  await page.getByRole('row', { name: /^approval/ }).waitFor()
})

test('Skip idle cuts an hour in which nothing ran out of the axis, and marks it with its length', async () => {
  const page = await reusePage(url)
  await openBundle(page, url, [
    { name: 'before', fromMs: 0, toMs: 2000 },
    { name: 'after', fromMs: HOUR_MS, toMs: HOUR_MS + 2000 },
  ])
  const before = await page.evaluate<number>(WIDTH('before'))
  await page.getByRole('button', { name: 'Skip idle' }).click()
  await page.getByTitle(/ idle$/).waitFor()
  expect(await page.getByTitle(/ idle$/).getAttribute('title')).toMatch(/^59 min 58 s|^1 h/)
  const after = await page.evaluate<number>(WIDTH('before'))
  expect(before).toBeLessThan(0.05)
  expect(after).toBeGreaterThan(0.3)
  expect(await page.evaluate<number>(WIDTH('after'))).toBeCloseTo(after, 1)
  expect(await page.evaluate(ORDER)).toEqual(['run', 'cut', 'run'])
  await page.getByRole('button', { name: 'Skip idle' }).click()
  await expect.poll(() => page.evaluate<number>(WIDTH('before'))).toBe(before)
})

test('Critical path pales the steps that did not determine the duration', async () => {
  const page = await reusePage(url)
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

test('the table shows the selected step, also one of many', async () => {
  const page = await reusePage(url)
  const name = (i: number) => `step-${String.fromCharCode(97 + (i % 26), 97 + Math.floor(i / 26))}`
  await openBundle(
    page,
    url,
    Array.from({ length: 520 }, (_, i) => ({
      name: name(i),
      fromMs: i,
      toMs: i + 1,
      status: i === 510 ? 'failed' : 'succeeded',
    })),
  )
  await page.getByRole('button', { name: 'As table' }).click()
  const table = page.getByRole('table', { name: 'Steps of the run' })
  const isShown = (step: string) =>
    table.getByRole('row', { name: `${step} step` }).evaluate(row => {
      const { top, bottom } = row.getBoundingClientRect()
      return top >= 0 && bottom <= row.ownerDocument.documentElement.clientHeight
    })
  await page.keyboard.press('n')
  await expect.poll(() => isShown(name(510))).toBe(true)
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
  const [name, approved] = [unique('long'), unique('approved')]
  const steps = Array.from({ length: 205 }, (_, i) => run(`step ${i}`, () => i))
  await engine.runner({ workflows: { [name]: flow([...steps, wait('approval', approved)], () => 'done') } })
  const { runId } = await api.send({ name })
  await api.reaches(runId, 'waiting', 60_000)
  const short = unique('short')
  await engine.runner({ workflows: { [short]: () => returned(1) } })
  const replayed = (await api.send({ name: short })).runId
  await api.succeeded(replayed)
  for (let i = 0; i < 31; i++) await api.post(`/runs/${replayed}/replay`)
  const page = await reusePage(url)
  await page.goto(`${url}/console/n/default/runs/${replayed}`)
  await page.locator('dl > div').filter({ hasText: 'Replays' }).getByText('30+', { exact: true }).waitFor()
  // The run continues while its further passes are read.
  await page.route(
    /passes\?.*cursor=/,
    async route => {
      await api.send({ name: approved })
      await page.getByText(/^It succeeded/).waitFor()
      await route.continue()
    },
    { times: 1 },
  )
  await page.goto(`${url}/console/n/default/runs/${runId}`)
  await page.getByRole('button', { name: 'First 200 passes: load more' }).click()
  await expect.poll(() => page.getByRole('button', { name: /passes: load more/ }).count()).toBe(0)
  // Passes that begin in the same pixels are one mark.
  const titles = await page
    .getByTitle(/^pass(es)? \d+/)
    .evaluateAll(marks => marks.map(mark => mark.getAttribute('title') ?? ''))
  const numbers = titles.map(title => /^passe?s? (\d+)(?: to (\d+))?/.exec(title) ?? [])
  expect(numbers.reduce((sum, [, first, last = first]) => sum + Number(last) - Number(first) + 1, 0)).toBe(207)
})
