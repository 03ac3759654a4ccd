// A tree beyond its budget in the console: the overview counts its runs, each run says why it is paused and links to the run with
// the budget, and the dialog there raises or removes limits.

import type { RunSummary } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { axeViolations, reusePage, signInUnlocked } from '../../kit/browser/page.ts'
import { child, flow, onCleanup, openEngine, PlainRunner, run, step, unique, until } from '../../kit/index.ts'
import { API_KEYS, SECRET_KEY } from '../../kit/webhook/webhooks.ts'

const engine = await openEngine({ env: { ENGINE_API_KEYS: API_KEYS } })
const api = engine.api.as(SECRET_KEY)
const runner = await new PlainRunner({
  app: unique('shop'),
  workflows: {
    research: {
      handler: flow([[child('first', 'ask'), child('second', 'ask')], run('sum up')], () => 'found'),
      registration: { budget: { usd: 1, tokens: 5000 } },
    },
    ask: flow([step('StepRun', 'call', { data: 1, spent: { usd: 0.6, tokens: 912 } }), run('answer')]),
  },
}).listen()
onCleanup(() => runner.close())
await runner.register(api, { features: ['budgets'] })

/** A tree with two paused children. */
async function openTree() {
  const { runId } = await api.send({ name: 'research' })
  await until(
    async () => {
      const children = (await api.get(`/runs?parentRunId=${runId}&waitingFor=budget`)).json as RunSummary[]
      return children.length > 0 && (await api.run(runId)).budget?.usd?.spent === 1.2
    },
    { what: 'the pause of the tree' },
  )
  const page = await reusePage(engine.url, { expected: ['401', '403'], width: 1280 })
  return {
    runId,
    page,
    signIn: (path: string) => signInUnlocked(page, { url: engine.url, key: SECRET_KEY, path }),
  }
}

test('from the overview to a paused run, to the run with the budget, whose raised limit resumes the tree', async () => {
  const { runId, page, signIn } = await openTree()
  await signIn('')
  const panel = page.getByRole('region', { name: 'Needs attention' })
  await panel.getByText('over budget. Raise the limit of the budget to continue').waitFor()
  await panel.getByRole('link', { name: /paused$/ }).click()
  await page
    .getByText(`over the budget of ${runId.slice(-8)}: 1.2 of 1 usd`)
    .first()
    .waitFor()
  await page.getByRole('row', { name: /ask/ }).first().getByRole('link').first().click()
  await page.getByText(`because the budget of run ${runId} is exceeded: 1.2 of 1 usd were spent`).waitFor()
  // The run would only pause again after a resume, so the page links to the run that has the budget.
  expect(await page.getByRole('button', { name: 'Set…' }).count()).toBe(0)
  await page.getByRole('link', { name: 'Open run with budget' }).click()
  await page.getByText('1.2 of 1 usd').waitFor()
  await page.getByText('1824 of 5000 tokens').waitFor()
  await page.getByRole('button', { name: 'Set…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'usd: 1.2 spent, at most' }).fill('2.5')
  await dialog.getByText('Show CLI / curl').click()
  await dialog.getByText(`perdure runs budget ${runId} usd=2.5`).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Set limits' }).click()
  await page
    .getByRole('status')
    .getByText(/^The limits are set; [12] runs? (is|are) resumed$/)
    .waitFor()
  expect((await api.succeeded(runId)).result).toBe('found')
  await page.getByText('1.2 of 2.5 usd').waitFor()
})

test('a limit that is no number is not sent, an empty one is removed, and the audit log has the call', async () => {
  const { runId, page, signIn } = await openTree()
  await signIn(`runs/${runId}`)
  await page.getByRole('button', { name: 'Set…' }).click()
  const dialog = page.getByRole('dialog')
  const set = dialog.getByRole('button', { name: 'Set limits' })
  expect(await set.getAttribute('aria-disabled')).toBe('true')
  const usd = dialog.getByRole('textbox', { name: 'usd: 1.2 spent, at most' })
  await usd.fill('two')
  expect(await set.getAttribute('title')).toBe('give a number for usd')
  await usd.fill('')
  await set.click()
  expect((await api.succeeded(runId)).result).toBe('found')
  expect((await api.run(runId)).budget).toEqual({ tokens: { limit: 5000, spent: 1824 } })
  await page.goto(`${engine.url}/console/n/default/audit`)
  await page
    .getByRole('row', { name: /run\.budget/ })
    .first()
    .waitFor()
})
