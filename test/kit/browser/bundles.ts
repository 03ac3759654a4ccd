// Bundles of runs with given steps, for pages that draw a run without an engine.

import type { Page } from 'playwright-core'

export interface BundleStep {
  name: string
  status?: 'succeeded' | 'failed'
  /** Milliseconds after the start of the run. */
  fromMs: number
  toMs: number
}

/** A finished run with these steps, as the console saves one. */
function bundleOf(steps: readonly BundleStep[]): Buffer {
  const origin = Date.parse('2026-03-01T09:00:00Z')
  const at = (ms: number) => new Date(origin + ms).toISOString()
  const endMs = Math.max(...steps.map(({ toMs }) => toMs))
  const records = steps.map(({ name, status = 'succeeded', fromMs, toMs }, index) => ({
    ...{ id: `id${index}`, name, op: 'StepRun', index, status, attempt: 1, durationMs: toMs - fromMs },
    ...{ startedAt: at(fromMs), finishedAt: at(toMs) },
    ...(status === 'failed' ? { error: { message: 'no' } } : {}),
  }))
  const run = { id: 'run_1', workflow: 'drawn', app: 'shop', status: 'succeeded', triggerKind: 'event', attempt: 1 }
  const times = { createdAt: at(0), startedAt: at(0), finishedAt: at(endMs), durationMs: endMs }
  return Buffer.from(JSON.stringify({ 'perdure-bundle': 1, run: { ...run, ...times }, steps: records }))
}

/** Opens a bundle on its page, and waits for the timeline. */
export async function openBundle(page: Page, origin: string, steps: readonly BundleStep[]): Promise<void> {
  await page.goto(`${origin}/console/n/default/bundle`)
  const file = { name: 'run.json', mimeType: 'application/json', buffer: bundleOf(steps) }
  await page.getByLabel('Bundle file').setInputFiles(file)
  await page.getByRole('treegrid').waitFor()
}
