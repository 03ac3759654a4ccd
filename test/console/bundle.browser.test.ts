// A bundle that the engine wrote: saved from the page of a run, dropped on the page of bundles, shown without the engine.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { axeViolations, openPage } from '../kit/browser/page.ts'
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
  const page = await openPage(url)
  await page.goto(`${url}/console/n/default/runs/${runId}?tab=raw`)
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save as a bundle' }).click()
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
  const page = await openPage(url)
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
  await page.getByText('its section timeline was cut off').waitFor()
})
