// Steps that end the process of their runner, together with runs whose steps do not: only the former fail
// (docs/concepts.md#a-step-that-ends-its-process).

import { describe, test } from 'vitest'
import { scenario } from '../../kit/index.ts'
import { ENDS_MS_MAX, endProcesses } from '../../kit/runner/ended-processes.ts'

const { api, url: engineUrl } = await scenario({ realTime: true })

describe.concurrent('runs that end the process of 20 others', { timeout: ENDS_MS_MAX }, () => {
  test.each(['http', 'connect'] as const)('fail over %s, and the others succeed', async transport => {
    await endProcesses({ transport, apis: [api], engineUrl })
  })
})
