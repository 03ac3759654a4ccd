// The runner: the process that executes the workflows' code. The engine calls it once per step.

import { serve } from 'perdure/node'
import { awardPoints, processOrder, shipOrder } from './workflows.ts'

const runner = await serve({ app: 'shop', workflows: [processOrder, shipOrder, awardPoints], port: 0 })
await runner.ready
process.stdout.write(`runner of app "shop" listens on ${runner.url}\n`)
process.on('SIGTERM', () => void runner.close())
