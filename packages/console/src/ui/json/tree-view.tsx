// The rows of a JSON tree, with its keys. json-tree.tsx and worker-tree.tsx pass it the rows.

import { cutText } from '@perdure/protocol/portable'
import { type KeyboardEvent, lazy, Suspense, useRef, useState } from 'react'
import { Visible } from '../visible.tsx'
import { addressIn } from './address.ts'
import css from './json-tree.module.css'
import type { JsonNode } from './parse.ts'
import { scalarText } from './print.ts'
import { MEMBERS_SHOWN, STRING_CHARS_SHOWN, type TreeRow, type TreeState } from './rows.ts'

const AddressDialog = lazy(() => import('./address-dialog.tsx'))

/** Nothing is folded or unfolded by hand. */
export const FIRST_STATE: TreeState = { open: new Map(), more: new Map() }

export interface TreeViewProps {
  rows: readonly TreeRow[]
  label: string
  setState(change: (state: TreeState) => TreeState): void
}

export function TreeView({ rows, label, setState }: TreeViewProps) {
  const [active, setActive] = useState('')
  const [address, setAddress] = useState<URL>()
  const tree = useRef<HTMLDivElement>(null)
  const fold = (path: string, isOpen: boolean) =>
    setState(({ open, more }) => ({ open: new Map(open).set(path, isOpen), more }))
  const showMore = (path: string) =>
    setState(({ open, more }) => ({
      open,
      more: new Map(more).set(path, (more.get(path) ?? MEMBERS_SHOWN) + MEMBERS_SHOWN * 5),
    }))
  const focus = (row: TreeRow | undefined) => {
    if (!row) return
    setActive(row.path)
    tree.current?.querySelector<HTMLElement>(`[data-path="${row.path}"]`)?.focus()
  }
  const keys = (event: KeyboardEvent) => {
    const at = Math.max(
      rows.findIndex(({ path }) => path === active),
      0,
    )
    const row = rows[at] as TreeRow
    const isBranch = row.size !== undefined && row.size > 0
    if (event.key === 'ArrowDown') focus(rows[at + 1])
    else if (event.key === 'ArrowUp') focus(rows[at - 1])
    else if (event.key === 'Home') focus(rows[0])
    else if (event.key === 'End') focus(rows[rows.length - 1])
    else if (event.key === 'ArrowRight' && isBranch) row.isOpen ? focus(rows[at + 1]) : fold(row.path, true)
    else if (event.key === 'ArrowLeft' && isBranch && row.isOpen) fold(row.path, false)
    else if (event.key === 'ArrowLeft') focus(rows.slice(0, at).findLast(({ depth }) => depth < row.depth))
    else if (event.key === 'Enter' && isBranch) fold(row.path, !row.isOpen)
    else if (event.key === 'Enter' && row.hidden !== undefined) showMore(row.path.slice(0, -1))
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <>
      <div ref={tree} role="tree" aria-label={label} className={css.tree} onKeyDown={keys}>
        {rows.map(row => (
          <RowView
            key={row.path}
            row={row}
            isActive={row.path === active}
            onFocus={() => setActive(row.path)}
            onFold={() => (row.hidden === undefined ? fold(row.path, !row.isOpen) : showMore(row.path.slice(0, -1)))}
            onAddress={setAddress}
          />
        ))}
      </div>
      <Suspense>{address && <AddressDialog address={address} onClose={() => setAddress(undefined)} />}</Suspense>
    </>
  )
}

interface RowProps {
  row: TreeRow
  isActive: boolean
  onFocus: () => void
  onFold: () => void
  onAddress(address: URL): void
}

function RowView({ row, isActive, onFocus, onFold, onAddress }: RowProps) {
  const { depth, key, node, size, isOpen, hidden } = row
  const isBranch = size !== undefined && size > 0
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keys of its rows.
    <div
      role="treeitem"
      tabIndex={isActive ? 0 : -1}
      aria-level={depth + 1}
      aria-expanded={isBranch ? isOpen : undefined}
      aria-selected={isActive}
      data-path={row.path}
      className={css.row}
      style={{ paddingInlineStart: `${Math.min(depth, 40) * 14}px` }}
      onFocus={onFocus}
      onClick={isBranch || hidden !== undefined ? onFold : undefined}
    >
      <span aria-hidden="true" className={css.fold}>
        {isBranch ? (isOpen ? '▾' : '▸') : ''}
      </span>
      {hidden === undefined ? (
        <>
          {key !== undefined && <Key name={key} />}
          <Value node={node} size={size} onAddress={onAddress} />
        </>
      ) : (
        <span className={css.more}>{hidden} more</span>
      )}
    </div>
  )
}

function Key({ name }: { name: string | number }) {
  return (
    <span className={typeof name === 'number' ? css.place : css.key}>
      {typeof name === 'number' ? name : <Visible text={cutText(name, STRING_CHARS_SHOWN)} />}
      <span className={css.colon}>: </span>
    </span>
  )
}

/** Long texts are shown in parts of this size. */
export const TEXT_STEP_CHARS = 64 * 1024

interface ValueProps extends Pick<RowProps, 'onAddress'> {
  node: JsonNode
  size: number | undefined
}

function Value({ node, size, onAddress }: ValueProps) {
  const [shown, setShown] = useState(STRING_CHARS_SHOWN)
  if (size !== undefined) {
    const [open, close] = node.kind === 'array' ? '[]' : '{}'
    return <span className={css.size}>{size === 0 ? `${open}${close}` : `${open} ${size} ${close}`}</span>
  }
  if (node.kind !== 'string') return <span className={css[node.kind]}>{scalarText(node)}</span>
  const isLong = node.value.length > shown
  const address = addressIn(node.value)
  return (
    <span className={css.string}>
      <Visible text={quoted(isLong ? cutText(node.value, shown) : node.value)} />
      {isLong && (
        <button type="button" onClick={() => setShown(shown + TEXT_STEP_CHARS)}>
          {node.value.length - shown} more characters
        </button>
      )}
      {address && (
        <button type="button" title={`Open ${address.host}…`} onClick={() => onAddress(address)}>
          open…
        </button>
      )}
    </span>
  )
}

/** Returns a string as JSON writes it, except for characters that `Visible` draws. */
const quoted = (value: string) => `"${value.replace(/["\\\n\r\t]/g, char => ESCAPES[char] as string)}"`
const ESCAPES: Record<string, string> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }
