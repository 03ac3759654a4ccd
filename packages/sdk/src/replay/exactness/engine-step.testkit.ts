// The steps that the engine of random workflows has stored, and how their opcodes settle them.

import type { CleanupContext, FollowedStep, MemoEntry, Opcode } from '@perdure/protocol'
import type { StepNode } from './program.testkit.ts'

export interface EngineStep {
  id: string
  op: Opcode['op']
  name: string
  rollback?: true
  state: 'parked' | 'backoff' | 'due' | 'settled'
  entry: MemoEntry
  attempts: number
  /** Number of the last change. */
  seq: number
  /** How a parked step settles. */
  outcome: MemoEntry
}

export const SETTLED_OUTSIDE: ReadonlySet<StepNode['op']> = new Set([
  'sleep',
  'sleepUntil',
  'wait',
  'callback',
  'child',
])

export function isSettling(opcode: Opcode): boolean {
  if (opcode.op !== 'StepRun') return opcode.op === 'Emit' || opcode.op === 'Webhook'
  return !opcode.error || (opcode.retriable === false && opcode.catchable === true)
}

export function outcomeOf(opcode: Opcode): MemoEntry {
  if (opcode.op === 'WaitForCallback') return { data: { posted: true } }
  if (opcode.op === 'WaitForEvent') return { data: { id: 'evt_1', name: opcode.eventName, data: null } }
  if (opcode.op !== 'RunWorkflow') return { data: null }
  const { path, fails } = opcode.childData as { path: string; fails: boolean }
  return fails ? { error: { message: `${path} fails` } } : { data: path }
}

/** A run in the form that its cleanup run gets, in the order in which its steps settled. */
export function followed(steps: Iterable<EngineStep>, status: CleanupContext['status']): CleanupContext {
  const memo: Record<string, FollowedStep> = {}
  const rows = [...steps].sort((a, b) => a.seq - b.seq)
  for (const { id, state, entry, op, name, rollback } of rows) {
    if (state !== 'settled') continue
    memo[id] = { ...entry, op, name, ...(rollback && { rollback }) }
  }
  for (const { id, state, op, name } of rows) if (state !== 'settled') memo[id] = { pending: true, op, name }
  return { runId: 'run_1', status, steps: memo }
}
