// The pictures of the console, from processes of a shop: an engine, its runners and their history. The tests take the README's
// pictures and discard them; `npm run pictures` takes all of them, in light and dark.

import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from 'perdure/client'
import type { Page, Request } from 'playwright-core'
import { expect, test } from 'vitest'
import { startEngine, startRunner } from '../../../examples/shared/processes.ts'
import { goTo, openPage, signInUnlocked } from '../../kit/browser/page.ts'
import { onCleanup, until } from '../../kit/index.ts'
import { fill, type Picture, SECRET_KEY } from './fill.ts'
import { writeHistory } from './history.ts'

const isForDocs = process.env.PERDURE_PICTURES === '1'
/** The README shows them. */
const OF_README = ['run', 'steps', 'overview']
/** The docs show them too, so they are in git. */
const OF_DOCS = [...OF_README, 'runs', 'held', 'diff', 'workflow', 'event', 'send', 'deliveries']
const SIZE = { width: 1440, height: 900 }
const BYTES_MAX = 300_000
/** After this time without a request, a page has read everything. */
const QUIET_MS = 500
const READ_MS_MAX = 30_000
/** Streams, and the script of the worker: a page does not see their end. */
const UNENDING = /\/stream$|\/shared-worker-/
const TEST_MS_MAX = 600_000

const folder = isForDocs
  ? fileURLToPath(new URL('../../../docs/images/', import.meta.url))
  : mkdtempSync(join(tmpdir(), 'perdure-pictures-'))
if (!isForDocs) onCleanup(() => rmSync(folder, { recursive: true }))

const engine = await startEngine({
  ENGINE_API_KEYS: JSON.stringify([{ label: 'ada', namespace: 'default', kind: 'secret', key: SECRET_KEY }]),
})
onCleanup(() => engine.stop())
await engine.restart(() => writeHistory(engine.storeFile))
const env = { ENGINE_URL: engine.url, ENGINE_API_KEY: SECRET_KEY }
const client = createClient({ url: engine.url, apiKey: SECRET_KEY })
const runner = await startRunner(new URL('./runner.ts', import.meta.url), env)
onCleanup(async () => {
  // No run takes the place of the one that ends with the runner.
  await client.pauseWorkflow({ app: 'shop', name: 'sync-customer' })
  await runner.stop()
})

test(
  'takes the pictures',
  async () => {
    const { pictures, close } = await fill(client, engine.url)
    onCleanup(close)
    const names = isForDocs ? Object.keys(pictures) : OF_README
    for (const scheme of isForDocs ? (['light', 'dark'] as const) : (['light'] as const)) {
      const page = await openPage(engine.url, { colorScheme: scheme, width: SIZE.width, expected: ['401', '503'] })
      await page.setViewportSize(SIZE)
      const reads = followReads(page)
      await signInUnlocked(page, { url: engine.url, key: SECRET_KEY })
      for (const name of names) {
        const file = join(folder, OF_DOCS.includes(name) ? '' : 'more', `console-${name}-${scheme}.png`)
        await take(page, reads, { picture: pictures[name] as Picture, file })
        expect(statSync(file).size, file).toBeLessThanOrEqual(BYTES_MAX)
      }
    }
  },
  TEST_MS_MAX,
)

interface Reads {
  /** Resolves when the page has read everything. */
  done(): Promise<void>
}

/** Follows the requests of a page, except its stream. */
function followReads(page: Page): Reads {
  const underWay = new Set<Request>()
  let changedAt = Date.now()
  const end = (request: Request) => {
    underWay.delete(request)
    changedAt = Date.now()
  }
  page.on('requestfinished', end).on('requestfailed', end)
  page.on('request', request => {
    if (!UNENDING.test(new URL(request.url()).pathname)) underWay.add(request)
  })
  const again = page.getByRole('button', { name: 'Try again' })
  return {
    async done() {
      changedAt = Date.now()
      const isQuiet = async () => {
        // An engine on a busy machine refuses some reads.
        if ((await again.count()) > 0) await again.first().click()
        const isShown = (await page.locator('[aria-busy], h1').count()) === 1
        return isShown && underWay.size === 0 && Date.now() - changedAt > QUIET_MS
      }
      await until(isQuiet, { what: `the end of the reads of ${page.url()}`, deadlineMs: READ_MS_MAX })
    },
  }
}

async function take(page: Page, reads: Reads, { picture, file }: { picture: Picture; file: string }): Promise<void> {
  await goTo(page, `${engine.url}/console/n/default${picture.path}`)
  // At that position the pointer changes nothing.
  await page.mouse.move(1, SIZE.height - 1)
  await reads.done()
  if (picture.act) {
    await picture.act(page)
    await reads.done()
  }
  await page.screenshot({ path: file })
}
