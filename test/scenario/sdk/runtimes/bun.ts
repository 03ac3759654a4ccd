// Bun, serving through its own server.

import { serve } from '@perdure/sdk/bun'
import { app, workflows } from './workflows.ts'

await serve({ app, workflows, port: 0 })
