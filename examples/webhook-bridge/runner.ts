// The process that executes the workflow's code. Its key (ENGINE_API_KEY) lets it register, and nothing else.

import { connect } from '@perdure/sdk/connect'
import { summarisePush } from './workflows.ts'

const runner = connect({ app: 'bridge', workflows: [summarisePush] })
await runner.ready
console.log('runner of app "bridge" is ready')
