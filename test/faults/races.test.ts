// Concurrent events, pauses, resumes and cancels on moving runs. Whatever the order in which they take effect, a cancelled run
// stays cancelled, and every other run ends with each step executed once (docs/promises.md#runs).

import type { Run, RunSummary } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { pages } from '../kit/http/pages.ts'
import { type Answer, flow, run, type Seeded, scenario, seeded, sleep, step, unique, until } from '../kit/index.ts'
import { SEED } from '../part.ts'

const RUNS = 80
const ROUNDS = 12

const { api, engine } = await scenario({ realTime: true, onDisk: true })

const STEPS = ['a', 'b', 'c', 'nap', 'go', 'kid', 'd']

async function startRuns() {
  const [name, kid] = [unique('contested'), unique('kid')]
  const { record } = await engine.runner({
    workflows: {
      [name]: flow([
        run('a'),
        [run('b'), run('c'), sleep('nap', 15)],
        [
          step('WaitForEvent', 'go', ({ event }) => ({ eventName: event.data, timeoutMs: 3_600_000 })),
          step('RunWorkflow', 'kid', { childName: kid }),
        ],
        run('d'),
      ]),
      [kid]: flow([run('x'), sleep('y', 5)]),
    },
  })
  const started = await Promise.all(
    Array.from({ length: RUNS }, async () => {
      const go = unique('go')
      return { go, runId: (await api.send({ name, data: go })).runId }
    }),
  )
  return { record, started }
}

/** The statuses that an action may return, by the run's status at that moment. */
function expectPlausible({ status, code, text }: Answer, action: string): void {
  if (status === 200) return
  expect(status, `${action}: ${text}`).toBe(409)
  expect(['run_terminal', 'run_not_paused']).toContain(code)
}

/** Acts on one run: pauses and resumes it in any order, sends its event once, and may cancel it. */
async function worry(random: Seeded, { runId, go }: { runId: string; go: string }, cancelled: Set<string>) {
  const sendAt = random.between(0, ROUNDS - 1)
  for (let round = 0; round < ROUNDS; round++) {
    const dice = random.next()
    const action = dice < 0.45 ? 'pause' : dice < 0.97 ? 'resume' : 'cancel'
    const answers = [api.post(`/runs/${runId}/${action}`)]
    if (round === sendAt) await api.send({ name: go })
    for (const answer of await Promise.all(answers)) {
      expectPlausible(answer, action)
      if (action === 'cancel' && answer.status === 200) cancelled.add(runId)
    }
  }
  // Resumes the run if it was left paused.
  expectPlausible(await api.post(`/runs/${runId}/resume`), 'resume')
}

test(`${RUNS} runs under concurrent actions end as the actions require`, async () => {
  const { record, started } = await startRuns()
  const random = seeded(SEED)
  const cancelled = new Set<string>()
  await Promise.all(started.map(one => worry(random, one, cancelled)))
  const problems: string[] = []
  for (const { runId } of started) {
    const ended = await until(() => terminal(runId), { what: `the end of ${runId} (seed ${SEED})` })
    const wanted = cancelled.has(runId) ? 'cancelled' : 'succeeded'
    if (ended.status !== wanted) problems.push(`${runId} is ${ended.status}, not ${wanted}`)
    if (ended.attempt !== 1) problems.push(`${runId} spent ${ended.attempt} attempts`)
    if (wanted === 'cancelled') continue
    for (const name of STEPS) {
      const times = record.times(runId, name)
      if (times !== 1) problems.push(`${runId}: ${name} was executed ${times} times`)
    }
    problems.push(...(await statusesOf(runId)))
  }
  expect(problems, `seed ${SEED}`).toEqual([])
  expect(cancelled.size).toBeGreaterThan(0)
  expect(cancelled.size).toBeLessThan(RUNS)
  const orphans = (await pages<RunSummary>(api, '/runs?limit=200')).filter(
    ({ parentRunId, finishedAt }) => parentRunId && !finishedAt,
  )
  expect(orphans, 'children that outlive their parents').toEqual([])
})

/** The timeline has only documented status changes, and ends once. */
async function statusesOf(runId: string): Promise<string[]> {
  const { messages } = await api.stream(runId)
  const statuses = messages.filter(({ event }) => event === 'run_status').map(({ data }) => data.status as string)
  const known = statuses.every((status, i) => i === 0 || movesFrom(statuses.slice(0, i)).includes(status))
  return known ? [] : [`${runId} moved ${statuses.join(' ')}`]
}

function movesFrom(earlier: readonly string[]): readonly string[] {
  const [before, last] = [earlier.at(-2), earlier.at(-1) as string]
  const moves = MOVES[last] ?? []
  // The run was resumed while the pass from before the pause was still in flight. The answer of that pass decides.
  return last === 'queued' && before === 'paused' ? [...moves, 'waiting', 'succeeded'] : moves
}

const MOVES: Record<string, string[]> = {
  queued: ['running', 'paused', 'cancelled', 'failed'],
  running: ['waiting', 'queued', 'paused', 'succeeded', 'failed', 'cancelled'],
  waiting: ['queued', 'paused', 'cancelled', 'failed'],
  paused: ['queued', 'cancelled', 'succeeded', 'failed'],
}

async function terminal(runId: string): Promise<Run | false> {
  const found = await api.run(runId)
  return found.finishedAt !== undefined && found
}
