// More than a page reads at once: error groups, limits and sentences of the overview. The page names what is left out, and
// shows no partial number as a total.

import { expect, test } from 'vitest'
import { axeViolations, reusePage } from '../../kit/browser/page.ts'
import { flow, gate, openEngine, run, unique, until } from '../../kit/index.ts'

/** The engine returns at most 200 groups or limits. */
const MANY = 201

const { api, url, runner } = await openEngine()
const at = (path: string) => `${url}/console/n/default${path}`
const [app, failing, held, wide] = [unique('shop'), unique('import'), unique('sync'), unique('wide')]
const opened = gate()
const letters = (n: number) => [...String(n)].map(digit => 'abcdefghij'[Number(digit)]).join('')
await runner({
  app,
  workflows: {
    [failing]: {
      handler: flow([
        run('read', ({ event }) => {
          throw Object.assign(new Error(`no such ${(event.data as { kind: string }).kind}`), { retriable: false })
        }),
      ]),
      registration: { retry: { maxAttempts: 1 } },
    },
    [held]: {
      handler: flow([run('hold', () => opened.opened)]),
      registration: { concurrency: { limit: 1, key: 'event.data.device' } },
    },
    [wide]: {
      handler: flow([run('hold', () => opened.opened)]),
      registration: { concurrency: { limit: 20 } },
    },
  },
})
/** Waits until no run of the workflow has one of these statuses: one read at a time, not one for each run. */
const none = (workflow: string, statuses: string) =>
  until(async () => (await api.runs(`?workflow=${workflow}&status=${statuses}&limit=1`)).length === 0, {
    what: `no run of ${workflow} ${statuses}`,
  })
const each = (count: number, send: (n: number) => Promise<unknown>) =>
  Promise.all(Array.from({ length: count }, (_, n) => send(n)))

test('more errors than are read at once are not counted as all', async () => {
  await each(MANY, n => api.send({ name: failing, data: { kind: letters(n) } }))
  await none(failing, 'queued,running')
  const page = await reusePage(url)
  await page.goto(at('/'))
  await page.getByRole('link', { name: `${MANY} failed` }).click()
  // The failures of the window, no matter when their runs were created.
  await page.waitForURL(new RegExp(`/errors\\?.*workflow=${failing}`))
  await page.goBack()
  const looks = page.getByRole('region', { name: 'Needs attention' })
  await looks.getByRole('link', { name: '200 or more runs failed in 200 or more open groups' }).click()
  await page.getByText('Showing the 200 groups with the most runs; there may be more.').waitFor()
  expect(await axeViolations(page)).toEqual([])
  // A window without a failure of the group says so.
  const [group] = (await api.get('/errors?limit=1')).json as { fingerprint: string }[]
  await page.goto(at(`/errors/${group?.fingerprint}?since=2031-01-01T00:00:00Z`))
  await page.getByText('No failures of this group in this window.').waitFor()
  await page.getByLabel('Since').selectOption('24h')
  await page.getByRole('region', { name: 'Group' }).getByText('Runs in the window').waitFor()
  expect(await axeViolations(page)).toEqual([])
})

test('more limits than are read at once say so, and limits without a sentence are counted', async () => {
  const send = (n: number) => api.send({ name: held, data: { device: `device-${n}` } })
  await each(MANY, send)
  await none(held, 'queued')
  await each(5, send)
  const waiting = async () => (await api.runs(`?workflow=${held}&waitingFor=concurrency`)).length === 5
  await until(waiting, { what: 'five runs to be held' })
  await each(12, () => api.send({ name: wide }))
  await none(wide, 'queued')
  const page = await reusePage(url)
  await page.goto(at(`/limits?workflow=${wide}`))
  await page
    .getByRole('row', { name: /12 of 20/ })
    .getByRole('link', { name: 'and 2 more' })
    .click()
  await page.waitForURL(/status=running/)
  await page.goto(at('/limits'))
  await page.getByText('Showing the 200 limits with the most waiting runs; there may be more.').waitFor()
  const listed = (await api.get('/limits?limit=200')).json as { key?: string }[]
  const keys = Array.from({ length: MANY }, (_, n) => `device-${n}`)
  const other = keys.find(key => listed.every(limit => limit.key !== key))
  await page.goto(at(`/limits?key=${other}`))
  await page.getByRole('row', { name: new RegExp(`${other}\\b.*1 of 1`) }).waitFor()
  await page.goto(at('/limits?key=device-none'))
  await page.getByText('No matching limits', { exact: true }).waitFor()
  await page.goto(at('/'))
  const looks = page.getByRole('region', { name: 'Needs attention' })
  await looks.getByText('2 other limits have waiting runs').waitFor()
  expect(await axeViolations(page)).toEqual([])
  opened.open()
})
