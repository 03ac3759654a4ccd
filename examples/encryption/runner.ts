// The process that executes the workflows' code. Only this process and the senders of events have the keys.

import { serve } from 'perdure/node'
import { encryption, readKeys } from './encryption.ts'
import { bill, stay } from './workflows.ts'

const middleware = [encryption(readKeys(process.env.SEALING_KEYS))]
const runner = await serve({ app: 'clinic', workflows: [stay, bill], middleware, port: 0 })
await runner.ready
console.log('runner of app "clinic" is ready')
