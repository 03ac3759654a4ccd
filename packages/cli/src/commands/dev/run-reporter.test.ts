// The lines of `perdure dev` about runs, on an engine in this process.

import { type Client, createClient } from '@perdure/client'
import { expect, onTestFinished, test } from 'vitest'
import {
  discovered,
  flow,
  opcode,
  openEngine,
  run,
  scenario,
  unique,
  until,
  wait,
} from '../../../../../test/kit/index.ts'
import { painter } from '../../output/colour.ts'
import { RunReporter } from './run-reporter.ts'

const { api, url, workflow } = await scenario({ realTime: true })

/** A reporter and its lines, once it is connected. */
async function reporter({
  stillMs = 60_000,
  engine = { api, url },
  apiKey = '',
  as = (client: Client) => client,
} = {}) {
  const lines: string[] = []
  const stop = new AbortController()
  const client = as(createClient({ url: engine.url, ...(apiKey && { apiKey }) }))
  const options = { client, write: (line: string) => void lines.push(line), paint: painter(false), stillMs }
  const over = new RunReporter({ ...options, signal: stop.signal }).report()
  onTestFinished(async () => {
    stop.abort()
    await over
  })
  return {
    lines,
    over,
    says: (pattern: RegExp) => until(() => lines.find(line => pattern.test(line)), { what: `${pattern}` }),
  }
}

/** A reporter that is known to be connected: it reported a run. */
async function connected(options?: Parameters<typeof reporter>[0]) {
  const told = await reporter(options)
  const { name } = await workflow(flow([]))
  // Which run is the first that the stream shows depends on when it opens.
  await until(
    async () => {
      await api.succeeded((await api.send({ name })).runId)
      return told.lines.some(line => line.includes(`  ${name}  succeeded`))
    },
    { what: 'the end of a run' },
  )
  return told
}

const ofRun = (lines: readonly string[], id: string) =>
  lines.slice(lines.findIndex(line => line.startsWith(id))).filter(line => line.startsWith(id) || line.startsWith(' '))

test('a line when a run starts and ends, its log lines, and failures of steps with attempt and stack', async () => {
  const { lines, says } = await connected()
  const log = [{ level: 'warn' as const, message: 'mind\nthe gap', scope: 'pay', index: 0, fields: { n: 1 } }]
  const error = { message: 'no luck', stack: 'Error: no luck\n    at pay (/app/pay.ts:7:9)' }
  const failing = await workflow(({ pass }) =>
    discovered([opcode('StepRun', 'pay', { error, retriable: pass === 1, retryAfterMs: 1 })], pass === 1 ? log : []),
  )
  const { runId } = await api.send({ name: failing.name })
  await says(new RegExp(`^${runId}.*  failed`))
  const head = `${runId}  ${failing.name}`
  await until(() => ofRun(lines, runId).length >= 7)
  const told = ofRun(lines, runId)
  expect(told[0]).toBe(`${head}  started`)
  expect(told).toContain(`${head}  warn  [pay] mind\\nthe gap n=1`)
  expect(told).toContain(`${head}  step pay failed, attempt 1 of 5, is tried again: no luck`)
  expect(told).toContain(`${head}  step pay failed, attempt 2 of 5: no luck`)
  expect(told.filter(line => line === '    at pay (/app/pay.ts:7:9)')).toHaveLength(2)
  expect(told.at(-1)).toMatch(/ {2}failed after \S+: no luck \(step_failed in step "pay"\)$/)
})

test('a run that does not move says why, once; when it goes on, it is reported again', async () => {
  const { lines, says } = await connected({ stillMs: 100 })
  const go = unique('go')
  const { name } = await workflow(flow([wait('gate', go), run('after', () => 1)]))
  const { runId } = await api.send({ name })
  await says(new RegExp(`^${runId}  ${name}  has not moved for 100ms: Step "gate" waits for event "${go}"`))
  await api.send({ name: go })
  await says(new RegExp(`^${runId}  ${name}  succeeded after `))
  expect(lines.filter(line => line.startsWith(runId) && line.endsWith('started'))).toHaveLength(1)
})

test('a run of an earlier start that stands still says why', async () => {
  const { runId } = await api.send({ name: (await workflow(flow([wait('gate', unique('never'))]))).name })
  await api.reaches(runId, 'waiting')
  const { says, lines } = await reporter({ stillMs: 50 })
  await says(new RegExp(`^${runId}.* has not moved for 50ms: Step "gate"`))
  expect(lines.some(line => line.startsWith(runId) && line.endsWith('started'))).toBe(false)
})

/** A client that runs this before or after each look at the unfinished runs. */
const looking =
  (when: 'before' | 'after', act: () => Promise<unknown>) =>
  (client: Client): Client => ({
    ...client,
    listRuns: async (...call) => {
      if (when === 'before') await act()
      const page = await client.listRuns(...call)
      if (when === 'after') await act()
      return page
    },
  })

test('a run that starts and ends while the unfinished ones are read is reported once', async () => {
  const { name } = await workflow(flow([]))
  let runId: string | undefined
  const send = async () => {
    if (runId !== undefined) return
    runId = (await api.send({ name })).runId
    await api.succeeded(runId)
  }
  const { lines, says } = await reporter({ as: looking('after', send) })
  await says(new RegExp(`  ${name}  succeeded`))
  expect(lines.filter(line => line.startsWith(`${runId}  ${name}  started`))).toHaveLength(1)
  expect(lines.filter(line => line.startsWith(`${runId}  ${name}  succeeded`))).toHaveLength(1)
})

test('a run that starts before the unfinished ones are read is reported as started once', async () => {
  const go = unique('go')
  const { name } = await workflow(flow([wait('gate', go)]))
  let runId: string | undefined
  const send = async () => {
    if (runId !== undefined) return
    runId = (await api.send({ name })).runId
    await api.reaches(runId, 'waiting')
  }
  const { lines, says } = await reporter({ as: looking('before', send) })
  await says(new RegExp(`  ${name}  started`))
  await api.send({ name: go })
  await says(new RegExp(`  ${name}  succeeded`))
  expect(lines.filter(line => line.startsWith(`${runId}  ${name}  started`))).toHaveLength(1)
})

test('an engine with API keys that refuses says what to set', async () => {
  const keyed = await openEngine({
    env: { ENGINE_API_KEYS: JSON.stringify([{ label: 'ops', kind: 'secret', key: 'k'.repeat(20) }]) },
  })
  const { lines, over } = await reporter({ engine: keyed, apiKey: 'wrong-key-wrong-key' })
  await over
  expect(lines).toEqual([
    expect.stringMatching(/^runs are no longer shown: the engine has API keys, set ENGINE_API_KEY/),
  ])
})
