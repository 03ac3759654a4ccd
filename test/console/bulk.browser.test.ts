// Bulk jobs in the console: all runs that match are counted first, the number is typed, the page of the job shows progress,
// survives a reload and stops the job; its counts equal those of the audit log. The job is repeated for the failed runs.

import type { Bulk, BulkPreview, ControlAction } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { axeViolations, reusePage } from '../kit/browser/page.ts'
import { openEngine, returned, unique, until } from '../kit/index.ts'

const engine = await openEngine()
const app = unique('shop')
await engine.runner({ app, workflows: { order: () => returned({ ok: true }) } })
const RUNS = 120
const sent = await Promise.all(Array.from({ length: RUNS }, () => engine.api.send({ name: 'order', app })))
for (const { runId } of sent) await engine.api.succeeded(runId)

const jobs = async () => (await engine.api.get('/bulk')).json as Bulk[]
const countOf = async (filter: object) => {
  const { json } = await engine.api.post('/bulk', { action: 'replay', filter, dryRun: true })
  return (json as BulkPreview).matched
}
const audited = async (action: string) =>
  (await engine.api.get(`/control-actions?action=${action}`)).json as ControlAction[]

test('all that match are replayed once the number is typed; the counts are those of the audit log', async () => {
  const page = await reusePage(engine.url)
  await page.goto(`${engine.url}/console/n/default/runs?app=${app}&status=succeeded`)
  await page.getByRole('row', { name: /order/ }).first().waitFor()
  await page.locator('h1').focus()
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await page.getByText('1 run selected').waitFor()
  await page.getByRole('button', { name: 'Select all matching' }).click()
  await page.getByText(`All ${RUNS} runs matching`).waitFor()
  await page.getByRole('button', { name: 'Replay…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(`${RUNS} matched, ${RUNS} can be replayed`).waitFor()
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Cancel')
  expect(await axeViolations(page)).toEqual([])
  const confirm = dialog.getByRole('button', { name: `Replay ${RUNS}` })
  expect(await confirm.getAttribute('aria-disabled')).toBe('true')
  await dialog.getByLabel(`Type ${RUNS} to confirm`).fill('12')
  expect(await confirm.getAttribute('aria-disabled')).toBe('true')
  await dialog.getByLabel(`Type ${RUNS} to confirm`).fill(String(RUNS))
  await confirm.click()
  await page.getByRole('heading', { name: /^Bulk replay: / }).waitFor()
  await page.getByText(`${RUNS} done, 0 skipped, 0 failed`).waitFor()
  await page.reload()
  await page.getByText(`${RUNS} done, 0 skipped, 0 failed`).waitFor()
  await page
    .getByRole('row', { name: /done.*run_.*run_/ })
    .first()
    .waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('link', { name: `succeeded ${RUNS}` }).waitFor()
  await page.getByRole('link', { name: 'bulk.replay' }).click()
  await page.getByTitle(`done: ${RUNS} matched, ${RUNS} done, 0 skipped, 0 failed`).waitFor()
  const [job] = await jobs()
  const entries = (await audited('bulk.replay')).filter(
    ({ detail }) => (detail as { done?: number }).done !== undefined,
  )
  expect(entries.map(({ detail }) => detail)).toMatchObject([{ bulkId: job?.id, matched: RUNS, done: RUNS }])
  await page
    .getByRole('link', { name: job?.id ?? '' })
    .first()
    .click()
  await page.getByRole('heading', { name: /^Bulk replay: / }).waitFor()
  await page.getByRole('link', { name: 'All bulk jobs' }).click()
  await page.getByRole('row', { name: /replay.*app:/ }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('Space')
  const look = page.getByRole('complementary', { name: 'Preview of a row in Bulk jobs' })
  await look.getByText(`${RUNS} done, 0 skipped, 0 failed of ${RUNS}`).waitFor()
  expect(await axeViolations(page)).toEqual([])
})

test('all that match a text and a pattern are counted, and a selection of rows goes by their ids', async () => {
  const page = await reusePage(engine.url, { colorScheme: 'dark' })
  await page.goto(`${engine.url}/console/n/default/runs?app=${app}&workflow=ord*&q=RUN_&deep=1`)
  await page.getByRole('row', { name: /order/ }).first().waitFor()
  const boxes = page.getByRole('checkbox', { name: /Select row/ })
  await boxes.nth(0).click()
  await boxes.nth(3).click({ modifiers: ['Shift'] })
  await page.getByText('4 runs selected').waitFor()
  const all = page.getByRole('button', { name: 'Select all matching' })
  await all.click()
  await page.getByText(`All ${await countOf({ app })} runs matching`).waitFor()
  await page.getByRole('button', { name: 'Clear' }).click()
  await boxes.nth(0).click()
  await boxes.nth(3).click({ modifiers: ['Shift'] })
  expect(await page.getByRole('button', { name: 'Cancel…' }).getAttribute('aria-disabled')).toBe('true')
  await page.getByRole('button', { name: 'Replay…' }).click()
  await page.getByRole('button', { name: 'Replay 4 runs', exact: true }).click()
  await page.getByText('4 done, 0 skipped, 0 failed').waitFor()
  await page.getByText('selected runs').waitFor()
  await page.goBack()
  await page.getByText('4 runs selected').waitFor()
  const [job] = await until(async () => (await jobs())[0]?.status === 'done' && jobs(), { what: 'the end of the job' })
  expect(job).toMatchObject({ action: 'replay', matched: 4 })
  await page.goto(`${engine.url}/console/go/${job?.id}`)
  await page.getByRole('heading', { name: /^Bulk replay: / }).waitFor()
})
