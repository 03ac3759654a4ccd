// The process that executes the workflows' code.

import { connect } from 'perdure/connect'
import { importBatch, importFile } from './workflows.ts'

const runner = connect({ app: 'imports', workflows: [importFile, importBatch] })
await runner.ready
console.log('runner of app "imports" is ready')
