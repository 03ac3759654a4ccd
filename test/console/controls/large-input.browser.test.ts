// A large input is edited: a worker reads it, a fault is named, and the text is sent to the letter.

import { expect, test } from 'vitest'
import { openPage } from '../../kit/browser/page.ts'
import { openEngine, returned, unique, until } from '../../kit/index.ts'

const { api, url, runner } = await openEngine()

/** More than the page reads without the worker. */
const LINES = 12_000
const BIG_NUMBER = '12345678901234567890'

test('an input of 400 KB is formatted and checked beside the page, and arrives to the last digit', async () => {
  const name = unique('large')
  await runner({ workflows: { [name]: () => returned(1) } })
  const lines = Array.from({ length: LINES }, (_, i) => `"a line of the input ${i}"`).join(',')
  const data = `{"n":${BIG_NUMBER},"lines":[${lines}]}`
  expect(data.length).toBeGreaterThan(300_000)
  const sent = await api.request('POST', '/events', {
    body: `{"name":"${name}","data":${data}}`,
    headers: { 'content-type': 'application/json' },
  })
  const { runId } = (sent.json as { triggered: { runId: string }[] }).triggered[0] as { runId: string }
  await api.succeeded(runId)
  const page = await openPage(url)
  await page.goto(`${url}/console/n/default/runs/${runId}`)
  await page.getByRole('heading', { level: 1, name }).waitFor()
  const workers: string[] = []
  page.on('worker', worker => workers.push(worker.url()))
  await page.keyboard.press('e')
  const dialog = page.getByRole('dialog')
  const editor = dialog.getByLabel('Input of the new run')
  await editor.getByText(BIG_NUMBER).waitFor()
  expect(workers.some(address => address.includes('text-worker'))).toBe(true)
  const replay = dialog.getByRole('button', { name: /^Replay/ })
  await editor.click()
  await page.keyboard.press('Control+End')
  await page.keyboard.type('x')
  await dialog.getByRole('status').getByText('This is not JSON at character').waitFor()
  expect(await replay.getAttribute('aria-disabled')).toBe('true')
  await page.keyboard.press('Backspace')
  await page.keyboard.press('Control+Home')
  await page.keyboard.type(' ')
  await until(async () => (await replay.getAttribute('aria-disabled')) === null, { what: 'the end of the check' })
  await dialog.getByRole('button', { name: 'Replay with this input' }).click()
  const replays = () => api.runs(`?replayOf=${runId}`)
  await until(async () => (await replays()).length === 1, { what: 'the replay' })
  const [fork] = await replays()
  expect((await api.get(`/runs/${fork?.id}`)).text).toContain(BIG_NUMBER)
})
