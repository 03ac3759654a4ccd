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
              Keep as it is
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
              executed again. This run stays as it is.
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

/** How many forks the run already has. */
export function ForkCount({ runId }: { runId: string }) {
  const forks = useForks(runId)
  if (forks === 0) return null
  return (
    <p className={css.mute}>
      It has {forks} {forks === 1 ? 'replay' : 'replays'} already.
    </p>
  )
}

const FORKS_MAX = 30

/** The number of forks of a run; as `30+` where a page does not have all. */
export function useForks(runId: string): number | string {
  const page = useForkPage(runId).data?.pages[0]
  const count = page?.items.length ?? 0
  return page?.nextCursor === undefined ? count : `${count}+`
}

/** The newest forks of a run. */
const useForkPage = (runId: string) => usePages('listRuns', { replayOf: runId, limit: FORKS_MAX }, { keep: false })
