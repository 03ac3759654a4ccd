// The pane of a run's output streams: chunks appear live, withdrawn chunks are struck through, a chunk leads to its step, and a
// long stream does not hold up the page.

import { expect, test } from 'vitest'
import { axeViolations, reusePage } from '../../kit/browser/page.ts'
import { JumpClock, openEngine, until } from '../../kit/index.ts'
import { openStreamWriter } from '../../kit/runner/stream-writer.ts'

const engine = await openEngine()
const DAY_MS = 86_400_000

/** The page of a run's streams. */
async function openStreams(url: string, runId: string) {
  const page = await reusePage(url)
  await page.goto(`${url}/console/n/default/runs/${runId}?tab=streams`)
  return page
}

/** A run that writes to streams, and the pane of its streams. */
async function openPane(first: readonly unknown[], { url, api } = engine) {
  const writer = await openStreamWriter(url, api)
  await writer.append(first)
  const page = await openStreams(url, writer.runId)
  const pane = page.getByRole('region', { name: 'Stream answer' })
  await pane.waitFor()
  return { ...writer, page, pane }
}

test('text comes live; a failed attempt is struck through, with its reason; then the end', async () => {
  const { page, pane, append, failAttempt, end } = await openPane(['Hel', 'lo'])
  await pane.getByText('Hello', { exact: true }).waitFor()
  await append([' wor', 'ld\u202e'])
  await pane.getByText('Hello worldU+202E').waitFor()
  await failAttempt()
  await pane.getByRole('deletion').getByText('Hello world').waitFor()
  await pane.getByText('Attempt 1 failed: 4 chunks withdrawn').waitFor()
  await append(['Better'])
  await pane.getByText('Better', { exact: true }).waitFor()
  await pane.getByRole('button', { name: 'ask · attempt 2' }).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await end()
  await pane.getByText('Ended: succeeded', { exact: true }).waitFor()
  await pane.getByRole('button', { name: 'Copy text' }).click()
  expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe('Better')
  await pane.getByRole('button', { name: 'ask · attempt 2' }).click()
  await page.getByRole('tab', { name: 'Timeline', selected: true }).waitFor()
  expect(new URL(page.url()).searchParams.get('step')).toBe('ask')
})

test('chunks are shown one by one, to the last digit; a second stream is chosen in the list', async () => {
  const { page, pane, append } = await openPane([{ row: 1 }, 'text'])
  await append(['other'], 'log')
  await pane.getByRole('button', { name: 'Chunks' }).click()
  await pane.getByRole('listitem').getByText('{"row":1}').waitFor()
  expect(await axeViolations(page)).toEqual([])
  const list = page.getByRole('table', { name: 'Output streams' })
  await list.getByRole('button', { name: 'log' }).click()
  await page.getByRole('region', { name: 'Stream log' }).getByText('"other"').waitFor()
  expect(await list.getByRole('row').nth(1).textContent()).toContain('answer')
})

test('of 60,000 chunks the newest are in the document, and earlier ones come on request', async () => {
  const { pane, page, append } = await openPane(['first '])
  for (let i = 0; i < 60; i++) await append(Array.from({ length: 1000 }, (_, k) => `${i * 1000 + k} `))
  await pane.getByText('60001 chunks').waitFor()
  await pane.getByText('59999').first().waitFor()
  await pane.getByRole('button', { name: 'Chunks' }).click()
  await pane.getByRole('button', { name: '59501 earlier messages' }).click()
  await until(async () => (await pane.getByRole('listitem').count()) === 1000, { what: 'the earlier chunks' })
  expect(await page.evaluate<number>('document.querySelectorAll("*").length')).toBeLessThan(10_000)
})

test('hidden payloads are shapes', async () => {
  const { page, pane } = await openPane(['secret', { token: 'secret' }])
  await pane.getByText('secret', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Session and help' }).click()
  await page.getByRole('menuitem', { name: 'Hide payloads' }).click()
  await pane.getByText('string(6)').waitFor()
  await pane.getByRole('button', { name: 'Chunks' }).click()
  await pane.getByText('{"token":string(6)}').waitFor()
  expect(await pane.textContent()).not.toContain('secret')
})

test('payloads that the engine hides are shapes for everyone, and the menu cannot show them', async () => {
  const hiding = await openEngine({ env: { ENGINE_CONSOLE_PAYLOADS: '0' } })
  const { page, pane, append } = await openPane(['secret', { token: 'secret' }], hiding)
  await pane.getByText('string(6)').waitFor()
  await append(['secret'])
  await pane.getByText('3 chunks').waitFor()
  await pane.getByRole('button', { name: 'Chunks' }).click()
  await pane.getByText('{"token":string(6)}').waitFor()
  expect(await page.locator('body').textContent()).not.toContain('secret')
  await page.getByRole('button', { name: 'Session and help' }).click()
  const item = page.getByRole('menuitem', { name: /payloads/ })
  expect(await item.getAttribute('aria-disabled')).toBe('true')
})

test('a stream that retention has dropped keeps its row, and the pane says so', async () => {
  const clock = new JumpClock()
  const forgetful = await openEngine({ clock, env: { ENGINE_STREAM_RETENTION: '1d' } })
  const { url, api } = forgetful
  const { runId, path, append, end } = await openStreamWriter(url, api)
  await append(['Hel', 'lo'])
  await end()
  clock.jump(2 * DAY_MS)
  await until(async () => (await api.get(path)).status === 410, { what: 'the retention of the stream' })
  const page = await openStreams(url, runId)
  await page.getByText('Retention has dropped the messages of this stream.').waitFor()
  const row = page.getByRole('table', { name: 'Output streams' }).getByRole('row').nth(1)
  expect(await row.textContent()).toMatch(/^answer2.*dropped/)
  expect(await page.getByRole('region', { name: 'Stream answer' }).count()).toBe(0)
  expect(await axeViolations(page)).toEqual([])
})
