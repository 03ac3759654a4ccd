// The SDK's own runner, in a process of its own: workflows as a user writes them, served over HTTP or connected by a socket.
// It reports finished runs to its parent as runner-process.ts does. runner.ts starts it.

import { createWorkflow, type WorkflowArgs } from '@perdure/sdk'
import { connect } from '@perdure/sdk/connect'
import { serve } from '@perdure/sdk/node'
import type { Over } from './options.ts'
import { Reports } from './reports.ts'
import { BENCH_APP, SHAPES, type Shape, stepValue } from './workflows.ts'

/** Messages from the parent to the runner. */
export type SdkRunnerRequest =
  | { kind: 'count' }
  | { kind: 'attach'; engineUrl: string; over: Over }
  | { kind: 'disconnect' }

const reports = new Reports()
let passes = 0
const attached: { close(): Promise<void> }[] = []

function workflowOf(shape: Shape) {
  const { name, kind, steps, registration } = shape
  return createWorkflow(
    { name, ...registration },
    async ({ event, step }: WorkflowArgs<{ n: number; untilMs?: number }>) => {
      passes++
      const { n, untilMs } = event.data
      let sum = 0
      if (kind === 'sleeper') {
        await step.sleepUntil(steps[0]?.name ?? '', new Date(untilMs ?? 0))
        reports.left('finished', n)
        return { n, sum }
      }
      const one = (k: number) => step.run(steps[k]?.name ?? '', () => stepValue(shape, n, k))
      if (kind === 'parallel') for (const { value } of await Promise.all(steps.map((_, k) => one(k)))) sum += value
      else for (let k = 0; k < steps.length; k++) sum += (await one(k)).value
      reports.left('finished', n)
      return { n, sum }
    },
  )
}

async function attach(engineUrl: string, over: Over): Promise<void> {
  const options = { app: BENCH_APP, workflows: SHAPES.map(workflowOf), engineUrl, signingKey: [], log: () => {} }
  if (over === 'http') {
    const runner = await serve({ ...options, port: 0 })
    attached.push(runner)
    await runner.ready
  } else {
    const runner = connect({ ...options, checkpoints: over === 'checkpoints' })
    attached.push(runner)
    await runner.ready
  }
}

process.on('message', (request: SdkRunnerRequest) => {
  if (request.kind === 'count') reports.send({ kind: 'counted', passes, failed: 0 })
  else if (request.kind === 'disconnect') for (const runner of attached.splice(0)) void runner.close()
  else {
    attach(request.engineUrl, request.over).then(
      () => reports.send({ kind: 'connected' }),
      error => reports.send({ kind: 'connected', problem: String(error) }),
    )
  }
})
process.on('disconnect', () => process.exit(0))
reports.send({ kind: 'listening', port: 0 })
