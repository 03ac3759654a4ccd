// The App Router: route handlers.

import { serve } from '@perdure/sdk/next'
import { workflowsOf } from '../../../workflows.js'

export const { GET, POST, PUT } = serve({ app: 'next-app', workflows: workflowsOf('next-app') })
