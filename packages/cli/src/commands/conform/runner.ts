// The runner under test as the suite sees it: a way to send it one invoke, and to get its answer. http-runner.ts and
// connect-runner.ts implement it.

import { hashStepId } from '@perdure/protocol'
import type { Pass } from './cases.ts'

/** The answer to an invoke, as the engine would receive it. */
export interface Answer {
  status: number
  /** The parsed body; undefined if it is not JSON. */
  body: unknown
}

/** A pass of a case. Its `ctx` has the features of the case. */
export interface PassRequest extends Omit<Pass, 'receipts'> {
  workflow: string
}

export interface RunnerUnderTest {
  pass(request: PassRequest): Promise<Answer>
}

/** A rule of the protocol that the runner broke. The message says what was expected and what arrived. */
export class Fault extends Error {}

let runs = 0

/** The invoke that an engine would send. Each belongs to its own run, unless the pass names one. */
export function invokeOf(app: string, pass: PassRequest): object {
  const { workflow, memo = {}, attempt = 1, stepAttempts, ctx, event, request } = pass
  runs++
  return {
    event: { id: `evt_conform${runs}`, name: workflow, ...('data' in pass ? { data: pass.data } : {}), ...event },
    steps: byId(memo),
    ctx: {
      runId: `run_conform${runs}`,
      workflow,
      app,
      runner: '',
      features: [],
      attempt,
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      ...(stepAttempts === undefined ? {} : { stepAttempts: byId(stepAttempts) }),
      ...ctx,
    },
    ...request,
  }
}

/** Cases name steps the way people do, with `:1` for the second use of a name. */
function byId<Value>(byName: Record<string, Value>): Record<string, Value> {
  return Object.fromEntries(Object.entries(byName).map(([name, value]) => [hashStepId(name), value]))
}

export function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
