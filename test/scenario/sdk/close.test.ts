// A runner that closes in the middle of a long pass ends it with its next durable step, and another runner continues.

import { createWorkflow, type Workflow } from '@perdure/sdk'
import { connect } from '@perdure/sdk/connect'
import { serve } from '@perdure/sdk/node'
import { expect, test } from 'vitest'
import { gate, onCleanup, scenario, unique, within } from '../../kit/index.ts'

const { api, url } = await scenario({ realTime: true })
const STEPS = 60
const HELD = 5

/** A workflow of many steps. The step `HELD` is under way until `go` opens. */
function manySteps(name: string) {
  const ran: string[] = []
  const [began, go] = [gate(), gate()]
  const workflowOf = (runner: string): Workflow =>
    createWorkflow({ name }, async ({ step }) => {
      for (let i = 0; i < STEPS; i++) {
        await step.run(`s${i}`, async () => {
          ran.push(`${runner}${i}`)
          if (i !== HELD) return
          began.open()
          await go.opened
        })
      }
    }) as Workflow
  return { ran, began, go, workflowOf }
}

const log = () => {}
const TRANSPORTS = {
  Connect: (app: string, workflow: Workflow) =>
    connect({ app, workflows: [workflow], engineUrl: url, handleSignals: false, log }),
  HTTP: (app: string, workflow: Workflow) =>
    serve({ app, workflows: [workflow], engineUrl: url, port: 0, checkpoints: true, handleSignals: false, log }),
}

test.each(Object.entries(TRANSPORTS))('over %s', async (_, start) => {
  const app = unique('closes')
  const { ran, began, go, workflowOf } = manySteps(app)
  const first = await start(app, workflowOf('a'))
  await first.ready
  const { runId } = await api.send({ name: app })
  await began.opened
  const second = await start(app, workflowOf('b'))
  onCleanup(() => second.close())
  await second.ready
  const closed = first.close()
  go.open()
  await within(closed, 'the end of the runner')
  expect((await api.succeeded(runId)).status).toBe('succeeded')
  const turn = ran.findIndex(step => step.startsWith('b'))
  // A report may be under way when the runner is closed. The step after it is the last.
  expect(turn).toBeLessThanOrEqual(HELD + 3)
  expect(ran).toEqual(Array.from({ length: STEPS }, (_, i) => `${i < turn ? 'a' : 'b'}${i}`))
  const { json } = await api.get(`/runs/${runId}/passes`)
  const outcomes = new Set((json as { outcome: string }[]).map(({ outcome }) => outcome))
  expect(outcomes).toEqual(new Set(['steps', 'returned']))
})
