// Which policy applies to which start (docs/flow-control.md#what-applies-to-what): the table of the page, start by start.

import { readFileSync } from 'node:fs'
import type { ScheduleEntry, SendEventReply } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { type Answer, child, flow, gate, returned, scenario, unique, until } from '../../kit/index.ts'

const { api, clock, engine } = await scenario()

/** A policy under which a second start differs from the first. */
const POLICIES: Record<string, object> = {
  idempotency: { key: '"same"' },
  rateLimit: { limit: 1, period: '1h' },
  debounce: { period: '1h' },
  batch: { maxSize: 10, timeout: '1h' },
  singleton: { mode: 'skip' },
  concurrency: { limit: 1 },
  throttle: { limit: 1, period: '1h' },
}

interface Target {
  app: string
  name: string
  parent: string
  source: string
}

/** Starts a run of the workflow. Returns its id, or undefined if nothing was started. */
type Start = (target: Target) => Promise<string | undefined>
const idIn = ({ status, json }: Answer, field: 'id' | 'runId') => {
  if (status >= 300) expect({ status, json }).toMatchObject({ status: 409, json: { error: REFUSED } })
  return (json as Record<typeof field, string | undefined>)[field]
}
const REFUSED = { code: 'already_running', details: { liveRunId: expect.stringMatching(/^run_/) } }

const direct: Start = async ({ app, name }) => idIn(await api.post(`/workflows/${app}/${name}/runs`), 'id')

const STARTS: Record<string, Start> = {
  events: async ({ name }) => ((await api.post('/events', { name })).json as SendEventReply).runId,
  crons: async ({ app, name }) => idIn(await api.post(`/schedules/wf:${app}:${name}:0/fire`), 'runId'),
  'direct starts': direct,
  children: async ({ parent }) => {
    const { runId } = await api.send({ name: parent })
    const step = await until(() => api.step(runId, 'kid'), { what: 'the step of the child' })
    if (step.status === 'failed')
      expect(step.error).toMatchObject({ name: 'AlreadyRunningError', code: 'already_running' })
    return step.childRunId
  },
  forks: async ({ source }) => idIn(await api.post(`/runs/${source}/replay`), 'id'),
}

/** The table of the page: for each policy the starts that it applies to. */
const table = new Map<string, Set<string>>()
const page = readFileSync(new URL('../../../docs/flow-control.md', import.meta.url), 'utf8')
const [header = [], , ...rows] =
  page
    .split('## What applies to what')[1]
    ?.split('\n## ')[0]
    ?.split('\n')
    .filter(line => line.startsWith('|'))
    .map(line => line.split('|').map(cell => cell.trim())) ?? []
for (const row of rows) {
  const starts = header.filter((start, i) => start in STARTS && row[i] === 'yes')
  for (const [, policy = ''] of row[1]?.matchAll(/`(\w+)`/g) ?? []) table.set(policy, new Set(starts))
}

test('the table has every policy and every start', () => {
  expect([...table.keys()]).toEqual(expect.arrayContaining(Object.keys(POLICIES)))
  expect(header).toEqual(expect.arrayContaining(Object.keys(STARTS)))
})

test.each(Object.keys(POLICIES).flatMap(policy => Object.keys(STARTS).map(start => [policy, start] as const)))(
  '%s applies to %s as the table says',
  async (policy, start) => {
    const [name, parent, done] = [unique('started'), unique('parent'), gate()]
    const triggers = [{ event: name }, { cron: '0 3 1 1 *' }]
    const runner = await engine.runner({
      workflows: {
        [name]: { handler: () => done.opened.then(() => returned()), registration: { triggers } },
        [parent]: flow([child('kid', name)]),
      },
    })
    const target = { app: runner.app, name, parent, source: '' }
    if (start === 'forks') {
      target.source = (await direct(target)) as string
      await api.post(`/runs/${target.source}/cancel`)
    }
    await runner.register(api, { workflows: [{ name, triggers, [policy]: POLICIES[policy] }, { name: parent }] })
    /** Whether the start makes a run that goes to its runner at once. */
    const startsFreely = async () => {
      const runId = await (STARTS[start] as Start)(target)
      if (runId === undefined) return false
      const run = await until(async () => {
        const run = await api.run(runId)
        return (run.waitingFor !== undefined || run.status === 'running') && run
      })
      return run.status === 'running'
    }
    const both = [await startsFreely(), await startsFreely()]
    expect(both.includes(false)).toBe(table.get(policy)?.has(start))
    done.open(undefined)
  },
)

test('a schedule whose workflow is a singleton starts one run at a time, and shows what was skipped', async () => {
  const [name, done] = [unique('poll'), gate()]
  const triggers = [{ cron: '0 * * * *' }, { event: name }]
  const { app } = await engine.runner({
    workflows: {
      [name]: {
        handler: () => done.opened.then(() => returned()),
        registration: { triggers, singleton: { mode: 'skip' } },
      },
    },
  })
  await api.put(`/schedules/${name}`, { every: '1h', event: { name } })
  const entries = async () => {
    const all = (await api.get('/schedules?limit=200')).json as ScheduleEntry[]
    return all.filter(({ id, workflow }) => workflow === name || id === name)
  }
  const live = await direct({ app, name, parent: '', source: '' })
  for (const count of [1, 2]) {
    clock.jump(3_600_000)
    await until(async () => (await entries()).every(({ skipped }) => skipped?.count === count))
  }
  const skipped = { from: expect.any(String), until: expect.any(String), count: 2, liveRunId: live }
  expect(await entries()).toMatchObject([{ skipped }, { skipped }])
  expect((await entries()).flatMap(({ lastRunId }) => lastRunId ?? [])).toEqual([])
  await api.post(`/runs/${live}/cancel`)
  clock.jump(3_600_000)
  // One of the two starts a run, and the other is skipped.
  await until(async () => (await entries()).some(({ lastRunId }) => lastRunId !== undefined))
  const runs = (await api.runs(`?q=${name}`)).filter(({ status }) => status !== 'cancelled')
  expect(runs).toHaveLength(1)
  done.open(undefined)
})

test.each([
  ['triggers[0].if', { triggers: [{ cron: '0 * * * *', if: 'true' }] }],
  ['debounce', { triggers: [{ cron: '0 * * * *' }], debounce: { period: '1m' } }],
  ['rateLimit', { triggers: [], rateLimit: { limit: 1, period: '1m' } }],
])('what can never apply is refused at registration: %s', async (field, registration) => {
  expect(await api.offer(registration)).toMatchObject({
    status: 400,
    json: { error: { details: { field: `workflows[0].${field}` } } },
  })
})
