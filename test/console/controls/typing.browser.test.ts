// The target of keys: the editor while it has the focus, and the page while a checkbox or a slider has it.

import { expect, test } from 'vitest'
import { reusePage } from '../../kit/browser/page.ts'
import { flow, openEngine, returned, run, unique } from '../../kit/index.ts'

const { api, url, runner } = await openEngine()

/** Letters that are shortcuts of the page. */
const TYPED = '{"total":12,"clg":"tyjkl?/"}'

test('every letter that is typed into the editor arrives in it', async () => {
  const page = await reusePage(url)
  await page.goto(`${url}/console/n/default/events/send`)
  const editor = page.getByLabel('Event data')
  await editor.click()
  await page.keyboard.press('Control+a')
  await page.keyboard.type(TYPED)
  expect(await editor.innerText()).toBe(TYPED)
  expect(await page.getByRole('dialog').count()).toBe(0)
})

test('letters are shortcuts while a checkbox has the focus, and Space checks it', async () => {
  const workflow = unique('checked')
  await runner({ workflows: { [workflow]: () => returned(1) } })
  const { runId } = await api.send({ name: workflow })
  await api.succeeded(runId)
  const page = await reusePage(url)
  await page.goto(`${url}/console/n/default/runs?workflow=${workflow}`)
  const row = page.getByRole('row', { name: workflow })
  const box = row.getByRole('checkbox')
  await box.focus()
  await page.keyboard.press('Space')
  await page.getByText('1 run selected').waitFor()
  expect(await box.isChecked()).toBe(true)
  await page.keyboard.press('j')
  await expect.poll(() => row.evaluate(each => each.matches(':focus'))).toBe(true)
  await box.focus()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
  await page.getByLabel('Single-letter shortcuts').focus()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
})

test('letters are shortcuts while the slider of the moments has the focus, and arrows move it', async () => {
  const workflow = unique('moments')
  await runner({ workflows: { [workflow]: flow([run('first'), run('second')]) } })
  const { runId } = await api.send({ name: workflow })
  await api.succeeded(runId)
  const page = await reusePage(url)
  await page.goto(`${url}/console/n/default/runs/${runId}`)
  await page.getByRole('button', { name: 'Scrub' }).click()
  const slider = page.getByRole('slider')
  await slider.focus()
  const before = await slider.inputValue()
  await page.keyboard.press('ArrowRight')
  await expect.poll(() => slider.inputValue()).not.toBe(before)
  await page.keyboard.press('+')
  await page.getByRole('button', { name: 'Zoom out' }).waitFor()
})
