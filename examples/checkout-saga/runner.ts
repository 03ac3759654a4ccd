// The process that executes the workflow's code.

import { connect } from 'perdure/connect'
import { checkout } from './workflows.ts'

const runner = connect({ app: 'shop', workflows: [checkout] })
await runner.ready
console.log('runner of app "shop" is ready')
