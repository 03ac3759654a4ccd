// A signal and an update are sent from the page of a run. The page lists the ones that no step has taken.

import { expect, test } from 'vitest'
import { axeViolations, openPage, signInUnlocked } from '../../kit/browser/page.ts'
import { flow, onCleanup, openEngine, PlainRunner, step, unique } from '../../kit/index.ts'
import { API_KEYS, SECRET_KEY } from '../../kit/webhook/webhooks.ts'

const engine = await openEngine({ env: { ENGINE_API_KEYS: API_KEYS } })
const api = engine.api.as(SECRET_KEY)
const signal = (name: string) => step('WaitForSignal', name, { signal: name })
const reply = step('ReplyToUpdate', 'reply', (_, { total }) => ({ updateId: (total as { id: string }).id, data: 42 }))
const runner = await new PlainRunner({
  app: unique('shop'),
  workflows: { cart: flow([signal('item/added'), signal('total'), reply, signal('closed')]) },
}).listen()
onCleanup(() => runner.close())
await runner.register(api, { features: ['signals', 'wait-order'] })

test('the signal that the run waits for, then an update with its answer, beside one that nobody takes', async () => {
  const { runId } = await api.send({ name: 'cart' })
  await api.reaches(runId, 'waiting')
  await api.post(`/runs/${runId}/signals/later`, { data: 1 })
  const page = await openPage(engine.url, { expected: ['401', '403'], width: 1280 })
  await signInUnlocked(page, { url: engine.url, key: SECRET_KEY, path: `runs/${runId}` })
  const open = async () => {
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Send signal…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Show CLI / curl').waitFor()
    return dialog
  }
  const first = await open()
  const name = first.getByRole('textbox', { name: 'Name' })
  expect(await name.inputValue()).toBe('item/added')
  expect(await first.getByRole('listitem').allTextContents()).toEqual(['signal later'])
  await name.fill('not a name')
  expect(await first.getByRole('button', { name: 'Send signal' }).isDisabled()).toBe(true)
  await name.fill('item/added')
  const editor = first.getByRole('textbox', { name: 'Data' })
  await editor.press('Control+a')
  await page.keyboard.type('{ "sku": "A-1" }')
  expect(await axeViolations(page)).toEqual([])
  await first.getByRole('button', { name: 'Send signal' }).click()
  await page.getByRole('status').getByText('The run received the signal').waitFor()
  await page.locator('main', { hasText: 'Step "total" waits for signal "total"' }).waitFor()
  expect((await api.step(runId, 'item/added')).data).toMatchObject({ data: { sku: 'A-1' } })
  const second = await open()
  expect(await second.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('total')
  await second.getByRole('checkbox', { name: 'Wait for an answer (an update)' }).check()
  await second.getByRole('button', { name: 'Send update' }).click()
  await second.getByText('Answer: 42').waitFor()
})
