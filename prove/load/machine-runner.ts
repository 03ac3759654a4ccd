// The runner on a machine of `machines.ts`: short runs, and runs with one long step. The results name the machine.

import { setTimeout as pause } from 'node:timers/promises'
import { createWorkflow } from '@perdure/sdk'
import { connect } from '@perdure/sdk/connect'
import { serve } from '@perdure/sdk/node'

const { RUNNER_NAME: name = '', RUNNER_HOST: host = '', RUNNER_TRANSPORT, RUNNER_APP: app = '' } = process.env
const { RUNNER_LONG_MS = '0' } = process.env

const workflows = [
  createWorkflow({ name: `${app}-short` }, ({ step }) => step.run('one', () => name)),
  createWorkflow({ name: `${app}-long` }, ({ step }) =>
    step.run('one', async () => {
      await pause(Number(RUNNER_LONG_MS))
      return name
    }),
  ),
]
const options = { app, runner: name, workflows, log: () => {} }
if (RUNNER_TRANSPORT === 'connect') connect(options)
else await serve({ ...options, host, url: `http://${host}:3000/invoke`, allowUnsigned: true })
