// Steps that end the process of a runner that gets passes from two engines on one PostgreSQL database: only the runs of these
// steps fail (docs/concepts.md#a-step-that-ends-its-process).

import { describe, test } from 'vitest'
import { freshSchema, openEngine } from '../../kit/index.ts'
import { ENDS_MS_MAX, endProcesses } from '../../kit/runner/ended-processes.ts'

const storeFile = await freshSchema()
const engines = [await openEngine({ storeFile }), await openEngine({ storeFile })]
const [first] = engines as [(typeof engines)[0]]

describe.concurrent('runs that end the process of 20 others', { timeout: ENDS_MS_MAX }, () => {
  test.each(['http', 'connect'] as const)('fail over %s, and those at both engines succeed', async transport => {
    await endProcesses({ transport, apis: engines.map(({ api }) => api), engineUrl: first.url, crashing: 3 })
  })
})
