// The page that sends an event has a form if a workflow that the event starts has a schema. Values that the workflow would refuse
// cause a warning only, because the engine does not validate events.

import { expect, test } from 'vitest'
import { axeViolations, reusePage } from '../../kit/browser/page.ts'
import { openEngine, returned, unique } from '../../kit/index.ts'

const { api, url, runner } = await openEngine()
const typed = (name: string, member: string) => ({
  handler: () => returned(1),
  registration: {
    triggers: [{ event: name }],
    input: { type: 'object', required: [member], properties: { [member]: { type: 'integer' } } },
  },
})

test('one schema gives a form, whose faults warn and do not prevent the event', async () => {
  const [event, workflow] = [unique('order/paid'), unique('book')]
  await runner({ workflows: { [workflow]: typed(event, 'cents') } })
  const page = await reusePage(url)
  await page.goto(`${url}/console/n/default/events/send?name=${event}`)
  const cents = page.getByRole('textbox', { name: 'cents', exact: true })
  await cents.fill('1.5')
  await cents.press('Tab')
  await page.getByText('data.cents must be an integer, not a number').waitFor()
  await page.getByRole('status').getByText(`Workflow ${workflow} would refuse this data.`).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByRole('heading', { name: 'Sent', exact: true }).waitFor()
  const [run] = await api.runs(`?workflow=${workflow}`)
  expect((await api.run(run?.id as string)).input).toEqual({ cents: 1.5 })
})

test('of several workflows with a schema one is chosen for the form, which keeps the data', async () => {
  const event = unique('order/seen')
  const [first, second] = [unique('first'), unique('second')]
  const { app } = await runner({ workflows: { [first]: typed(event, 'one'), [second]: typed(event, 'two') } })
  const page = await reusePage(url)
  await page.goto(`${url}/console/n/default/events/send?name=${event}`)
  await page.getByRole('textbox', { name: 'Event data' }).waitFor()
  const choice = page.getByLabel('Form of the workflow')
  await choice.selectOption(`${app}/${first}`)
  await page.getByRole('textbox', { name: 'one', exact: true }).fill('1')
  await choice.selectOption(`${app}/${second}`)
  await page.getByRole('textbox', { name: 'two', exact: true }).fill('2')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByRole('heading', { name: 'Sent', exact: true }).waitFor()
  const [run] = await api.runs(`?workflow=${second}`)
  expect((await api.run(run?.id as string)).input).toEqual({ one: 1, two: 2 })
})
