// The page of an event: why it started nothing at a workflow, then and now, which runs it woke, and the tree of the runs it
// started. Also the effects of an emitted event at its step.

import { expect, test } from 'vitest'
import { axeViolations, reusePage } from '../kit/browser/page.ts'
import { emit, flow, openEngine, returned, run, step, unique, wait } from '../kit/index.ts'

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
  const page = await reusePage(url)
  await page.goto(`${url}/console/n/default/events/${eventId}`)
  await page.getByText('The event started 1 run and woke 1 waiting run.').waitFor()
  await page
    .getByRole('row', { name: new RegExp(`${large}.*filter`) })
    .getByText('event.data.total > 100')
    .waitFor()
  await page.getByRole('list', { name: 'Runs resumed' }).getByText('which was waiting at payment').waitFor()
  await page.getByRole('region', { name: 'Tree' }).getByRole('link', { name: small }).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Re-evaluate' }).click()
  await page.getByText('The event would start 1 run.').waitFor()
})

test('a name that nothing knows leads to the near one, with the same data; one that runs wait for is no slip', async () => {
  const [event, awaited, waiting] = ['invoice.paid', 'invoice.approved', 'waiting'].map(unique) as [
    string,
    string,
    string,
  ]
  await runner({
    workflows: {
      [unique('books')]: { handler: flow([run('book')]), registration: { triggers: [{ event }] } },
      [waiting]: flow([
        step('WaitForEvent', 'approval', { eventName: awaited, if: 'async.data.total == event.data.total' }),
      ]),
    },
  })
  const { runId } = await api.send({ name: waiting, data: { total: 7 } })
  await api.reaches(runId, 'waiting')
  const { eventId } = await api.send({ name: `${event}x`, data: { total: 9 } })
  const page = await reusePage(url)
  await page.goto(`${url}/console/n/default/events/${eventId}`)
  await page.getByRole('link', { name: event, exact: true }).click()
  await page.getByText('starts a run').waitFor()
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe(event)
  expect(await page.getByLabel('Event data').innerText()).toBe('{"total":9}')

  await page.goto(`${url}/console/n/default/runs/${runId}`)
  await page.getByRole('link', { name: `Send ${awaited}…` }).click()
  await page.getByText('It would resume 1 waiting run.').waitFor()
  expect(await page.getByText('did you mean').count()).toBe(0)

  const { eventId: vain } = await api.send({ name: awaited, data: { total: 9 } })
  await page.goto(`${url}/console/n/default/events/${vain}`)
  await page.getByText(`1 run waited for "${awaited}" with a condition that it did not meet.`).waitFor()
})

test('the detail of an emit shows what its event did: the run that it started, and the start that was skipped', async () => {
  const [heard, looped] = [unique('heard'), unique('looped')]
  await runner({
    workflows: {
      [heard]: { handler: () => returned(1), registration: { triggers: [{ event: looped }] } },
      [looped]: { handler: flow([emit('again', looped)]), registration: { singleton: { mode: 'skip' } } },
    },
  })
  const { triggered } = await api.send({ name: looped })
  const runIdIn = (workflow: string) => triggered.find(one => one.workflow === workflow)?.runId as string
  const runId = runIdIn(looped)
  await api.succeeded(runId)
  const page = await reusePage(url)
  await page.goto(`${url}/console/n/default/runs/${runId}?step=again`)
  const effects = page.locator('section', { has: page.getByRole('heading', { name: 'Effects', exact: true }) })
  await effects.getByText('skipped: this run is active').waitFor()
  expect(await effects.getByRole('link', { name: runId }).count()).toBe(1)
  const started = await effects.getByText('started run_').textContent()
  expect(started).not.toContain(runIdIn(heard))
  expect(await axeViolations(page)).toEqual([])
})
