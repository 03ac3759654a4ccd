// `perdure runs watch`: follows the timeline of one run until it ends, or the status of every run of the namespace.

import type { Command } from 'commander'
import { EXIT } from '../../command-line/exit.ts'
import { followRun, showEnd } from '../../command-line/follow.ts'
import { engineCommand, type Session, stream } from '../../command-line/session.ts'
import { jsonLine } from '../../output/text.ts'
import { frameLine, runStatusLine } from '../../output/timeline.ts'

/** Adds `watch` to `perdure runs`. */
export function watchCommand(runs: Command): void {
  const command = runs
    .command('watch [id]')
    .description("follow a run's timeline until it ends; without an id, the status of every run")
  engineCommand(
    command,
    [
      'perdure runs watch run_01K...      # exit code 0: it succeeded; 1: it failed or was cancelled',
      'perdure runs watch                 # every run, until interrupted',
      'perdure runs watch --json | jq -c "select(.status == \\"failed\\")"',
    ],
    (session, id) =>
      id === undefined ? stream(session, session.client.streamRuns({}, session), runStatusLine) : watchOne(session, id),
  )
}

async function watchOne(session: Session<unknown>, id: string): Promise<number> {
  const { terminal, json } = session
  const run = await followRun(session, id, frame =>
    terminal.out(json ? jsonLine(frame) : frameLine(frame, terminal.paint)),
  )
  if (!json) await showEnd(session, run)
  return run.status === 'succeeded' ? EXIT.ok : EXIT.refused
}
