// The family of a run as a graph: its event, children, emitted events, replays and continuing runs are links, each with a line
// from its origin. Arrow keys move along the lines, and the list has the same runs.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { axeViolations, reusePage } from '../../kit/browser/page.ts'
import { child, emit, flow, type Handler, openEngine, openRunner, run, unique } from '../../kit/index.ts'

const engine = await openEngine()
const { api, url } = engine

async function opened(runId: string, options: { width?: number } = {}): Promise<Page> {
  const page = await reusePage(url, options)
  await page.goto(`${url}/console/n/default/runs/${runId}?tab=tree&as=graph`)
  await page.getByRole('list', { name: 'Runs and events' }).waitFor()
  return page
}

/** Whether the graph is wider than its frame, and whether the run itself is in the visible part. */
const IN_SIGHT = `(() => {
  const frame = document.querySelector('[data-graph]')
  const [outer, own] = [frame, frame.querySelector('[aria-current]')].map(each => each.getBoundingClientRect())
  return { scrolls: frame.scrollWidth > frame.clientWidth, isSeen: own.left >= outer.left && own.right <= outer.right }
})()`

/** The labels of the lines, sorted. */
const WORDS = `[...document.querySelectorAll('[role=tabpanel] svg text')].map(each => each.textContent).sort()`

test('the tree becomes a graph, whose nodes are links and whose lines say how each came about', async () => {
  const [order, pay, mail] = [unique('order'), unique('pay'), unique('mail')]
  const kid = flow([run('charge', () => 1)])
  await engine.runner({
    workflows: { [order]: flow([child('pay it', pay), emit('tell', mail)]), [pay]: kid, [mail]: kid },
  })
  const { runId } = await api.send({ name: order })
  await api.succeeded(runId)
  const replay = (await api.post(`/runs/${runId}/replay`)).json as { id: string }
  await api.succeeded(replay.id)
  const page = await reusePage(url)
  await page.goto(`${url}/console/n/default/runs/${runId}?tab=tree`)
  await page.getByRole('button', { name: 'Graph', exact: true }).click()
  await page.waitForURL(/as=graph/)
  const nodes = page.getByRole('list', { name: 'Runs and events' }).getByRole('link')
  const event = nodes.and(page.locator('[data-type=event]')).first()
  await event.waitFor()
  const own = page.getByRole('link', { name: new RegExp(`^${order}\\s+this run\\s*succeeded\\s*${runId.slice(-8)}`) })
  await own.waitFor()
  await page
    .getByRole('link', { name: new RegExp(`^${pay}\\s+child\\s*succeeded.*by step pay it$`) })
    .first()
    .waitFor()
  await page
    .getByRole('link', { name: new RegExp(`^${order}\\s+replay\\s*succeeded\\s*${replay.id.slice(-8)}`) })
    .waitFor()
  await page
    .getByRole('link', { name: new RegExp(`^${mail}\\s+emitted\\s*event\\s*by step tell$`) })
    .first()
    .waitFor()
  await expect
    .poll(() => page.evaluate<string[]>(WORDS))
    .toEqual(['child', 'child', 'emitted', 'emitted', 'replay', 'started', 'started', 'started'])
  // Along the lines: from the event to the run, to its first child, and down and up its column.
  await event.focus()
  const focused = () => page.evaluate<string>('document.activeElement.textContent')
  await page.keyboard.press('ArrowRight')
  expect(await focused()).toContain('this run')
  await page.keyboard.press('ArrowRight')
  const first = await focused()
  await page.keyboard.press('ArrowDown')
  expect(await focused()).not.toBe(first)
  await page.keyboard.press('ArrowUp')
  expect(await focused()).toBe(first)
  await page.keyboard.press('ArrowLeft')
  expect(await focused()).toContain('this run')
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    expect(await axeViolations(page)).toEqual([])
  }
  // Another run of the graph opens with its own graph, and the list has the same runs.
  await page
    .getByRole('link', { name: new RegExp(`^${pay}\\s+child`) })
    .first()
    .press('Enter')
  await page.getByRole('heading', { level: 1, name: pay }).waitFor()
  await page.getByRole('link', { name: new RegExp(`^${pay}\\s+this run`) }).waitFor()
  await page.getByRole('button', { name: 'List', exact: true }).click()
  await page.getByRole('tabpanel').getByRole('listitem').getByText('this run').waitFor()
  expect(page.url()).not.toContain('as=')
})

test('runs that continue each other are beside the run, in the graph and in the list', async () => {
  const name = unique('chain')
  const countdown: Handler = ({ event }) => {
    const { left } = event.data as { left: number }
    const body = left > 0 ? { continueAs: { data: { left: left - 1 } } } : { data: 'the end' }
    return { status: 200, body: { ...body, logs: [] } }
  }
  const runner = await openRunner({ workflows: { [name]: countdown } })
  await runner.register(api, { features: ['continue-as'] })
  const { runId } = await api.send({ name, data: { left: 2 } })
  await api.succeeded(runId)
  const { continuedAs: middle = '' } = await api.run(runId)
  await api.succeeded(middle)
  const { continuedAs: last = '' } = await api.run(middle)
  const page = await opened(middle)
  expect(await page.evaluate(WORDS)).toEqual(['continued', 'continued'])
  await page.getByRole('link', { name: new RegExp(`^${name}\\s*succeeded\\s*${runId.slice(-8)}`) }).waitFor()
  await page
    .getByRole('link', { name: new RegExp(`^${name}\\s+continued\\s*succeeded\\s*${last.slice(-8)}`) })
    .waitFor()
  await page.getByRole('link', { name: /this run/ }).focus()
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('Enter')
  await page.waitForURL(new RegExp(runId))
  await page.getByRole('button', { name: 'List', exact: true }).click()
  const panel = page.getByRole('tabpanel')
  await panel.getByText('continued as').waitFor()
  await panel.getByRole('link', { name }).first().click()
  await page.waitForURL(new RegExp(middle))
  await page.getByRole('tab', { name: 'Tree' }).click()
  await panel.getByText('continues', { exact: true }).waitFor()
})

test('of many children a few are drawn, and the others are counted; on a phone the graph scrolls by itself', async () => {
  const [parent, kid] = [unique('parent'), unique('kid')]
  const children = Array.from({ length: 30 }, (_, i) => child(`c${i}`, kid))
  await engine.runner({ workflows: { [parent]: flow([children]), [kid]: flow([run('a', () => 1)]) } })
  const { runId } = await api.send({ name: parent })
  await api.succeeded(runId)
  const page = await opened(runId, { width: 380 })
  const more = page.getByRole('link', { name: '19 more runs' })
  await more.waitFor()
  expect(await page.evaluate('document.querySelector("main").scrollWidth')).toBeLessThanOrEqual(380)
  expect(await page.evaluate(IN_SIGHT)).toEqual({ scrolls: true, isSeen: true })
  expect(await axeViolations(page)).toEqual([])
  await more.click()
  await expect.poll(() => page.getByRole('tabpanel').getByRole('link', { name: kid }).count()).toBe(30)
})

test('a tree that cannot be read says why, in the place of the graph', async () => {
  const name = unique('order')
  await engine.runner({ workflows: { [name]: flow([run('a', () => 1)]) } })
  const { runId } = await api.send({ name })
  await api.succeeded(runId)
  const page = await reusePage(url, { expected: ['status of 400'] })
  const body = JSON.stringify({ error: { code: 'invalid_request', message: 'no tree today', requestId: 'req_1' } })
  await page.route('**/tree', route => route.fulfill({ status: 400, contentType: 'application/json', body }))
  await page.goto(`${url}/console/n/default/runs/${runId}?tab=tree&as=graph`)
  await page.getByText('no tree today').waitFor()
  expect(await axeViolations(page)).toEqual([])
})
