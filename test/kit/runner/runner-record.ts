// The record of what runners received and executed, kept outside the engine: every invoke as received, every executed step.

import type { IncomingHttpHeaders } from 'node:http'
import type { InvokeRequest } from './wire.ts'

export interface Invoke extends InvokeRequest {
  /** The runner that received the invoke: its id, or its URL. */
  receivedBy: string
  headers: IncomingHttpHeaders
  method: string
  path: string
  /** The body as received. */
  raw: string
  /** The number of the invoke within its run, from 1. */
  pass: number
  /** Aborted when the engine closes the connection before the answer. */
  signal: AbortSignal
}

export interface Executed {
  runId: string
  name: string
  id: string
  pass: number
  receivedBy: string
}

export class RunnerRecord {
  readonly invokes: Invoke[] = []
  readonly executed: Executed[] = []
  readonly #byRun = new Map<string, Invoke[]>()

  /** Records an invoke and its number within its run. */
  received(invoke: Omit<Invoke, 'pass'>): Invoke {
    const earlier = this.of(invoke.ctx.runId)
    const numbered = { ...invoke, pass: earlier.length + 1 }
    this.invokes.push(numbered)
    this.#byRun.set(invoke.ctx.runId, [...earlier, numbered])
    return numbered
  }

  /** Records that the body of a step is about to run. */
  executes(step: Executed): void {
    this.executed.push(step)
  }

  /** The invokes of one run, in the order they were received. */
  of(runId: string): Invoke[] {
    return this.#byRun.get(runId) ?? []
  }

  /** How many invokes of the run were received. */
  passes(runId: string): number {
    return this.of(runId).length
  }

  /** How often the body of the run's step was executed. */
  times(runId: string, name: string): number {
    return this.executed.filter(step => step.runId === runId && step.name === name).length
  }

  /** The names of the run's executed steps, in order. */
  names(runId: string): string[] {
    return this.executed.filter(step => step.runId === runId).map(step => step.name)
  }
}
