// The newest progress of a run: a bar if its value says how much is done, and its text.

import { cutText } from '@perdure/protocol/portable'
import { useVeil } from '../veil.ts'
import { Visible } from '../visible.tsx'
import { visibleText } from '../visible-text.ts'
import styles from './progress.module.css'
import { progressShape, progressView } from './progress-view.ts'

const TEXT_MAX = 200

/** `source` is the JSON text of the value. */
export default function Progress({ source }: { source: string }) {
  const { isHidden } = useVeil()
  const { part, text } = isHidden ? { part: undefined, text: progressShape(source) } : progressView(source)
  const shown = cutText(text, TEXT_MAX, '…')
  return (
    <span className={styles.progress}>
      {part !== undefined && <progress max={1} value={part} aria-label="Progress" />}
      <span className="one-line" title={visibleText(shown)}>
        <Visible text={shown} />
      </span>
    </span>
  )
}
