// The comparison of a fork with its source: the first divergence at the top, the input, and every step that differs.

import type { RunSummary } from '@perdure/protocol'
import { cutText } from '@perdure/protocol/portable'
import { useMemo, useState } from 'react'
import { sourceOf } from '../../data/json/parse.ts'
import { useRead } from '../../data/queries.ts'
import { Link, useQuery } from '../../router/router.tsx'
import { Button } from '../../ui/button.tsx'
import { DiffView } from '../../ui/diff/diff-view.tsx'
import { durationText } from '../../ui/duration.ts'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Panel } from '../../ui/states/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Visible } from '../../ui/visible.tsx'
import { shortName } from '../../ui/visible-text.ts'
import type { WaterfallStep } from '../../waterfall/model.ts'
import { type DiffKind, diffSteps, firstDivergence, type StepDiff } from '../../waterfall/replay-diff.ts'
import css from './diff-panel.module.css'
import { useStepsWithResults } from './model/steps.ts'
import type { RunView } from './model/use-run.ts'

/** Maximum number of steps listed. */
const LISTED_MAX = 300

const KINDS: Record<DiffKind, readonly [string, string]> = {
  same: ['=', 'same'],
  result: ['≠', 'result changed'],
  status: ['✕', 'status changed'],
  slower: ['◷', 'slower'],
  new: ['+', 'only here'],
  gone: ['−', 'only in the source'],
}

export function DiffPanel({ view, sourceId }: { view: RunView; sourceId: string }) {
  const [, set] = useQuery('run')
  const source = useRead('getRun', { id: sourceId }, { keep: false })
  const sourceSteps = useStepsWithResults(sourceId)
  const steps = useStepsWithResults(view.run.id)
  return (
    <Panel
      title="Comparison with source"
      actions={<Button onClick={() => set({ diff: undefined })}>Close the comparison</Button>}
    >
      <p>
        This run compared with <Link target={{ to: 'run', params: { id: sourceId } }}>{sourceId}</Link>.
      </p>
      <Loaded query={source}>
        {run => (
          <Loaded query={sourceSteps}>
            {before => (
              <Loaded query={steps}>
                {after => <Comparison input={view.run.input} source={run} steps={{ before, after }} />}
              </Loaded>
            )}
          </Loaded>
        )}
      </Loaded>
    </Panel>
  )
}

const resultText = ({ data }: WaterfallStep) => (data === undefined ? undefined : sourceOf(data))

interface ComparisonProps {
  input: unknown
  source: RunSummary & { input?: unknown }
  steps: { before: readonly WaterfallStep[]; after: readonly WaterfallStep[] }
}

function Comparison({ input, source, steps: { before, after } }: ComparisonProps) {
  const [showsSame, setShowsSame] = useState(false)
  const diffs = useMemo(() => diffSteps(before, after, resultText), [before, after])
  const first = firstDivergence(diffs)
  const inputs = [source.input, input].map(textOf) as [string, string]
  const shown = diffs.filter(({ kind }) => showsSame || kind !== 'same')
  const same = diffs.length - diffs.filter(({ kind }) => kind !== 'same').length
  return (
    <div className={css.comparison}>
      {inputs[0] !== inputs[1] && (
        <section>
          <h3>Input</h3>
          <DiffView isJson before={inputs[0]} after={inputs[1]} label="Input diff" />
        </section>
      )}
      <p className={css.first}>
        {first ? (
          <>
            First divergence: <strong>{shortName(first.name)}</strong>, {KINDS[first.kind][1]}.
          </>
        ) : (
          'Every step has the same result.'
        )}
      </p>
      <section>
        <h3>
          Steps: {same} unchanged, {diffs.length - same} changed
          {same > 0 && (
            <Button aria-pressed={showsSame} onClick={() => setShowsSame(!showsSame)}>
              Show unchanged
            </Button>
          )}
        </h3>
        <ul className="plain-list">
          {shown.slice(0, LISTED_MAX).map(diff => (
            <li key={`${diff.kind}${diff.id}`}>
              <OneStep diff={diff} isFirst={diff === first} />
            </li>
          ))}
        </ul>
        {shown.length > LISTED_MAX && <p className="mute">{shown.length - LISTED_MAX} more steps.</p>}
      </section>
    </div>
  )
}

const textOf = (value: unknown): string => (value === undefined ? '' : sourceOf(value))

function OneStep({ diff, isFirst }: { diff: StepDiff; isFirst: boolean }) {
  const { kind, name, source, fork } = diff
  const [isOpen, setOpen] = useState(isFirst)
  const [glyph, word] = KINDS[kind]
  const head = (
    <>
      <span aria-hidden="true" className={css.glyph} data-kind={kind}>
        {glyph}
      </span>
      <strong>
        <Visible text={cutText(name, 200)} />
      </strong>
      <span className="mute">{word}</span>
      {kind === 'status' && source && fork && (
        <span>
          <Status status={source.status} /> → <Status status={fork.status} />
        </span>
      )}
      {kind === 'slower' && (
        <span className="mute">
          {durationText(source?.durationMs ?? 0)} → {durationText(fork?.durationMs ?? 0)}
        </span>
      )}
    </>
  )
  if (kind !== 'result' && kind !== 'status') return <p className={css.line}>{head}</p>
  return (
    <details open={isOpen} className={css.detail} onToggle={event => setOpen(event.currentTarget.open)}>
      <summary className={css.line}>{head}</summary>
      {isOpen && (
        <DiffView isJson before={outcomeOf(source)} after={outcomeOf(fork)} label={`Diff of ${shortName(name)}`} />
      )}
    </details>
  )
}

/** Returns the result or error of a step as text. */
function outcomeOf(step: WaterfallStep | undefined): string {
  if (step === undefined) return ''
  return step.error === undefined ? textOf(step.data) : `${step.error.name ?? 'Error'}: ${step.error.message}`
}
