// The tree of an event: the runs that it started, and their children, forks and emitted events, indented by level.

import type { TreeNode } from '@perdure/protocol'
import { useRead } from '../../data/queries.ts'
import { Link } from '../../router/router.tsx'
import { durationText } from '../../ui/duration.ts'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Panel } from '../../ui/states/page.tsx'
import { Status } from '../../ui/status.tsx'
import { shortName } from '../../ui/visible-text.ts'
import css from '../events/events.module.css'

type ByParent = ReadonlyMap<string | undefined, readonly TreeNode[]>

export function TreePanel({ id, woke }: { id: string; woke: number }) {
  const query = useRead('getEventTree', { id }, { keep: false })
  return (
    <Panel title="Tree">
      <Loaded query={query}>
        {({ nodes, truncated }) => {
          const byParent = new Map<string | undefined, TreeNode[]>()
          for (const node of nodes) byParent.set(node.parentId, [...(byParent.get(node.parentId) ?? []), node])
          return (
            <>
              {nodes.length > 1 ? (
                <Level parent={nodes[0]?.id} byParent={byParent} />
              ) : (
                <p className="mute">{woke > 0 ? 'The event only resumed runs, listed above.' : 'No runs started.'}</p>
              )}
              {truncated && <p className="mute">Truncated: the tree has more than 8 levels or 500 nodes.</p>}
            </>
          )
        }}
      </Loaded>
    </Panel>
  )
}

function Level({ parent, byParent }: { parent: string | undefined; byParent: ByParent }) {
  const nodes = parent === undefined ? [] : (byParent.get(parent) ?? [])
  if (nodes.length === 0) return null
  return (
    <ul className={`plain-list ${css.tree}`}>
      {nodes.map(node => (
        <li key={node.id}>
          <span className="mute">{node.via}</span> <Node node={node} />
          <Level parent={node.id} byParent={byParent} />
        </li>
      ))}
    </ul>
  )
}

function Node({ node: { type, id, name, workflow, status, durationMs } }: { node: TreeNode }) {
  if (type === 'event') return <Link target={{ to: 'event', params: { id } }}>{shortName(name ?? id)}</Link>
  return (
    <>
      {status !== undefined && <Status status={status} />}{' '}
      <Link target={{ to: 'run', params: { id } }}>{shortName(workflow ?? id)}</Link>{' '}
      {durationMs !== undefined && <span className="mute">{durationText(durationMs)}</span>}
    </>
  )
}
