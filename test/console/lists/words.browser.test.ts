// Sentences and marks: the overview says which key runs wait for, the app is next to its workflow's name, the engine page
// describes its lanes, and the charts of a workflow mark changes of its definition.

import { expect, test } from 'vitest'
import { axeViolations, reusePage } from '../../kit/browser/page.ts'
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
  const page = await reusePage(url)
  await page.goto(at(''))
  await page.getByText('wait for a slot of key acct-17, the oldest created').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('link', { name: `2 runs of ${name}` }).click()
  await page.getByRole('row', { name: /acct-17.*1 of 1/ }).waitFor()
  await page.goto(at('engine'))
  await page.getByText(/^1 of at most \d+ runs in progress; /).waitFor()
  await page.getByText(/^\d+ commits since startup\.$/).waitFor()
  const settings = page.getByRole('table', { name: 'Settings' })
  // Rows are drawn when they come onto the screen.
  await settings.scrollIntoViewIfNeeded()
  await settings
    .getByRole('row', { name: /^ENGINE_/ })
    .first()
    .waitFor()
  expect(await axeViolations(page)).toEqual([])
  held.open()
})

test('the app is beside a workflow: on the overview, the page of limits and the cards of a phone', async () => {
  const [name, burst, apps] = [unique('order'), unique('burst'), ['shop', 'depot'].map(unique)] as const
  const held = gate()
  const handler = flow([
    run('hold', async ({ event }) => {
      await held.opened
      if ((event.data as { fails?: true }).fails) throw Object.assign(new Error('no card'), { retriable: false })
    }),
  ])
  const registration = { concurrency: { limit: 1 }, retry: { maxAttempts: 1 } }
  const workflows = {
    [name]: { handler, registration },
    [burst]: { handler, registration: { debounce: { period: '1h' } } },
  }
  const ids: string[] = []
  for (const app of apps) {
    await runner({ app, workflows })
    ids.push((await api.send({ name, app, data: { fails: true } })).runId)
    await api.reaches(ids.at(-1) as string, 'running')
    await api.send({ name, app, data: {} })
    await api.send({ name: burst, app })
  }
  const waiting = async () => (await api.runs(`?workflow=${name}&waitingFor=concurrency`)).length === 2
  await until(waiting, { what: 'a held run of each app' })
  const page = await reusePage(url)
  await page.goto(at(''))
  for (const app of apps) {
    await page.getByText(`1 run of ${name} in ${app} waits for a slot`).waitFor()
    await page.getByRole('row', { name: `${name} ${app}` }).waitFor()
  }
  await page.goto(at('limits'))
  for (const app of apps)
    for (const what of [`${name} ${app}, concurrency`, `${burst} ${app}, debounce`])
      await page.getByRole('row', { name: what }).waitFor()
  held.open()
  for (const id of ids) await api.reaches(id, 'failed')
  await page.setViewportSize({ width: 380, height: 800 })
  for (const list of ['runs', 'workflows', 'events', 'errors']) {
    await page.goto(at(list))
    // A sent event shows the app in which it should start workflows.
    for (const app of apps) await page.locator('tbody tr').filter({ hasText: app }).getByText(app).first().waitFor()
  }
  expect(await axeViolations(page)).toEqual([])
})

test('the charts of a workflow mark when its definition changed, and a mark opens what changed', async () => {
  const [app, name] = [unique('shop'), unique('order')]
  const handler = flow([run('work')])
  const registers = (attempts: number, id: string) =>
    runner({ app, runner: id, workflows: { [name]: { handler, registration: { retry: { maxAttempts: attempts } } } } })
  await registers(2, 'blue')
  await api.succeeded((await api.send({ name, app })).runId)
  await registers(3, 'green')
  const page = await reusePage(url)
  await page.goto(at(`workflows/${app}/${name}?since=1h`))
  const charts = ['Runs over time', 'Run duration', 'Queue time'].map(title =>
    page.getByRole('region', { name: title }),
  )
  for (const chart of charts) {
    const mark = chart.getByRole('button', { name: /^the definition changed: retries, / })
    await mark.waitFor()
    const place = (await mark.locator('..').getAttribute('style')) ?? ''
    // The change was just now, so it is in the last of the twelve or thirteen spans.
    expect(Number(/left: ([\d.]+)%/.exec(place)?.[1])).toBeGreaterThan(90)
    await chart.locator('figcaption').getByText('the definition changed: retries, ').waitFor()
    const table = await chart.locator('table').textContent()
    expect(table).toMatch(/Marks.*the definition changed: retries, /)
  }
  expect(await charts[1]?.locator('figcaption').innerText()).toMatch(/p50.*p95.*p99.*±9 %/s)
  expect(await axeViolations(page)).toEqual([])
  const history = page.getByRole('region', { name: 'Definition changes' })
  await charts[1]?.getByRole('button', { name: /^the definition changed/ }).press('Enter')
  await history.getByText(' by green').waitFor()
  const difference = history.getByRole('region', { name: /^Definition before and after/ })
  await difference.getByText('"maxAttempts": 2').waitFor()
  await difference.getByText('"maxAttempts": 3').waitFor()
  expect(await page.evaluate('document.activeElement?.tagName')).toBe('SUMMARY')
  expect(await axeViolations(page)).toEqual([])
})
