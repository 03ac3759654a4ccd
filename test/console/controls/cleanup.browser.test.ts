// Cleanup runs in the console: steps with rollbacks are marked, a cancel asks whether to clean up, and the pages of both runs link each
// other.

import type { RunSummary } from '@perdure/protocol'
import { createWorkflow, NonRetriableError } from '@perdure/sdk'
import { connect } from '@perdure/sdk/connect'
import { expect, onTestFinished, test } from 'vitest'
import { axeViolations, reusePage, signInUnlocked } from '../../kit/browser/page.ts'
import { type Gate, gate, onCleanup, openEngine, unique, until } from '../../kit/index.ts'
import { API_KEYS, SECRET_KEY } from '../../kit/webhook/webhooks.ts'

const engine = await openEngine({ env: { ENGINE_API_KEYS: API_KEYS } })
const api = engine.api.as(SECRET_KEY)
const trip = createWorkflow({ name: 'trip' }, async ({ step }) => {
  await step.run('hotel', () => 'h1', { rollback: () => 'left' })
  await step.run('flight', () => 'f1', {
    rollback: () => {
      throw new NonRetriableError('the airline refuses')
    },
  })
  await step.waitForEvent('approval', { event: 'approved' })
})
const holds = new Map<string, Gate>()
const tour = createWorkflow({ name: 'tour' }, async ({ event, step }) => {
  const { id, refuses } = event.data as { id: string; refuses: boolean }
  await step.run('hotel', () => 'h1', { rollback: () => holds.get(id)?.opened })
  await step.run('flight', () => 'f1', {
    rollback: () => {
      if (refuses) throw new NonRetriableError('the airline refuses')
    },
  })
  await step.waitForEvent('approval', { event: 'approved' })
})
const options = { app: 'shop', workflows: [trip, tour], engineUrl: engine.url, apiKey: SECRET_KEY, log: () => {} }
const runner = connect({ ...options, handleSignals: false })
onCleanup(() => runner.close())
await runner.ready

const followers = async (runId: string) => (await api.get(`/runs?parentRunId=${runId}`)).json as RunSummary[]

async function openWaiting() {
  const { runId } = await api.send({ name: 'trip' })
  await api.reaches(runId, 'waiting')
  const page = await reusePage(engine.url, { expected: ['401', '403'], width: 1280 })
  await signInUnlocked(page, { url: engine.url, key: SECRET_KEY, path: `runs/${runId}` })
  await page.getByRole('row', { name: /^flight, succeeded, has a rollback/ }).waitFor()
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Cancel…' }).click()
  return { runId, page, dialog: page.getByRole('dialog') }
}

test('a cancelled run links its cleanup run, which names what it could not undo, and links back', async () => {
  const { runId, page, dialog } = await openWaiting()
  await dialog.getByText('2 completed steps with a rollback are undone.').waitFor()
  expect(await dialog.getByRole('checkbox', { name: 'Run rollbacks and onCancel' }).isChecked()).toBe(true)
  expect(await axeViolations(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Cancel run' }).click()
  const cleanup = await until(async () => (await followers(runId))[0], { what: 'the cleanup run' })
  await page.getByRole('link', { name: cleanup.id.slice(-8) }).waitFor()
  await page.getByText('not undone: flight').waitFor()
  await page.getByRole('link', { name: cleanup.id.slice(-8) }).click()
  await page.getByText('Cleans up after').waitFor()
  await page.getByRole('row', { name: /^rollback:flight, failed/ }).waitFor()
  await page.getByRole('row', { name: /^rollback:hotel, succeeded/ }).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('link', { name: runId.slice(-8) }).click()
  await page.getByText('not undone: flight').waitFor()
})

test.each([
  ['succeeded', false],
  ['failed', true],
] as const)('the page of a run shows how far its cleanup is, until it has %s', async (end, refuses) => {
  const [id, hold] = [unique('tour'), gate()]
  holds.set(id, hold)
  onTestFinished(() => hold.open())
  const { runId } = await api.send({ name: 'tour', data: { id, refuses } })
  await api.reaches(runId, 'waiting')
  const page = await reusePage(engine.url, { expected: ['401', '403'], width: 1280 })
  await signInUnlocked(page, { url: engine.url, key: SECRET_KEY, path: `runs/${runId}` })
  await page.getByRole('row', { name: /^flight, succeeded/ }).waitFor()
  let reads = 0
  page.on('response', response => {
    if (response.url().includes(`/runs/${runId}/tree`)) reads++
  })
  await api.post(`/runs/${runId}/cancel`)
  const cleanup = page.locator('dt:text-is("Cleanup") + dd')
  await cleanup.getByText('running').waitFor()
  if (refuses) await cleanup.getByText('not undone: flight').waitFor()
  // The reads at the end of the run, and a moment later. Later changes are read when they happen.
  await until(() => reads >= 2)
  hold.open()
  await cleanup.getByText(end).waitFor()
  expect(await cleanup.getByText('not undone').count()).toBe(refuses ? 1 : 0)
})

test('a cancel without cleanup undoes nothing, and its commands say so', async () => {
  const { runId, page, dialog } = await openWaiting()
  await dialog.getByRole('checkbox', { name: 'Run rollbacks and onCancel' }).uncheck()
  await dialog.getByText('Completed steps are not undone.').waitFor()
  await dialog.getByText('Show CLI / curl').click()
  await dialog.getByText(`perdure runs cancel ${runId} --no-cleanup`).waitFor()
  await dialog.getByRole('button', { name: 'Cancel run' }).click()
  await page.getByRole('status').getByText('The run is cancelled').waitFor()
  await api.reaches(runId, 'cancelled')
  expect(await followers(runId)).toEqual([])
})

test('the list cancels without cleanup, too: one run, and many', async () => {
  const ids = await Promise.all([0, 1].map(async () => (await api.send({ name: 'trip' })).runId))
  for (const id of ids) await api.reaches(id, 'waiting')
  const page = await reusePage(engine.url, { expected: ['401', '403'], width: 1280 })
  await signInUnlocked(page, { url: engine.url, key: SECRET_KEY, path: 'runs?status=waiting' })
  const box = page.getByRole('checkbox', { name: 'Run rollbacks and onCancel' })
  await page.getByRole('row', { name: /trip/ }).first().waitFor()
  await page.locator('h1').focus()
  await page.keyboard.press('j')
  await page.keyboard.press('.')
  await page.getByRole('menuitem', { name: 'Cancel…' }).click()
  await box.uncheck()
  await page.getByRole('button', { name: 'Cancel run', exact: true }).click()
  await page.getByRole('status').getByText('The run is cancelled').waitFor()
  await page
    .getByRole('row', { name: /trip.*waiting|waiting.*trip/ })
    .first()
    .waitFor()
  await page.locator('h1').focus()
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await page.getByText('1 run selected').waitFor()
  await page.getByRole('button', { name: 'Cancel…' }).click()
  await box.uncheck()
  await page.getByRole('button', { name: 'Cancel 1 run' }).click()
  await page.getByText('1 done, 0 skipped, 0 failed').waitFor()
  for (const id of ids) {
    expect((await api.run(id)).status).toBe('cancelled')
    expect(await followers(id)).toEqual([])
  }
})
