// Following one run to its end, for every command that waits for a run.

import type { Run, TimelineFrame } from '@perdure/protocol'
import { EXIT } from './exit.ts'
import { plain, prettyJson } from './output/text.ts'
import { frameLine } from './output/timeline.ts'
import type { Session } from './session.ts'

/** Shows the timeline as it comes, `onFrame` for each frame; resolves with the run, ended. */
export async function followRun(
  { client, signal }: Session<unknown>,
  id: string,
  onFrame: (frame: TimelineFrame) => Promise<void>,
): Promise<Run> {
  for await (const frame of client.streamRun({ id }, { signal })) await onFrame(frame)
  return client.getRun({ id }, { signal })
}

/** Waits for runs, one after the other: people see the timelines, a script gets the runs as they ended. */
export async function waitForRuns(session: Session<unknown>, ids: readonly string[]): Promise<number> {
  const { terminal, json } = session
  let code: number = EXIT.ok
  for (const id of ids) {
    const run = await followRun(session, id, async frame => {
      if (!json) await terminal.out(frameLine(frame, terminal.paint))
    })
    await (json ? terminal.out(JSON.stringify(run)) : sayEnd(session, run))
    if (run.status !== 'succeeded') code = EXIT.refused
  }
  return code
}

/** What became of the run: its result or its error. */
export async function sayEnd({ terminal }: Session<unknown>, run: Run): Promise<void> {
  if (run.error) terminal.say(`${run.id} ${run.status}: ${plain(run.error.message)}`)
  else if (run.status !== 'succeeded') terminal.say(`${run.id} ${run.status}`)
  else if (run.result !== undefined) await terminal.out(prettyJson(run.result))
}
