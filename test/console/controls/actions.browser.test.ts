// Dialogs of actions: each shows the equivalent commands before anything is done, and the result afterwards.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { enterKey, goTo, reusePage, signInUnlocked } from '../../kit/browser/page.ts'
import { flow, onCleanup, openDestination, openEngine, PlainRunner, run, unique, wait } from '../../kit/index.ts'
import { answer } from '../../kit/servers/raw-server.ts'
import { API_KEYS, OTHER_KEY, SECRET_KEY, Webhooks } from '../../kit/webhook/webhooks.ts'

const engine = await openEngine({
  env: { ENGINE_API_KEYS: API_KEYS, ENGINE_WEBHOOK_ALLOW_PRIVATE: '1', ENGINE_WEBHOOK_SCHEDULE: '1ms' },
})
const api = engine.api.as(SECRET_KEY)
const app = unique('shop')
const refuse = () => {
  throw Object.assign(new Error('no'), { retriable: false })
}
const runner = await new PlainRunner({
  app,
  workflows: {
    patient: flow([wait('approval', 'approved')]),
    quick: flow([run('work')]),
    refused: { handler: flow([run('charge', refuse)]), registration: { retry: { maxAttempts: 1 } } },
    buffered: { handler: flow([run('pack')]), registration: { batch: { maxSize: 9, timeout: '1h' } } },
  },
}).listen()
onCleanup(() => runner.close())
await runner.register(api)
const hook = await openDestination(request => answer(request, 200, 'thanks'))
const endpoint = (await api.post('/webhook-endpoints', { url: hook.url, eventKinds: ['run.succeeded'] })).json as {
  id: string
}
const receiver = (await api.post('/webhook-receivers', { eventName: 'pushed', name: 'pushes' })).json as { id: string }
await api.put('/schedules/weekly', { cron: '0 9 * * 1', event: { name: 'report' } })
const { runId: quickId } = await api.send({ name: 'quick' })
await api.succeeded(quickId)
const webhooks = new Webhooks(api)
const [delivery] = await webhooks.list('?limit=1')
const { runId: failedId } = await api.send({ name: 'refused' })
await api.failed(failedId)
await api.send({ name: 'buffered' })
const { id: keyId } = (await api.post('/keys', { kind: 'read', label: 'dashboard' })).json as { id: string }
const { runId } = await api.send({ name: 'patient' })
await api.reaches(runId, 'waiting')

async function unlocked(path: string): Promise<Page> {
  const page = await reusePage(engine.url, { expected: ['401', '403'] })
  await signInUnlocked(page, { url: engine.url, key: SECRET_KEY, path })
  return page
}

/** A page, the buttons or menu items that open the dialog, and words of the commands. */
const DIALOGS: readonly [path: string, opens: readonly string[], ...words: string[]][] = [
  ['runs/RUN', ['More actions', 'Pause…'], 'perdure runs pause RUN', '/runs/RUN/pause'],
  ['runs/RUN', ['More actions', 'Cancel…'], 'perdure runs cancel RUN', '/runs/RUN/cancel'],
  ['runs/QUICK', ['Replay'], 'perdure runs replay QUICK', '/runs/QUICK/replay'],
  ['runs/FAILED', ['Edit and replay…'], 'perdure runs replay FAILED', '/runs/FAILED/replay'],
  ['runs/FAILED', ['Retry from there…'], 'perdure runs retry FAILED', '/runs/FAILED/retry-from-step'],
  ['limits', ['Flush now…'], 'perdure buffers flush '],
  ['schedules', ['Fire now…'], 'perdure schedules fire weekly'],
  ['schedules', ['Pause…'], 'perdure schedules pause weekly'],
  ['keys', ['New key…'], 'perdure keys create --kind read', `-d '{"kind":"read"}'`],
  ['keys', ['Revoke…'], 'perdure keys revoke KEY', '/keys/KEY'],
  ['webhooks/endpoints', ['New endpoint…'], '--event-kinds run.failed', '"eventKinds":["run.failed"]'],
  ['webhooks/endpoints', [`Actions on ${hook.url}`, 'Send test…'], 'perdure webhooks endpoints test WHE'],
  ['webhooks/endpoints', [`Actions on ${hook.url}`, 'Disable…'], 'endpoints update WHE --disable', '-X PATCH'],
  ['webhooks/endpoints', [`Actions on ${hook.url}`, 'Rotate secret…'], 'endpoints update WHE --rotate-secret'],
  ['webhooks/endpoints', [`Actions on ${hook.url}`, 'Delete…'], 'perdure webhooks endpoints delete WHE'],
  ['webhooks/receivers', ['Actions on pushes', 'Disable…'], 'perdure webhooks receivers update WHR --disable'],
  ['webhooks/receivers', ['Actions on pushes', 'Rotate secret…'], 'receivers update WHR --rotate-secret'],
  ['webhooks/receivers', ['Actions on pushes', 'Delete…'], 'perdure webhooks receivers delete WHR'],
  ['webhooks/deliveries/DLV', ['Redeliver…'], 'perdure webhooks redeliver DLV'],
  ['webhooks/deliveries?status=succeeded', ['Redeliver all matching…'], '"filter":{"status":"succeeded"}'],
  [`workflows/${app}/quick`, ['Run now…'], `perdure workflows start ${app} quick --input '{}'`],
  [`workflows/${app}/quick`, ['Pause…'], `perdure workflows pause ${app} quick`],
  [`workflows/${app}/quick`, ['Limits…'], `perdure workflows limits ${app} quick`],
  [`workflows/${app}/quick`, ['Delete…'], `perdure workflows delete ${app} quick --yes`],
]
const IDS: Readonly<Record<string, string>> = {
  RUN: runId,
  QUICK: quickId,
  FAILED: failedId,
  KEY: keyId,
  WHE: endpoint.id,
  WHR: receiver.id,
  DLV: delivery?.id ?? '',
}
/** All at once, because an id may contain the name of another. */
const filled = (text: string) => text.replace(/RUN|QUICK|FAILED|KEY|WHE|WHR|DLV/g, name => IDS[name] ?? '')

test('every dialog of an action shows its commands before the act', async () => {
  const page = await unlocked('runs')
  const dialog = page.getByRole('dialog')
  for (const [path, opens, ...words] of DIALOGS) {
    // The address changes without a load, which would lock the actions again.
    await goTo(page, `${engine.url}/console/n/default/${filled(path)}`)
    for (const name of opens) {
      const control = page.getByRole('button', { name, exact: true }).or(page.getByRole('menuitem', { name }))
      await control.and(page.locator(':not([aria-disabled=true])')).first().click()
    }
    await dialog.getByText('Show CLI / curl').click()
    for (const word of words) await dialog.getByText(filled(word)).first().waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  }
})

test('the send page shows its commands; a bulk dialog too, by its filter', async () => {
  const page = await unlocked('events/send?name=quick&data={"n":12345678901234567890}')
  await page.getByText('Show CLI / curl').click()
  await page.getByText(`perdure events send quick --data '{"n":12345678901234567890}'`).waitFor()
  await page.getByText('"data":{"n":12345678901234567890}').waitFor()
  await goTo(page, `${engine.url}/console/n/default/runs?workflow=patient`)
  await page.getByRole('row', { name: /patient/ }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await page.getByRole('button', { name: 'Select all matching' }).click()
  await page.getByRole('button', { name: 'Pause…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Show CLI / curl').click()
  await dialog.getByText('perdure runs pause --workflow patient --yes').waitFor()
})

test('an action says its result although its dialog is gone', async () => {
  const page = await unlocked(`runs/${runId}`)
  // The answer arrives long after the dialog has closed.
  await page.route('**/pause', async route => {
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await route.continue()
  })
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Pause…' }).click()
  await page.getByRole('button', { name: 'Pause run', exact: true }).click()
  await page.getByRole('status').getByText('The run is paused').waitFor()
  await page.route('**/cancel', async route => {
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await route.continue()
  })
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Cancel…' }).click()
  await page.getByRole('button', { name: 'Cancel run', exact: true }).click()
  await page.getByRole('status').getByText('The run is cancelled').waitFor()
})

test('a pinned look leaves the bar of the selection free, on a phone and on a screen', async () => {
  const page = await unlocked('runs')
  for (const width of [380, 1280]) {
    await page.setViewportSize({ width, height: 800 })
    await page.reload()
    await page.getByRole('row', { name: /quick/ }).first().waitFor()
    for (const key of ['j', 'x', 'Space']) await page.keyboard.press(key)
    const look = page.getByRole('complementary', { name: 'Preview of the run' })
    await look.waitFor()
    const clear = page.getByRole('button', { name: 'Clear', exact: true })
    await clear.waitFor()
    const isFree = async () => {
      const [above, below] = [await look.boundingBox(), await clear.locator('..').boundingBox()]
      return (
        above !== null &&
        below !== null &&
        above.y >= 0 &&
        (above.y + above.height <= below.y || below.y + below.height <= above.y)
      )
    }
    await expect.poll(isFree).toBe(true)
    await clear.click()
  }
})

/** Runs in the page: returns the baselines of the names and values of the facts in the first line. */
const BASELINES = `[...document.querySelectorAll('dl dt, dl dd')].slice(0, 4).map(element => {
  const mark = document.createElement('span')
  mark.style.display = 'inline-block'
  const text = element.querySelector('code') ?? element
  text.prepend(mark)
  const { bottom } = mark.getBoundingClientRect()
  mark.remove()
  return Math.round(bottom * 2) / 2
})`

test('the id of a run stands on the line of its neighbours', async () => {
  const page = await unlocked(`runs/${quickId}`)
  await page.getByRole('button', { name: 'Copy run ID' }).waitFor()
  const [first, ...others] = await page.evaluate<number[]>(BASELINES)
  expect(others).toHaveLength(3)
  expect(others).toEqual(others.map(() => first))
})

test('the menu of the namespace goes from one to the other, each with a session of its own', async () => {
  const page = await reusePage(engine.url, { expected: ['401'] })
  await page.goto(`${engine.url}/console/n/default/runs`)
  await enterKey(page, SECRET_KEY)
  await page.getByRole('row', { name: /quick/ }).waitFor()
  await page.getByRole('button', { name: 'Namespace default' }).click()
  await page.getByRole('menuitem', { name: 'Another namespace…' }).click()
  await page.getByLabel('Key for the other namespace').fill(OTHER_KEY)
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/n\/other\/runs/)
  await page.getByText('No runs yet').waitFor()
  expect(await page.getByText('quick').count()).toBe(0)
  await page.getByRole('button', { name: 'Namespace other' }).click()
  await page.getByRole('menuitem', { name: 'default', exact: true }).click()
  await page.waitForURL(/\/n\/default\/runs/)
  await page.getByRole('row', { name: /quick/ }).waitFor()
})
