// A preview of a run from the list, without leaving it: its error, its input and its last log line. Shown while the pointer rests
// on a row, or until it is unpinned.

import { sourceOf } from '../../data/json/parse.ts'
import { useRead } from '../../data/queries.ts'
import { useNow } from '../../data/time/clock.ts'
import { Link } from '../../router/router.tsx'
import { veiledText } from '../../ui/json/veil-json.ts'
import Progress from '../../ui/progress/progress.tsx'
import { Status } from '../../ui/status.tsx'
import { PeekPanel, PeekPart } from '../../ui/table/peek-panel.tsx'
import { useVeil } from '../../ui/veil.ts'
import { shortName } from '../../ui/visible-text.ts'
import { sentenceText } from '../run/why.ts'
import type { Run } from './columns.tsx'
import { progressOf } from './live-progress.ts'

export default function Peek({ run, isPinned }: { run: Run; isPinned: boolean }) {
  const detail = useRead('getRun', { id: run.id }, { keep: false, staleMs: 30_000 })
  const logs = useRead('listRunLogs', { id: run.id, dir: 'desc', limit: 1 }, { keep: false })
  const isOpen = run.finishedAt === undefined
  const why = useRead('explainRun', { id: run.id }, { keep: false, enabled: isOpen })
  const now = useNow()
  const { isHidden } = useVeil()
  const input = detail.data?.input
  const shown = input === undefined ? undefined : sourceOf(input)
  const line = logs.data?.[0]
  const reported = detail.data?.progress
  const progress = progressOf(run) ?? (reported && sourceOf(reported.value))
  return (
    <PeekPanel
      name="Preview of the run"
      isPinned={isPinned}
      head={
        <>
          <Status status={run.status} /> <b>{shortName(run.workflow)}</b>
          <Link target={{ to: 'run', params: { id: run.id } }}>{run.id}</Link>
        </>
      }
    >
      {run.error && (
        <PeekPart
          name={run.error.stepName ? `Failed in ${shortName(run.error.stepName)}` : 'Failed'}
          text={run.error.message}
        />
      )}
      <PeekPart name="Why" text={why.data && sentenceText(why.data, now)} />
      {progress !== undefined && (
        <div>
          <h2>Progress</h2>
          <Progress source={progress} />
        </div>
      )}
      <PeekPart
        name="Input"
        text={shown === undefined ? (detail.isPending ? '…' : 'none') : isHidden ? veiledText(shown) : shown}
      />
      {line && <PeekPart name={`Last log line, ${line.level}`} text={line.message} />}
    </PeekPanel>
  )
}
