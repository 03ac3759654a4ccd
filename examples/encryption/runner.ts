// The process that executes the workflows' code. The keys never leave it, and whoever sends events.

import { serve } from '@perdure/sdk/node'
import { encryption, readKeys } from './encryption.ts'
import { bill, stay } from './workflows.ts'

const middleware = [encryption(readKeys(process.env.SEALING_KEYS))]
const runner = await serve({ app: 'clinic', workflows: [stay, bill], middleware, port: 0 })
await runner.ready
console.log('runner of app "clinic" is ready')
