// The process that executes the workflow's code.

import { connect } from 'perdure/connect'
import { answerChat } from './workflows.ts'

const runner = connect({ app: 'chat', workflows: [answerChat] })
await runner.ready
console.log('runner of app "chat" is ready')
