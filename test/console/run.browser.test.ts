// The page of a run: its timeline live, its actions, the comparison of a fork with its source, and a run from a file.

import { expect, test } from 'vitest'
import { axeViolations, reusePage } from '../kit/browser/page.ts'
import {
  discovered,
  flow,
  type Handler,
  opcode,
  openEngine,
  returned,
  run,
  StepFailure,
  unique,
  wait,
} from '../kit/index.ts'

const engine = await openEngine()
const { api, url } = engine
const pageOf = (runId: string, query = '') => `${url}/console/n/default/runs/${runId}${query}`
const BIG = '12345678901234567890'

/** A workflow whose step `charge` fails `failures` times. */
async function order(failures: number) {
  const [name, approved] = [unique('order'), unique('approved')]
  let left = failures
  const charge = () => {
    if (left-- > 0) throw new StepFailure('the card was declined', { retryAfterMs: 300 })
    return { charged: true }
  }
  const stages = [run('reserve', ({ event }) => event.data), run('charge', charge), wait('approval', approved)]
  const registration = { retry: { maxAttempts: 2 } }
  await engine.runner({ workflows: { [name]: { handler: flow(stages), registration } } })
  return { name, approved }
}

/** Sends an event with JSON text as data, so that its numbers stay as written. */
async function send(name: string, data: string): Promise<string> {
  const body = `{"name":${JSON.stringify(name)},"data":${data}}`
  const reply = await fetch(`${url}/events`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return ((await reply.json()) as { runId: string }).runId
}

test('bars grow live, a retry is two attempts, and the wait is explained until it ends', async () => {
  const { name, approved } = await order(1)
  const page = await reusePage(url)
  const runId = await send(name, '{}')
  await page.goto(pageOf(runId))
  await page.getByRole('row', { name: /^charge, succeeded, attempt 2 of 2, started at/ }).waitFor()
  const segments = page.locator('#step-row-1 [data-kind]')
  // The attempts arrive with the timeline, after the steps.
  await segments.nth(2).waitFor()
  expect(await segments.evaluateAll(all => all.map(one => one.getAttribute('data-kind')))).toEqual([
    'failed',
    'backoff',
    'run',
  ])
  await page.getByText(`waits`).getByText(`for event "${approved}"`).waitFor()
  await page.getByRole('link', { name: `Send ${approved}…` }).click()
  await page.getByText('It would resume 1 waiting run.').waitFor()
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByRole('heading', { name: 'Sent', exact: true }).waitFor()
  await page.goBack()
  await page.getByText('It succeeded after').waitFor()
  await page.getByRole('button', { name: 'Edit and replay…' }).waitFor()
})

test('the time in a state is of the past: the wait for the next attempt counts up to now', async () => {
  const name = unique('order')
  const charge = () => {
    throw new StepFailure('the bank is closed', { retryAfterMs: 3_600_000 })
  }
  await engine.runner({ workflows: { [name]: flow([run('charge', charge)]) } })
  const { runId } = await api.send({ name })
  await api.reaches(runId, 'waiting')
  const page = await reusePage(url)
  await page.goto(pageOf(runId))
  await page.getByText('is tried again').waitFor()
  const share = page.getByRole('list', { name: 'Time in state' }).getByText('backing off')
  expect(await share.innerText()).toMatch(/backing off \d+(\.\d+)? m?s /)
  const row = page.getByRole('row', { name: /^charge, retrying/ })
  expect(await row.getByRole('gridcell').last().innerText()).toMatch(/^\d+(\.\d+)? m?s$/)
  const [past, planned] = [row.locator('[data-kind=backoff]'), row.locator('[data-kind=planned]')]
  expect(await past.getAttribute('title')).toMatch(/^backoff after attempt 1: \d+(\.\d+)? m?s$/)
  expect(await planned.getAttribute('title')).toMatch(/^until the next attempt: (59 min|1 h)/)
})

test.each(['light', 'dark'] as const)('a failed run and its tabs have no violation in %s', async colorScheme => {
  const { name } = await order(2)
  const runId = await send(name, '{"text":"<img src=x onerror=alert(1)> \\u202e"}')
  await api.reaches(runId, 'failed')
  const page = await reusePage(url, { colorScheme })
  await page.goto(pageOf(runId, '?step=charge'))
  await page.getByRole('complementary', { name: 'Selected step' }).getByText('the card was declined').first().waitFor()
  expect(await axeViolations(page)).toEqual([])
  const tabs = ['Logs', 'Input and result', 'Tree', 'Passes', 'Audit', 'Raw']
  for (const tab of colorScheme === 'light' ? tabs : tabs.slice(0, 1)) {
    await page.getByRole('tab', { name: tab }).click()
    expect(await axeViolations(page), tab).toEqual([])
  }
  await page.getByRole('tab', { name: 'Input and result' }).click()
  expect(await page.getByRole('tree', { name: 'the input' }).innerText()).toContain('<img src=x onerror=alert(1)> ')
  await page.getByText('U+202E').first().waitFor()
})

test('an error shows its code, its fields and its causes', async () => {
  const name = unique('order')
  const cause = { name: 'TypeError', message: 'fetch failed', cause: { message: 'refused', code: 'ECONNREFUSED' } }
  const error = { message: 'no luck', code: 'card_declined', fields: { status: 402, '\u202e': '<b>' }, cause }
  const handler = () => discovered([opcode('StepRun', 'charge', { error, retriable: false })])
  await engine.runner({ workflows: { [name]: { handler } } })
  const { runId } = await api.send({ name })
  await api.reaches(runId, 'failed')
  const page = await reusePage(url)
  await page.goto(pageOf(runId, '?step=charge'))
  const step = page.getByRole('complementary', { name: 'Selected step' })
  await step.getByText('card_declined').waitFor()
  const text = (await step.innerText()).replace(/\s+/g, ' ')
  expect(text).toMatch(/status ?402/)
  expect(text).toContain('U+202E')
  expect(text).toContain('Caused by TypeError: fetch failed Caused by Error: refused ECONNREFUSED')
})

test('a failed run links to its workflow, and to the run that handles its failure', async () => {
  const name = unique('order')
  const charge = () => {
    throw new StepFailure('the card was declined', { retriable: false })
  }
  const handlers = { fails: flow([run('charge', charge)]), cleans: flow([run('refund', () => 1)]) }
  const handler: Handler = (invoke, record) => (invoke.ctx.onFailure ? handlers.cleans : handlers.fails)(invoke, record)
  const app = unique('shop')
  await engine.runner({ app, workflows: { [name]: { handler, registration: { onFailure: true } } } })
  const { runId } = await api.send({ name })
  await api.reaches(runId, 'failed')
  const page = await reusePage(url)
  await page.goto(pageOf(runId))
  const fact = (term: string) => page.locator('dl > div').filter({ has: page.getByText(term, { exact: true }) })
  const link = fact('Workflow').getByRole('link', { name })
  expect(await link.getAttribute('href')).toBe(`/console/n/default/workflows/${app}/${name}`)
  await fact('On failure').getByText('succeeded').waitFor()
  await fact('On failure').getByRole('link').click()
  await page.getByRole('row', { name: /^refund, succeeded/ }).waitFor()
  await fact('Handles failure of').getByRole('link').click()
  await page.waitForURL(new RegExp(runId))
})

test('edit and replay shows the definition then and now, and their difference, while they differ', async () => {
  const name = unique('order')
  const definition = (triggers: object[], limit?: number) => ({
    handler: () => returned(1),
    registration: { triggers, ...(limit && { concurrency: { limit } }) },
  })
  const app = unique('shop')
  const [placed, paid] = [{ event: `${name}.placed` }, { event: `${name}.paid` }]
  await engine.runner({ app, workflows: { [name]: definition([placed, paid]) } })
  const { runId } = await api.send({ name: `${name}.placed` })
  await api.succeeded(runId)
  const page = await reusePage(url)
  const dialog = page.getByRole('dialog')
  const note = dialog.getByRole('region', { name: 'Compare definitions' })
  const opened = async () => {
    await page.goto(pageOf(runId))
    await page.getByRole('button', { name: 'Edit and replay…' }).click()
    await dialog.getByRole('button', { name: 'Replay unchanged' }).waitFor()
  }
  await opened()
  expect(await note.count()).toBe(0)
  await engine.runner({ app, workflows: { [name]: definition([paid], 3) } })
  await opened()
  await note.getByText(`It starts on ${name}.placed, or on ${name}.paid.`).waitFor()
  await note.getByText('At most 3 runs are active at once.').waitFor()
  await note.getByText(`It starts on ${name}.paid.`, { exact: true }).waitFor()
  const difference = note.getByRole('region', { name: 'Definition diff' })
  await difference.getByText(`"event": "${name}.placed"`).waitFor()
  await difference.getByText('"limit": 3').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await engine.runner({ app, workflows: { [name]: definition([placed, paid]) } })
  const read = page.waitForResponse(/definitions/)
  await opened()
  await read
  expect(await note.count()).toBe(0)
})

test('a number of 20 digits is edited and arrives to the letter; the fork is compared with its source', async () => {
  const { name } = await order(2)
  const runId = await send(name, `{"amount":${BIG}}`)
  await api.reaches(runId, 'failed')
  const page = await reusePage(url)
  await page.goto(pageOf(runId))
  await page.getByRole('button', { name: 'Edit and replay…' }).waitFor()
  await page.keyboard.press('e')
  const editor = page.getByRole('textbox', { name: 'Input of the new run' })
  await editor.waitFor()
  await editor.press('Control+a')
  await page.keyboard.type(`{"amount":`)
  await page.getByRole('status').getByText('This is not JSON at character').waitFor()
  await page.keyboard.type(`${BIG}1}`)
  await page.getByRole('region', { name: 'Input changes' }).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Replay with this input' }).click()
  const link = page.getByRole('dialog').getByRole('link', { name: /^run_/ })
  const forkId = await link.innerText()
  expect(await (await fetch(`${url}/runs/${forkId}`)).text()).toContain(`"input":{"amount":${BIG}1}`)
  await page.getByRole('link', { name: 'Compare with source' }).click()
  await page.getByText('First divergence: reserve, result changed.').waitFor()
  await page.getByRole('region', { name: 'Input diff' }).getByText(`${BIG}1`).waitFor()
})

test('a retry from a step lists what it keeps, and the fork shows it pale', async () => {
  const { name } = await order(2)
  const runId = await send(name, '{}')
  await api.reaches(runId, 'failed')
  const page = await reusePage(url)
  await page.goto(pageOf(runId))
  await page.getByRole('button', { name: 'Retry from there…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('keeps the results of 1 step and executes “charge”').waitFor()
  expect(await dialog.getByRole('listitem').allTextContents()).toEqual(['✓reserve', '✕charge'])
  await dialog.getByRole('button', { name: 'Retry from here' }).click()
  await dialog.getByRole('link', { name: /^run_/ }).click()
  await page.getByRole('row', { name: /^charge, succeeded/ }).waitFor()
  expect(await page.locator('#step-row-0 [data-carried]').count()).toBe(1)
  await page.getByRole('row', { name: /^reserve, carried/ }).click()
  await page.getByRole('complementary', { name: 'Selected step' }).getByRole('link', { name: runId }).click()
  await page.getByRole('row', { name: /^reserve, succeeded/, selected: true }).waitFor()
})

test('a bundle of 10,000 steps is folded, walked through by keys and drawn in part', async () => {
  const page = await reusePage(url)
  await page.goto(`${url}/console/n/default/bundle`)
  const buffer = Buffer.from(bundleOf(10_000))
  await page.getByLabel('Bundle file').setInputFiles({ name: 'run.json', mimeType: 'application/json', buffer })
  await page.getByRole('row', { name: /^import-row-0…9999, 10000 steps, 10 failed/ }).waitFor()
  const grid = page.getByRole('treegrid')
  await grid.focus()
  for (const key of ['ArrowDown', 'ArrowRight', 'n', 'n']) {
    await page.keyboard.press(key)
    await page.waitForTimeout(0)
  }
  await page.getByRole('complementary', { name: 'Selected step' }).getByText('row 1821 is bad').first().waitFor()
  expect(await grid.getAttribute('aria-rowcount')).toBe('10002')
  expect(await page.getByRole('row').count()).toBeLessThan(80)
  await page.keyboard.press('z')
  await page.getByRole('button', { name: 'Zoom out' }).waitFor()
  await page.keyboard.press('[')
  await page.getByRole('slider', { name: 'Position in the run' }).waitFor()
  expect(new URL(page.url()).searchParams.get('step')).toBe('import-row-1821')
  expect(await axeViolations(page)).toEqual([])
})

/** A run whose every 911th step failed. */
function bundleOf(count: number): string {
  const origin = Date.parse('2026-03-01T09:00:00Z')
  const at = (ms: number) => new Date(origin + ms).toISOString()
  const run = { id: 'run_1', workflow: 'import', app: 'shop', status: 'failed', triggerKind: 'event', attempt: 1 }
  const steps = Array.from({ length: count }, (_, index) => ({
    ...{ id: `id${index}`, name: `import-row-${index}`, op: 'StepRun', index, attempt: 1 },
    ...{ startedAt: at(index * 3), finishedAt: at(index * 3 + 40), durationMs: 40 },
    ...(index % 911 === 910
      ? { status: 'failed', error: { message: `row ${index} is bad` } }
      : { status: 'succeeded', data: index }),
  }))
  const frame = (seq: number, ms: number, more: object) => ({ seq, ts: at(ms), runId: run.id, attempt: 1, ...more })
  const timeline = [
    frame(1, 0, { kind: 'run_status', status: 'queued' }),
    frame(2, 1, { kind: 'run_status', status: 'running' }),
    ...steps.map(({ name, index, status }) =>
      frame(index + 3, index * 3 + 40, { kind: 'step_status', name, index, status }),
    ),
    frame(count + 3, count * 3 + 50, { kind: 'run_status', status: 'failed' }),
  ]
  const times = { createdAt: at(0), startedAt: at(1), finishedAt: at(count * 3 + 50), durationMs: count * 3 + 49 }
  return JSON.stringify({ 'perdure-bundle': 1, run: { ...run, ...times }, steps, timeline })
}
