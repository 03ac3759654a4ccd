// A check of the suite: one sentence of the protocol, and the passes that show whether the runner keeps it.

import type { RunnerUnderTest } from '../runner/runner.ts'

export const GROUPS = [
  'sequences',
  'parallel',
  'retries',
  'attempts',
  'errors',
  'sleeps',
  'waits',
  'children',
  'effects',
  'races',
  'failures',
  'logs',
  'messages',
  'reports',
  'versions',
  'signatures',
  'connect',
] as const
export type Group = (typeof GROUPS)[number]

export interface Check {
  group: Group
  /** Reads after "the runner". */
  name: string
  /** Throws a Fault if the runner breaks the rule. */
  run(runner: RunnerUnderTest): Promise<void>
}

/** The checks of a group, by their names. */
export function checksOf(group: Group, checks: Record<string, Check['run']>): Check[] {
  return Object.entries(checks).map(([name, run]) => ({ group, name, run }))
}
