// Finds misspelt names in a test: steps that it mocks, holds or asks for, but that no workflow has. Used by the step watch.

import { hintFor, nearestName } from '@perdure/protocol'
import type { Workflow } from '../../workflow/workflow.ts'
import { TestingError } from './errors.ts'

/** A name of a step that the test gave. */
interface Given {
  /** The call in the test, such as `mock("charge")`. */
  call: string
  name: string
  workflow: string | undefined
  /** The call is about a step that may never run, so only a likely misspelling is a problem. */
  mayBeAbsent: boolean
}

export class NamesOfSteps {
  readonly #given = new Map<string, Given>()
  /** The names of steps that handlers called, by workflow. */
  readonly #called = new Map<string, Set<string>>()
  /** The source text of each workflow's handlers, where a step that no run has reached can be found. */
  readonly #texts = new Map<string, string>()

  /** Adds a workflow that the engine under test runs. */
  served({ name, handler, onFailure, onCancel }: Workflow<never, unknown>): void {
    this.#texts.set(name, `${this.#texts.get(name) ?? ''}${handler}${onFailure ?? ''}${onCancel ?? ''}`)
  }

  /** Adds a name that a handler called. */
  called(name: string, workflow: string): void {
    const names = this.#called.get(workflow)
    if (names) names.add(name)
    else this.#called.set(workflow, new Set([name]))
  }

  /** Adds a name that some run must call before the engine stops. */
  expected(what: string, name: string, workflow: string | undefined): void {
    this.#add({ call: `${what}("${name}")`, name, workflow, mayBeAbsent: false })
  }

  /** Adds a name that the test asked for. */
  asked(what: string, name: string): void {
    this.#add({ call: `${what}("${name}")`, name, workflow: undefined, mayBeAbsent: true })
  }

  /** Throws a {@link TestingError} if the engine under test has no such workflow. */
  checkWorkflow(call: string, workflow: string): void {
    if (this.#texts.has(workflow)) return
    throw new TestingError(
      `${call}: there is no workflow "${workflow}" under test${hintFor(workflow, [...this.#texts.keys()])}`,
    )
  }

  /** Returns a sentence for each name that no workflow called. */
  problems(): string[] {
    return [...this.#given.values()].flatMap(given => this.#problemOf(given) ?? [])
  }

  #add(given: Given): void {
    this.#given.set(`${given.call} ${given.workflow}`, given)
  }

  #problemOf({ call, name, workflow, mayBeAbsent }: Given): string | undefined {
    const workflows = workflow === undefined ? [...this.#texts.keys()] : [workflow]
    const called = workflows.flatMap(one => [...(this.#called.get(one) ?? [])])
    const base = name.replace(/:\d+$/, '')
    if (called.some(one => one === name || one === base)) return undefined
    const literals = ["'", '"', '`'].map(quote => quote + base + quote)
    if (workflows.some(one => literals.some(literal => this.#texts.get(one)?.includes(literal)))) return undefined
    if (mayBeAbsent && nearestName(name, called) === undefined) return undefined
    const where = workflow === undefined ? 'no workflow' : `workflow "${workflow}" never`
    const optional = mayBeAbsent ? '' : '; { optional: true } allows it'
    return `${call}: ${where} called a step "${name}"${hintFor(name, called)}${optional}`
  }
}
