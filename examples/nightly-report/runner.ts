// The process that executes the workflow's code. It serves HTTP: the engine calls it, even after a restart of the engine.

import { serve } from 'perdure/node'
import { nightlyReport } from './workflows.ts'

const runner = await serve({ app: 'reports', workflows: [nightlyReport], port: 0 })
await runner.ready
console.log('runner of app "reports" is ready')
