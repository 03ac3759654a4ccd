// Runs of the last 30 days for the store of the pictures, so that charts and percentiles have something to show.

import { copyFileSync, existsSync, rmSync } from 'node:fs'
import type { RunStatus } from '../../../packages/engine/src/domain/model/run.ts'
import { type SeededRun, seedRuns } from '../../kit/engine/seed-runs.ts'

const DAY_MS = 86_400_000
const WINDOW_MS = 30 * DAY_MS
const RUNS = 12_000
/** The age of the newest run, which is older than every run that the pictures start. */
const AGE_MS = 900_000
/** Days have more runs around noon than at night: times move back by up to twice this value, never into the future. */
const TIDE_MS = DAY_MS / 12
const DURATIONS_MS: Record<string, number> = {
  'process-order': 4000,
  'import-rows': 45_000,
  'sync-customer': 1500,
  'make-offer': 400,
}
const WORKFLOWS = Object.keys(DURATIONS_MS)

/** Puts the runs into a store that no engine has open. */
export async function writeHistory(storeFile: string): Promise<void> {
  const from = Date.now() - AGE_MS - WINDOW_MS
  const file = await seedRuns(RUNS, i => runOf(i, from))
  for (const ending of ['', '-wal', '-shm']) rmSync(storeFile + ending, { force: true })
  // The log of the database has the changes that are not in its file yet.
  for (const ending of ['', '-wal']) if (existsSync(file + ending)) copyFileSync(file + ending, storeFile + ending)
}

function runOf(i: number, from: number): SeededRun {
  const workflow = WORKFLOWS[i % 5 < 3 ? 0 : i % WORKFLOWS.length] as string
  const status: RunStatus = i % 67 === 5 ? 'failed' : i % 131 === 7 ? 'cancelled' : 'succeeded'
  const evenly = from + (i / RUNS) * WINDOW_MS
  const createdAt = Math.floor(evenly + TIDE_MS * (Math.sin((2 * Math.PI * evenly) / DAY_MS) - 1))
  const startedAt = createdAt + 4 + (i % 9)
  // Most runs take about the same time, and a few take much longer.
  const durationMs = (DURATIONS_MS[workflow] as number) * (0.7 + ((i * 37) % 60) / 100 + (i % 23 === 0 ? 2 : 0))
  return { status, workflow, createdAt, startedAt, finishedAt: Math.floor(startedAt + durationMs) }
}
