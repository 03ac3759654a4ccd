// The SDK's own runner, in its own process: workflows as a user writes them, served over HTTP or connected by a socket. runner.ts
// starts it.

import { setTimeout as pause } from 'node:timers/promises'
import { createWorkflow, type WorkflowArgs } from '@perdure/sdk'
import { connect } from '@perdure/sdk/connect'
import { serve } from '@perdure/sdk/node'
import { counts, obeyParent, reportFinished, tellParent } from './runner-reports.ts'
import { BENCH_APP, SHAPES, type Shape, stepValue, WRITER, WRITER_STREAM, type WriterData } from './workflows.ts'

function workflowOf(shape: Shape) {
  const { name, kind, steps } = shape
  return createWorkflow({ name }, async ({ event, step }: WorkflowArgs<{ n: number }>) => {
    counts.passes++
    const { n } = event.data
    let sum = 0
    const one = (k: number) => step.run(steps[k]?.name ?? '', () => stepValue(shape, n, k))
    if (kind === 'parallel') for (const { value } of await Promise.all(steps.map((_, k) => one(k)))) sum += value
    else for (let k = 0; k < steps.length; k++) sum += (await one(k)).value
    reportFinished(n)
    return { n, sum }
  })
}

const writer = createWorkflow({ name: WRITER }, async ({ event, step }: WorkflowArgs<WriterData>) => {
  const { data } = event
  await step.run('write', async ({ stream }) => {
    const out = stream(WRITER_STREAM)
    if ('tokens' in data) {
      for (let i = 0; i < data.tokens; i++) {
        await out.write('ab')
        if (i % 10 === 9) await pause(5)
      }
      return
    }
    const { everyMs, endAt } = data
    for (let at = Date.now() + Math.random() * everyMs; at < endAt; at += everyMs) {
      await pause(Math.max(0, at - Date.now()))
      await out.write((performance.timeOrigin + performance.now()).toFixed(2))
    }
  })
})

obeyParent(async (engineUrl, { over, apiKey }) => {
  const options = {
    app: BENCH_APP,
    workflows: [...SHAPES.filter(({ kind }) => kind !== 'sleeper').map(workflowOf), writer],
    engineUrl,
    signingKey: [],
    ...(apiKey === undefined ? {} : { apiKey }),
    log: () => {},
  }
  const runner =
    over === 'http'
      ? await serve({ ...options, port: 0 })
      : connect({ ...options, checkpoints: over === 'checkpoints' })
  await runner.ready
  return () => void runner.close()
})
tellParent({ kind: 'listening', port: 0 })
