// The page of an event: why it started nothing at a workflow, then and now, whom it woke, and the tree of what came of it.

import { expect, test } from 'vitest'
import { axeViolations, openPage } from '../kit/browser/page.ts'
import { flow, openEngine, run, unique, wait } from '../kit/index.ts'

const { api, url, runner } = await openEngine()

test('each workflow with its reason, then and now; the woken run; the tree', async () => {
  const [event, small, large] = ['paid', 'small', 'large'].map(unique) as [string, string, string]
  const waiting = unique('waiting')
  await runner({
    workflows: {
      [small]: { handler: flow([run('book')]), registration: { triggers: [{ event }] } },
      [large]: {
        handler: flow([run('book')]),
        registration: { triggers: [{ event, if: 'event.data.total > 100' }] },
      },
      [waiting]: flow([wait('payment', event)]),
    },
  })
  const waiter = await api.send({ name: waiting })
  await api.reaches(waiter.runId, 'waiting')
  const { eventId, runId } = await api.send({ name: event, data: { total: 9 } })
  await api.succeeded(runId)
  const page = await openPage(url)
  await page.goto(`${url}/console/n/default/events/${eventId}`)
  await page.getByText('The event started 1 run and woke 1 waiting run.').waitFor()
  await page
    .getByRole('row', { name: new RegExp(`${large}.*filter`) })
    .getByText('event.data.total > 100')
    .waitFor()
  await page.getByRole('list', { name: 'Runs that it woke' }).getByText('which waited at payment').waitFor()
  await page.getByRole('region', { name: 'Tree' }).getByRole('link', { name: small }).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Decide it again, now' }).click()
  await page.getByText('The event would start 1 run.').waitFor()
})
