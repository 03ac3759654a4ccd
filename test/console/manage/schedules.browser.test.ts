// Schedules created, edited and deleted on their page: the next runs during typing, and the engine's errors next to the fields.

import type { ScheduleEntry } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { axeViolations, reusePage } from '../../kit/browser/page.ts'
import { openEngine, returned, unique } from '../../kit/index.ts'

const { api, url, runner } = await openEngine()

const entry = async (id: string) =>
  ((await api.get('/schedules?limit=200')).json as ScheduleEntry[]).find(schedule => schedule.id === id)

async function schedulesPage(expected: string[] = []) {
  const page = await reusePage(url, { expected })
  await page.goto(`${url}/console/n/default/schedules`)
  return { page, dialog: page.getByRole('dialog') }
}

test('a schedule is created: its next runs are shown, errors stand at their fields, its data arrives to the letter', async () => {
  const id = unique('weekly')
  await api.put('/schedules/taken', { every: '1h', event: { name: 'n' } })
  const { page, dialog } = await schedulesPage(['400', '409'])
  await page.getByRole('button', { name: 'New schedule…' }).click()
  const field = (label: string) => dialog.getByLabel(label, { exact: true })
  const data = dialog.getByRole('textbox', { name: 'Event data, as JSON (optional)' })
  const next = dialog.getByRole('region', { name: 'Next runs' })
  await dialog.getByText('every day at 09:00').waitFor()
  await next.getByText('09:00:00').first().waitFor()
  const create = dialog.getByRole('button', { name: 'Create', exact: true })
  expect(await create.getAttribute('title')).toBe('enter an ID')
  await field('ID').fill('taken')
  await dialog.getByText('There is a schedule taken already.').waitFor()
  expect(await field('ID').getAttribute('aria-invalid')).toBe('true')
  await field('ID').fill(id)
  await field('Cron').fill('0 25 * * 1')
  await dialog.getByRole('alert').filter({ hasText: 'cron is not a valid cron expression' }).waitFor()
  await next.getByText('None: see the error at its field').waitFor()
  await field('Cron').fill('30 9 * * 1')
  await dialog.getByText('every Monday at 09:30').waitFor()
  await field('Time zone').fill('Mars/Base')
  await dialog.getByText('timezone must be the name of a time zone').waitFor()
  await field('Time zone').fill('Asia/Kolkata')
  await next.getByText('04:00:00').first().waitFor()
  expect(await next.getByText('04:00:00').count()).toBe(5)
  await field('Event name').fill('report/weekly')
  await data.fill('{"n": 1.0')
  expect(await create.getAttribute('title')).toBe('the data is not JSON')
  await data.fill('{"n":1.0,"big":12345678901234567890}')
  await next.getByText('04:00:00').first().waitFor()
  expect(await axeViolations(page)).toEqual([])
  await field('Cron').press('Enter')
  await page.getByRole('row', { name: new RegExp(id) }).waitFor()
  expect(await entry(id)).toMatchObject({ cron: '30 9 * * 1', timezone: 'Asia/Kolkata', source: 'api' })
  expect((await api.get('/schedules?limit=200')).text).toContain('"data":{"n":1.0,"big":12345678901234567890}')
})

test('a schedule is edited and deleted from the menu of its row, by keyboard', async () => {
  const id = unique('poll')
  await api.put(`/schedules/${id}`, {
    cron: '0 9 * * *',
    event: { name: 'inbox/poll', data: { n: 1 } },
    catchUp: 'all',
  })
  const { page, dialog } = await schedulesPage()
  const row = page.getByRole('row', { name: new RegExp(id) })
  await row.waitFor()
  const choose = async (item: string) => {
    await row.getByRole('button', { name: 'Fire now…' }).focus()
    await page.keyboard.press('.')
    await page.getByRole('menuitem', { name: item }).press('Enter')
  }
  await choose('Edit…')
  await dialog.getByRole('heading', { name: `Edit ${id}` }).waitFor()
  expect(await dialog.getByLabel('ID', { exact: true }).count()).toBe(0)
  await dialog.getByRole('radio', { name: 'at an interval' }).check()
  await dialog.getByLabel('Interval', { exact: true }).fill('90s')
  await dialog.getByText('App, start, end and catch-up').click()
  await dialog.getByLabel('Ends (local time)').fill('2041-02-06T11:30:00')
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await row.getByText('every 1 min 30 s').waitFor()
  const saved = { every: 90_000, catchUp: 'all', event: { name: 'inbox/poll', data: { n: 1 } } }
  expect(await entry(id)).toMatchObject(saved)
  expect((await entry(id))?.endsAt).toContain('2041-02-06T')
  await choose('Delete…')
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
  await row.waitFor({ state: 'detached' })
  expect(await entry(id)).toBeUndefined()
})

test('a schedule that a workflow declares is not edited: the dialog says where it is', async () => {
  const name = unique('nightly')
  await runner({
    workflows: { [name]: { handler: () => returned(1), registration: { triggers: [{ cron: '0 2 * * *' }] } } },
  })
  const { page, dialog } = await schedulesPage()
  const row = page.getByRole('row', { name: new RegExp(name) })
  await row.getByRole('button', { name: 'Fire now…' }).focus()
  await page.keyboard.press('.')
  await page
    .getByRole('menuitem', { name: /^Delete…/ })
    .getByText('declared in code')
    .waitFor()
  await page.getByRole('menuitem', { name: 'Edit…' }).click()
  await dialog.getByText(`The workflow ${name} declares this schedule`).waitFor()
  expect(await axeViolations(page)).toEqual([])
})
