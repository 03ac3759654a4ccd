// The runner of `large-states`: a run whose steps each return a large text, and a short run.

import { createWorkflow } from '@perdure/sdk'
import { connect } from '@perdure/sdk/connect'
import { serve } from '@perdure/sdk/node'

const { RUNNER_TRANSPORT, RUNNER_APP: app = '', RUNNER_STEPS = '1', RUNNER_CHARS = '0' } = process.env
const text = 'x'.repeat(Number(RUNNER_CHARS))

const workflow = createWorkflow({ name: app }, async ({ step }) => {
  let chars = 0
  for (let i = 0; i < Number(RUNNER_STEPS); i++) chars += (await step.run(`step ${i}`, () => text)).length
  return chars
})
const options = { app, runner: app, workflows: [workflow], log: () => {} }
if (RUNNER_TRANSPORT === 'connect') connect(options)
else await serve({ ...options, port: 0, allowUnsigned: true })
