// Two texts side by side in one column: removed and added lines are marked by sign and colour.

import { useMemo } from 'react'
import { veiledText } from '../json/veil-json.ts'
import { useVeil } from '../veil.ts'
import { Visible } from '../visible.tsx'
import { changedStretches, diffLines } from './diff-lines.ts'
import css from './diff-view.module.css'

/** Lines that are drawn; longer comparisons say how many they leave out. */
const LINES_SHOWN = 2000

export interface DiffViewProps {
  before: string
  after: string
  label: string
  /** The texts are no payloads: they are shown where payloads are hidden, too. */
  isPublic?: boolean
}

/** The lines that differ, with a few around them. */
export function DiffView({ label, isPublic = false, ...texts }: DiffViewProps) {
  const { isHidden } = useVeil()
  const [before, after] =
    isHidden && !isPublic
      ? [veiledText(texts.before, true), veiledText(texts.after, true)]
      : [texts.before, texts.after]
  const stretches = useMemo(() => changedStretches(diffLines(before, after)), [before, after])
  if (before === after) return <p className={css.same}>No difference.</p>
  const shown = stretches.slice(0, LINES_SHOWN)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: long texts scroll, by keyboard too.
    <section className={css.diff} aria-label={label} tabIndex={0}>
      {shown.map((line, i) =>
        'skipped' in line ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place.
          <div key={i} className={css.skipped}>
            {line.skipped} {line.skipped === 1 ? 'line' : 'lines'} the same
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
      {stretches.length > LINES_SHOWN && (
        <div className={css.skipped}>{stretches.length - LINES_SHOWN} lines more are not shown</div>
      )}
    </section>
  )
}

const SIGNS = { same: ' ', removed: '−', added: '+' } as const
