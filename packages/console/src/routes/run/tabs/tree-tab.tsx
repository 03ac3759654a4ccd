// The tree of a run: its event with the runs that it started, the run's parent and source, its children, forks and emitted
// events, and everything that those started.

import type { TreeNode } from '@perdure/protocol'
import { cutText } from '@perdure/protocol/portable'
import { lazy, Suspense, useMemo } from 'react'
import { useRead } from '../../../data/queries.ts'
import { Link, useQuery } from '../../../router/router.tsx'
import { Button } from '../../../ui/button.tsx'
import { durationText } from '../../../ui/duration.ts'
import { Loaded, Waiting } from '../../../ui/states/loaded.tsx'
import { Status } from '../../../ui/status.tsx'
import { Visible } from '../../../ui/visible.tsx'
import { shortName } from '../../../ui/visible-text.ts'
import { type Branch, branchesOf, RELATIONS } from '../model/tree.ts'
import type { RunView } from '../model/use-run.ts'
import css from './tree-tab.module.css'

const Graph = lazy(() => import('../family/graph.tsx'))

export function TreeTab({ view }: { view: RunView }) {
  const [get, set] = useQuery('run')
  const { query, isOfEvent } = useTree(view.run.id, view.run.eventId)
  const isGraph = get('as') === 'graph'
  return (
    <div className={css.tree}>
      <div className={css.tools}>
        <Button aria-pressed={!isGraph} onClick={() => set({ as: undefined })}>
          List
        </Button>
        <Button aria-pressed={isGraph} onClick={() => set({ as: 'graph' })}>
          Graph
        </Button>
      </div>
      {!isGraph && <AllAbove run={view.run} isOfEvent={isOfEvent} />}
      <Loaded query={query}>
        {({ nodes, truncated }) => (
          <>
            {isGraph ? (
              <Suspense fallback={<Waiting rows={4} />}>
                <Graph run={view.run} tree={nodes} />
              </Suspense>
            ) : (
              <Nodes nodes={nodes} own={view.run.id} />
            )}
            {truncated && <p className="mute">Truncated: a tree shows at most 8 levels and 500 runs and events.</p>}
          </>
        )}
      </Loaded>
    </div>
  )
}

/** Related runs that the run's tree may not have. */
function AllAbove({ run, isOfEvent }: { run: RunView['run']; isOfEvent: boolean }) {
  const { parentRunId, replayOf, startedBy, continuedFrom, continuedAs } = run
  return (
    <>
      {parentRunId !== undefined && <Above kind="parent" id={parentRunId} />}
      {startedBy !== undefined && <Above kind="started by" id={startedBy.runId} />}
      {!isOfEvent && replayOf !== undefined && <Above kind="source" id={replayOf} />}
      {continuedFrom !== undefined && <Above kind="continues" id={continuedFrom} />}
      {continuedAs !== undefined && <Above kind="continued as" id={continuedAs} />}
    </>
  )
}

/**
 * Returns the tree of the run's event, if the event is in the log and its tree contains the run; otherwise the tree of the run.
 */
function useTree(id: string, eventId: string | undefined) {
  const ofEvent = useRead('getEventTree', { id: eventId ?? '' }, { keep: false, enabled: eventId !== undefined })
  const isOfEvent = ofEvent.data?.nodes.some(node => node.id === id) === true
  const isOther = eventId === undefined || ofEvent.isError || (ofEvent.data !== undefined && !isOfEvent)
  const ofRun = useRead('getRunTree', { id }, { keep: false, enabled: isOther })
  return { query: isOfEvent || !isOther ? ofEvent : ofRun, isOfEvent }
}

/** A related run that the tree does not have. */
function Above({ kind, id }: { kind: string; id: string }) {
  const { data } = useRead('getRun', { id }, { keep: false })
  return (
    <p className={css.line}>
      <span className={css.kind}>{kind}</span>
      {data && <Status status={data.status} />}
      <Link target={{ to: 'run', params: { id } }}>{data ? shortName(data.workflow) : id}</Link>
    </p>
  )
}

function Nodes({ nodes, own }: { nodes: readonly TreeNode[]; own: string }) {
  const root = useMemo(() => branchesOf({ nodes }), [nodes])
  return root && <Branches branches={[root]} own={own} />
}

function Branches({ branches, own }: { branches: readonly Branch[]; own: string }) {
  if (branches.length === 0) return null
  return (
    <ul className={css.list}>
      {branches.map(({ node, branches: below }) => (
        <li key={node.id}>
          <NodeLine node={node} isOwn={node.id === own} />
          <Branches branches={below} own={own} />
        </li>
      ))}
    </ul>
  )
}

function NodeLine({ node, isOwn }: { node: TreeNode; isOwn: boolean }) {
  const { type, id, via, stepName, name, workflow, key, status, durationMs } = node
  const title = shortName((type === 'event' ? name : workflow) ?? id)
  return (
    <p className={css.line} aria-current={isOwn || undefined}>
      <span className={css.kind}>
        {type === 'event' && via === 'root' ? 'event' : isOwn ? 'this run' : RELATIONS[via]}
      </span>
      {status && <Status status={status} />}
      {isOwn ? (
        <strong>{title}</strong>
      ) : (
        <Link target={type === 'event' ? { to: 'event', params: { id } } : { to: 'run', params: { id } }}>{title}</Link>
      )}
      {type === 'run' && <code className="mute">{id.slice(-8)}</code>}
      {key !== undefined && (
        <span className="mute">
          key <Visible text={cutText(key, 200)} />
        </span>
      )}
      {durationMs !== undefined && <span className="mute">{durationText(durationMs)}</span>}
      {stepName !== undefined && (
        <span className="mute">
          by step <Visible text={cutText(stepName, 200)} />
        </span>
      )}
    </p>
  )
}
