// A run as the holder of a run token sees it: without its input, attributes, log lines and the stacks of errors
// (docs/security.md#run-tokens). Called by the routes of a run and by its stream.

import type { StoredFrame } from './timeline-frames.ts'

/** The run without the parts that its token may not read. */
export function publicRun<T extends { input?: unknown; attributes?: unknown; error?: { stack?: string } }>(
  run: T,
): Omit<T, 'input' | 'attributes'> {
  const { input, attributes, ...rest } = publicEnd(run)
  return rest
}

/** The end of a run without the stack of its error. */
export function publicEnd<T extends { error?: { stack?: string } }>(run: T): T {
  if (run.error?.stack === undefined) return run
  const { stack, ...error } = run.error
  return { ...run, error }
}

/** The frames of a timeline without log lines and stacks. */
export function publicFrames(frames: readonly StoredFrame[]): StoredFrame[] {
  return frames.flatMap((frame): StoredFrame[] => {
    if (frame.kind === 'log') return []
    return [frame.kind === 'progress' ? frame : publicEnd(frame)]
  })
}
