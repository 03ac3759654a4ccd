// Shared views in the console: one browser shares a view, and another opens, renames and deletes it.

import { expect, test } from 'vitest'
import { axeViolations, openPage } from '../../kit/browser/page.ts'
import { openEngine } from '../../kit/index.ts'

const engine = await openEngine()
const at = (path: string) => `${engine.url}/console/n/default/${path}`

test('a view that one browser shares is in the menu of another, which renames and deletes it', async () => {
  const [ada, ben] = [await openPage(engine.url), await openPage(engine.url)]
  await ada.goto(at('runs?status=failed'))
  await ada.getByRole('button', { name: 'Views' }).click()
  await ada.getByText('Nobody has shared a view').waitFor()
  await ada.getByLabel('Save these filters as').fill('broken')
  await ada.keyboard.press('Enter')
  await ada.getByRole('button', { name: 'Share broken…' }).click()
  await ada.getByRole('button', { name: 'Share', exact: true }).click()
  const shared = ada.getByRole('region', { name: 'Shared views' })
  await shared.getByRole('link', { name: 'broken' }).waitFor()
  expect(await ada.getByRole('link', { name: 'broken' }).count()).toBe(1)
  expect(await axeViolations(ada)).toEqual([])

  await ben.goto(at('runs'))
  await ben.getByRole('button', { name: 'Views' }).click()
  await ben.getByRole('button', { name: 'Rename broken…' }).click()
  await ben.getByLabel('New name').fill('broken runs')
  await ben.getByRole('button', { name: 'Rename', exact: true }).click()
  await ben.getByRole('link', { name: 'broken runs' }).click()
  await ben.waitForURL(/runs\?status=failed$/)
  await ben.getByRole('button', { name: 'Views' }).click()
  await ben.getByRole('button', { name: 'Delete broken runs…' }).click()
  await ben.getByRole('button', { name: 'Delete', exact: true }).click()
  await ben.getByText('Nobody has shared a view').waitFor()
  await ada.reload()
  await ada.getByRole('button', { name: 'Views' }).click()
  await ada.getByText('Nobody has shared a view').waitFor()
})
