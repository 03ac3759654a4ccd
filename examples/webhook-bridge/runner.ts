// The process that executes the workflow's code. Its API key (ENGINE_API_KEY) only allows it to register.

import { connect } from 'perdure/connect'
import { summarisePush } from './workflows.ts'

const runner = connect({ app: 'bridge', workflows: [summarisePush] })
await runner.ready
console.log('runner of app "bridge" is ready')
