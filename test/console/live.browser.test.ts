// Live data in the browser: one stream for all tabs, a page that does not move under load, and an engine that is killed and comes
// back.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openFrameServer } from '../kit/browser/frame-server.ts'
import { openPage } from '../kit/browser/page.ts'
import {
  flow,
  type OpenEngine,
  onCleanup,
  openEngine,
  returned,
  run,
  startEngine,
  unique,
  until,
  wait,
} from '../kit/index.ts'
import { freePort } from '../kit/servers/free-port.ts'

/** Runs in the page: counts the rounds of changes in the rows. */
const COUNT_CHANGES = `{
  window.changes = 0
  new MutationObserver(() => window.changes++).observe(document.querySelector('tbody'), {
    subtree: true, childList: true, characterData: true, attributes: true,
  })
}`

const runsOf = (url: string, query = '') => `${url}/console/n/default/runs${query}`
/** Waits until the engine has one connection with topics, and none of another stream. */
async function oneStream({ api }: Pick<OpenEngine, 'api'>): Promise<void> {
  const counts = async () => {
    const { text } = await api.get('/metrics')
    return ['topics', 'runs', 'events'].map(kind => text.match(`perdure_streams_open{kind="${kind}"} (\\d+)`)?.[1])
  }
  await until(async () => (await counts()).join() === '1,0,0', { what: 'one stream' })
}

async function openTabs(engine: OpenEngine, paths: readonly string[], prepare?: (page: Page) => Promise<unknown>) {
  const tabs: Page[] = []
  for (const path of paths) {
    const context = tabs[0]?.context()
    const page = await openPage(engine.url, context ? { context } : {})
    await prepare?.(page)
    await page.goto(`${engine.url}/console/n/default/${path}`)
    await page.locator('h1').waitFor()
    tabs.push(page)
  }
  return tabs
}

test('eight tabs have one stream; the first is closed, and the others go on', async () => {
  const engine = await openEngine()
  const name = unique('order')
  await engine.runner({ workflows: { [name]: flow([run('a', () => 1), wait('w', `${name}.go`)]) } })
  const { runId } = await engine.api.send({ name })
  const page = `runs/${runId}`
  const tabs = await openTabs(engine, ['runs', 'runs', page, 'runs', page, 'runs', 'runs', page])
  await oneStream(engine)
  await tabs[0]?.close()
  await engine.api.send({ name: `${name}.go` })
  for (const [i, tab] of tabs.entries()) {
    if (i === 0) continue
    if ([2, 4, 7].includes(i)) await tab.getByText('It succeeded after').waitFor()
    else await tab.getByRole('row', { name: /succeeded/ }).waitFor()
  }
  await oneStream(engine)
})

test('without SharedWorker one tab has the stream; when it is closed, another has', async () => {
  const engine = await openEngine()
  const name = unique('order')
  await engine.runner({ workflows: { [name]: () => returned(1) } })
  await engine.api.send({ name })
  const tabs = await openTabs(engine, ['runs', 'runs', 'runs'], page =>
    page.addInitScript({ content: 'delete window.SharedWorker' }),
  )
  for (const tab of tabs) await tab.getByRole('button', { name: 'Live', exact: true }).waitFor()
  await oneStream(engine)
  await tabs[0]?.close()
  await engine.api.send({ name })
  for (const tab of tabs.slice(1))
    await tab
      .getByRole('row', { name: /succeeded/ })
      .nth(1)
      .waitFor()
  await oneStream(engine)
})

test('an engine is killed and started in mid-run: no frame of the run is lost, and the list is read again once', async () => {
  const engine = await startEngine({ args: ['--port', String(await freePort())] })
  const name = unique('order')
  const log = (text: string) => run(text, () => text)
  const stages = [log('a'), wait('w1', `${name}.one`), log('b'), wait('w2', `${name}.two`), log('c')]
  await engine.runner({ workflows: { [name]: flow(stages) } })
  const { runId } = await engine.api.send({ name })
  const expected = ['ERR_CONNECTION_REFUSED', 'ERR_INCOMPLETE_CHUNKED_ENCODING', 'ERR_CONNECTION_RESET', 'ERR_EMPTY']
  const list = await openPage(engine.url, { expected })
  await list.goto(runsOf(engine.url))
  const page = await openPage(engine.url, { expected, context: list.context() })
  await page.goto(runsOf(engine.url, `/${runId}`))
  await page.getByRole('row', { name: /^a, succeeded/ }).waitFor()
  await list.getByRole('button', { name: 'Live', exact: true }).waitFor()
  await engine.kill9()
  for (const tab of [list, page])
    await tab.getByRole('button', { name: /^(Reconnecting \d+ s|Stale since \d\d:\d\d:\d\d)$/ }).waitFor()
  const reads: string[] = []
  list.on('request', request => {
    if (/\/runs\?/.test(request.url())) reads.push(request.url())
  })
  await engine.start()
  await engine.api.send({ name: `${name}.one` })
  // The pauses between attempts have grown.
  for (const tab of [list, page])
    await tab.getByRole('button', { name: 'Live', exact: true }).waitFor({ timeout: PATIENCE_MS })
  expect(reads).toHaveLength(1)
  await engine.api.send({ name: `${name}.two` })
  await page.getByText('It succeeded after').waitFor()
  for (const step of ['a', 'b', 'c']) await page.getByRole('row', { name: new RegExp(`^${step}, succeeded`) }).waitFor()
  await list.getByRole('row', { name: /succeeded/ }).waitFor()
  // The slider of the run has a stop for each frame that changed something.
  const stops = async () => {
    await page.keyboard.press('[')
    return page.getByRole('slider', { name: 'Position in the run' }).getAttribute('max')
  }
  const live = await stops()
  await page.reload()
  await page.getByText('It succeeded after').waitFor()
  await until(async () => (await stops()) === live, { what: 'the same frames' })
  expect(reads).toHaveLength(1)
})

/** The time that a busy machine may need. */
const PATIENCE_MS = 40_000

const loaded = await openEngine()
const waiting = unique('load')
await loaded.runner({ workflows: { [waiting]: flow([wait('w', `${waiting}.never`)]) } })
const sent = await Promise.all(Array.from({ length: 200 }, () => loaded.api.send({ name: waiting })))
const runIds = sent.map(({ runId }) => runId)
await until(async () => (await loaded.api.runs('?status=waiting&limit=200')).length === runIds.length)

/** The list of 200 waiting runs, on a server that can send frames for them. */
async function openLoad() {
  const server = await openFrameServer(loaded.url)
  onCleanup(() => server.close())
  const page = await openPage(server.url)
  await page.goto(runsOf(server.url))
  await page.getByRole('button', { name: 'Live', exact: true }).waitFor()
  await page
    .getByRole('row', { name: /waiting/ })
    .nth(20)
    .waitFor()
  await until(() => server.streams === 1)
  return { server, page, rows: page.locator('tbody tr[data-key]') }
}

/** The first rows with their positions on the screen. */
const placesOf = (page: Page) =>
  page
    .locator('tbody tr[data-key]')
    .evaluateAll(rows =>
      rows.slice(0, 20).map(row => ({ key: row.getAttribute('data-key'), top: row.getBoundingClientRect().top })),
    )

test('2,000 frames a second: few changes of the page, no row moves under the pointer, new runs are counted', async () => {
  const { server, page, rows } = await openLoad()
  await rows.nth(3).hover()
  const before = await placesOf(page)
  const reads: string[] = []
  page.on('request', request => reads.push(request.url()))
  server.send(runIds, 2000)
  server.sendOnce(Array.from({ length: 38 }, (_, i) => `run_ZZZZ${i}`))
  await page.getByRole('button', { name: '▲ 38 new' }).waitFor()
  await page.evaluate(COUNT_CHANGES)
  const from = performance.now()
  await page.waitForTimeout(5000)
  const seconds = (performance.now() - from) / 1000
  const changes = await page.evaluate<number>('window.changes')
  server.send([], 0)
  expect(await placesOf(page)).toEqual(before)
  // Four flushes and one clock tick per second; each may change the page in two rounds.
  expect(changes / seconds).toBeLessThan(11)
  expect(changes).toBeGreaterThan(seconds)
  // The look at the run under the pointer and the counts beside the sections have separate reads.
  expect(reads.filter(url => new URL(url).pathname === '/runs')).toEqual([])
})

test('a selection holds the rows; paused, nothing changes and what comes is counted; above 5,000 a second it samples', async () => {
  const { server, page, rows } = await openLoad()
  const first = rows.first()
  await first.getByRole('checkbox').check()
  const before = await placesOf(page)
  server.sendOnce(['run_ZZZZ'])
  await page.getByRole('button', { name: '▲ 1 new' }).waitFor()
  server.sendOnce([before[0]?.key as string])
  await first.getByText('step').waitFor()
  expect(await placesOf(page)).toEqual(before)
  await page.locator('h1').focus()
  await page.keyboard.press('l')
  await page.getByRole('banner').getByRole('button', { name: 'Paused' }).waitFor()
  // The time since the start of the run keeps changing.
  const shown = async () =>
    (await first.innerText()).replaceAll(/\bnow\b|\b[\d.]+ (?:ms|s|seconds?|min|minutes?)(?: ago)?\b/g, 'a while')
  const text = await shown()
  server.sendOnce(runIds)
  await page.getByRole('button', { name: 'Paused · 200 held' }).waitFor()
  expect(await shown()).toBe(text)
  await page.keyboard.press('l')
  await page.getByRole('button', { name: 'Live', exact: true }).waitFor()
  server.send(runIds, 12_000)
  await page.getByRole('button', { name: 'Live · sampling' }).waitFor()
  server.send([], 0)
  await page.getByRole('button', { name: 'Live', exact: true }).waitFor()
})
