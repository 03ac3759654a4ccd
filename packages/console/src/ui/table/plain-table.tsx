// A table of a few rows: its name for screen readers, its heads and its rows. Tables of many rows are in data-table.

import type { ReactNode, Ref } from 'react'

export interface PlainTableProps {
  label: string
  className: string | undefined
  heads: readonly string[]
  /** The heads of columns with numbers, which are aligned to the end of their cells. */
  numbers?: readonly string[]
  body?: Ref<HTMLTableSectionElement>
  /** The rows. */
  children: ReactNode
}

export function PlainTable({ label, className, heads, numbers = [], body, children }: PlainTableProps) {
  return (
    <table className={className}>
      <caption className="visually-hidden">{label}</caption>
      <thead>
        <tr>
          {heads.map(head => (
            <th key={head} scope="col" data-align={numbers.includes(head) ? 'end' : undefined}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={body}>{children}</tbody>
    </table>
  )
}
