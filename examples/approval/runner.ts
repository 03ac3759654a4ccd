// The process that executes the workflow's code.

import { connect } from 'perdure/connect'
import { approveExpense } from './workflows.ts'

const runner = connect({ app: 'expenses', workflows: [approveExpense] })
await runner.ready
console.log('runner of app "expenses" is ready')
