// The passes of a run: which runner had each and when, which steps it settled, and how the run continued. A bundle's passes are
// derived from its frames, which show a pass where the run's status changed.

import type { PassRecord } from '@perdure/protocol'
import { type ReactNode, useMemo } from 'react'
import { itemsOf, usePages } from '../../../data/queries.ts'
import { useQuery } from '../../../router/router.tsx'
import { Button } from '../../../ui/button.tsx'
import { durationText } from '../../../ui/duration.ts'
import { Loaded } from '../../../ui/states/loaded.tsx'
import { Status } from '../../../ui/status.tsx'
import { PlainTable } from '../../../ui/table/plain-table.tsx'
import { Sideways } from '../../../ui/table/sideways.tsx'
import { exactTime } from '../../../ui/time.ts'
import { shortName } from '../../../ui/visible-text.ts'
import { type PassOfFrames, passesOf } from '../../../waterfall/passes.ts'
import type { RunView } from '../model/use-run.ts'
import css from './tabs.module.css'

const PASSES_MAX = 500

export function PassesTab({ view }: { view: RunView }) {
  return view.isBundle ? <FramePasses view={view} /> : <EnginePasses view={view} />
}

function EnginePasses({ view }: { view: RunView }) {
  const pages = usePages('listRunPasses', { id: view.run.id, limit: 200 }, { keep: false })
  return (
    <Loaded query={pages}>
      {() => {
        const passes = itemsOf(pages)
        if (passes.length === 0) return <p className={css.none}>No runner has been called yet.</p>
        return (
          <>
            <PassTable
              heads={['Sent at', 'Duration', 'Runner', 'Attempt', 'Steps', 'Outcome']}
              lines={passes.map(pass => lineOf(pass, view.originMs))}
            />
            {pages.hasNextPage && <Button onClick={() => void pages.fetchNextPage()}>Load more passes</Button>}
          </>
        )
      }}
    </Loaded>
  )
}

const OUTCOMES: Record<PassRecord['outcome'], readonly [string, string]> = {
  running: ['running', 'in progress'],
  steps: ['succeeded', 'reported steps'],
  returned: ['succeeded', 'the handler returned'],
  failed: ['failed', 'failed'],
  none: ['cancelled', 'not counted'],
}

/** The columns of numbers. */
const NUMBERS: readonly string[] = ['Sent at', 'Duration', 'Attempt']

/** A row of the table: one cell per column head. */
interface PassLine {
  key: number
  cells: readonly ReactNode[]
}

function PassTable({ heads, lines }: { heads: readonly string[]; lines: readonly PassLine[] }) {
  return (
    <Sideways label="Passes of the run" className={css.scroller}>
      <PlainTable className={`${css.table} ${css.passes}`} label="Passes of the run" heads={heads} numbers={NUMBERS}>
        {lines.map(({ key, cells }) => (
          <tr key={key}>
            {cells.map((cell, i) => (
              <td
                key={heads[i]}
                data-head={heads[i]}
                data-align={NUMBERS.includes(heads[i] as string) ? 'end' : undefined}
              >
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </PlainTable>
    </Sideways>
  )
}

function lineOf({ pass, runner, sentAt, answeredAt, outcome, attempt, steps, error }: PassRecord, originMs: number) {
  const sentMs = Date.parse(sentAt)
  const [status, word] = OUTCOMES[outcome]
  const shown = steps.map(({ index, name, status, attempt }) => ({ seq: index * 1000 + attempt, name, status }))
  const cells = [
    <span key="at" title={exactTime(sentMs)}>
      {durationText(Math.max(sentMs - originMs, 0))}
    </span>,
    answeredAt === undefined ? '' : durationText(Math.max(Date.parse(answeredAt) - sentMs, 0)),
    <span key="runner" className={css.runner}>
      {shortName(runner)}
    </span>,
    attempt,
    <PassSteps key="steps" pass={{ steps: shown, ...(error === undefined ? {} : { error: error.message }) }} />,
    <Status key="outcome" status={status} word={word} />,
  ]
  return { key: pass, cells }
}

function FramePasses({ view }: { view: RunView }) {
  const [, set] = useQuery('run')
  const passes = useMemo(() => passesOf(view.frames, view.originMs), [view.frames, view.originMs])
  if (passes.length === 0) return <p className={css.none}>No runner has been called yet.</p>
  return (
    <>
      <PassTable
        heads={['Sent at', 'Duration', 'Attempt', 'Steps', 'Outcome']}
        lines={passes.slice(0, PASSES_MAX).map(pass => ({
          key: pass.seq,
          cells: [
            <button
              key="at"
              type="button"
              className={css.link}
              onClick={() => set({ tab: undefined, seq: String(pass.seq) })}
            >
              {durationText(pass.fromMs)}
            </button>,
            pass.toMs === undefined ? 'now' : durationText(pass.toMs - pass.fromMs),
            pass.attempt,
            <PassSteps key="steps" pass={pass} />,
            pass.next === undefined ? '' : <Status key="then" status={pass.next} />,
          ],
        }))}
      />
      {passes.length > PASSES_MAX && <p className={css.none}>{passes.length - PASSES_MAX} more passes.</p>}
    </>
  )
}

const STEPS_MAX = 8

function PassSteps({ pass }: { pass: Pick<PassOfFrames, 'steps' | 'error'> }) {
  const rest = pass.steps.length - STEPS_MAX
  return (
    <>
      {pass.steps.slice(0, STEPS_MAX).map(({ seq, name, status }) => (
        <span key={seq} className={css.step}>
          <Status status={status} word={shortName(name, 40)} />
        </span>
      ))}
      {rest > 0 && `and ${rest} more`}
      {pass.error !== undefined && <span className={css.error}>{shortName(pass.error, 200)}</span>}
    </>
  )
}
