// The suite of the Durable Streams protocol against the read half that the engine has (docs/streams.md#read-over-http). The
// suite writes to the streams that it reads, so a bridge turns its writes into appends of a live step. Cases that do not apply
// are in durable-streams-exclusions.ts.

import { runConformanceTests } from '@durable-streams/server-conformance-tests'
import { beforeEach, describe, expect, type RunnerTask, test } from 'vitest'
import { scenario } from '../kit/index.ts'
import { openWriteBridge } from '../kit/servers/write-bridge.ts'
import { EXCLUDED_CASES, EXCLUDED_GROUPS } from './durable-streams-exclusions.ts'

// In real time, because the suite waits for long polls that cannot be shortened.
const { api, engine } = await scenario({ realTime: true, env: { ENGINE_CORS_ORIGINS: 'https://example.com' } })
const baseUrl = await openWriteBridge(engine.url, api)
/** Exclusions that some case of the suite has needed. */
const needed = new Set<string>()

/** The reason why the case is skipped, if it is. */
function reasonFor(task: RunnerTask): string | undefined {
  const group = task.suite?.name ?? ''
  const name = `${group} > ${task.name}`
  const groups = [group, task.suite?.suite?.name ?? ''].filter(each => each in EXCLUDED_GROUPS)
  for (const each of [...groups, name]) needed.add(each)
  const [first] = groups
  return first === undefined ? EXCLUDED_CASES[name] : EXCLUDED_GROUPS[first]
}

describe('the read half of Durable Streams', () => {
  beforeEach(({ task, skip }) => {
    const reason = reasonFor(task)
    if (reason !== undefined) skip(reason)
  })
  runConformanceTests({ baseUrl })
})

test('every exclusion names cases of the suite', () => {
  const given = [...Object.keys(EXCLUDED_GROUPS), ...Object.keys(EXCLUDED_CASES)]
  expect(given.filter(name => !needed.has(name))).toEqual([])
})
