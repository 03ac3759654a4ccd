// Names and values of one thing, as a definition list.

import type { ReactNode } from 'react'
import css from './facts.module.css'

/** A longer text has its own line. */
const LONG_CHARS = 80

/** Facts without a value are left out. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className={css.facts}>
      {facts
        .filter(([, value]) => value !== undefined && value !== null && value !== '')
        .map(([name, value]) => (
          <div key={name} data-long={(typeof value === 'string' && value.length > LONG_CHARS) || undefined}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}
