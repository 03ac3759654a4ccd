// Follows a run to its end, for every command that waits for a run.

import type { Run, TimelineFrame } from '@perdure/protocol'
import { jsonLine, plain, prettyJson } from '../output/text.ts'
import { frameLine } from '../output/timeline.ts'
import { EXIT } from './exit.ts'
import type { Session } from './session.ts'

/** Calls `onFrame` for each frame of the timeline; resolves with the run after its end. */
export async function followRun(
  { client, signal }: Session<unknown>,
  id: string,
  onFrame: (frame: TimelineFrame) => Promise<void>,
): Promise<Run> {
  for await (const frame of client.streamRun({ id }, { signal })) await onFrame(frame)
  return client.getRun({ id }, { signal })
}

/**
 * Waits for runs in sequence and prints each timeline; with `--json`, each run after its end. Returns the exit code.
 */
export async function waitForRuns(session: Session<unknown>, ids: readonly string[]): Promise<number> {
  const { terminal, json } = session
  let code: number = EXIT.ok
  for (const id of ids) {
    const run = await followRun(session, id, async frame => {
      if (!json) await terminal.out(frameLine(frame, terminal.paint))
    })
    await (json ? terminal.out(jsonLine(run)) : showEnd(session, run))
    if (run.status !== 'succeeded') code = EXIT.refused
  }
  return code
}

/** Prints the result of a run, or its error. */
export async function showEnd({ terminal }: Session<unknown>, run: Run): Promise<void> {
  if (run.error) terminal.say(`${run.id} ${run.status}: ${plain(run.error.message)}`)
  else if (run.status !== 'succeeded') terminal.say(`${run.id} ${run.status}`)
  else if (run.result !== undefined) await terminal.out(prettyJson(run.result))
}
