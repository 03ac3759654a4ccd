// The console of one engine while another drives, both on one PostgreSQL database: the list of runs and the page of a run are
// still live. The page of the engine lists both engines. Skipped, with one line, when PostgreSQL does not answer.

import { expect, test } from 'vitest'
import { reusePage } from '../kit/browser/page.ts'
import { flow, freshSchema, openEngine, PlainRunner, run, unique, until, wait } from '../kit/index.ts'

const storeFile = await freshSchema()
const [shown, driving] = [await openEngine({ storeFile }), await openEngine({ storeFile })]

/** A workflow with an approval, on both engines. */
async function order() {
  const [name, approved] = [unique('order'), unique('approved')]
  const stages = [
    run('reserve', () => ({ ok: true })),
    wait('approval', approved),
    run('ship', () => ({ shipped: true })),
  ]
  const runner = new PlainRunner({ app: name, workflows: { [name]: { handler: flow(stages) } } })
  await (await runner.listen()).register(driving.api)
  await until(async () => ((await shown.api.get(`/runners?app=${name}`)).json as unknown[]).length > 0)
  return { name, approved }
}

test('the list of runs is live: runs that the other engine starts appear, and their status moves', async () => {
  const { name, approved } = await order()
  const page = await reusePage(shown.url)
  await page.goto(`${shown.url}/console/n/default/runs?workflow=${name}`)
  await page.getByText('No matching runs').waitFor()
  await page.getByRole('button', { name: 'Live', exact: true }).waitFor()
  await driving.api.send({ name })
  await page.getByRole('row', { name: new RegExp(`waiting.*${name}`) }).waitFor()
  await driving.api.send({ name: approved })
  await page.getByRole('row', { name: new RegExp(`succeeded.*${name}`) }).waitFor()
})

test('the page of a run follows the order: the wait is explained, and ends when the other engine gets its event', async () => {
  const { name, approved } = await order()
  const { runId } = await driving.api.send({ name })
  const page = await reusePage(shown.url)
  await page.goto(`${shown.url}/console/n/default/runs/${runId}`)
  await page.getByRole('row', { name: /^reserve, succeeded/ }).waitFor()
  await page.getByText('waits').getByText(`for event "${approved}"`).waitFor()
  await driving.api.send({ name: approved })
  await page.getByRole('row', { name: /^ship, succeeded/ }).waitFor()
  await page.getByText('It succeeded after').waitFor()
})

test('the page of the engine lists both, and says which one it is', async () => {
  const page = await reusePage(shown.url)
  await page.goto(`${shown.url}/console/n/default/engine`)
  const engines = page.getByRole('table', { name: 'Engines' })
  await until(async () => (await engines.getByRole('row', { name: /engine_/ }).count()) === 2)
  expect(await engines.getByRole('row', { name: /this one.*working/ }).count()).toBe(1)
})
