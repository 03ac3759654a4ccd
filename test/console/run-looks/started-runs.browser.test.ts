// Runs started by steps, on the pages of both runs: the tree links to them with their state and key, and the started run names
// the step and its key.

import { expect, test } from 'vitest'
import { axeViolations, openPage } from '../../kit/browser/page.ts'
import { flow, openEngine, step, unique, wait } from '../../kit/index.ts'

const engine = await openEngine()
const { api, url } = engine

test('the tree leads to the run that a step started, which names the step and its key', async () => {
  const [starter, account] = [unique('starter'), unique('account')]
  const go = step('StartRun', 'open the account', { workflow: account, key: 'acct-17' })
  await engine.runner({
    workflows: { [starter]: flow([go]), [account]: flow([wait('hold', unique('never'))]) },
  })
  const { runId } = await api.send({ name: starter })
  await api.succeeded(runId)
  const { startedRunId } = (await api.step(runId, 'open the account')) as { startedRunId?: string }
  const page = await openPage(url)
  await page.goto(`${url}/console/n/default/runs/${runId}?tab=tree`)
  const line = page.getByRole('tabpanel').getByRole('listitem').filter({ hasText: 'by step open the account' }).last()
  await line.getByText('acct-17').waitFor()
  expect(await line.textContent()).toMatch(/^started.*waiting/)
  expect(await axeViolations(page)).toEqual([])
  await line.getByRole('link', { name: account }).click()
  await page.waitForURL(at => at.pathname.endsWith(`/runs/${startedRunId}`))
  await page.getByRole('heading', { level: 1, name: account }).waitFor()
  const facts = page.getByRole('main')
  await facts.getByText('step open the account of').waitFor()
  await facts.getByText('acct-17').first().waitFor()
  await page.goto(`${url}/console/n/default/runs/${startedRunId}?tab=tree`)
  await page.getByRole('tabpanel').getByRole('link', { name: starter }).click()
  await page.waitForURL(at => at.pathname.endsWith(`/runs/${runId}`))
})
