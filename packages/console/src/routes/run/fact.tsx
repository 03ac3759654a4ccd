// One fact of a run, in the list below its title.

import type { ReactNode } from 'react'
import css from './header.module.css'

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className={css.fact}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
