// For a changing page, a screen reader speaks one polite message every five seconds, with the text current at that time.

import { expect, test } from 'vitest'
import { openPage } from '../../kit/browser/page.ts'
import { openEngine, returned } from '../../kit/index.ts'

const GAP_MS = 5000

/** Runs in the page: collects the texts that enter regions while they are polite. */
const RECORD = `(() => {
  window.spoken = []
  const POLITE = '[aria-live], [role=status], [role=log]'
  const isPolite = region => (region?.getAttribute('aria-live') ?? 'polite') === 'polite'
  const add = text => text && window.spoken.push(text)
  new MutationObserver(records => {
    for (const { type, target, addedNodes } of records) {
      const region = (target.closest ? target : target.parentElement)?.closest?.(POLITE)
      if (region && isPolite(region)) {
        if (type === 'characterData') add(target.data)
        for (const node of addedNodes) add(node.textContent)
      }
      if (!region) for (const node of addedNodes)
        for (const inner of node.querySelectorAll?.(POLITE) ?? []) if (isPolite(inner)) add(inner.textContent)
    }
  }).observe(document, { subtree: true, childList: true, characterData: true })
})()`

test('one polite message is spoken in five seconds, and the screen does not wait for it', async () => {
  const engine = await openEngine()
  await engine.runner({ workflows: { order: () => returned({}) } })
  for (let i = 0; i < 3; i++) await engine.api.succeeded((await engine.api.send({ name: 'order' })).runId)
  const page = await openPage(engine.url)
  await page.clock.install()
  await page.addInitScript({ content: RECORD })
  await page.goto(`${engine.url}/console/n/default/runs`)
  await page.locator('tbody tr').nth(2).waitFor()
  const spoken = () => page.evaluate<string[]>('window.spoken')
  await page.keyboard.press('t')
  await expect.poll(spoken).toEqual([expect.stringMatching(/^Theme: /)])
  await page.locator('h1').focus()
  for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key)
  await page.getByText('2 runs selected').waitFor()
  await page.keyboard.press('t')
  await page
    .getByText(/^Theme: /)
    .nth(1)
    .waitFor()
  expect(await spoken()).toHaveLength(1)
  // A toast disappears soon, so it comes before messages that stay.
  await page.clock.fastForward(GAP_MS)
  await expect.poll(spoken).toEqual([expect.stringMatching(/^Theme: /), expect.stringMatching(/^Theme: /)])
  for (const key of ['j', 'x']) await page.keyboard.press(key)
  await page.getByText('3 runs selected').waitFor()
  expect(await spoken()).toHaveLength(2)
  await page.clock.fastForward(GAP_MS)
  await expect.poll(async () => (await spoken()).slice(2)).toEqual(['3 runs selected'])
})
