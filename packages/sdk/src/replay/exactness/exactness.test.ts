// Replay is exact: for every order in which callbacks, timers and events settle, and wherever the runner is killed, a
// workflow sees the same results in the same order as before, with and without checkpoints. Runs 1,000 random workflows
// with random histories; `PERDURE_SEEDS=100000` runs more, `PERDURE_SEED=n` others. A failure prints its seed and the
// shortest history.

import { array, assert, asyncProperty, nat } from 'fast-check'
import { expect, test } from 'vitest'
import { admits, mustRun, type Node, programs } from './program.testkit.ts'
import { type EndsWithSteps, fails, type Mode, RandomRun, undoneAs } from './random-engine.testkit.ts'

const numRuns = Number(process.env.PERDURE_SEEDS ?? 1000)
const seed = Number(process.env.PERDURE_SEED ?? 1)
const MODES: readonly Mode[] = ['passes', 'checkpoints', 'mixed']
const choices = array(nat(9999), { maxLength: 80, size: 'max' })

test(`${numRuns} random workflows have a possible outcome and replay exactly`, {
  timeout: 180_000 + numRuns * 20,
}, async () => {
  let endedWith = 0
  const property = asyncProperty(programs, choices, async (program, list) => {
    const mode = MODES[list.length % MODES.length] as Mode
    await playAndCheck(program, { mode, endsWithSteps: 'never' }, list)
    for (const mode of ['passes', list.length % 2 === 0 ? 'checkpoints' : 'mixed'] as const)
      endedWith += await playAndCheck(
        program,
        { mode, endsWithSteps: list.length % 3 === 0 ? 'mixed' : 'always' },
        list,
      )
  })
  await assert(property, { numRuns, seed })
  expect(endedWith).toBeGreaterThan(numRuns / 10)
})

test(`${numRuns} random workflows that fail or are cancelled undo exactly what they did, the last first`, {
  timeout: 180_000 + numRuns * 20,
}, async () => {
  let undone = 0
  const property = asyncProperty(programs, choices, nat(40), async (program, list, actions) => {
    const options = { mode: MODES[list.length % MODES.length] as Mode, endsWithSteps: 'mixed', choices: list } as const
    const run = new RandomRun(program, options)
    await run.drive(actions)
    undone += await cleanUpAndCheck(program, run, options)
  })
  await assert(property, { numRuns, seed })
  expect(undone).toBeGreaterThan(numRuns / 2)
})

/** Runs the cleanup run after a run. Returns how many steps it undid. */
async function cleanUpAndCheck(
  program: Node,
  run: RandomRun,
  options: ConstructorParameters<typeof RandomRun>[1],
): Promise<number> {
  const cleanup = run.followed('cancelled')
  const follows = new RandomRun(program, { ...options, cleanup })
  await follows.drive()
  const done = Object.values(cleanup.steps).flatMap(({ data, rollback }) => (rollback ? [data as string] : []))
  const ended = Object.values(follows.followed('failed').steps).map(({ data, error }) => data ?? error?.message)
  const expected = done.reverse().map(path => (fails(path) ? `${undoneAs(path)} fails` : undoneAs(path)))
  expect(ended, JSON.stringify({ program, options, cleanup }, null, 1)).toEqual(expected)
  expect([...follows.executed], 'callbacks of the followed run').toEqual([])
  expect(follows.warnings, 'warnings').toEqual([])
  return done.length
}

/** Returns how many steps were stored with the end of the run. */
async function playAndCheck(
  program: Node,
  { mode, endsWithSteps }: { mode: Mode; endsWithSteps: EndsWithSteps },
  list: readonly number[],
): Promise<number> {
  const run = new RandomRun(program, { mode, endsWithSteps, choices: list })
  await run.drive()
  const history = () =>
    `${mode}, ends with steps ${endsWithSteps}: ${JSON.stringify({ program, list, traces: run.traces }, null, 1)}`
  if (!admits(program, '0', { value: run.result }))
    throw new Error(`cannot end with ${JSON.stringify(run.result)}\n${history()}`)
  const last = run.traces.at(-1) as string[]
  for (const trace of run.traces) {
    if (!isPrefix(trace, last)) throw new Error(`a later pass saw something else\n${history()}`)
  }
  if (run.tooEarly.length > 0) throw new Error(`a callback began too early: ${run.tooEarly}\n${history()}`)
  expect(run.warnings, 'warnings').toEqual([])
  const must = mustRun(program)
  if (must) expect([...run.executed].sort()).toEqual([...must.paths].sort())
  expect(new Set(run.stepLines).size, 'lines of steps').toBe(run.stepLines.length)
  expect(isPrefix(run.rootLines, last), 'lines of the handler').toBe(true)
  for (const path of run.committed) {
    if (!run.stepLines.some(line => line.startsWith(`${path}/`))) throw new Error(`no line of ${path}\n${history()}`)
  }
  const executions = run.executed.size
  const replay = await run.replay()
  expect(JSON.parse(replay.body)).toMatchObject({ data: run.result })
  expect(run.executed.size).toBe(executions)
  if (!isPrefix(run.traces.at(-1) as string[], last)) throw new Error(`the replay saw something else\n${history()}`)
  return run.endedWith
}

function isPrefix(shorter: readonly string[], longer: readonly string[]): boolean {
  return shorter.length <= longer.length && shorter.every((line, i) => line === longer[i])
}
