// Flow control on the console: what holds a run back, live; buffers of events, flushed; a workflow that is run, paused and
// deleted by hand, and a workflow that has runs and no definition.

import type { BufferEntry, WorkflowDefinition } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { axeViolations, loaded, openPage, reusePage } from '../kit/browser/page.ts'
import { flow, gate, type Invoke, openEngine, run, unique, until, wait, waitsFor } from '../kit/index.ts'
import { Starts } from '../kit/runner/limited.ts'

const engine = await openEngine()
const { api, url } = engine
const pageOf = (path: string) => `${url}/console/n/default/${path}`

test('a held run names its holder, and the line moves live when that ends', async () => {
  const [name, free] = [unique('sync'), unique('free')]
  const handler = flow([run('begin'), wait('w', free)])
  const registration = {
    concurrency: { limit: 1, key: 'event.data.account', hold: 'run' },
    singleton: { mode: 'skip', key: 'event.data.lane' },
  }
  await engine.runner({
    workflows: { [name]: { handler: flow([run('hold', () => gated)]), registration }, [free]: handler },
  })
  const data = { account: 'acct-17' }
  const first = (await api.send({ name, data: { ...data, lane: 'lane-4' } })).runId
  await api.reaches(first, 'running')
  const second = (await api.send({ name, data })).runId
  await until(async () => (await api.run(second)).waitingFor !== undefined, { what: 'the second run to be held' })
  const page = await openPage(url)
  await page.goto(pageOf(`runs/${second}`))
  await page
    .getByRole('link', { name: new RegExp(first.slice(-8)) })
    .first()
    .waitFor()
  await page.getByText('How to raise the limit').click()
  await page.getByText('This run keeps the old one.').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.goto(pageOf('limits'))
  const row = page.getByRole('row', { name: /acct-17/ })
  await row.getByText('1 of 1').waitFor()
  await row.getByTitle('A run keeps its slot until it ends').waitFor()
  const singletons = page.getByRole('table', { name: 'Singletons' })
  await singletons.getByRole('row', { name: new RegExp(`${name}.*lane-4.*${first}`) }).waitFor()
  // Another key of the same workflow has its own line.
  const others = [
    await api.send({ name, data: { account: 'acct-18' } }),
    await api.send({ name, data: { account: 'acct-18' } }),
  ]
  await until(async () => (await api.run(others[1]?.runId as string)).waitingFor !== undefined, {
    what: 'a wait for acct-18',
  })
  await row.getByRole('button', { name: '1', exact: true }).click()
  const line = page.getByRole('dialog', { name: 'Runs waiting for key acct-17' })
  await line.getByRole('row', { name: new RegExp(second) }).waitFor()
  expect(await line.getByRole('link').count()).toBe(1)
  expect(await axeViolations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await row.getByRole('link', { name: `…${first.slice(-8)}` }).waitFor()
  expect(await row.locator('time').count()).toBe(2)
  await page.setViewportSize({ width: 380, height: 800 })
  expect(await row.getByRole('link', { name: `…${first.slice(-8)}` }).isVisible()).toBe(true)
  await page.setViewportSize({ width: 1280, height: 800 })
  expect(await axeViolations(page)).toEqual([])
  await row.getByRole('link', { name, exact: true }).click()
  // Rows are drawn only when they are on the screen.
  await page.getByRole('region', { name: 'Limits and buffers in use' }).scrollIntoViewIfNeeded()
  const hold = page.getByRole('row', { name: /concurrency.*acct-17.*1 of 1.*1 run/ })
  await hold.waitFor()
  await page.goBack()
  open()
  await api.succeeded(first)
  await api.succeeded(second)
  for (const { runId } of others) await api.succeeded(runId)
  await row.waitFor({ state: 'detached' })
  await page.getByText('No active singletons').waitFor()
})

test('steps that wait for their turn are on the page of limits, and on the page of their run', async () => {
  const name = unique('limited')
  const runner = await engine.runner({
    app: name,
    workflows: { [name]: flow([new Starts().limited('ask', 'openai')]) },
  })
  await runner.register(api, { features: ['step-limits'], limits: { openai: { limit: 1, period: '1h' } } })
  await api.succeeded((await api.send({ name })).runId)
  const { runId } = await api.send({ name })
  await waitsFor(api, runId, 'limit')
  const page = await reusePage(url)
  await page.goto(pageOf(`runs/${runId}`))
  await page.getByText('waits for its turn at the limit "openai" (1 in 1h), 0 steps ahead of it').first().waitFor()
  await page.goto(pageOf('limits'))
  const row = page
    .getByRole('table', { name: 'Limits of steps' })
    .getByRole('row', { name: new RegExp(`openai.*${name}`) })
  await row.getByText('1 of 1 in 1 h').waitFor()
  expect(await axeViolations(page)).toEqual([])
})

let open = () => {}
const gated = new Promise<null>(resolve => {
  open = () => resolve(null)
})

test('runs that wait for another limit with the same key are not counted for this one', async () => {
  const [narrow, wide, key] = [unique('narrow'), unique('wide'), unique('acct')]
  const held = gate()
  const handler = flow([run('hold', () => held.opened)])
  const limit = { key: 'event.data.account', scope: 'namespace', limit: 2 }
  const registrations = { [narrow]: [{ ...limit, scope: 'workflow', limit: 1 }, limit], [wide]: [limit] }
  const workflows = Object.entries(registrations).map(([name, concurrency]) => [
    name,
    { handler, registration: { concurrency } },
  ])
  await engine.runner({ workflows: Object.fromEntries(workflows) })
  const data = { account: key }
  const running = [await api.send({ name: narrow, data }), await api.send({ name: wide, data })]
  for (const { runId } of running) await api.reaches(runId, 'running')
  const waiting = [await api.send({ name: narrow, data }), await api.send({ name: wide, data })]
  for (const { runId } of waiting)
    await until(async () => (await api.run(runId)).waitingFor !== undefined, { what: 'a wait' })
  const page = await reusePage(url)
  await page.goto(pageOf(`limits?key=${key}`))
  const row = page.getByRole('row', { name: /namespace concurrency/ })
  await row.getByRole('button', { name: '1', exact: true }).click()
  await page.getByText('1 run waits for this limit; the others wait for another limit with the same key.').waitFor()
  held.open()
})

test('the position of a held run and its holders move while its page, or the list, is open', async () => {
  const name = unique('line')
  const gates = [gate(), gate()]
  const opened = (invoke: Invoke) => gates[(invoke.event.data as { at: number }).at]?.opened
  const handler = flow([run('hold', invoke => opened(invoke)?.then(() => 'held'))])
  await engine.runner({ workflows: { [name]: { handler, registration: { concurrency: { limit: 1 } } } } })
  const ids: string[] = []
  for (const at of [0, 1, 2]) ids.push((await api.send({ name, data: { at } })).runId)
  await until(async () => (await api.run(ids[2] as string)).waitingFor !== undefined, {
    what: 'the last run to be held',
  })
  const page = await reusePage(url)
  await page.goto(pageOf(`runs/${ids[2]}`))
  await page.getByText('; 1 run is ahead of it').waitFor()
  const list = await openPage(url)
  await list.clock.install()
  await list.goto(pageOf(`runs?workflow=${name}`))
  const row = list.getByRole('row', { name: new RegExp(ids[2]?.slice(-8) as string) })
  await row.getByText('slot, 1 ahead').waitFor()
  const holder = (id: string | undefined) => page.getByRole('link', { name: new RegExp(id?.slice(-8) as string) })
  await holder(ids[0]).waitFor()
  gates[0]?.open()
  await page.getByText('; it is next in the queue').waitFor()
  await holder(ids[1]).waitFor()
  expect(await holder(ids[0]).count()).toBe(0)
  // The row itself has no frame, so the list is read again some seconds after the others.
  await list.getByRole('row', { name: new RegExp(`succeeded.*${ids[0]?.slice(-8)}`) }).waitFor()
  await list.clock.runFor(11_000)
  await row.getByText('slot, next in queue').waitFor()
  gates[1]?.open()
  await page.getByText('It succeeded after').waitFor()
})

test('a debounce and a batch are shown with their due times, and flushed; the run has their events', async () => {
  const [app, pack, burst] = ['shop', 'pack', 'burst'].map(unique) as [string, string, string]
  const handler = flow([run('work')])
  await engine.runner({
    app,
    workflows: {
      [pack]: { handler, registration: { batch: { maxSize: 9, timeout: '1h', key: 'event.data.city' } } },
      [burst]: { handler, registration: { debounce: { period: '1h' } } },
    },
  })
  const ids = [
    await api.send({ name: pack, data: { city: 'berlin' } }),
    await api.send({ name: pack, data: { city: 'berlin' } }),
  ]
  await api.send({ name: burst })
  const page = await reusePage(url)
  await page.goto(pageOf(`workflows/${app}/${pack}`))
  const holds = page.getByRole('region', { name: 'Limits and buffers in use' })
  await holds.getByRole('row', { name: /batch.*berlin.*2 of 9.*2 events/ }).waitFor()
  expect(await holds.getByRole('row').count()).toBe(2)
  expect(await axeViolations(page)).toEqual([])
  await holds.getByRole('link', { name: 'All limits' }).click()
  await page.goto(pageOf('limits'))
  await page.getByRole('row', { name: new RegExp(burst) }).waitFor()
  const row = page.getByRole('row', { name: /berlin/ })
  await row.getByText('2 of 9').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.goto(pageOf(`limits?workflow=${burst}`))
  const buffers = page.getByRole('region', { name: 'Debounce and batch' })
  await buffers.getByRole('row', { name: new RegExp(burst) }).waitFor()
  expect(await row.count()).toBe(0)
  await page.goto(pageOf('limits?key=berlin'))
  await row.waitFor()
  expect(await buffers.getByRole('row', { name: new RegExp(burst) }).count()).toBe(0)
  await row.getByRole('button', { name: 'Flush now…' }).click()
  await page.getByRole('dialog').getByText(`A run of ${pack} starts now, with the 2 events`).waitFor()
  await page.getByRole('button', { name: 'Flush', exact: true }).click()
  await row.waitFor({ state: 'detached' })
  const [started] = await api.runs(`?workflow=${pack}`)
  expect((await api.run(started?.id as string)).eventIds).toEqual(ids.map(({ eventId }) => eventId))
  await page.goto(pageOf(`events/${ids[0]?.eventId}`))
  await page.locator(`a[href$="/runs/${started?.id}"]`).first().waitFor()
  expect((await api.get('/buffers')).json as BufferEntry[]).toMatchObject([{ workflow: burst }])
})

test('a workflow is run after a dry run, paused, resumed and deleted', async () => {
  const [app, name] = [unique('shop'), unique('order')]
  const runner = await engine.runner({ app, workflows: { [name]: flow([run('work')]) } })
  const page = await reusePage(url)
  await page.goto(pageOf(`workflows/${app}/${name}`))
  await page.getByRole('button', { name: 'Run now…' }).click()
  await page.getByRole('dialog').getByText('Run input', { exact: true }).waitFor()
  const start = page.getByRole('button', { name: 'Start', exact: true })
  expect(await start.getAttribute('aria-disabled')).toBe('true')
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByText('A run would start.').waitFor()
  expect(await api.runs(`?workflow=${name}`)).toEqual([])
  expect(await axeViolations(page)).toEqual([])
  await start.click()
  await page.getByText('It succeeded after').waitFor()
  await page.getByText('direct start').waitFor()

  const definition = async () =>
    ((await api.get(`/workflows?app=${app}`)).json as WorkflowDefinition[]).find(each => each.name === name)
  await page.goto(pageOf(`workflows/${app}/${name}`))
  const asked = gate()
  await page.route(/\/commands-view-[^/]+\.js$/, route => asked.opened.then(() => route.continue()))
  await page.getByRole('button', { name: 'Pause…' }).click()
  const pause = page.getByRole('button', { name: 'Pause', exact: true })
  const before = await pause.boundingBox()
  asked.open()
  await page.getByText('Show CLI / curl').waitFor()
  expect(await pause.boundingBox(), 'the button stays where it was').toEqual(before)
  await pause.click()
  await page.getByRole('button', { name: 'Resume' }).waitFor()
  expect((await definition())?.pausedAt).toBeDefined()
  await page.getByText('new runs stay queued until it is resumed').waitFor()
  const { runId } = await api.send({ name, app })
  await page.goto(pageOf(`workflows?app=${app}`))
  const row = page.getByRole('row', { name })
  await row.getByText('paused').waitFor()
  await row.getByRole('link', { name: '1 queued by limits' }).click()
  await page.getByRole('row', { name: new RegExp(runId.slice(-8)) }).waitFor()
  await page.goto(pageOf(''))
  await page.getByText('waits: the workflow is paused').waitFor()
  await page.goto(pageOf(`workflows/${app}/${name}`))
  await page.getByRole('link', { name: '1 in flight' }).waitFor()
  await page.getByRole('button', { name: 'Resume…' }).click()
  await page.getByRole('button', { name: 'Resume', exact: true }).click()
  await page.getByRole('button', { name: 'Pause…' }).waitFor()
  expect((await definition())?.pausedAt).toBeUndefined()

  await runner.register(api, { leaving: true })
  await page.getByRole('button', { name: 'Delete…' }).click()
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('heading', { name: 'Workflows' }).waitFor()
  expect(await definition()).toBeUndefined()
})

test('a workflow that has runs and no definition shows its runs, numbers and errors, and says that it is not registered', async () => {
  const [app, name] = [unique('shop'), unique('order')]
  const charge = ({ event: { data } }: { event: { data?: unknown } }) => {
    if (data !== undefined) throw new Error('card 4711 was refused')
    return null
  }
  const registration = { retry: { maxAttempts: 1 } }
  const runner = await engine.runner({
    app,
    workflows: { [name]: { handler: flow([run('charge', charge)]), registration } },
  })
  const ids: string[] = []
  for (const data of [undefined, { card: 4711 }]) ids.push((await api.send({ name, ...(data && { data }) })).runId)
  await api.succeeded(ids[0] as string)
  await api.reaches(ids[1] as string, 'failed')
  await runner.register(api, { leaving: true })
  expect((await api.request('DELETE', `/workflows/${app}/${name}`)).status).toBe(204)

  // A read that is refused would be an error of the page's console, which fails the test.
  const page = await reusePage(url)
  await page.goto(pageOf(`workflows/${app}/${name}`))
  await page.getByText('Not registered by any runner.').waitFor()
  const numbers = page.getByRole('region', { name: 'Run statistics' })
  await numbers.getByText('50 %').waitFor()
  // Rows are drawn only when they are on the screen.
  await page.getByRole('region', { name: 'Newest runs', exact: true }).scrollIntoViewIfNeeded()
  await page.getByRole('table', { name: 'Error groups of the workflow' }).getByText('card 4711 was refused').waitFor()
  const newest = page.getByRole('table', { name: 'Newest runs of the workflow' })
  for (const id of ids) await newest.locator(`tr[data-key="${id}"]`).waitFor()
  await loaded(page)
  expect(await page.getByRole('button', { name: 'Run now…' }).count()).toBe(0)
  expect(await axeViolations(page)).toEqual([])
})
