// The adapter of node:http, on a runtime that only imitates it.

import { serve } from '@perdure/sdk/node'
import { app, workflows } from './workflows.ts'

await serve({ app, workflows, port: 0 })
