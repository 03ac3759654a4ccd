// The related runs that a run's tree may not have: its parent, its starter, its source, and its neighbours in the chain of runs
// that continue each other.

import type { Run } from '@perdure/protocol'
import { useRead } from '../../../data/queries.ts'
import type { Relation } from '../model/tree.ts'
import type { Member, Relative } from './family.ts'

type Related = Pick<Run, 'parentRunId' | 'startedBy' | 'replayOf' | 'continuedFrom' | 'continuedAs' | 'kind'>

/** They are drawn at once, and get their names and statuses when these are read. */
export function useRelatives(run: Related): Relative[] {
  const { parentRunId, startedBy, replayOf, continuedFrom, continuedAs, kind = 'run' } = run
  return [
    useRelative(parentRunId, kind === 'run' ? 'child' : kind),
    useRelative(startedBy?.runId, 'started'),
    useRelative(replayOf, 'fork'),
    useRelative(continuedFrom, 'continued'),
    useRelative(continuedAs, 'continued', false),
  ].flatMap(relative => relative ?? [])
}

function useRelative(id: string | undefined, via: Relation, isBefore = true): Relative | undefined {
  const { data } = useRead('getRun', { id: id ?? '' }, { keep: false, enabled: id !== undefined })
  if (id === undefined) return undefined
  const member: Member = { id, type: 'run', name: data?.workflow, status: data?.status, durationMs: data?.durationMs }
  return { member, via, isBefore }
}
