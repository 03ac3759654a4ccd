// The focus is not lost when the control that has it disappears: the row, the timeline or the heading near it gets the focus.

import { expect, test } from 'vitest'
import { openPage } from '../../kit/browser/page.ts'
import { flow, openEngine, run, unique, wait } from '../../kit/index.ts'

const engine = await openEngine()
const { api, url } = engine
const name = unique('patient')
await engine.runner({ workflows: { [name]: flow([run('ask'), wait('approval', unique('approved'))]) } })
const { runId } = await api.send({ name })
await api.reaches(runId, 'waiting')

const FOCUSED = `(() => {
  const { tagName, role, dataset } = document.activeElement
  return dataset.key ?? role ?? tagName
})()`

test('a control that goes away leaves the focus near it', async () => {
  const page = await openPage(url)
  const focused = () => page.evaluate<string>(FOCUSED)
  const press = (button: string) => page.getByRole('button', { name: button, exact: true }).press('Enter')
  await page.goto(`${url}/console/n/default/runs?workflow=${name}&app=nobody`)
  await page.keyboard.press('Tab')
  await press('Remove app:nobody')
  await page.getByRole('row', { name }).waitFor()
  await expect.poll(focused).toBe('H1')
  for (const key of ['j', 'x']) await page.keyboard.press(key)
  await press('Clear')
  await expect.poll(focused).toBe(runId)

  await page.keyboard.press('Enter')
  await page.getByRole('treegrid').waitFor()
  await expect.poll(focused).toBe('H1')
  await page.keyboard.press('ArrowDown')
  await press('Close the inspector')
  await expect.poll(focused).toBe('treegrid')
  await page.keyboard.press('.')
  await page.getByRole('menuitem', { name: 'Pause…' }).press('Enter')
  await press('Pause run')
  await press('Resume…')
  await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).press('Enter')
  await page.getByRole('button', { name: 'Resume' }).waitFor({ state: 'detached' })
  await expect.poll(focused).toBe('treegrid')
})
