// The process that runs the code of the workflows. `npm run dev` starts it together with an engine.

import { connect } from 'perdure/connect'
import { welcome } from './workflows.ts'

connect({ app: '{{name}}', workflows: [welcome] })
