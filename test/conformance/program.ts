// Handlers of the plain runner whose steps may also race and fail: a program is a generator that yields steps, lists of them
// or races, and gets their results, or the error of a step thrown. Follows docs/wire-protocol.md#the-memo.

import type { Invoke } from '../kit/runner/runner-record.ts'
import { discovered, type MemoEntry, type Opcode, type Reply, returned, stepId } from '../kit/runner/wire.ts'

interface Step {
  name: string
  opcode(): object
}

type Yielded = Step | readonly Step[] | { race: readonly Step[] }
export type Program = (invoke: Invoke) => Generator<Yielded, unknown, never>

export class NotRetriable extends Error {}
class StepFailed extends Error {}

export function code(name: string, work: () => unknown, fields: object = {}): Step {
  return {
    name,
    opcode() {
      try {
        return { op: 'StepRun', data: work(), ...fields }
      } catch (thrown) {
        const error = { message: (thrown as Error).message }
        return { op: 'StepRun', error, ...fields, ...(thrown instanceof NotRetriable ? { retriable: false } : {}) }
      }
    },
  }
}

export const parked = (op: string, name: string, fields: object): Step => ({ name, opcode: () => ({ op, ...fields }) })

/** One pass of the program. */
export function pass(program: Program, invoke: Invoke): Reply {
  const uses = new Map<string, number>()
  const order = Object.keys(invoke.steps)
  const running = program(invoke) as Generator<Yielded, unknown, unknown>
  try {
    let at = running.next()
    while (!at.done) {
      const yielded = at.value
      const isRace = 'race' in yielded
      const steps = isRace ? yielded.race : 'opcode' in yielded ? [yielded] : yielded
      const found = steps.map(step => ({ step, id: positional(uses, step.name) }))
      const entryOf = (id: string) => invoke.steps[id]
      const settled = found.filter(({ id }) => isSettled(entryOf(id)))
      const failed = settled.find(({ id }) => entryOf(id)?.error)
      const isOver = isRace ? settled.length > 0 : settled.length === found.length
      if (failed) at = running.throw(new StepFailed(entryOf(failed.id)?.error?.message))
      else if (!isOver) {
        const fresh = found.filter(({ id }) => entryOf(id) === undefined)
        return discovered(fresh.map(({ step, id }) => ({ id, name: step.name, ...step.opcode() }) as Opcode))
      } else if (isRace) {
        const [first] = settled.sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id))
        at = running.next(first?.step.name)
      } else {
        const results = found.map(({ id }) => entryOf(id)?.data)
        at = running.next('opcode' in yielded ? results[0] : results)
      }
    }
    return returned(at.value)
  } catch (error) {
    const status = error instanceof StepFailed ? 400 : 500
    return { status, body: { error: { message: (error as Error).message }, logs: [] } }
  }
}

function positional(uses: Map<string, number>, name: string): string {
  const use = uses.get(name) ?? 0
  uses.set(name, use + 1)
  return stepId(use === 0 ? name : `${name}:${use}`)
}

function isSettled(entry: MemoEntry | undefined): boolean {
  return entry !== undefined && entry.pending !== true
}
