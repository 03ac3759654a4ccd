// A bundle written by the engine: saved from the page of a run, dropped on the page of bundles, shown without the engine.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { axeViolations, reusePage } from '../kit/browser/page.ts'
import { flow, openEngine, run, StepFailure, unique } from '../kit/index.ts'

const { api, url, runner } = await openEngine()

/** Ends a run whose step `charge` fails once. */
async function order(): Promise<string> {
  const name = unique('order')
  let left = 1
  const charge = () => {
    if (left-- > 0) throw new StepFailure('the card was declined', { retryAfterMs: 10 })
    return { token: 'tok_live', amount: 3 }
  }
  const stages = [run('reserve', ({ event }) => event.data), run('charge', charge)]
  await runner({ workflows: { [name]: { handler: flow(stages), registration: { retry: { maxAttempts: 2 } } } } })
  const { runId } = await api.send({ name, data: { card: 'visa' } })
  await api.succeeded(runId)
  return runId
}

test('the tab Raw saves the bundle of the engine; dropped, it shows the run and its steps', async () => {
  const runId = await order()
  const page = await reusePage(url)
  await page.goto(`${url}/console/n/default/runs/${runId}?tab=raw`)
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save bundle' }).click()
  const saved = await download
  expect(saved.suggestedFilename()).toBe('perdure-bundle.json')
  const text = readFileSync(await saved.path(), 'utf8')
  expect(JSON.parse(text)).toMatchObject({ 'perdure-bundle': 1, payloads: true, run: { id: runId } })
  expect(text).not.toContain('tok_live')

  await page.goto(`${url}/console/n/default/bundle`)
  const asked: string[] = []
  page.on('request', request => asked.push(new URL(request.url()).pathname))
  const data = await page.evaluateHandle(json => {
    type Files = { items: { add(file: File): void } }
    const { DataTransfer } = globalThis as unknown as { DataTransfer: new () => Files }
    const files = new DataTransfer()
    files.items.add(new File([json], 'run.json', { type: 'application/json' }))
    return files
  }, text)
  await page.getByRole('region', { name: 'Bundle' }).dispatchEvent('drop', { dataTransfer: data })
  await page.getByRole('row', { name: /^reserve, succeeded/ }).waitFor()
  await page.getByRole('row', { name: /^charge, succeeded, attempt 2/ }).waitFor()
  expect(asked.filter(path => path.startsWith(`/runs/${runId}`))).toEqual([])
  expect(await axeViolations(page)).toEqual([])
})

test('a bundle without payloads is saved too, and a file that is not whole says so', async () => {
  const runId = await order()
  const page = await reusePage(url)
  await page.goto(`${url}/console/n/default/runs/${runId}?tab=raw`)
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save without payloads' }).click()
  const text = readFileSync(await (await download).path(), 'utf8')
  expect(JSON.parse(text)).toMatchObject({ payloads: false, run: { input: null } })
  expect(text).not.toContain('visa')

  await page.goto(`${url}/console/n/default/bundle`)
  const cut = { ...JSON.parse(text), truncated: { section: 'timeline', reason: 'size' } }
  const buffer = Buffer.from(JSON.stringify(cut))
  await page.getByLabel('Bundle file').setInputFiles({ name: 'run.json', mimeType: 'application/json', buffer })
  await page.getByText('section timeline was cut off').waitFor()
})

/** A bundle with this JSON text as input. */
function bundleWith(input: string): Buffer {
  const at = '2026-03-01T09:00:00.000Z'
  const run = { id: 'run_1', workflow: 'import', app: 'shop', status: 'succeeded', triggerKind: 'event', attempt: 1 }
  const fields = JSON.stringify({ ...run, createdAt: at, startedAt: at, finishedAt: at }).slice(1)
  const step = { id: 'a', name: 'load', op: 'StepRun', index: 0, status: 'succeeded', attempt: 1, startedAt: at }
  const steps = JSON.stringify([{ ...step, finishedAt: at, durationMs: 0 }])
  return Buffer.from(`{"perdure-bundle":1,"run":{"input":${input},${fields},"steps":${steps}}`)
}

test('a large bundle is read by a worker, to the last digit; what is no bundle is refused in words', async () => {
  const page = await reusePage(url)
  await page.goto(`${url}/console/n/default/bundle?tab=io`)
  const workers: string[] = []
  page.on('worker', worker => workers.push(worker.url()))
  const open = (buffer: Buffer) =>
    page.getByLabel('Bundle file').setInputFiles({ name: 'run.json', mimeType: 'application/json', buffer })
  await open(bundleWith('{"n":1}'))
  await page.getByRole('tree', { name: 'the input' }).getByText('n: 1').waitFor()
  expect(workers).toEqual([])
  await open(bundleWith(`[12345678901234567890,"${'x'.repeat(300_000)}"]`))
  await page.getByText('[12345678901234567890,"xxx').waitFor()
  expect(workers).toHaveLength(1)
  expect(workers[0]).toContain('bundle-worker')
  await open(Buffer.from(`{"perdure-bundle":2,"x":"${'x'.repeat(300_000)}"}`))
  await page.getByRole('alert').getByText('The bundle has version 2').waitFor()
  expect(await page.getByText('Reading the file').count()).toBe(0)
})

test('an address in a payload is text; on request it is opened, after a question that names its host', async () => {
  const page = await reusePage(url)
  await page.goto(`${url}/console/n/default/bundle?tab=io`)
  const address = 'https://user@example.com:8443/a?b=1'
  const input = { address, other: 'javascript:alert(1)', sentence: `see ${address}` }
  const buffer = bundleWith(JSON.stringify(input))
  await page.getByLabel('Bundle file').setInputFiles({ name: 'run.json', mimeType: 'application/json', buffer })
  const tree = page.getByRole('tree', { name: 'the input' })
  await tree.getByText('javascript:alert(1)').waitFor()
  expect(await page.locator('main a[href^="https:"]').count()).toBe(0)
  const button = tree.getByRole('button')
  expect(await button.count()).toBe(1)
  expect(await axeViolations(page)).toEqual([])
  await button.click()
  const dialog = page.getByRole('dialog', { name: 'Open example.com:8443?' })
  expect(await dialog.getByRole('button', { name: 'Cancel' }).evaluate(one => one.matches(':focus'))).toBe(true)
  const link = dialog.getByRole('link', { name: 'Open in a new tab' })
  expect(await link.evaluate(one => ['href', 'rel', 'target'].map(name => one.getAttribute(name)))).toEqual([
    address,
    'noopener noreferrer',
    '_blank',
  ])
  expect(await axeViolations(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Copy URL' }).click()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(address)
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })
})
