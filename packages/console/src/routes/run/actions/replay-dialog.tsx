// Replays a run with the same input, after saying what that does.

import { usePages } from '../../../data/queries.ts'
import { useWrite } from '../../../data/write.ts'
import { Button, WriteButton } from '../../../ui/button.tsx'
import { Commands } from '../../../ui/overlay/commands.tsx'
import { Dialog } from '../../../ui/overlay/dialog.tsx'
import { shortName } from '../../../ui/visible-text.ts'
import { ErrorText } from '../model/error-text.tsx'
import type { RunView } from '../model/use-run.ts'
import css from './actions.module.css'
import { ForkDone } from './fork-done.tsx'

export function ReplayDialog({ view, onClose }: { view: RunView; onClose(): void }) {
  const { run } = view
  const write = useWrite('replayRun', ['listRuns', 'listControlActions'])
  return (
    <Dialog
      title="Replay this run"
      onClose={onClose}
      actions={
        write.data ? (
          <Button onClick={onClose}>Close</Button>
        ) : (
          <>
            <Button data-autofocus="" onClick={onClose}>
              Cancel
            </Button>
            <WriteButton startsRuns kind="primary" onClick={() => write.mutate({ id: run.id })}>
              Replay
            </WriteButton>
          </>
        )
      }
    >
      <div className={css.dialog}>
        {write.data ? (
          <ForkDone newRunId={write.data.id} onClose={onClose} />
        ) : (
          <>
            <p>
              A new run of “{shortName(run.workflow)}” starts from the beginning with the same input. All steps are
              executed again. This run is not changed.
            </p>
            <ForkCount runId={run.id} />
            {write.error && <ErrorText error={write.error} isShort />}
            <Commands call={{ id: 'replayRun', input: { id: run.id } }} />
          </>
        )}
      </div>
    </Dialog>
  )
}

/** How many forks the run already has. Its line has its place before it is read: what is below does not move. */
export function ForkCount({ runId }: { runId: string }) {
  return <p className={css.mute}>{forkText(useForks(runId))}</p>
}

function forkText(forks: ReturnType<typeof useForks>): string {
  if (forks === undefined) return '\u00a0'
  if (forks === 0) return 'No replays yet.'
  return `${forks} ${forks === 1 ? 'replay exists' : 'replays exist'} already.`
}

const FORKS_MAX = 30

/** The number of forks of a run, as `30+` where a page does not have all; undefined until it is read. */
export function useForks(runId: string): number | string | undefined {
  const forks = usePages('listRuns', { replayOf: runId, limit: FORKS_MAX }, { keep: false }).data?.pages[0]
  return forks?.nextCursor === undefined ? forks?.items.length : `${forks.items.length}+`
}
