// Rejections that nothing awaits, in a separate process: the test runner handles the rejections of this one.

import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

/** The output of a process that runs two passes: `run_1` of the handler, and `run_2`, which ends after it. */
function passesBeside(handler: string, more = '') {
  const from = new URL('..', import.meta.url).href
  const code = `
    import { invoke } from '${from}replay/invoke.ts'
    import { createWorkflow } from '${from}workflow/create-workflow.ts'
    const later = ms => new Promise(resolve => setTimeout(resolve, ms))
    const pass = async (runId, handler) => {
      const workflow = createWorkflow({ name: 'flow' }, handler)
      const event = { name: 'flow', data: null }
      const ctx = { runId, workflow: 'flow', app: 'app', attempt: 1, features: [] }
      const answer = await invoke(workflow, { ctx, event, steps: {} })
      console.log(runId, answer.status, answer.body)
    }
    ${more}
    await Promise.all([
      pass('run_1', ${handler}),
      // A starved process runs both timers at once, and the end of the process is one immediate behind its cause.
      pass('run_2', async () => { await later(50); await new Promise(setImmediate); return 'fine' }),
    ])`
  const args = ['--conditions=perdure-source', '--import', 'tsx', '--input-type=module', '-e', code]
  return spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 30_000 })
}

test('are reported with their run, in its log too, and end neither the process nor another pass', () => {
  const helper = `async () => { await later(1); throw new Error('stray') }`
  const { status, stdout, stderr } = passesBeside(
    `async () => { const forgotten = (${helper})(); await later(20); return 'kept' }`,
  )
  expect(stdout).toMatch(/run_1 200 .*"data":"kept".*A promise was rejected, and nothing awaits it: .*stray/)
  expect(stdout).toMatch(/run_2 200 .*"fine"/)
  expect(stderr).toContain(
    'run run_1 of workflow "flow" (attempt 1) rejected a promise that nothing awaits: Error: stray',
  )
  expect(stderr).not.toContain('run_2')
  expect(status).toBe(0)
})

test('of other code end the process, as they do without the SDK', () => {
  const { status, stdout, stderr } = passesBeside(
    `() => 1`,
    `setTimeout(() => Promise.reject(new Error('foreign')), 10)`,
  )
  expect(stderr).toContain('foreign')
  expect(stdout).not.toContain('run_2')
  expect(status).not.toBe(0)
})
