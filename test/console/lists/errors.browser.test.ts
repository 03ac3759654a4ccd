// Errors in the console: one window from the list to a group and to its replay, whichever way the group was opened; names in
// messages do not make separate groups; the stack is shown.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { axeViolations, reusePage } from '../../kit/browser/page.ts'
import { JumpClock } from '../../kit/engine/jump-clock.ts'
import { openEngine } from '../../kit/index.ts'

const DAY_MS = 86_400_000
const clock = new JumpClock()
const engine = await openEngine({ clock })
const { app } = await engine.runner({
  workflows: {
    invoice: ({ event }) => {
      const message = `customer ${event.data} has no card`
      const stack = `Error: ${message}\n    at chargeCard (file:///app/src/charge.ts:7:11)`
      return { status: 400, body: { error: { message, stack }, logs: [] } }
    },
  },
})
const failed = async (customer: string) => {
  const { runId } = await engine.api.send({ name: 'invoice', app, data: customer })
  await engine.api.failed(runId)
  return runId
}
await failed('Ada Lovelace')
clock.jump(2 * DAY_MS)
await failed('Grace Hopper')
await failed('Mary Jane O’Neil')

const at = (path: string) => `${engine.url}/console/n/default/${path}`
const matched = async (page: Page, count: number) => {
  await page.getByRole('button', { name: 'Replay all in group…' }).click()
  await page.getByRole('dialog').getByText(`${count} matched, ${count} can be replayed`).waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
}

test('the window of the list is that of the group and of its replay, by pointer, by link and by keys', async () => {
  const page = await reusePage(engine.url)
  for (const open of [
    (page: Page) =>
      page
        .getByRole('row', { name: /has no card/ })
        .getByText('invoice')
        .click(),
    (page: Page) => page.getByRole('link', { name: /has no card/ }).click(),
    async (page: Page) => {
      for (const key of ['j', 'Enter']) await page.keyboard.press(key)
    },
  ]) {
    await page.goto(at('errors'))
    await page.getByRole('row', { name: /^2 customer .* has no card/ }).waitFor()
    await page.locator('h1').focus()
    await open(page)
    await page.waitForURL(/errors\/[0-9a-f]{16}\?since=24h$/)
    await expect.poll(() => page.getByRole('row', { name: /failed/ }).count()).toBe(2)
  }
  await page.getByText('at chargeCard (file:///app/src/charge.ts:7:11)').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await matched(page, 2)
  await page.getByLabel('Since').selectOption('7d')
  await expect.poll(() => page.getByRole('row', { name: /failed/ }).count()).toBe(3)
  await matched(page, 3)
  await page.getByRole('link', { name: 'Open in runs' }).click()
  await page.waitForURL(/ended-since=7d/)
  await expect.poll(() => page.getByRole('row', { name: /failed/ }).count()).toBe(3)
})

test('a bulk replay says how many were replayed already; its page has what became of the new runs, each count a link', async () => {
  const page = await reusePage(engine.url)
  const [group] = (await engine.api.get('/errors')).json as { fingerprint: string }[]
  await page.goto(at(`errors/${group?.fingerprint}?since=24h`))
  for (const [failures, replayed] of [
    [2, 0],
    [4, 2],
  ] as const) {
    await page.getByRole('button', { name: 'Replay all in group…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(`${failures} matched`).waitFor()
    expect(await dialog.getByText('replayed before').count()).toBe(replayed === 0 ? 0 : 1)
    if (replayed > 0) await dialog.getByText(`${replayed} of the ${failures} were replayed before`).waitFor()
    await dialog.getByRole('button', { name: `Replay ${failures}` }).click()
    await page.getByRole('heading', { name: /^Bulk replay: / }).waitFor()
    await page.getByRole('link', { name: `failed ${failures}` }).click()
    await page.waitForURL(/runs\?bulk=blk_\w+&status=failed$/)
    await expect.poll(() => page.getByRole('row', { name: /replay of/ }).count()).toBe(failures)
    await page.goBack()
    expect(await axeViolations(page)).toEqual([])
    await page.goto(at(`errors/${group?.fingerprint}?since=24h`))
  }
})
