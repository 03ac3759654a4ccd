// Replays a run with the same input, after explaining the effect.

import { usePages } from '../../../data/queries.ts'
import { useWrite } from '../../../data/write.ts'
import { shortName } from '../../../ui/visible-text.ts'
import type { RunView } from '../model/use-run.ts'
import { ForkDialog, RENEWED_BY_FORK } from './fork-dialog.tsx'

export function ReplayDialog({ view, onClose }: { view: RunView; onClose(): void }) {
  const { run } = view
  const write = useWrite('replayRun', RENEWED_BY_FORK)
  const input = { id: run.id }
  return (
    <ForkDialog
      title="Replay this run"
      write={write}
      action="Replay"
      call={{ id: 'replayRun', input }}
      onFork={() => write.mutate(input)}
      onClose={onClose}
    >
      <p>
        A new run of “{shortName(run.workflow)}” starts from the beginning with the same input. All steps are executed
        again. This run is not changed.
      </p>
      <ForkCount runId={run.id} />
    </ForkDialog>
  )
}

/**
 * How many forks the run already has. The line has its place before the count is read, so that the content below does not move.
 */
export function ForkCount({ runId }: { runId: string }) {
  return <p className="mute">{forkText(useForks(runId))}</p>
}

function forkText(forks: ReturnType<typeof useForks>): string {
  if (forks === undefined) return '\u00a0'
  if (forks === 0) return 'No replays yet.'
  return `${forks} ${forks === 1 ? 'replay exists' : 'replays exist'} already.`
}

const FORKS_MAX = 30

/** Returns the number of forks of a run, `30+` if one page does not have all; undefined until it is read. */
export function useForks(runId: string): number | string | undefined {
  const forks = usePages('listRuns', { replayOf: runId, limit: FORKS_MAX }, { keep: false }).data?.pages[0]
  return forks?.nextCursor === undefined ? forks?.items.length : `${forks.items.length}+`
}
