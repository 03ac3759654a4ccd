// REPLAY: the cost of a pass of the SDK that replays many stored results before it reaches a new step.

import { hashStepId } from '@perdure/protocol'
import { createHandler, createWorkflow } from '@perdure/sdk'
import type { Result } from '../report/report.ts'
import type { BenchOptions } from '../rig/options.ts'

const STEPS = [100, 1000, 2500, 5000, 9999]
const PASSES = 15
/** Without a key a runner takes requests of this machine only, and only JSON. */
const LOCAL = { headers: { 'content-type': 'application/json', host: '127.0.0.1' }, remoteAddress: '127.0.0.1' }

export async function replay(_: BenchOptions): Promise<Result[]> {
  const figures: Result['figures'] = {}
  const problems: string[] = []
  for (const count of STEPS) {
    const handler = createHandler({ app: 'bench', workflows: [sequence(count)], signingKey: [] })
    const request = invoke(count)
    const tookMs: number[] = []
    for (let pass = 0; pass < PASSES; pass++) {
      const from = performance.now()
      const { status, body } = await handler.handle({ ...LOCAL, rawBody: request })
      tookMs.push(performance.now() - from)
      if (status !== 200 || !body.includes(`"data":${count}`)) problems.push(`${count} steps: ${status} ${body}`)
    }
    const median = tookMs.sort((a, b) => a - b)[PASSES >> 1] as number
    figures[`${count} steps`] = { 'ms a pass': median, 'us a step': (median * 1000) / count }
  }
  return [
    {
      workload: 'REPLAY',
      title: 'a pass over a memo of the given number of steps, from the request text to the answer',
      figures,
      notes: [],
      problems,
      profiles: [],
    },
  ]
}

function sequence(count: number) {
  return createWorkflow({ name: 'sequence' }, async ({ step }) => {
    let sum = 0
    for (let n = 0; n < count; n++) sum += await step.run(`step-${n}`, () => 1)
    return sum
  })
}

function invoke(count: number): string {
  const steps = Object.fromEntries(Array.from({ length: count }, (_, n) => [hashStepId(`step-${n}`), { data: 1 }]))
  const ctx = { runId: 'run_1', workflow: 'sequence', attempt: 1, app: 'bench', runner: '' }
  return JSON.stringify({ event: { name: 'sequence' }, steps, ctx })
}
