// The family of a run as a graph: every run and event is a link, and lines show how one created the other. The list in the same
// tab is the text form.

import type { TreeNode } from '@perdure/protocol'
import { type KeyboardEvent, useEffect, useMemo, useRef } from 'react'
import { Link, type Target } from '../../../router/router.tsx'
import { durationText } from '../../../ui/duration.ts'
import { Status } from '../../../ui/status.tsx'
import { shortName } from '../../../ui/visible-text.ts'
import { RELATIONS } from '../model/tree.ts'
import type { RunView } from '../model/use-run.ts'
import { type Family, type FamilyEdge, type FamilyNode, familyOf, type Member, type More } from './family.ts'
import css from './graph.module.css'
import { type Layout, layoutOf, neighbourOf, type Place } from './layout.ts'
import { useRelatives } from './use-relatives.ts'

const NODE_PX = { width: 240, height: 52 }
/** Space for the word of an edge between columns, and between rows. */
const GAP_PX = { x: 96, y: 14 }

const leftOf = ({ layer }: Place) => layer * (NODE_PX.width + GAP_PX.x)
const topOf = ({ row }: Place) => row * (NODE_PX.height + GAP_PX.y)

export interface GraphProps {
  run: RunView['run']
  /** The nodes of the tree. */
  tree: readonly TreeNode[]
}

export default function Graph({ run, tree }: GraphProps) {
  const family = familyOf(tree, run.id, useRelatives(run))
  const shape = JSON.stringify([family.nodes.map(({ id }) => id), family.edges])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of a status moves nothing.
  const layout = useMemo(
    () =>
      layoutOf(
        family.nodes.map(({ id }) => id),
        family.edges,
      ),
    [shape],
  )
  const width = layout.layers * (NODE_PX.width + GAP_PX.x) - GAP_PX.x
  const height = layout.rows * (NODE_PX.height + GAP_PX.y) - GAP_PX.y
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => showOwn(box.current), [])
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: arrow keys move between the links in it.
    <div ref={box} className={css.graph} data-graph="" onKeyDown={event => moveFocus(event, family, layout)}>
      <div className={css.canvas} style={{ width, height }}>
        <Edges edges={family.edges} layout={layout} width={width} height={height} />
        <ul className={`plain-list ${css.nodes}`} aria-label="Runs and events">
          {family.nodes.map(node => (
            <Node key={node.id} node={node} family={family} own={run.id} place={layout.places.get(node.id)} />
          ))}
        </ul>
      </div>
    </div>
  )
}

/** Scrolls the run itself to the middle of a graph that is larger than its box. */
function showOwn(box: HTMLElement | null): void {
  const own = box?.querySelector<HTMLElement>('[aria-current]')?.parentElement
  if (!box || !own) return
  const middle = (at: number, size: number, shown: number) => at + size / 2 - shown / 2
  box.scrollTo(
    middle(own.offsetLeft, own.offsetWidth, box.clientWidth),
    middle(own.offsetTop, own.offsetHeight, box.clientHeight),
  )
}

function moveFocus(event: KeyboardEvent<HTMLElement>, { edges }: Family, layout: Layout): void {
  const id = (event.target as HTMLElement).dataset.node
  const next = id === undefined ? undefined : neighbourOf(id, event.key, edges, layout)
  if (next === undefined) return
  event.preventDefault()
  const nodes = event.currentTarget.querySelectorAll<HTMLElement>('[data-node]')
  ;[...nodes].find(({ dataset }) => dataset.node === next)?.focus()
}

interface EdgesProps {
  edges: readonly FamilyEdge[]
  layout: Layout
  width: number
  height: number
}

function Edges({ edges, layout, width, height }: EdgesProps) {
  return (
    <svg className={css.edges} width={width} height={height} aria-hidden="true">
      {edges.map(({ from, to, via }) => {
        const [start, end] = [layout.places.get(from), layout.places.get(to)]
        if (!start || !end) return null
        const { path, x, y } = lineOf(start, end)
        return (
          <g key={`${from} ${to}`} data-via={via ?? 'more'}>
            <path d={path} />
            {via && (
              <text x={x} y={y} textAnchor="end">
                {RELATIONS[via]}
              </text>
            )}
          </g>
        )
      })}
    </svg>
  )
}

/** Returns the line between two nodes, and the end of its word: above the line, where it arrives. */
function lineOf(start: Place, end: Place): { path: string; x: number; y: number } {
  const fromX = leftOf(start) + NODE_PX.width
  const [fromY, toY] = [topOf(start), topOf(end)].map(top => top + NODE_PX.height / 2) as [number, number]
  const toX = leftOf(end)
  const word = { x: toX - 8, y: toY - 5 }
  if (end.layer > start.layer) {
    const middle = toX - GAP_PX.x / 2
    return { path: `M${fromX} ${fromY} C${middle} ${fromY} ${middle} ${toY} ${toX} ${toY}`, ...word }
  }
  // Within a column, or back: along the left side.
  const side = Math.min(leftOf(start), toX) - GAP_PX.x / 4
  return { path: `M${leftOf(start)} ${fromY} C${side} ${fromY} ${side} ${toY} ${toX} ${toY}`, ...word }
}

interface NodeProps {
  node: FamilyNode
  family: Family
  own: string
  place: Place | undefined
}

function Node({ node, family, own, place }: NodeProps) {
  if (!place) return null
  return (
    <li style={{ left: leftOf(place), top: topOf(place), ...NODE_PX }}>
      {node.type === 'more' ? (
        <MoreLink node={node} own={own} />
      ) : (
        <MemberLink node={node} isOwn={node.id === own} edge={family.edges.find(({ to }) => to === node.id)} />
      )}
    </li>
  )
}

/** Links to the list, which has all of them. */
function MoreLink({ node: { id, runs, events }, own }: { node: More; own: string }) {
  return (
    <Link
      target={{ to: 'run', params: { id: own }, query: { tab: 'tree' } }}
      className={css.node}
      data-node={id}
      title="Show them in the list"
    >
      {[countText(runs, 'run'), countText(events, 'event')].filter(Boolean).join(', ')}
    </Link>
  )
}

const countText = (count: number, what: string) =>
  count === 0 ? '' : `${count} more ${count === 1 ? what : `${what}s`}`

interface MemberLinkProps {
  node: Member
  isOwn: boolean
  /** The edge to this node. */
  edge: FamilyEdge | undefined
}

function MemberLink({ node, isOwn, edge }: MemberLinkProps) {
  const { id, type, status, durationMs, stepName } = node
  const name = shortName(node.name ?? id)
  const step = stepName === undefined ? undefined : `by step ${shortName(stepName)}`
  const relation = isOwn ? 'this run' : edge?.via && RELATIONS[edge.via]
  const target: Target =
    type === 'event'
      ? { to: 'event', params: { id } }
      : { to: 'run', params: { id }, query: { tab: 'tree', as: 'graph' } }
  return (
    <Link
      target={target}
      className={css.node}
      data-node={id}
      data-type={type}
      aria-current={isOwn || undefined}
      title={[name, step].filter(Boolean).join(' · ')}
    >
      <span className={css.name}>
        {name} {relation && <span className="visually-hidden">{relation}</span>}
      </span>
      <span className={css.facts}>
        {status ? <Status status={status} /> : type === 'event' && <span>event</span>}
        {type === 'run' && <code>{id.slice(-8)}</code>}
        {durationMs !== undefined && <span>{durationText(durationMs)}</span>}
        {step && <span className="visually-hidden">{step}</span>}
      </span>
    </Link>
  )
}
