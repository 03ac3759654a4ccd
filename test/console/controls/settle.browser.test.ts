// A step is settled by hand from the inspector of the timeline, with a reason.

import { expect, test } from 'vitest'
import { reusePage, signInUnlocked } from '../../kit/browser/page.ts'
import { flow, onCleanup, openEngine, PlainRunner, unique, wait } from '../../kit/index.ts'
import { API_KEYS, SECRET_KEY } from '../../kit/webhook/webhooks.ts'

const engine = await openEngine({ env: { ENGINE_API_KEYS: API_KEYS } })
const api = engine.api.as(SECRET_KEY)
const workflows = { patient: flow([wait('approval', 'approved')]) }
const runner = await new PlainRunner({ app: unique('shop'), workflows }).listen()
onCleanup(() => runner.close())
await runner.register(api)

async function inspect(runId: string) {
  const page = await reusePage(engine.url, { expected: ['401', '403'], width: 1280 })
  await signInUnlocked(page, { url: engine.url, key: SECRET_KEY, path: `runs/${runId}?step=approval` })
  return page
}

test('a step that waits gets its result, and shows the reason', async () => {
  const { runId } = await api.send({ name: 'patient' })
  await api.reaches(runId, 'waiting')
  const page = await inspect(runId)
  await page.getByRole('button', { name: 'Settle…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Show CLI / curl').waitFor()
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('approved by phone')
  await dialog.getByRole('button', { name: 'Settle step' }).click()
  await page.getByRole('status').getByText('The step has succeeded').waitFor()
  expect((await api.succeeded(runId)).result).toEqual({ approval: null })
  await page.getByText('approved by phone').waitFor()
})

test('a step is failed, and its commands say how', async () => {
  const { runId } = await api.send({ name: 'patient' })
  await api.reaches(runId, 'waiting')
  const page = await inspect(runId)
  await page.getByRole('button', { name: 'Settle…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('checkbox', { name: 'The step fails' }).check()
  await dialog.getByRole('textbox', { name: 'Error message' }).fill('declined')
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('by phone')
  await dialog.getByText('Show CLI / curl').click()
  await dialog.getByText(`--error declined --reason 'by phone'`).waitFor()
  await dialog.getByRole('button', { name: 'Settle step' }).click()
  await page.getByRole('status').getByText('The step has failed').waitFor()
  expect((await api.succeeded(runId)).result).toEqual({ approval: { error: { message: 'declined' } } })
})
