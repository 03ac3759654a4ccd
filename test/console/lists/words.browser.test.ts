// Sentences and marks: the overview says which key runs wait for, the engine page says how its lanes are, and the chart of a workflow
// marks when its definition became what it is.

import type { WorkflowDefinition } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { axeViolations, openPage } from '../../kit/browser/page.ts'
import { flow, gate, openEngine, run, unique, until } from '../../kit/index.ts'

const { api, url, runner } = await openEngine()
const at = (path: string) => `${url}/console/n/default/${path}`

test('the overview names the key that runs wait for, and links to its limit', async () => {
  const name = unique('sync')
  const held = gate()
  const registration = { concurrency: { limit: 1, key: 'event.data.account' } }
  await runner({ workflows: { [name]: { handler: flow([run('hold', () => held.opened)]), registration } } })
  const data = { account: 'acct-17' }
  const { runId } = await api.send({ name, data })
  await api.reaches(runId, 'running')
  for (let i = 0; i < 2; i++) await api.send({ name, data })
  await until(async () => (await api.runs(`?workflow=${name}&waitingFor=concurrency`)).length === 2, {
    what: 'the wait',
  })
  const page = await openPage(url)
  await page.goto(at(''))
  await page.getByText('wait for a slot of key acct-17, the oldest was created').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('link', { name: `2 runs of ${name}` }).click()
  await page.getByRole('row', { name: /acct-17.*1 of 1/ }).waitFor()
  await page.goto(at('engine'))
  await page.getByText(/^1 of at most \d+ runs are under way; /).waitFor()
  await page.getByText(/^\d+ commits were made durable since it started\.$/).waitFor()
  const settings = page.getByRole('table', { name: 'Settings' })
  // Rows are drawn as they come on the screen.
  await settings.scrollIntoViewIfNeeded()
  await settings
    .getByRole('row', { name: /^ENGINE_/ })
    .first()
    .waitFor()
  expect(await axeViolations(page)).toEqual([])
  held.open()
})

test('the chart of a workflow marks when its definition changed', async () => {
  const [app, name] = [unique('shop'), unique('order')]
  const handler = flow([run('work')])
  await runner({ app, workflows: { [name]: { handler, registration: { retry: { maxAttempts: 2 } } } } })
  await api.succeeded((await api.send({ name, app })).runId)
  const updated = async () =>
    ((await api.get(`/workflows?app=${app}`)).json as WorkflowDefinition[]).find(each => each.name === name)?.updatedAt
  const before = await updated()
  await runner({ app, workflows: { [name]: { handler, registration: { retry: { maxAttempts: 3 } } } } })
  expect(await updated()).not.toBe(before)
  const page = await openPage(url)
  await page.goto(at(`workflows/${app}/${name}?since=1h`))
  const mark = page.getByTitle(/^registered as it is now, /)
  await mark.waitFor({ state: 'attached' })
  const place = (await mark.getAttribute('style')) ?? ''
  // The change was just now: in the last of the twelve or thirteen spans.
  expect(Number(/left: ([\d.]+)%/.exec(place)?.[1])).toBeGreaterThan(90)
  await page.locator('figcaption').getByText('registered as it is now, ').waitFor()
  expect(await axeViolations(page)).toEqual([])
})
