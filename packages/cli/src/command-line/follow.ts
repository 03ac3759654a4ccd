// Follows runs to their end, for every command that waits for runs, and until `--timeout` at most.

import type { Run, TimelineFrame } from '@perdure/protocol'
import { errorHead } from '../output/errors.ts'
import { jsonLine, plain, prettyJson } from '../output/text.ts'
import { frameLines } from '../output/timeline.ts'
import { EXIT } from './exit.ts'
import { UsageError } from './flags.ts'
import type { WaitOptions } from './options.ts'
import type { Session } from './session.ts'

/** Calls `onFrame` for each frame of the timeline; resolves with the run after its end. */
async function followRun(
  { client, signal }: Session<unknown>,
  id: string,
  onFrame: (frame: TimelineFrame) => Promise<void>,
): Promise<Run> {
  for await (const frame of client.streamRun({ id }, { signal })) await onFrame(frame)
  return client.getRun({ id }, { signal })
}

/** The same to the end of the last run, if the run continues as others. */
async function followChain(...[session, id, onFrame]: Parameters<typeof followRun>): Promise<Run> {
  let run = await followRun(session, id, onFrame)
  while (run.continuedAs !== undefined) run = await followRun(session, run.continuedAs, onFrame)
  return run
}

/** Throws a UsageError where `--timeout` has nothing to bound. */
export function checkWait({ wait, timeout }: WaitOptions & { wait?: true }): void {
  if (timeout !== undefined && !wait) throw new UsageError('--timeout needs --wait')
}

/**
 * Waits for runs in sequence and prints each timeline; with `--json`, each run after its end. Returns the exit code.
 */
export async function waitForRuns(session: Session<WaitOptions>, ids: readonly string[]): Promise<number> {
  const { terminal, json } = session
  const limited = limit(session)
  let code: number = EXIT.ok
  for (const id of ids) {
    const lineOf = frameLines(terminal.paint)
    const run = await untilTimeout(limited, () =>
      followChain(limited, id, async frame => {
        if (!json) await terminal.out(lineOf(frame))
      }),
    )
    if (json) await terminal.out(jsonLine(run ?? (await session.client.getRun({ id }, session))))
    if (run === undefined) return sayTimeout(session, id)
    if (!json) await showEnd(session, run)
    if (run.status !== 'succeeded') code = EXIT.refused
  }
  return code
}

/** Prints the timeline of one run as it arrives; with `--json`, its frames. Returns the exit code. */
export async function watchRun(session: Session<WaitOptions>, id: string): Promise<number> {
  const { terminal, json } = session
  const limited = limit(session)
  if (!json) {
    const { workflow, app, createdAt } = await session.client.getRun({ id }, session)
    await terminal.out(terminal.paint('dim', plain(`${id}  ${app}/${workflow}  created ${createdAt}`)))
  }
  const lineOf = frameLines(terminal.paint)
  const run = await untilTimeout(limited, () =>
    followRun(limited, id, frame => terminal.out(json ? jsonLine(frame) : lineOf(frame))),
  )
  if (run === undefined) return sayTimeout(session, id)
  if (!json) await showEnd(session, run)
  return run.status === 'succeeded' ? EXIT.ok : EXIT.refused
}

/** The session with a signal that the timeout aborts too. */
export function limit<Options extends WaitOptions>(
  session: Session<Options>,
): Session<Options> & { deadline?: AbortSignal } {
  const { timeout } = session.options
  if (timeout === undefined) return session
  const deadline = AbortSignal.timeout(timeout)
  return { ...session, deadline, signal: AbortSignal.any([session.signal, deadline]) }
}

/** The result of `follow`, such as the run after its end; undefined when the deadline came first. */
export async function untilTimeout<Result>(
  { deadline }: { deadline?: AbortSignal },
  follow: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await follow()
  } catch (error) {
    if (deadline?.aborted) return undefined
    throw error
  }
}

/** Says what the run waits for. */
export async function sayTimeout({ client, terminal, signal }: Session<unknown>, id: string): Promise<number> {
  const { status, sentence } = await client.explainRun({ id }, { signal })
  terminal.say(`${id} is still ${status}: ${sentence}`)
  return EXIT.timedOut
}

/** Prints the result of a run, or its error. */
async function showEnd(
  { terminal }: Session<unknown>,
  { id, app, workflow, status, error, result }: Run,
): Promise<void> {
  if (status !== 'succeeded') {
    const why = error ? `: ${errorHead(error)}` : ''
    terminal.say(`${id} of ${app}/${workflow} ${status}${why}`)
  } else if (result !== undefined) await terminal.out(prettyJson(result))
}
