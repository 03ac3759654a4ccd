// An event that the engine sent at the end of a run, in the console: found by its source, with the ended run, its kind, and the
// workflow that it started.

import { expect, test } from 'vitest'
import { axeViolations, openPage } from '../../kit/browser/page.ts'
import { flow, openEngine, returned, step, unique, until } from '../../kit/index.ts'

const { api, url, runner } = await openEngine()
const [order, alert] = [unique('order'), unique('alert')]
const failing = flow([step('StepRun', 'print', { error: { message: 'no paper' }, retriable: false })])
await runner({
  workflows: {
    [order]: { handler: failing, registration: { onFailure: true } },
    [alert]: {
      handler: ({ event }) => returned(event.data),
      registration: { triggers: [{ event: 'perdure/run.failed', if: `event.data.workflow == '${order}'` }] },
    },
  },
})

test('the log has it under the source engine, and its page leads to the run that ended', async () => {
  const { runId } = await api.send({ name: order })
  // The on-failure run fails, too: its event shows the kind of that run.
  const alerted = await until(
    async () => {
      const runs = await Promise.all((await api.runs(`?workflow=${alert}`)).map(({ id }) => api.run(id)))
      return runs.length === 2 && runs.find(({ input }) => (input as { kind?: string }).kind === 'onFailure')
    },
    { what: 'the alerts of the run and of its on-failure run' },
  )
  expect(alerted.input).toMatchObject({ status: 'failed', parentRunId: runId })
  const page = await openPage(url)
  await page.goto(`${url}/console/n/default/events`)
  await page.getByRole('row', { name: order }).first().waitFor()
  await page.goto(`${url}/console/n/default/events?source=engine`)
  const rows = page.getByRole('row', { name: /perdure\/run\.failed/ })
  await rows.nth(1).waitFor()
  expect(await rows.count()).toBe(2)
  expect(await page.getByRole('row', { name: order }).filter({ hasText: 'api' }).count()).toBe(0)
  await page.goto(`${url}/console/n/default/events/${alerted.eventId}`)
  await page.getByText('The event started 1 run').waitFor()
  const facts = page.getByRole('region', { name: 'Event', exact: true })
  await facts.getByText('engine', { exact: true }).waitFor()
  await page.getByRole('region', { name: 'Data' }).getByText('onFailure').waitFor()
  const copy = page.getByRole('button', { name: 'Send a copy…' })
  expect(await copy.getAttribute('title')).toBe('only the engine sends events of this name')
  await page.getByRole('region', { name: 'Tree' }).getByRole('link', { name: alert }).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await facts.getByRole('link', { name: (alerted.input as { runId: string }).runId }).click()
  await page.getByText('Handles failure of').waitFor()
})
