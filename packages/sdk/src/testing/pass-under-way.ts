// One pass of a workflow under test, from its invoke to its answer; the code it runs knows by it where it belongs.

import { AsyncLocalStorage } from 'node:async_hooks'

export interface PassUnderWay {
  readonly runId: string
  readonly workflow: string
  /** Real time at which it began. */
  readonly since: number
  /** How many of its step callbacks are running, and how many the test holds back. */
  running: number
  held: number
  /** Cuts it off: nobody waits for its answer any more. */
  abandon(): void
}

const inside = new AsyncLocalStorage<PassUnderWay>()

/** The pass whose code the caller is, if it is that of a workflow. */
export const currentPass = (): PassUnderWay | undefined => inside.getStore()

/** Whether the caller is code of a workflow: to wait for the engine there would be to wait for oneself. */
export const isInsideWorkflow = (): boolean => inside.getStore() !== undefined

/** Runs code of a workflow. */
export const insidePass = <T>(pass: PassUnderWay, fn: () => T): T => inside.run(pass, fn)

/** Runs outside of any workflow whatever was called from inside of one. */
export const outsideWorkflow = <T>(fn: () => T): T => inside.exit(fn)

/** Whether nothing of the pass goes on but what the test holds back. */
export const isHeld = ({ running, held }: PassUnderWay): boolean => held > 0 && running === 0
