// Two texts in one column: removed and added lines are marked by sign and colour.

import { useState } from 'react'
import { Button } from '../button.tsx'
import { Polite } from '../overlay/polite.tsx'
import { useVeil } from '../veil.ts'
import { Visible } from '../visible.tsx'
import css from './diff-view.module.css'
import { useDiff } from './use-diff.ts'

/** Number of lines drawn at first, and added on each request. */
const LINES_SHOWN = 500

export interface DiffViewProps {
  before: string
  after: string
  label: string
  /** The texts are JSON as it was sent: they are indented before the comparison. */
  isJson?: boolean
  /** The texts are not payloads: they are shown even where payloads are hidden. */
  isPublic?: boolean
}

/** The lines that differ, with a few lines around them. */
export function DiffView({ before, after, label, isJson = false, isPublic = false }: DiffViewProps) {
  const { isHidden } = useVeil()
  const diff = useDiff({ before, after, isJson, isVeiled: isHidden && !isPublic })
  const [most, setMost] = useState(LINES_SHOWN)
  if (!diff) return <Polite className={css.same} text="Comparing…" />
  const { isSame, lines, left } = diff
  if (isSame) return <p className={css.same}>No difference.</p>
  const more = lines.length - most
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: long texts scroll, by keyboard too.
    <section className={css.diff} aria-label={label} tabIndex={0}>
      {lines.slice(0, most).map((line, i) =>
        'skipped' in line ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place.
          <div key={i} className={css.skipped}>
            {line.skipped} unchanged {line.skipped === 1 ? 'line' : 'lines'}
          </div>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place.
          <div key={i} className={css[line.kind]}>
            <span className={css.number}>{line.before ?? ''}</span>
            <span className={css.number}>{line.after ?? ''}</span>
            <span className={css.sign}>{SIGNS[line.kind]}</span>
            <span className={css.text}>
              <Visible text={line.text} />
            </span>
          </div>
        ),
      )}
      {more > 0 && <Button onClick={() => setMost(lines.length)}>Show {more} more lines</Button>}
      {more <= 0 && left > 0 && <div className={css.skipped}>{left} more lines are not shown</div>}
    </section>
  )
}

const SIGNS = { same: ' ', removed: '−', added: '+' } as const
