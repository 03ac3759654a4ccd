// REPLAY: the cost of a pass of the SDK that replays many stored results before it reaches a new step.

import { hashStepId } from '@perdure/protocol'
import { createHandler, createWorkflow } from '@perdure/sdk'
import { timed } from '../measure/latency.ts'
import type { Outcome } from '../report/report.ts'

const STEPS = [100, 1000, 2500, 5000, 9999]
const PASSES = 15
/** Without a key a runner accepts only requests of this machine, and only JSON. */
const LOCAL = { headers: { 'content-type': 'application/json', host: '127.0.0.1' }, remoteAddress: '127.0.0.1' }

export async function replay(): Promise<Outcome> {
  const figures: Outcome['figures'] = {}
  const problems: string[] = []
  for (const count of STEPS) {
    const handler = createHandler({ app: 'bench', workflows: [sequence(count)], signingKey: [] })
    const rawBody = invoke(count)
    const pass = async () => {
      const { status, body } = await handler.handle({ ...LOCAL, rawBody })
      if (status !== 200 || !body.includes(`"data":${count}`)) problems.push(`${count} steps: ${status} ${body}`)
    }
    const { p50 } = await timed(pass, { samples: PASSES })
    figures[`${count} steps`] = { 'ms a pass': p50, 'us a step': (p50 * 1000) / count }
  }
  const title = 'a pass over a memo of the given number of steps, from the request text to the answer'
  return { title, figures, problems }
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
