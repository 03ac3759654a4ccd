// The runs that follow a failed or cancelled run: the on-failure run, and the cleanup run with the steps that it could not undo.
// The run's own timeline has no frame of them, so they are read again while one of them is open.

import type { Run, TreeNode } from '@perdure/protocol'
import { useEffect } from 'react'
import { itemsOf, keyOf, queryClient, renew, usePages, useRead } from '../../data/queries.ts'
import { useNow } from '../../data/time/clock.ts'
import { Link } from '../../router/router.tsx'
import { useRenewal } from '../../ui/live-list/use-renewal.ts'
import { Status } from '../../ui/status.tsx'
import { shortName } from '../../ui/visible-text.ts'
import { Fact } from './fact.tsx'
import { isTerminal } from './model/use-run.ts'

/** Delay from a change of any run to the next read of the runs that follow this one. */
const RENEWAL_MS = 1000
/** Maximum time after the end at which a late answer creates a cleanup run, plus a margin for the clocks. */
const CREATED_MS_MAX = 12_000

/** The on-failure run and the cleanup run that follow a run. */
export function FollowOns({ run: { id, finishedAt } }: { run: Pick<Run, 'id' | 'finishedAt'> }) {
  const { data } = useRead('getRunTree', { id }, { keep: false })
  const ofKind = (kind: 'onFailure' | 'cleanup') =>
    data?.nodes.find(({ via, parentId }) => via === kind && parentId === id)
  const [onFailure, cleanup] = [ofKind('onFailure'), ofKind('cleanup')]
  const isRecent = useNow() - Date.parse(finishedAt ?? '') < CREATED_MS_MAX
  const mayChange = isRecent || [onFailure, cleanup].some(node => node?.status && !isTerminal(node.status))
  const read = () => Promise.all([renew('getRunTree'), cleanup && renewFailed(cleanup.id)])
  useRenewal(read, { afterMs: RENEWAL_MS, enabled: mayChange })
  // The stream may begin after the first read. One more read shows the changes between the two.
  useEffect(() => {
    if (!mayChange) return
    const timer = setTimeout(() => void renew('getRunTree'), RENEWAL_MS)
    return () => clearTimeout(timer)
  }, [mayChange])
  return (
    <>
      <FollowOn name="On failure" node={onFailure} />
      <FollowOn name="Cleanup" node={cleanup} />
    </>
  )
}

function FollowOn({ name, node }: { name: string; node: TreeNode | undefined }) {
  if (!node) return null
  return (
    <Fact name={name}>
      <Link target={{ to: 'run', params: { id: node.id } }}>{node.id.slice(-8)}</Link>{' '}
      {node.status && <Status status={node.status} />}
      {node.via === 'cleanup' && node.status !== 'succeeded' && (
        <NotUndone cleanupId={node.id} hasFailed={node.status === 'failed'} />
      )}
    </Fact>
  )
}

const ROLLBACK = 'rollback:'
/** Maximum number of failed rollbacks that are named. */
const NAMES_MAX = 20

const failedSteps = (id: string) => ({ id, status: ['failed' as const], fields: 'summary' as const, limit: NAMES_MAX })

async function renewFailed(id: string): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: keyOf('listRunSteps', failedSteps(id)) })
}

/** Names the steps whose rollbacks have failed so far. */
function NotUndone({ cleanupId: id, hasFailed }: { cleanupId: string; hasFailed: boolean }) {
  const { data } = useRead('getRun', { id }, { keep: false, enabled: hasFailed })
  const failed = usePages('listRunSteps', failedSteps(id), { keep: false })
  const names = itemsOf(failed).flatMap(({ name }) =>
    name.startsWith(ROLLBACK) ? [shortName(name.slice(ROLLBACK.length))] : [],
  )
  if (names.length === 0) return <> {data?.error?.message}</>
  return (
    <>
      {' '}
      not undone: {names.join(', ')}
      {failed.hasNextPage && ' …'}
    </>
  )
}
