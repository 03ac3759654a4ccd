// Pages that follow the stream: the log of events and the deliveries, the progress of runs, and bars that stand still for people
// who prefer no motion.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openFrameServer } from '../kit/browser/frame-server.ts'
import { axeViolations, enterKey, openPage, reusePage } from '../kit/browser/page.ts'
import {
  flow,
  gate,
  onCleanup,
  opcode,
  openDestination,
  openEngine,
  returned,
  run,
  unique,
  until,
  wait,
} from '../kit/index.ts'
import { answeredWith, ScriptedTransport } from '../kit/runner/scripted-transport.ts'
import { answer } from '../kit/servers/raw-server.ts'
import { API_KEYS, SECRET_KEY, Webhooks } from '../kit/webhook/webhooks.ts'

const engine = await openEngine()
const { api, url } = engine
const at = (path: string, origin = url) => `${origin}/console/n/default/${path}`
const live = (page: Page) => page.getByRole('button', { name: 'Live', exact: true }).waitFor()
/** The rows with their positions on the screen. */
const placesOf = (page: Page) =>
  page
    .locator('tbody tr[data-key]')
    .evaluateAll(rows => rows.map(row => [row.getAttribute('data-key'), row.getBoundingClientRect().top]))

/** Collects the reads of a page's list, with their times. The counts beside the sections have separate reads. */
function readsOf(page: Page, path: string): number[] {
  const reads: number[] = []
  page.on('request', request => {
    const { pathname, searchParams } = new URL(request.url())
    if (pathname === path && searchParams.get('limit') !== '20') reads.push(performance.now())
  })
  return reads
}

test('events come in at the top by themselves, at most every two seconds; under the pointer they are counted', async () => {
  const name = unique('order.placed')
  for (let i = 0; i < 3; i++) await api.send({ name, data: { i } })
  const page = await reusePage(url)
  await page.goto(at(`events?name=${name}`))
  const rows = page.locator('tbody tr[data-key]')
  await expect.poll(() => rows.count()).toBe(3)
  await live(page)
  const reads = readsOf(page, '/events')
  // A burst with an event every tenth of a second: one read at once, and one two seconds later.
  const begunAt = performance.now()
  for (let i = 0; i < 12; i++) {
    await api.send({ name })
    await api.send({ name: unique('another') })
    await page.waitForTimeout(100)
  }
  await expect.poll(() => rows.count()).toBe(15)
  // On a busy machine the burst takes longer, and the test may notice a read late.
  expect(reads.length).toBeLessThanOrEqual(1 + Math.ceil((performance.now() - begunAt) / 2000))
  await rows.nth(1).hover()
  const before = await placesOf(page)
  const readsBefore = reads.length
  for (let i = 0; i < 3; i++) await api.send({ name })
  await page.getByRole('button', { name: '▲ 3 new' }).waitFor()
  await page.waitForTimeout(2500)
  expect(await placesOf(page)).toEqual(before)
  expect(reads).toHaveLength(readsBefore)
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('button', { name: '▲ 3 new' }).click()
  await expect.poll(() => rows.count()).toBe(18)
})

/** The page of the events of that name, with its first event, once it is live. */
async function openEvents(name: string) {
  await api.send({ name })
  const page = await openPage(url)
  await page.goto(at(`events?name=${name}`))
  const rows = page.locator('tbody tr[data-key]')
  await expect.poll(() => rows.count()).toBe(1)
  await live(page)
  return { page, rows }
}

test('events that come while the list is read are read next, though that answer lacks them', async () => {
  const name = unique('order.between')
  const { page, rows } = await openEvents(name)
  const answered = gate()
  const release = gate()
  await page.route(
    address => address.pathname === '/events' && address.searchParams.get('limit') !== '20',
    async route => {
      const response = await route.fetch()
      answered.open()
      await release.opened
      await route.fulfill({ response })
    },
    { times: 1 },
  )
  await api.send({ name })
  await answered.opened
  for (let i = 0; i < 2; i++) await api.send({ name })
  await page.getByRole('button', { name: '▲ 2 new' }).waitFor()
  release.open()
  await expect.poll(() => rows.count()).toBe(4)
})

test('a run that ends while the list is read is shown ended, though that answer has it waiting', async () => {
  const name = unique('order')
  await engine.runner({ workflows: { [name]: flow([run('a', () => 1), wait('w', `${name}.go`)]) } })
  const page = await reusePage(url)
  await page.goto(at(`runs?workflow=${name}`))
  await live(page)
  const [answered, release] = [gate(), gate()]
  await page.route(
    address => address.pathname === '/runs',
    async route => {
      const response = await route.fetch()
      if (!(await response.text()).includes(name)) return route.fulfill({ response })
      answered.open()
      await release.opened
      await route.fulfill({ response })
    },
  )
  const { runId } = await api.send({ name })
  await answered.opened
  await api.send({ name: `${name}.go` })
  await api.succeeded(runId)
  await api.send({ name })
  await page.getByRole('button', { name: '▲ 2 new' }).waitFor()
  release.open()
  await page.getByRole('row', { name: /succeeded/ }).waitFor()
})

test('a hidden tab reads nothing for new events, and once when it is shown', async () => {
  const name = unique('order.unseen')
  const { page, rows } = await openEvents(name)
  const show = (isShown: boolean) =>
    page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${!isShown}, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))`)
  await show(false)
  const reads = readsOf(page, '/events')
  for (let i = 0; i < 3; i++) await api.send({ name })
  await page.getByRole('button', { name: '▲ 3 new' }).waitFor()
  await page.waitForTimeout(2500)
  expect(reads).toHaveLength(0)
  await show(true)
  await expect.poll(() => rows.count()).toBe(4)
  expect(reads).toHaveLength(1)
})

test('a paused log of events reads nothing and changes nothing until it goes on, then it is read once', async () => {
  const name = unique('order.paused')
  const { page, rows } = await openEvents(name)
  await page.locator('h1').focus()
  await page.keyboard.press('l')
  const banner = page.getByRole('banner')
  await banner.getByRole('button', { name: 'Paused' }).waitFor()
  const reads = readsOf(page, '/events')
  for (let i = 0; i < 4; i++) await api.send({ name })
  await banner.getByRole('button', { name: 'Paused · 4 held' }).waitFor()
  await page.waitForTimeout(2500)
  expect(reads).toEqual([])
  expect(await rows.count()).toBe(1)
  await page.keyboard.press('l')
  await expect.poll(() => rows.count()).toBe(5)
  expect(reads).toHaveLength(1)
})

test('deliveries change in their rows without a read; new ones come in at the top, or are counted', async () => {
  const keyed = await openEngine({
    env: { ENGINE_API_KEYS: API_KEYS, ENGINE_WEBHOOK_ALLOW_PRIVATE: '1', ENGINE_WEBHOOK_SCHEDULE: '2s,2s,2s,2s,2s,2s' },
  })
  const as = keyed.api.as(SECRET_KEY)
  const webhooks = new Webhooks(as)
  let isDown = true
  const destination = await openDestination(request => answer(request, isDown ? 500 : 200, ''))
  await webhooks.endpoint({ url: destination.url, eventKinds: ['run.succeeded'] })
  const app = unique('shop')
  const runner = await engine.runner({ app, workflows: { order: () => returned(1) } })
  await runner.register(as)
  const page = await openPage(keyed.url, { expected: ['401'] })
  await page.goto(at('webhooks/deliveries', keyed.url))
  await enterKey(page, SECRET_KEY)
  await page.getByText('No deliveries yet').waitFor()
  await live(page)
  await as.succeeded((await as.send({ name: 'order', app })).runId)
  const row = page.locator('tbody tr[data-key]')
  await row.locator('td:nth-child(2)', { hasText: 'failed' }).waitFor()
  await row.hover()
  const place = await placesOf(page)
  const reads = readsOf(page, '/webhook-deliveries')
  isDown = false
  await row.locator('td:nth-child(2)', { hasText: 'succeeded' }).waitFor()
  await as.succeeded((await as.send({ name: 'order', app })).runId)
  await page.getByRole('button', { name: '▲ 1 new' }).waitFor()
  expect(await placesOf(page)).toEqual(place)
  expect(reads).toEqual([])
  await page.getByRole('button', { name: '▲ 1 new' }).click()
  await expect.poll(() => row.count()).toBe(2)
})

test('the progress of a run is a bar with its text and time, live on its page, in the list and in the look', async () => {
  const transport = new ScriptedTransport()
  const scripted = await openEngine({ ports: { transport } })
  const name = unique('import')
  const steps = [{ done: 3, total: 10 }, 12345678901, 0.75].map(value => ({ value, held: gate() }))
  transport.scripts.set(name, async ({ no }) => {
    const step = steps[no - 1]
    await steps[no - 2]?.held.opened
    if (!step) return answeredWith({ status: 200, body: { logs: [], data: 1 } })
    const opcodes = [opcode('StepRun', `s${no}`, { data: 1 })]
    return answeredWith({ status: 206, body: { logs: [], opcodes, progress: step.value } })
  })
  const features = ['attributes']
  const runner = { app: name, url: 'http://127.0.0.1:9/', protocolVersion: 1, features, workflows: [{ name }] }
  expect((await scripted.api.post('/register', runner)).status).toBe(200)
  const list = await openPage(scripted.url)
  await list.goto(at('runs', scripted.url))
  await live(list)
  const { runId } = await scripted.api.send({ name })
  const row = list.locator('tbody tr[data-key]')
  await row.getByText('3 of 10').waitFor()
  expect(await row.getByRole('progressbar', { name: 'Progress' }).getAttribute('value')).toBe('0.3')
  const text = row.getByText('3 of 10')
  expect(await text.evaluate(element => element.scrollWidth <= element.clientWidth), 'the text is whole').toBe(true)
  const page = await openPage(scripted.url, { context: list.context(), colorScheme: 'dark' })
  await page.goto(at(`runs/${runId}`, scripted.url))
  const fact = page.locator('dl > div').filter({ hasText: 'Progress' })
  await fact.getByText('3 of 10').waitFor()
  await fact.locator('time').waitFor()
  expect(await axeViolations(page)).toEqual([])
  expect(await axeViolations(list)).toEqual([])
  const reads = readsOf(page, `/runs/${runId}`)
  steps[0]?.held.open()
  await fact.getByText('12345678901').waitFor()
  expect(await fact.getByRole('progressbar').count()).toBe(0)
  await row.getByText('12345678901').waitFor()
  expect(reads.length).toBeLessThanOrEqual(1)
  await list.locator('h1').focus()
  for (const key of ['j', 'Space']) await list.keyboard.press(key)
  const peek = list.getByRole('complementary', { name: 'Preview of the run' })
  await peek.getByText('12345678901').waitFor()
  steps[1]?.held.open()
  await peek.getByText('75 %').waitFor()
  await fact.getByText('75 %').waitFor()
  expect(await fact.getByRole('progressbar').getAttribute('value')).toBe('0.75')
  expect(await row.getByRole('progressbar').getAttribute('value')).toBe('0.75')
  steps[2]?.held.open()
  await page.getByText('It succeeded after').waitFor()
  await fact.getByText('75 %').waitFor()
  await row.getByText('75 %').waitFor({ state: 'detached' })
})

test.each([
  ['stand still', false],
  ['grow', true],
])('the bars of a run that goes on %s when motion is %s', async (_, moves) => {
  const name = unique('slow')
  await engine.runner({ workflows: { [name]: flow([run('a', () => 1), wait('w', `${name}.never`)]) } })
  const { runId } = await api.send({ name })
  await api.reaches(runId, 'waiting')
  const page = await openPage(url, { moves })
  await page.clock.install()
  await page.goto(at(`runs/${runId}`))
  const bars = page.locator('[id^="step-row-"] [data-kind]')
  await expect.poll(() => bars.count()).toBe(2)
  await live(page)
  // The frames of the timeline ask for one more read of the steps.
  const renewed = page.waitForResponse(/\/steps/)
  await page.clock.runFor(3000)
  await renewed
  await page.waitForTimeout(300)
  const places = () => bars.evaluateAll(all => all.map(bar => bar.getAttribute('style')))
  const age = () => page.locator('dl > div').filter({ hasText: 'Age' }).innerText()
  const [before, ageBefore] = [await places(), await age()]
  await page.clock.runFor(60_000)
  await expect.poll(age).not.toBe(ageBefore)
  if (moves) expect(await places()).not.toEqual(before)
  else expect(await places()).toEqual(before)
})

test('in a flood of progress the list changes four times a second', async () => {
  const name = unique('flood')
  await engine.runner({ workflows: { [name]: flow([wait('w', `${name}.never`)]) } })
  const { runId } = await api.send({ name })
  await api.reaches(runId, 'waiting')
  const server = await openFrameServer(url)
  onCleanup(() => server.close())
  const page = await openPage(server.url)
  await page.goto(at(`runs?workflow=${name}`, server.url))
  const row = page.locator(`tbody tr[data-key="${runId}"]`)
  await row.waitFor()
  await until(() => server.streams === 1)
  await live(page)
  await page.evaluate(`{
    window.changes = 0
    new MutationObserver(() => window.changes++).observe(document.querySelector('tbody'), {
      subtree: true, childList: true, characterData: true, attributes: true,
    })
  }`)
  const from = performance.now()
  let seq = 10
  while (performance.now() - from < 3000) {
    const frames = Array.from({ length: 20 }, () => ({ kind: 'progress', runId, seq: ++seq, value: seq, ...of(name) }))
    server.write(frames)
    await page.waitForTimeout(10)
  }
  const seconds = (performance.now() - from) / 1000
  const changes = await page.evaluate<number>('window.changes')
  await row.getByText(String(seq), { exact: true }).waitFor()
  expect(changes).toBeGreaterThan(seconds)
  // Four flushes and one clock tick per second; each may change the page in two rounds.
  expect(changes / seconds).toBeLessThan(11)
  // An older report that arrives late changes nothing; the status next to it is shown.
  server.write([
    { kind: 'progress', runId, seq: seq - 5, value: 'older', ...of(name) },
    { kind: 'run_status', runId, seq: seq + 1, status: 'running', currentStepName: 'later', ...of(name) },
  ])
  await row.getByText('running').waitFor()
  await row.getByText(String(seq), { exact: true }).waitFor()
  expect(await row.getByText('older').count()).toBe(0)
})

const of = (name: string) => ({ workflow: name, app: name, ts: new Date().toISOString() })
