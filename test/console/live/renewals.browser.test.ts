// Pages without a list of their own that still follow changes: an event, unfolded children, statistics and logs of actions.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openPage, reusePage } from '../../kit/browser/page.ts'
import { child, flow, gate, openEngine, run, unique, wait } from '../../kit/index.ts'

const { api, url, runner } = await openEngine()
const at = (path: string) => `${url}/console/n/default/${path}`
const live = (page: Page) => page.getByRole('button', { name: 'Live', exact: true }).waitFor()

/** A workflow whose runs wait until they are released. */
async function gated() {
  const [app, name] = [unique('shop'), unique('gated')]
  const held = gate()
  await runner({ app, workflows: { [name]: flow([run('hold', () => held.opened.then(() => 'held'))]) } })
  return { app, name, release: () => held.open() }
}

test('the tree and the facts of an event go on with its runs', async () => {
  const { name, release } = await gated()
  const { eventId, runId } = await api.send({ name })
  await api.reaches(runId, 'running')
  const page = await reusePage(url)
  await page.goto(at(`events/${eventId}`))
  const tree = page.getByRole('region', { name: 'Tree' })
  await tree.getByText('running').waitFor()
  await live(page)
  release()
  await tree.getByText('succeeded').waitFor()
})

test('the steps of an unfolded child go on in the timeline of parent run', async () => {
  const [parent, name] = [unique('parent'), unique('young')]
  const held = gate()
  const young = flow([run('hold', () => held.opened.then(() => 'held')), wait('patience', unique('never'))])
  await runner({ workflows: { [parent]: flow([child('delegate', name)]), [name]: young } })
  const { runId } = await api.send({ name: parent })
  await api.reaches(runId, 'waiting')
  const page = await reusePage(url)
  await page.goto(at(`runs/${runId}`))
  await page.getByRole('row', { name: /^delegate, child run/ }).click()
  await page.keyboard.press('ArrowRight')
  await live(page)
  // The first frames of the timeline cause one more read of the steps.
  await page.waitForTimeout(3000)
  held.open()
  await page.getByRole('row', { name: /^hold, .*succeeded/ }).waitFor()
  await page.getByRole('row', { name: /^patience, / }).waitFor()
  // The inspector has the result of the child's step, and a link to its run.
  await page.getByRole('row', { name: /^hold, / }).click()
  const inspector = page.getByRole('complementary', { name: 'Selected step' })
  await inspector.getByText('Result', { exact: true }).waitFor()
  await inspector.getByText('"held"').waitFor()
  const [childRun] = await api.runs(`?parentRunId=${runId}`)
  await inspector.getByRole('link', { name: childRun?.id as string, exact: true }).click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
})

test('statistics and the audit log go on with the runs, ten seconds after one has moved', async () => {
  const { app, name, release } = await gated()
  const { runId } = await api.send({ name })
  await api.reaches(runId, 'running')
  const workflows = await openPage(url)
  const context = workflows.context()
  const [workflow, audit] = [await openPage(url, { context }), await openPage(url, { context })]
  for (const [page, path] of [
    [workflows, 'workflows'],
    [workflow, `workflows/${app}/${name}`],
    [audit, 'audit'],
  ] as const) {
    await page.goto(at(path))
    await live(page)
  }
  await workflows.getByRole('row', { name }).getByText('1', { exact: true }).first().waitFor()
  await api.post(`/runs/${runId}/pause`)
  release()
  await api.post(`/runs/${runId}/resume`)
  await api.succeeded(runId)
  const within = { timeout: 20_000 }
  await workflows.getByRole('row', { name }).getByText('100 %').waitFor(within)
  await workflow.getByRole('region', { name: 'Run statistics' }).getByText('100 %').waitFor(within)
  await audit
    .getByRole('row', { name: /run\.pause|pause/ })
    .first()
    .waitFor(within)
})

test('a new run is followed in its dialog by the stream: nothing is read while nothing happens', async () => {
  const [name, go] = [unique('replayed'), unique('go')]
  let passes = 0
  const first = flow([run('a')])
  const later = flow([wait('patience', go)])
  await runner({ workflows: { [name]: (invoke, record) => (passes++ < 2 ? first : later)(invoke, record) } })
  const { runId } = await api.send({ name })
  await api.succeeded(runId)
  const page = await reusePage(url)
  await page.goto(at(`runs/${runId}`))
  await page.getByRole('button', { name: 'Replay', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Replay', exact: true }).click()
  await dialog.getByRole('status').getByText('waiting').waitFor()
  const [fork] = await api.runs(`?replayOf=${runId}`)
  await page.waitForTimeout(2000)
  const reads: string[] = []
  page.on('request', request => {
    if (new URL(request.url()).pathname === `/runs/${fork?.id}`) reads.push(request.url())
  })
  await page.waitForTimeout(3000)
  expect(reads).toEqual([])
  await api.send({ name: go })
  await dialog.getByRole('status').getByText('succeeded').waitFor()
})
