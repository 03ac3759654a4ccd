// The commands on empty pages are typed unchanged, in an empty folder, against an engine with keys: the project is created, its
// runner registers, and its first run appears. The commands of other empty pages are typed in the project.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openPage } from '../../kit/browser/page.ts'
import { openEngine, until, within } from '../../kit/index.ts'
import { Project } from '../../kit/packages/project.ts'
import { openRegistry } from '../../kit/packages/registry.ts'

const SECRET = { label: 'ops', namespace: 'default', kind: 'secret', key: 'a secret key of a test' }

/** The commands on the page, as its buttons copy them. */
async function commandsOn(page: Page): Promise<string[]> {
  const buttons = page.getByRole('button', { name: 'Copy commands' })
  await buttons.first().waitFor()
  const copied: string[] = []
  for (const button of await buttons.all()) {
    await button.click()
    copied.push(await page.evaluate<string>('navigator.clipboard.readText()'))
  }
  return copied
}

test('the commands of empty pages work as they are copied', { timeout: 300_000 }, async () => {
  const engine = await openEngine({ env: { ENGINE_API_KEYS: JSON.stringify([SECRET]) } })
  const session = await engine.api.as(SECRET.key).post('/session', { key: SECRET.key, kind: 'secret' })
  const { token } = session.json as { token: string }
  const page = await openPage(engine.url)
  await page.addInitScript({ content: `sessionStorage.setItem('perdure.session.default', '${token}')` })
  const commandsOf = async (path: string) => {
    await page.goto(`${engine.url}/console/n/default/${path}`)
    return commandsOn(page)
  }
  const [makeRunner = '', sendEvent = ''] = await commandsOf('runs')
  await page.getByText('to a secret key.').waitFor()
  const project = new Project(await openRegistry())
  project.env.ENGINE_API_KEY = SECRET.key
  const runner = project.type('.', makeRunner)

  expect(await commandsOf('')).toEqual([makeRunner, sendEvent])
  expect(await commandsOf('workflows')).toEqual([makeRunner])
  expect(await commandsOf('runners')).toEqual([makeRunner])
  expect(await commandsOf('events')).toEqual([sendEvent])
  const pages = ['schedules', 'webhooks/endpoints', 'webhooks/receivers']
  const others: string[] = []
  for (const path of pages) others.push(...(await commandsOf(path)).filter(command => command.startsWith('perdure ')))
  expect(others).toHaveLength(pages.length)

  await until(() => runner.printed().includes('Connected to'), { what: 'the runner', deadlineMs: 120_000 })
  await page.goto(`${engine.url}/console/n/default/runs`)
  project.env.ENGINE_URL = engine.url
  for (const { command, typed } of [
    { command: sendEvent, typed: project.type('.', sendEvent) },
    ...others.map(command => ({ command, typed: project.type('my-app', `npx ${command}`) })),
  ])
    expect(await within(typed.ended, command), typed.printed()).toBe(0)
  await page.getByRole('row', { name: /waiting.*welcome/i }).waitFor()
  await runner.kill9()
})
