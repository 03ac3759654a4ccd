// The Pages Router: an API route that keeps its body raw.

import { serveApiRoute } from '@perdure/sdk/next'
import { workflowsOf } from '../../workflows.js'

export const config = { api: { bodyParser: false } }

export default serveApiRoute({ app: 'next-page', workflows: workflowsOf('next-page') })
