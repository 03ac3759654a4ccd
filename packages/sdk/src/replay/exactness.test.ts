// Replay is exact: for every order in which callbacks, timers and events settle, and wherever the runner is killed, a
// workflow sees the same results in the same order as before, with and without checkpoints. Runs 1,000 random workflows
// with random histories; `PERDURE_SEEDS=100000` runs more, `PERDURE_SEED=n` others. A failure prints its seed and the
// shortest history.

import { array, assert, asyncProperty, nat } from 'fast-check'
import { expect, test } from 'vitest'
import { admits, mustRun, type Node, programs } from './program.testkit.ts'
import { type Mode, RandomRun } from './random-engine.testkit.ts'

const numRuns = Number(process.env.PERDURE_SEEDS ?? 1000)
const seed = Number(process.env.PERDURE_SEED ?? 1)
const choices = array(nat(9999), { maxLength: 80, size: 'max' })

test(`${numRuns} random workflows have a possible outcome and replay exactly`, {
  timeout: 60_000 + numRuns * 20,
}, async () => {
  const property = asyncProperty(programs, choices, async (program, list) => {
    for (const mode of ['passes', list.length % 2 === 0 ? 'checkpoints' : 'mixed'] as const)
      await playAndCheck(program, mode, list)
  })
  await assert(property, { numRuns, seed })
})

async function playAndCheck(program: Node, mode: Mode, list: readonly number[]): Promise<void> {
  const run = new RandomRun(program, { mode, choices: list })
  await run.drive()
  const history = () => `${mode}: ${JSON.stringify({ program, list, traces: run.traces }, null, 1)}`
  if (!admits(program, '0', { value: run.result }))
    throw new Error(`cannot end with ${JSON.stringify(run.result)}\n${history()}`)
  const last = run.traces.at(-1) as string[]
  for (const trace of run.traces) {
    if (!isPrefix(trace, last)) throw new Error(`a later pass saw something else\n${history()}`)
  }
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
}

function isPrefix(shorter: readonly string[], longer: readonly string[]): boolean {
  return shorter.length <= longer.length && shorter.every((line, i) => line === longer[i])
}
