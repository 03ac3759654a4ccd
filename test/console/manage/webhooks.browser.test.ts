// Endpoints and receivers that are edited: the fields that change, the errors at these fields, and a secret that is replaced at
// once.

import type { WebhookEndpoint, WebhookReceiver } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { axeViolations, reusePage, signInUnlocked } from '../../kit/browser/page.ts'
import { openEngine } from '../../kit/index.ts'
import { API_KEYS, SECRET_KEY } from '../../kit/webhook/webhooks.ts'

const engine = await openEngine({ env: { ENGINE_API_KEYS: API_KEYS } })
const api = engine.api.as(SECRET_KEY)

async function webhooksPage(path: string, expected: string[] = []) {
  const page = await reusePage(engine.url, { expected: ['401', ...expected] })
  await signInUnlocked(page, { url: engine.url, key: SECRET_KEY, path: `webhooks/${path}` })
  const dialog = page.getByRole('dialog')
  const act = async (name: string, item: string) => {
    await page.getByRole('button', { name: `Actions on ${name}` }).click()
    await page.getByRole('menuitem', { name: item }).click()
    await dialog.waitFor()
  }
  return { page, dialog, act, field: (label: string) => dialog.getByLabel(label, { exact: true }) }
}

test('an endpoint is edited: its URL, its app and its events; its secret stays', async () => {
  const url = 'https://hooks.example.com/first'
  const { id } = (await api.post('/webhook-endpoints', { url, eventKinds: ['run.failed'], app: 'shop' }))
    .json as WebhookEndpoint
  const { page, dialog, act, field } = await webhooksPage('endpoints', ['400'])
  await act(url, 'Edit…')
  const save = dialog.getByRole('button', { name: 'Save', exact: true })
  expect(await save.getAttribute('title')).toBe('nothing is changed')
  await field('URL').fill('ftp://hooks.example.com')
  await page.keyboard.press('Enter')
  await dialog.getByRole('alert').getByText(/^url/).waitFor()
  expect(await field('URL').getAttribute('aria-invalid')).toBe('true')
  expect(await axeViolations(page)).toEqual([])
  await field('URL').fill('https://hooks.example.com/second')
  await field('App (optional)').fill('')
  await field('Label (optional)').fill('ops')
  await field('run.failed').uncheck()
  await field('run.cancelled').check()
  await dialog.getByText('Show CLI / curl').click()
  const command = 'webhooks endpoints update ID --to https://hooks.example.com/second --name ops --no-app --event-kinds'
  await dialog.getByText(command.replace('ID', id)).waitFor()
  await save.click()
  await page.getByRole('link', { name: 'https://hooks.example.com/second' }).click()
  const about = page.getByRole('region', { name: 'Endpoint', exact: true })
  await about.getByText('every app').waitFor()
  await about.getByText('ops', { exact: true }).waitFor()
  const [saved] = (await api.get('/webhook-endpoints')).json as WebhookEndpoint[]
  expect(saved).toMatchObject({ id, url: 'https://hooks.example.com/second', eventKinds: ['run.cancelled'] })
  expect(saved).not.toHaveProperty('app')
  expect(saved).not.toHaveProperty('oldSecretsUntil')
})

test('a receiver is edited, and its secret is replaced at once when it has leaked', async () => {
  const receiver = { eventName: 'repo/pushed', scheme: 'github', name: 'pushes', slug: 'pushes' }
  const { id } = (await api.post('/webhook-receivers', receiver)).json as WebhookReceiver
  const { page, dialog, act, field } = await webhooksPage(`receivers/${id}`)
  await act('pushes', 'Edit…')
  await field('Event name').fill('repo/changed')
  await field('For the app').fill('shop')
  await field('Stored headers').fill('x-github-event, x-github-delivery')
  await page.keyboard.press('Enter')
  const about = page.getByRole('region', { name: 'Receiver', exact: true })
  await about.getByText('repo/changed').waitFor()
  await about.getByText('x-github-event, x-github-delivery').waitFor()
  await act('pushes', 'Rotate secret…')
  await dialog.getByText('Requests signed with the old one are accepted for another day.').waitFor()
  await dialog.getByRole('checkbox', { name: /Revoke the old secret now/ }).check()
  await dialog.getByText('The old secret is no longer valid.').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Rotate', exact: true }).click()
  await dialog.getByRole('button', { name: 'I have stored it' }).click()
  const [saved] = (await api.get('/webhook-receivers')).json as WebhookReceiver[]
  expect(saved).toMatchObject({ eventName: 'repo/changed', targetApp: 'shop', slug: 'pushes', scheme: 'github' })
  expect(saved).not.toHaveProperty('oldSecretsUntil')
})
