// The amounts that the callback of a step reports as spent, for the budgets of the run (`budget` of a workflow). The opcode of
// the attempt carries them, even if the attempt fails.

import { NonRetriableError } from '@perdure/client'
import {
  ATTRIBUTE_KEY_CHARS_MAX,
  ATTRIBUTE_KEY_PATTERN,
  BUDGET_AMOUNT_MAX,
  BUDGET_NAMES_MAX,
  COUNTED_NAMES,
  knows,
} from '@perdure/protocol'

/** Amounts by name, such as `{ usd: 0.013, tokens: 912 }`. */
export type Amounts = Readonly<Record<string, number>>

const NAME = new RegExp(ATTRIBUTE_KEY_PATTERN)
const RESERVED: readonly string[] = [...COUNTED_NAMES, 'whenExceeded']

/** The amounts of one execution of a callback that no attempt has reported yet. */
export class Spent {
  readonly #stepName: string
  readonly #features: readonly string[]
  #amounts = new Map<string, number>()

  constructor(stepName: string, features: readonly string[] = []) {
    this.#stepName = stepName
    this.#features = features
  }

  /** Throws a NonRetriableError and adds nothing if an amount or a name is not allowed, or if the engine does not count. */
  add(amounts: Amounts): void {
    if (!knows(this.#features, 'budgets')) throw this.#refusal('this engine does not support it (budgets)')
    if (typeof amounts !== 'object' || amounts === null)
      throw this.#refusal('takes an object of numbers, such as { usd: 0.013 }')
    const sums = new Map(this.#amounts)
    for (const [name, amount] of Object.entries(amounts)) sums.set(name, this.#sum(name, amount))
    if (sums.size > BUDGET_NAMES_MAX) throw this.#refusal(`an attempt may have at most ${BUDGET_NAMES_MAX} names`)
    this.#amounts = sums
  }

  /** Adds the unreported amounts of an execution that this attempt takes over. */
  takeFrom(other: Spent | undefined): void {
    if (!other) return
    for (const [name, amount] of other.#amounts) this.#amounts.set(name, (this.#amounts.get(name) ?? 0) + amount)
    other.#amounts.clear()
  }

  /** Returns the member of the opcode and empties the amounts: each amount is in only one opcode. */
  take(): { spent?: Record<string, number> } {
    if (this.#amounts.size === 0) return {}
    const spent = Object.fromEntries(this.#amounts)
    this.#amounts.clear()
    return { spent }
  }

  #sum(name: string, amount: unknown): number {
    if (RESERVED.includes(name)) throw this.#refusal(`"${name}" cannot be spent: the engine counts steps and runs`)
    if (!NAME.test(name))
      throw this.#refusal(
        `the name ${JSON.stringify(name)} must be 1 to ${ATTRIBUTE_KEY_CHARS_MAX} letters, digits, "_", "." or "-"`,
      )
    const sum = (this.#amounts.get(name) ?? 0) + (amount as number)
    if (typeof amount !== 'number' || !(amount >= 0) || sum > BUDGET_AMOUNT_MAX)
      throw this.#refusal(
        `${name} must be a number of at least 0, with a sum of at most ${BUDGET_AMOUNT_MAX} for one attempt, not ${String(amount)}`,
      )
    return sum
  }

  #refusal(problem: string): NonRetriableError {
    return new NonRetriableError(`Step "${this.#stepName}": spend: ${problem}`)
  }
}
