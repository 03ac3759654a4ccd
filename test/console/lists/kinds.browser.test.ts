// Kinds of runs and chains in the console: on-failure runs are labelled, and a warning marks a chain that may be endless.

import { expect, test } from 'vitest'
import { axeViolations, reusePage } from '../../kit/browser/page.ts'
import { child, flow, openEngine, returned, run, StepFailure, unique, until } from '../../kit/index.ts'

const { api, url, runner } = await openEngine({ env: { ENGINE_GENERATION_LIMIT: '2' } })
const pageOf = (path: string) => `${url}/console/n/default/${path}`

test('an on-failure run is labelled in the list and on its page', async () => {
  const name = unique('payment')
  const breaks = run('charge', () => {
    throw new StepFailure('no card', { retriable: false })
  })
  await runner({
    workflows: {
      [name]: {
        handler: (invoke, record) => (invoke.ctx.onFailure ? returned('told') : flow([breaks])(invoke, record)),
        registration: { onFailure: true },
      },
    },
  })
  const { runId } = await api.send({ name })
  await api.failed(runId)
  const follower = await until(async () => (await api.runs(`?parentRunId=${runId}`))[0])
  const page = await reusePage(url)
  await page.goto(pageOf(`runs?workflow=${name}`))
  const rows = page.getByRole('row', { name })
  await rows.filter({ hasText: 'on failure' }).getByText('failure of').waitFor()
  expect(await rows.count()).toBe(2)
  await page.goto(pageOf(`runs/${follower.id}`))
  await page.getByText('Handles failure of').waitFor()
  await page
    .getByRole('link', { name: runId.slice(-8) })
    .first()
    .waitFor()
  expect(await axeViolations(page)).toEqual([])
})

test('a run late in a chain of runs that start each other is warned about', async () => {
  const name = unique('loop')
  await runner({ workflows: { [name]: flow([child('again', name)]) } })
  await api.succeeded((await api.send({ name })).runId)
  const last = (await Promise.all((await api.runs(`?workflow=${name}`)).map(({ id }) => api.run(id)))).find(
    ({ generation }) => generation === 2,
  )
  const page = await reusePage(url)
  await page.goto(pageOf(`runs/${last?.id}`))
  await page.getByText('Generation 2 of a chain of runs that start each other').waitFor()
  expect(await axeViolations(page)).toEqual([])
})
