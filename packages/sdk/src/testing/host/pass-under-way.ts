// Tracks which pass of a workflow under test the running code belongs to, from the invoke to the answer. Used by the
// transport, the step watch and the host.

import { AsyncLocalStorage } from 'node:async_hooks'

export interface PassUnderWay {
  readonly runId: string
  readonly workflow: string
  /** Real time at which the pass began. */
  readonly since: number
  /** The number of its running step callbacks. */
  running: number
  /** The number of its step callbacks that the test holds back. */
  held: number
  /** Cancels the pass without an answer. */
  abandon(): void
}

const passStorage = new AsyncLocalStorage<PassUnderWay>()

/** Returns the pass that the caller belongs to; undefined if the caller is not workflow code. */
export const currentPass = (): PassUnderWay | undefined => passStorage.getStore()

/** Whether the caller is workflow code. Such code must not wait for the engine, because the engine waits for it. */
export const isInsideWorkflow = (): boolean => passStorage.getStore() !== undefined

/** Calls `fn` as code of a pass. */
export const insidePass = <T>(pass: PassUnderWay, fn: () => T): T => passStorage.run(pass, fn)

/** Calls `fn` as code outside of any workflow. */
export const outsideWorkflow = <T>(fn: () => T): T => passStorage.exit(fn)

/** Whether the pass waits only for step callbacks that the test holds back. */
export const isHeld = ({ running, held }: PassUnderWay): boolean => held > 0 && running === 0
