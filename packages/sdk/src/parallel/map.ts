// `step.map`: one step for each item of a list, with at most as many at once as the handler allows. Called by the step tools.

import { NonRetriableError } from '@perdure/client'
import type { Pass } from '../pass/pass.ts'
import type { StepContext } from '../run/run-context.ts'
import { beginBranch } from './within-branch.ts'

interface MapCall {
  readonly name: string
  readonly items: unknown
  /** Calls the step of one item. */
  readonly call: (name: string, callback: (context: StepContext) => unknown) => PromiseLike<unknown>
  readonly callback: unknown
  readonly options: { concurrency?: unknown; settle?: unknown }
}

type ItemCallback = (item: unknown, index: number, context: StepContext) => unknown

/** Maps the items in order. Without `settle` the first failure rejects and cuts off the other items. */
export async function map(pass: Pass, { name, items, call, callback, options }: MapCall): Promise<unknown[]> {
  if (!Array.isArray(items)) throw refusal(name, `the items must be an array, not ${kindOf(items)}`)
  if (typeof callback !== 'function') throw refusal(name, `the callback must be a function, not ${kindOf(callback)}`)
  const settle = settleOf(name, options.settle)
  const most = Math.min(items.length, concurrencyOf(name, options.concurrency))
  const { branch, within } = beginBranch(pass)
  const results: unknown[] = new Array(items.length)
  let next = 0
  const takeItems = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++
      const step = within(() =>
        call(`${name}:${index}`, context => (callback as ItemCallback)(items[index], index, context)),
      )
      results[index] = await (settle ? settled(step) : step)
    }
  }
  try {
    await Promise.all(Array.from({ length: most }, takeItems))
  } catch (error) {
    pass.cutOff(branch, new Error(`Another item of "${name}" has failed`))
    throw error
  }
  return results
}

function settled(step: PromiseLike<unknown>): PromiseLike<PromiseSettledResult<unknown>> {
  return step.then(
    value => ({ status: 'fulfilled', value }),
    reason => ({ status: 'rejected', reason }),
  )
}

function concurrencyOf(name: string, given: unknown): number {
  if (given === undefined) return Number.POSITIVE_INFINITY
  if (Number.isInteger(given) && (given as number) >= 1) return given as number
  throw refusal(name, `concurrency must be an integer of at least 1, not ${kindOf(given)}`)
}

function settleOf(name: string, given: unknown): boolean {
  if (given === undefined || typeof given === 'boolean') return given === true
  throw refusal(name, `settle must be true or false, not ${kindOf(given)}`)
}

function kindOf(value: unknown): string {
  if (typeof value === 'number' || value === null || value === undefined) return String(value)
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

function refusal(name: string, problem: string): NonRetriableError {
  return new NonRetriableError(`Step "${name}": map: ${problem}`)
}
