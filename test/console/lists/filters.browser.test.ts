// Filters of lists in the URL: events by source and time, runners by workflow. Also the file of matching runs, and a read-only
// send page.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { axeViolations, enterKey, openPage, reusePage } from '../../kit/browser/page.ts'
import { emit, flow, openEngine, PlainRunner, returned, run, unique, until } from '../../kit/index.ts'

const engine = await openEngine()
const { api, url } = engine
const at = (path: string, origin = url) => `${origin}/console/n/default/${path}`

test('the event log is filtered by source and by times, which a link can have', async () => {
  const [name, said] = [unique('order.placed'), unique('order.said')]
  await engine.runner({ workflows: { [name]: flow([emit('say', said)]) } })
  await api.succeeded((await api.send({ name })).runId)
  const page = await reusePage(url)
  await page.goto(at('events'))
  await page.getByRole('row', { name: said }).first().waitFor()
  const names = page.getByRole('group', { name: /^Names / }).locator('legend')
  expect(await names.textContent()).toBe('Names in 24h')
  await page.getByLabel('Source').selectOption('emit')
  await page.waitForURL(/source=emit/)
  // The counts cover all sources.
  expect(await names.textContent()).toBe('Names in 24h, ignoring other filters')
  await page.getByRole('link', { name, exact: true }).first().waitFor({ state: 'detached' })
  await page.getByRole('row', { name: said }).first().waitFor()
  await page.getByLabel('Since').selectOption('1h')
  await page.waitForURL(/since=1h/)
  await page.getByRole('row', { name: said }).first().waitFor()
  await page.goto(at('events?source=emit&since=1h&until=24h'))
  await page.getByText('No matching events').waitFor()
  expect(await page.title()).toBe('emit · Events · Perdure')
  await page.getByRole('button', { name: 'Remove until:24h' }).click()
  await page.getByRole('row', { name: said }).first().waitFor()
  // A link has an absolute time, and the select shows it.
  await page.goto(at('events?since=2020-01-01T00:00:00Z&source=api'))
  await page.getByRole('row', { name }).first().waitFor()
  expect(await page.getByLabel('Since').inputValue()).toBe('2020-01-01T00:00:00Z')
  expect(await axeViolations(page)).toEqual([])
})

test('runners are filtered by a workflow that they serve', async () => {
  const [pack, bill] = [unique('pack'), unique('bill')]
  const [packer, biller] = [unique('packer'), unique('biller')]
  await engine.runner({ app: packer, runner: packer, workflows: { [pack]: () => returned(1) } })
  await engine.runner({ app: biller, runner: biller, workflows: { [bill]: () => returned(1) } })
  const page = await reusePage(url)
  await page.goto(at(`runners?workflow=${pack}`))
  await page.getByRole('row', { name: packer }).waitFor()
  expect(await page.getByRole('row', { name: biller }).count()).toBe(0)
  await page.getByLabel('Workflow').fill('nobody-serves-it')
  await page.keyboard.press('Enter')
  await page.getByText('No matching runners').waitFor()
  await page.getByRole('button', { name: 'Remove workflow:nobody-serves-it' }).click()
  await page.getByRole('row', { name: biller }).waitFor()
})

test('a session that may only read is shown what an event would start, and sends nothing', async () => {
  const READ = { label: 'ada', namespace: 'default', kind: 'read', key: 'a read key of a test' }
  const SECRET = { label: 'ops', namespace: 'default', kind: 'secret', key: 'a secret key of a test' }
  const keyed = await openEngine({ env: { ENGINE_API_KEYS: JSON.stringify([READ, SECRET]) } })
  const as = keyed.api.as(SECRET.key)
  const name = unique('order')
  const runner = await new PlainRunner({ workflows: { [name]: flow([run('work')]) } }).listen()
  await runner.register(as)
  for (const key of [READ.key, SECRET.key]) {
    const page = await openPage(keyed.url, { expected: ['401'] })
    await page.goto(at(`events/send?name=${name}`, keyed.url))
    await enterKey(page, key)
    await page.getByText('starts a run').waitFor()
    const send = page.getByRole('button', { name: 'Send', exact: true })
    expect(await send.getAttribute('title')).toBe('needs a secret key')
  }
  await until(async () => (await as.runs('')).length === 0, { what: 'no run' })
})

test('past runs of a cron are drawn in its row', async () => {
  const name = unique('nightly')
  const registration = { triggers: [{ cron: '0 3 * * *' }] }
  const runner = await engine.runner({ workflows: { [name]: { handler: flow([run('work')]), registration } } })
  const id = `wf:${runner.app}:${name}:0`
  for (let i = 0; i < 2; i++) {
    const { runId } = (await api.post(`/schedules/${encodeURIComponent(id)}/fire`)).json as { runId: string }
    await api.succeeded(runId)
  }
  const page = await reusePage(url)
  await page.goto(at(`schedules?workflow=${name}`))
  await page.getByRole('img', { name: /^2 runs: 2 succeeded/ }).waitFor()
  expect(await axeViolations(page)).toEqual([])
})

test('the runs that match are saved as a file, all pages of them', async () => {
  const [app, name] = [unique('shop'), unique('order')]
  await engine.runner({ app, workflows: { [name]: () => returned(1), other: () => returned(2) } })
  const sent = await Promise.all(Array.from({ length: 230 }, () => api.send({ name, app })))
  for (const { runId } of sent) await api.succeeded(runId)
  await api.succeeded((await api.send({ name: 'other', app })).runId)
  const page = await reusePage(url)
  await page.goto(at(`runs?app=${app}&workflow=${name}&status=succeeded`))
  await page.getByRole('button', { name: 'Export' }).click()
  expect(await page.title()).toBe(`succeeded · ${name} · ${app} · Runs · Perdure`)
  const dialog = page.getByRole('dialog')
  expect(await axeViolations(page)).toEqual([])
  const saved = async (file: string) => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: `Save ${file}` }).click(),
    ])
    expect(download.suggestedFilename()).toBe(file)
    await dialog.getByText('230 runs saved.').waitFor()
    return readFileSync(await download.path(), 'utf8')
  }
  const ids = sent.map(({ runId }) => runId).sort()
  const csv = (await saved('runs.csv')).trimEnd().split('\r\n')
  expect(csv[0]).toMatch(/^id,status,workflow,app,trigger,/)
  const cells = csv.slice(1).map(line => line.split(','))
  expect(cells.map(([id]) => id).sort()).toEqual(ids)
  expect(new Set(cells.map(([, status, workflow]) => `${status} ${workflow}`))).toEqual(new Set([`succeeded ${name}`]))
  await dialog.getByLabel('JSON, one object per line').check()
  const lines = (await saved('runs.ndjson')).trimEnd().split('\n')
  expect(lines.map(line => (JSON.parse(line) as { id: string }).id).sort()).toEqual(ids)
})
