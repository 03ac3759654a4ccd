// A runner that dials the engine, on a runtime with WebSockets of its own.

import { connect } from '@perdure/sdk/connect'
import { app, workflows } from './workflows.ts'

await connect({ app, workflows }).ready
