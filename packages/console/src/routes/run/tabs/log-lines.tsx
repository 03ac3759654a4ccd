// Log lines: time, level, scope and message, with the fields below. Pressing a scope goes to its step.

import { cutText } from '@perdure/protocol/portable'
import { sourceOf } from '../../../data/json/parse.ts'
import { durationText } from '../../../ui/duration.ts'
import { JsonTree } from '../../../ui/json/json-tree.tsx'
import { veiledText } from '../../../ui/json/veil-json.ts'
import { exactTime } from '../../../ui/time.ts'
import { useVeil } from '../../../ui/veil.ts'
import { Visible } from '../../../ui/visible.tsx'
import type { LogFrame } from '../../../waterfall/model.ts'
import css from './log-lines.module.css'

const MESSAGE_CHARS = 4096
/** The scope of lines that the handler writes outside of its steps. */
export const HANDLER_SCOPE = '@root'

/** Returns a scope in readable form: the name of the step, or `handler`. */
export const scopeText = (scope: string) => (scope === HANDLER_SCOPE ? 'handler' : cutText(scope, 80))

export interface LogLinesProps {
  lines: readonly LogFrame[]
  originMs: number
  wraps?: boolean
  /** The scope whose lines are marked. */
  current?: string | undefined
  /** Goes to the step of a line. */
  onScope?: (scope: string) => void
}

export function LogLines({ lines, originMs, wraps = true, current, onScope }: LogLinesProps) {
  const { isHidden } = useVeil()
  return (
    <ol className={`plain-list ${css.lines}`} data-wraps={wraps || undefined}>
      {lines.map(line => (
        <li
          key={line.seq}
          className={css.line}
          data-level={line.level}
          aria-current={line.scope === current || undefined}
        >
          <span className={css.time} title={timeTitle(line)}>
            {durationText(Math.max(writtenAt(line, originMs) - originMs, 0))}
          </span>
          <span className={css.level}>{line.level}</span>
          {onScope && (
            <button type="button" className={css.scope} onClick={() => onScope(line.scope)}>
              {scopeText(line.scope)}
            </button>
          )}
          <span className={css.message}>
            <Visible text={cutText(line.message, MESSAGE_CHARS)} />
            {line.fields !== undefined && Object.keys(line.fields).length > 0 && (
              <details className={css.fields}>
                <summary>
                  <Visible text={summaryOf(line.fields, isHidden)} />
                </summary>
                <JsonTree text={sourceOf(line.fields)} label="the fields" />
              </details>
            )}
          </span>
        </li>
      ))}
    </ol>
  )
}

/** The runner's time of a line is ignored if its clock differs from the engine's by more than this. */
const CLOCKS_MS_MAX = 2000

/**
 * Returns when the runner wrote the line, unless its clock cannot be right: the engine stores the lines of a step when the step
 * ends.
 */
function writtenAt({ ts, tsMs }: LogFrame, originMs: number): number {
  const storedAt = Date.parse(ts)
  if (tsMs === undefined || tsMs > storedAt + CLOCKS_MS_MAX || tsMs < originMs - CLOCKS_MS_MAX) return storedAt
  return Math.min(tsMs, storedAt)
}

function timeTitle({ ts, tsMs }: LogFrame): string {
  const stored = `stored ${exactTime(Date.parse(ts))}`
  return tsMs === undefined ? stored : `written ${exactTime(tsMs)} by the runner's clock, ${stored}`
}

const SUMMARY_CHARS = 160

function summaryOf(fields: Record<string, unknown>, isHidden: boolean): string {
  const source = sourceOf(fields)
  const text = isHidden ? veiledText(source) : source
  return cutText(text, SUMMARY_CHARS, '…')
}
