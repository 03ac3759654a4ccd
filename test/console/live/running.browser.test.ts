// A run in progress: the running step is drawn from its start, and log lines have the time of the runner; and the page of a run
// that failed, which opens at the step that did.

import { expect, test } from 'vitest'
import { axeViolations, openPage, reusePage } from '../../kit/browser/page.ts'
import { discovered, gate, opcode, openEngine, returned, stepId, unique } from '../../kit/index.ts'
import { answeredWith, ScriptedTransport } from '../../kit/runner/scripted-transport.ts'

const transport = new ScriptedTransport()
const live = await openEngine({ ports: { transport } })
const { api, url, runner } = await openEngine()

const answer = (reply: unknown) => answeredWith(reply as { status: number })

test('a step that runs has a bar from its start, while the page is open and when it is opened later', async () => {
  const [begun, told, go] = [gate(), gate(), gate()]
  const name = unique('order')
  const ran = (id: string) => opcode('StepRun', id, { data: 1 })
  const tsMs = Date.now() - 4000
  transport.scripts.set(name, async ({ no, checkpoint }) => {
    if (no > 1) return answer(returned('done'))
    await checkpoint([ran('reserve')])
    await begun.opened
    await checkpoint([], { running: [{ id: stepId('charge-card'), name: 'charge-card', startedMs: 3000 }] })
    told.open()
    await go.opened
    const line = { level: 'info' as const, message: 'charged', scope: 'charge-card', index: 0, tsMs }
    return answer(discovered([ran('charge-card')], [line]))
  })
  const workflows = [{ name }]
  await live.api.post('/register', { app: name, url: 'http://127.0.0.1:9/', protocolVersion: 1, workflows })
  const { runId } = await live.api.send({ name })
  const page = await openPage(live.url)
  await page.goto(`${live.url}/console/n/default/runs/${runId}`)
  const bar = (target: typeof page) => target.getByRole('row', { name: /^charge-card, running, / })
  await page.getByRole('row', { name: /^reserve, succeeded/ }).waitFor()
  await page.getByRole('button', { name: 'Live', exact: true }).waitFor()
  begun.open()
  await told.opened
  await bar(page).waitFor()
  const later = await openPage(live.url, { colorScheme: 'dark' })
  await later.goto(`${live.url}/console/n/default/runs/${runId}`)
  await bar(later).waitFor()
  expect(await axeViolations(later)).toEqual([])
  await later.goto(`${live.url}/console/n/default/runs?q=${name}`)
  await later.getByRole('cell', { name: 'charge-card' }).waitFor()
  go.open()
  await page.getByRole('row', { name: /^charge-card, succeeded/ }).click()
  const times = page.getByRole('complementary', { name: 'Selected step' }).locator('ol time, ol span[title]')
  await times.first().waitFor()
  expect(await times.first().getAttribute('title')).toContain(String(tsMs))
})

test('the page of a failed run opens at the step that failed, in a row of many too, and stays closed when it is closed', async () => {
  const name = unique('import')
  const error = { message: 'row 7 is broken', stack: 'Error: row 7 is broken\n    at importRow (rows.ts:7)' }
  const rows = Array.from({ length: 8 }, (_, i) =>
    opcode('StepRun', `row ${i}`, i === 7 ? { error, retriable: false } : { data: i }),
  )
  await runner({
    workflows: { [name]: { handler: () => discovered(rows), registration: { retry: { maxAttempts: 1 } } } },
  })
  const { runId } = await api.send({ name })
  await api.failed(runId)
  const page = await reusePage(url)
  await page.goto(`${url}/console/n/default/runs/${runId}`)
  const inspector = page.getByRole('complementary', { name: 'Selected step' })
  await inspector.getByText('at importRow (rows.ts:7)').waitFor()
  expect(await page.getByRole('row', { selected: true }).getAttribute('aria-label')).toMatch(/^row 7, failed/)
  await page.keyboard.press('Escape')
  await expect.poll(() => inspector.count()).toBe(0)
  await page.getByRole('button', { name: 'Next failed' }).click()
  await inspector.waitFor()
})

test('an error that no step has is shown with its stack', async () => {
  const name = unique('broken')
  const error = { message: 'no price', stack: 'Error: no price\n    at order (order.ts:3)' }
  await runner({
    workflows: { [name]: { handler: () => ({ status: 400, body: { error, logs: [] } }) as never } },
  })
  const { runId } = await api.send({ name })
  await api.failed(runId)
  const page = await reusePage(url)
  await page.goto(`${url}/console/n/default/runs/${runId}`)
  await page.getByText('at order (order.ts:3)').waitFor()
  expect(await axeViolations(page)).toEqual([])
})
