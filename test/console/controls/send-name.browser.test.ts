// The send page of an event that no workflow knows: one press selects the name that was probably meant.

import { test } from 'vitest'
import { openPage } from '../../kit/browser/page.ts'
import { flow, openEngine, run, unique } from '../../kit/index.ts'

const { url, runner } = await openEngine()

test('the name that was probably meant is taken by a key', async () => {
  const name = `${unique('order')}.placed`
  const [app, workflow] = [unique('shop'), unique('ship')]
  await runner({
    app,
    workflows: { [workflow]: { handler: flow([run('pack')]), registration: { triggers: [{ event: name }] } } },
  })
  const page = await openPage(url)
  await page.goto(`${url}/console/n/default/events/send?name=${name.slice(0, -1)}&data={}`)
  // The editor takes the focus when it has been loaded.
  await page.getByRole('textbox', { name: 'Event data' }).and(page.locator(':focus')).waitFor()
  const guess = page.getByRole('button', { name, exact: true })
  await guess.focus()
  await page.keyboard.press('Enter')
  await page.getByText('starts a run').waitFor()
  await page.getByRole('heading', { name: new RegExp(workflow) }).waitFor()
})
