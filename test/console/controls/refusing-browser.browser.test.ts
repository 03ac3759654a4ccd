// Browsers that refuse storage, shared workers, channels or locks, as for sites with blocked data: the console works separately
// in each tab.

import { expect, test } from 'vitest'
import { enterKey, openPage } from '../../kit/browser/page.ts'
import { openEngine } from '../../kit/index.ts'
import { SECRET_KEY } from '../../kit/webhook/webhooks.ts'

/** Runs in the page before its own scripts. */
const REFUSED = "const refused = () => { throw new DOMException('refused', 'SecurityError') };"
const REFUSALS = [
  [
    'everything',
    `for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(window, name, { get: refused })
    window.SharedWorker = window.BroadcastChannel = function () { refused() }
    navigator.locks.request = async () => refused()`,
  ],
  ['to store', 'Storage.prototype.setItem = refused'],
  ['what an old browser has not', 'delete window.SharedWorker; delete window.BroadcastChannel'],
] as const

test.each(REFUSALS)(
  'a browser that refuses %s: a key signs in, lists are live, the theme changes',
  async (_, script) => {
    const key = { label: 'ada', namespace: 'default', kind: 'secret', key: SECRET_KEY }
    const engine = await openEngine({ env: { ENGINE_API_KEYS: JSON.stringify([key]) } })
    const api = engine.api.as(SECRET_KEY)
    const page = await openPage(engine.url, { expected: ['401'] })
    await page.addInitScript({ content: `{ ${REFUSED} ${script} }` })
    await page.goto(`${engine.url}/console/n/default/events`)
    await enterKey(page, SECRET_KEY)
    await page.getByRole('button', { name: 'Live', exact: true }).waitFor()
    await api.send({ name: 'order.placed' })
    await page.getByRole('row', { name: /order\.placed/ }).waitFor()
    await page.locator('h1').focus()
    for (const theme of ['light', 'dark']) {
      await page.keyboard.press('t')
      await page.getByText(`Theme: ${theme}`).waitFor()
      expect(await page.locator('html').getAttribute('data-theme')).toBe(theme)
    }
  },
)
