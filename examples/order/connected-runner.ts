// The runner of the order workflows, connected by a socket: it needs no address, so it runs wherever it can reach the
// engine. compose.yaml starts it.

import { connect } from 'perdure/connect'
import { awardPoints, processOrder, shipOrder } from './workflows.ts'

const runner = connect({ app: 'shop', workflows: [processOrder, shipOrder, awardPoints] })
await runner.ready
console.log('runner of app "shop" is ready')
