// A runner that dials the engine, on a runtime with built-in WebSockets.

import { connect } from '@perdure/sdk/connect'
import { app, workflows } from './workflows.ts'

await connect({ app, workflows }).ready
