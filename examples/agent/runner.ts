// The process that executes the workflow's code.

import { connect } from 'perdure/connect'
import { supportAgent } from './workflows.ts'

const runner = connect({ app: 'support', workflows: [supportAgent] })
await runner.ready
console.log('runner of app "support" is ready')
