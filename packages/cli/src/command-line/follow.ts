// Follows runs to their end, or until `--timeout`, for every command that waits for runs.

import type { Run, TimelineFrame } from '@perdure/protocol'
import { errorHead } from '../output/errors.ts'
import { jsonLine, plain, prettyJson } from '../output/text.ts'
import { frameLines } from '../output/timeline.ts'
import type { EngineContext } from './commands.ts'
import { EXIT } from './exit.ts'
import { UsageError } from './flags.ts'
import type { WaitOptions } from './options.ts'

/** Calls `onFrame` for each frame of the timeline; resolves with the run after its end. */
async function followRun(
  { client, signal }: EngineContext<unknown>,
  id: string,
  onFrame: (frame: TimelineFrame) => Promise<void>,
): Promise<Run> {
  for await (const frame of client.streamRun({ id }, { signal })) await onFrame(frame)
  return client.getRun({ id }, { signal })
}

/** The same, to the end of the last run if the run continues as others. */
async function followChain(...[context, id, onFrame]: Parameters<typeof followRun>): Promise<Run> {
  let run = await followRun(context, id, onFrame)
  while (run.continuedAs !== undefined) run = await followRun(context, run.continuedAs, onFrame)
  return run
}

/** Throws a UsageError if there is nothing for `--timeout` to bound. */
export function checkWait({ wait, timeout }: WaitOptions & { wait?: true }): void {
  if (timeout !== undefined && !wait) throw new UsageError('--timeout needs --wait')
}

/**
 * Waits for runs in sequence and prints each timeline; with `--json`, each run after its end. Returns the exit code.
 */
export async function waitForRuns(context: EngineContext<WaitOptions>, ids: readonly string[]): Promise<number> {
  const { terminal, json } = context
  const limited = limit(context)
  let code: number = EXIT.ok
  for (const id of ids) {
    const lineOf = frameLines(terminal.paint)
    const run = await untilTimeout(limited, () =>
      followChain(limited, id, async frame => {
        if (!json) await terminal.out(lineOf(frame))
      }),
    )
    if (json) await terminal.out(jsonLine(run ?? (await context.client.getRun({ id }, context))))
    if (run === undefined) return sayTimeout(context, id)
    if (!json) await showEnd(context, run)
    if (run.status !== 'succeeded') code = EXIT.refused
  }
  return code
}

/** Prints the timeline of one run as it arrives; with `--json`, its frames. Returns the exit code. */
export async function watchRun(context: EngineContext<WaitOptions>, id: string): Promise<number> {
  const { terminal, json } = context
  const limited = limit(context)
  if (!json) {
    const { workflow, app, createdAt } = await context.client.getRun({ id }, context)
    await terminal.out(terminal.paint('dim', plain(`${id}  ${app}/${workflow}  created ${createdAt}`)))
  }
  const lineOf = frameLines(terminal.paint)
  const run = await untilTimeout(limited, () =>
    followRun(limited, id, frame => terminal.out(json ? jsonLine(frame) : lineOf(frame))),
  )
  if (run === undefined) return sayTimeout(context, id)
  if (!json) await showEnd(context, run)
  return run.status === 'succeeded' ? EXIT.ok : EXIT.refused
}

/** Returns the context with a signal that the timeout also aborts. */
export function limit<Options extends WaitOptions>(
  context: EngineContext<Options>,
): EngineContext<Options> & { deadline?: AbortSignal } {
  const { timeout } = context.options
  if (timeout === undefined) return context
  const deadline = AbortSignal.timeout(timeout)
  return { ...context, deadline, signal: AbortSignal.any([context.signal, deadline]) }
}

/** Returns the result of `follow`, such as the run after its end; undefined if the deadline came first. */
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

/** Prints what the run waits for. */
export async function sayTimeout({ client, terminal, signal }: EngineContext<unknown>, id: string): Promise<number> {
  const { status, sentence } = await client.explainRun({ id }, { signal })
  terminal.say(`${id} is still ${status}: ${sentence}`)
  return EXIT.timedOut
}

/** Prints the result of a run, or its error. */
async function showEnd(
  { terminal }: EngineContext<unknown>,
  { id, app, workflow, status, error, result }: Run,
): Promise<void> {
  if (status !== 'succeeded') {
    const why = error ? `: ${errorHead(error)}` : ''
    terminal.say(`${id} of ${app}/${workflow} ${status}${why}`)
  } else if (result !== undefined) await terminal.out(prettyJson(result))
}
