// The parts of a run's page: its tree and children, keys, log, passes, moments, and the shapes of statuses.

import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { axeViolations, openPage, reusePage } from '../kit/browser/page.ts'
import {
  child,
  discovered,
  emit,
  flow,
  type Handler,
  type LogLine,
  opcode,
  openEngine,
  returned,
  run,
  unique,
  until,
  wait,
} from '../kit/index.ts'

const engine = await openEngine()
const { api, url } = engine
const pageOf = (runId: string, query = '') => `${url}/console/n/default/runs/${runId}${query}`

/** Three generations: each starts the next, and the youngest waits for an event. */
async function family() {
  const names = ['grandparent', 'parent', 'child'].map(unique) as [string, string, string]
  const [late, done] = [unique('late'), unique('done')]
  await engine.runner({
    workflows: {
      [names[0]]: {
        handler: flow([run('prepare'), emit('announce', unique('announced')), child('delegate', names[1])]),
      },
      [names[1]]: { handler: flow([child('delegate further', names[2])]) },
      [names[2]]: { handler: flow([wait('patience', late)]) },
    },
  })
  const { runId } = await api.send({ name: names[0] })
  await api.reaches(runId, 'waiting')
  return { names, runId, late, done }
}

test('the tree shows what the event started; children unfold in the timeline; a cancel counts them', async () => {
  const { names, runId } = await family()
  const page = await reusePage(url)
  await page.goto(pageOf(runId, '?tab=tree'))
  const tree = page.getByRole('tabpanel')
  await tree.getByRole('link', { name: names[2] }).waitFor()
  const lines = await tree.getByRole('listitem').evaluateAll(all => all.map(one => one.querySelector('p')?.textContent))
  expect(lines.map(line => /^[a-z ]+?(?=✓|◷|▶|grand|announced)/.exec(line ?? '')?.[0])).toEqual([
    'event',
    'this run',
    ...['child', 'child', 'emitted'],
  ])
  expect(lines.at(2)).toContain('by step delegate')
  expect(await axeViolations(page)).toEqual([])
  await page.keyboard.press('1')
  await page.getByRole('treegrid').focus()
  await page.getByRole('row', { name: /^delegate, child run/ }).click()
  await page.keyboard.press('ArrowRight')
  const second = page.getByRole('row', { name: /^delegate further, child run/ })
  await second.click()
  await page.keyboard.press('ArrowRight')
  const third = page.getByRole('row', { name: /^patience, wait for event/ })
  await third.waitFor()
  expect(await third.getAttribute('aria-level')).toBe('3')
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Cancel…' }).click()
  await page.getByRole('dialog').getByText('with 1 open step and 2 child runs').waitFor()
  await page.keyboard.press('Escape')
  await third.click()
  await page.getByRole('button', { name: 'Close the inspector' }).waitFor()
  await page.goto(pageOf(runId))
  await page.getByRole('link', { name: 'Open child' }).click()
  await page.getByRole('heading', { name: names[1] }).waitFor()
  await page.getByRole('link', { name: 'Open child' }).waitFor()
  await page.keyboard.press('p')
  await page.getByRole('heading', { name: names[0] }).waitFor()
})

/** Three runs of two passes with one step each, the first of which logs, and of a pass that returns. */
async function logged() {
  const name = unique('logged')
  const logs: LogLine[] = [
    { level: 'info', message: 'fetching rows', scope: 'fetch', index: 0 },
    { level: 'debug', message: 'three came', scope: 'fetch', index: 1, fields: { order: 'a-17' } },
  ]
  const handler: Handler = ({ steps }) => {
    const known = Object.keys(steps).length
    if (known === 0) return discovered([opcode('StepRun', 'fetch', { data: { rows: 3 } })], logs)
    return known === 1 ? discovered([opcode('StepRun', 'store', { data: 'stored' })]) : returned('done')
  }
  await engine.runner({ workflows: { [name]: { handler } } })
  const ids: string[] = []
  for (let i = 0; i < 3; i++) {
    const { runId } = await api.send({ name })
    await api.reaches(runId, 'succeeded')
    ids.push(runId)
  }
  return { name, ids }
}

test('filters of the timeline and of the log are in the URL, and count after a reload', async () => {
  const [runId = ''] = (await logged()).ids
  const page = await reusePage(url)
  await page.goto(`${url}/console/n/default/runs/${runId}`)
  await page.getByRole('button', { name: 'Skip idle' }).click()
  await page.getByRole('button', { name: 'Critical path' }).click()
  await page.getByLabel('Filter steps by name').fill('store')
  await page.waitForURL(/[?&]name=store/)
  const query = () => Object.fromEntries(new URL(page.url()).searchParams)
  expect(query()).toMatchObject({ name: 'store', idle: 'skip', critical: '1' })
  await page.reload()
  await page.getByRole('row', { name: /^store/ }).waitFor()
  expect(await page.getByRole('row', { name: /^fetch/ }).count()).toBe(0)
  for (const name of ['Skip idle', 'Critical path'])
    expect(await page.getByRole('button', { name }).getAttribute('aria-pressed')).toBe('true')
  await page.goto(`${url}/console/n/default/runs/${runId}?tab=logs`)
  await page.getByLabel('Minimum level').selectOption('info')
  await page.getByLabel('Scope').selectOption('fetch')
  await page.getByRole('button', { name: 'Wrap' }).click()
  await page.getByLabel('Search the log').fill('rows')
  await page.waitForURL(/[?&]text=rows/)
  expect(query()).toMatchObject({ level: 'info', scope: 'fetch', wrap: 'off', text: 'rows' })
  await page.reload()
  await page.getByText('1 of 2 lines').waitFor()
  expect(await page.getByLabel('Search the log').inputValue()).toBe('rows')
  expect(await page.getByLabel('Minimum level').inputValue()).toBe('info')
})

test('keys open the tabs, walk by pass, and go to the neighbours in the list', async () => {
  const { name, ids } = await logged()
  const page = await reusePage(url)
  await page.goto(`${url}/console/n/default/runs?workflow=${name}`)
  await page.getByRole('row').nth(3).waitFor()
  await page
    .getByRole('link', { name: ids[1]?.slice(-8) as string })
    .first()
    .click()
  await page.getByRole('treegrid').waitFor()
  for (const [key, id] of [
    ['}', ids[0]],
    ['{', ids[1]],
    ['{', ids[2]],
  ] as const) {
    await page.keyboard.press(key)
    await page.waitForURL(new RegExp(`/runs/${id}`))
    await page.getByRole('treegrid').waitFor()
    expect(await page.evaluate('document.activeElement.tagName')).toBe('H1')
  }
  await page.keyboard.press('{')
  await page.getByText('No more runs in the list').waitFor()
  const tabs = ['Timeline', 'Logs', 'Input and result', 'Tree', 'Passes', 'Audit', 'Raw']
  for (const [i, tab] of [...tabs.entries()].reverse()) {
    await page.keyboard.press(String(i + 1))
    await page.getByRole('tab', { name: tab, selected: true }).waitFor()
  }
  await page.getByRole('treegrid').focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await page.getByRole('row', { name: /^store/, selected: true }).waitFor()
  await page.keyboard.press('ArrowUp')
  await page.getByRole('row', { name: /^fetch/, selected: true }).waitFor()
  await page.keyboard.press('+')
  await page.getByRole('button', { name: 'Zoom out' }).waitFor()
  await page.keyboard.press('-')
  await page.getByRole('button', { name: 'Zoom out' }).waitFor({ state: 'detached' })
  await page.keyboard.press('h')
  await page.getByRole('row', { name: /^fetch/ }).waitFor({ state: 'detached' })
  await page.keyboard.press('h')
  await page.getByRole('button', { name: 'As table' }).click()
  await page
    .getByRole('table', { name: 'Steps of the run' })
    .getByRole('row', { name: /^store step/ })
    .waitFor()
  expect(await axeViolations(page)).toEqual([])
  for (const [key, title] of [
    ['r', 'Replay this run'],
    ['e', 'Edit and replay'],
  ] as const) {
    await page.keyboard.press(key)
    await page.getByRole('dialog', { name: title }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: title }).waitFor({ state: 'detached' })
  }
})

test('the log is filtered, and leads to the bar of a line and back', async () => {
  const { ids } = await logged()
  const page = await reusePage(url)
  await page.goto(pageOf(ids[0] as string, '?tab=logs'))
  await page.getByText('2 of 2 lines').waitFor()
  await page.getByRole('heading', { name: 'Attempt 1' }).waitFor()
  await page.getByLabel('Minimum level').selectOption('info')
  await page.getByText('1 of 2 lines').waitFor()
  await page.getByLabel('Minimum level').selectOption('debug')
  await page.keyboard.press('f')
  await page.keyboard.type('A-17')
  await page.getByText('1 of 2 lines').waitFor()
  await page.getByLabel('Search the log').fill('')
  await page.getByLabel('Scope').selectOption('fetch')
  await page.getByText('2 of 2 lines').waitFor()
  await page.getByRole('button', { name: 'fetch', exact: true }).first().click()
  await page.getByRole('row', { name: /^fetch/, selected: true }).waitFor()
  await page.getByRole('button', { name: 'Show in log' }).click()
  await page.locator('li[aria-current]').getByText('three came').waitFor()
  await page.getByRole('button', { name: 'Session and help' }).click()
  await page.getByRole('menuitem', { name: 'Hide payloads' }).click()
  await expect.poll(() => page.content()).not.toContain('a-17')
})

/** The memo and the answer at the moment when the page draws. */
async function exchange(page: Page) {
  const parts: string[] = []
  for (const [summary, tree] of [
    [/^Memo sent with pass/, 'the memo'],
    [/^Answer/, 'the answer'],
  ] as const) {
    await page.getByText(summary).click()
    parts.push((await page.getByRole('tree', { name: tree }).innerText()).replaceAll(/\s+/g, ' '))
  }
  return parts
}

test('a walk by pass shows memo, answer and status, and the same from a file without an engine', async () => {
  const { ids } = await logged()
  const page = await reusePage(url)
  await page.goto(pageOf(ids[0] as string))
  await page.getByRole('row', { name: /^store/ }).waitFor()
  await page.locator('[title^="pass"]').first().waitFor({ state: 'attached' })
  const walk = async (page: Page) => {
    const scrubber = page.getByRole('region', { name: 'Step through the run' })
    // The frames of the run may not have arrived yet.
    const isDrawn = async () => {
      if (!(await scrubber.isVisible())) await page.keyboard.press('[')
      return scrubber.isVisible()
    }
    await until(isDrawn, { what: 'a moment of the run' })
    await scrubber.getByText('· pass 2 ·').waitFor()
    expect(await page.getByRole('row', { name: /^store/ }).count()).toBe(1)
    await page.getByText('then the handler returned').waitFor()
    const seen = await exchange(page)
    await page.keyboard.press('[')
    await scrubber.getByText('· pass 1 ·').waitFor()
    expect(await page.getByRole('row', { name: /^store/ }).count()).toBe(0)
    await page.keyboard.press('[')
    await scrubber.getByText('before the first pass').waitFor()
    return seen
  }
  const [memo, answer] = await walk(page)
  expect(memo).toContain('rows: 3')
  expect(memo).not.toContain('stored')
  expect(answer).toContain('stored')
  await page.getByRole('tab', { name: 'Raw' }).click()
  const saving = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save bundle' }).click()
  const buffer = await readFile(await (await saving).path())
  const other = await reusePage(url)
  await other.goto(`${url}/console/n/default/bundle`)
  const asked: string[] = []
  await other.route(/\/runs\//, route => {
    asked.push(route.request().url())
    return route.abort()
  })
  await other.getByLabel('Bundle file').setInputFiles({ name: 'run.json', mimeType: 'application/json', buffer })
  await other.getByRole('row', { name: /^store/ }).waitFor()
  await other.getByRole('treegrid').focus()
  expect(await walk(other)).toEqual([memo, answer])
  expect(asked).toEqual([])
})

/** A bundle with one bar of each kind and status, all of the same length. */
function shapes(): Buffer {
  const origin = Date.parse('2026-03-01T09:00:00Z')
  const at = (ms: number) => new Date(origin + ms).toISOString()
  const kinds = [
    ['StepRun', 'succeeded'],
    ['StepRun', 'failed'],
    ['StepRun', 'running'],
    ['StepRun', 'retrying'],
    ['StepRun', 'cancelled'],
    ['WaitForEvent', 'waiting'],
    ['WaitForEvent', 'succeeded'],
    ['WaitForEvent', 'failed'],
    ['WaitForEvent', 'cancelled'],
    ['Sleep', 'waiting'],
    ['Emit', 'succeeded'],
  ] as const
  const steps = kinds.map(([op, status], index) => ({
    ...{ id: `id${index}`, name: `${op} ${status}`, op, index, status, attempt: 1, startedAt: at(0) },
    ...(['running', 'waiting'].includes(status) ? {} : { finishedAt: at(1000), durationMs: 1000 }),
    ...(status === 'failed' ? { error: { message: 'no' } } : {}),
    ...(status === 'retrying' ? { nextAttemptAt: at(1000) } : {}),
  }))
  const frame = (seq: number, more: object) => ({ seq, ts: at(0), runId: 'run_1', attempt: 1, ...more })
  const timeline = [
    frame(1, { kind: 'run_status', status: 'running' }),
    frame(2, { kind: 'step_status', name: 'StepRun retrying', index: 3, status: 'retrying' }),
    { ...frame(3, { kind: 'run_status', status: 'cancelled' }), ts: at(1000) },
  ]
  const run = { id: 'run_1', workflow: 'shapes', app: 'shop', status: 'cancelled', triggerKind: 'event', attempt: 1 }
  const times = { createdAt: at(0), startedAt: at(0), finishedAt: at(1000), durationMs: 1000 }
  return Buffer.from(JSON.stringify({ 'perdure-bundle': 1, run: { ...run, ...times }, steps, timeline }))
}

/** Runs in the page: finds the pixels of a picture whose colour differs from its first pixel. */
const MASK = `async base64 => {
  const bytes = Uint8Array.from(atob(base64), character => character.charCodeAt(0))
  const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
  const context = new OffscreenCanvas(image.width, image.height).getContext('2d')
  context.drawImage(image, 0, 0)
  const { data } = context.getImageData(0, 0, image.width, image.height)
  const mask = []
  for (let i = 0; i < data.length; i += 4) mask.push(Math.abs(data[i] - data[0]) > 40 ? 1 : 0)
  return mask
}`

/** Shapes differ in at least one place of this width, */
const PLACE_PX = 12
/** in this fraction of its pixels. */
const DIFFERS_MIN = 0.08

/** The fraction of different pixels, in the place with the most differences. */
function mostDiffering(one: readonly number[], other: readonly number[], columns: number): number {
  const height = Math.min(one.length, other.length) / columns
  const places = new Map<number, number>()
  for (let i = 0; i < one.length; i++) {
    if (one[i] === other[i]) continue
    const place = Math.floor((i % columns) / PLACE_PX)
    places.set(place, (places.get(place) ?? 0) + 1)
  }
  return Math.max(0, ...places.values()) / (PLACE_PX * height)
}

test.each(['light', 'dark'] as const)('bars differ by shape where there is no colour, in %s', async colorScheme => {
  const page = await openPage(url, { colorScheme })
  await page.goto(`${url}/console/n/default/bundle`)
  await page
    .getByLabel('Bundle file')
    .setInputFiles({ name: 'run.json', mimeType: 'application/json', buffer: shapes() })
  const rows = page.getByRole('row', { name: /^(StepRun|WaitForEvent|Sleep|Emit)/ })
  await rows.nth(10).waitFor()
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setEmulatedVisionDeficiency', { type: 'achromatopsia' })
  const masks = new Map<string, number[]>()
  let columns = 0
  for (const row of await rows.all()) {
    const track = row.getByRole('gridcell').nth(1)
    columns = Math.round((await track.boundingBox())?.width ?? 0)
    const picture = (await track.screenshot()).toString('base64')
    const mask = await page.evaluate<number[]>(`(${MASK})(${JSON.stringify(picture)})`)
    masks.set((await row.getAttribute('aria-label'))?.split(',')[0] as string, mask)
  }
  const drawn = (mask: number[]) => mask.reduce((sum, one) => sum + one, 0)
  const alike: string[] = []
  const names = [...masks.keys()]
  const statusOf = (name: string) => name.split(' ')[1]
  for (const [i, a] of names.entries())
    for (const b of names.slice(i + 1)) {
      const differs = mostDiffering(masks.get(a) as number[], masks.get(b) as number[], columns)
      if (statusOf(a) !== statusOf(b) && differs < DIFFERS_MIN) alike.push(`${a} = ${b}: ${differs.toFixed(2)}`)
    }
  expect([...masks.values()].map(mask => drawn(mask) > 20)).toEqual(names.map(() => true))
  expect(alike).toEqual([])
})

test('what is beyond the zoom has a caret, and a zoom to nothing on the screen scrolls to the first bar', async () => {
  const count = 300
  const origin = Date.parse('2026-03-01T09:00:00Z')
  const at = (ms: number) => new Date(origin + ms).toISOString()
  const steps = Array.from({ length: count }, (_, index) => ({
    ...{ id: `id${index}`, name: `step ${String.fromCharCode(97 + (index % 26))}${'x'.repeat(index / 26)}`, index },
    ...{ op: 'StepRun', status: 'succeeded', attempt: 1, startedAt: at(index * 100), finishedAt: at(index * 100 + 50) },
  }))
  const run = { id: 'run_1', workflow: 'long', app: 'shop', status: 'succeeded', triggerKind: 'event', attempt: 1 }
  const times = { createdAt: at(0), finishedAt: at(count * 100), durationMs: count * 100 }
  const buffer = Buffer.from(JSON.stringify({ 'perdure-bundle': 1, run: { ...run, ...times }, steps }))
  const page = await reusePage(url)
  await page.goto(`${url}/console/n/default/bundle`)
  await page.getByLabel('Bundle file').setInputFiles({ name: 'run.json', mimeType: 'application/json', buffer })
  const grid = page.getByRole('treegrid')
  await grid.waitFor()
  const overview = await page.locator('canvas').boundingBox()
  if (!overview) throw new Error('there is no overview')
  // The brush selects the last tenth of the run.
  const y = overview.y + overview.height / 2
  await page.mouse.move(overview.x + overview.width * 0.9, y)
  await page.mouse.down()
  await page.mouse.move(overview.x + overview.width * 0.99, y, { steps: 4 })
  await page.mouse.up()
  await page.locator('#step-row-275').waitFor()
  await page.locator('#step-row-275 [data-kind=run]').waitFor()
  await page.getByText('◂ 50 ms').first().waitFor()
  await grid.evaluate(element => {
    element.scrollTop = element.scrollHeight
  })
  await page.getByText('50 ms ▸').first().waitFor()
})
