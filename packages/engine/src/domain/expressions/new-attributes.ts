// The attributes with which a run is created (docs/concepts.md#attributes): given ones, inherited ones, and those from the
// expressions of its workflow's registration. Called by run/create.

import { ATTRIBUTE_VALUE_CHARS_MAX } from '@perdure/protocol'
import { type Attributes, mergedAttributes } from '../model/attributes.ts'
import type { Run } from '../model/run.ts'
import type { Workflow } from '../model/workflow.ts'
import { EventSubject } from './event-subject.ts'
import { evaluateAttribute, type Report } from './matching.ts'

type NewRun = Pick<Run, 'trigger'> & Partial<Pick<Run, 'input' | 'attributes'>>

/** The run with the attributes of its workflow's registration. Given attributes take precedence. */
export function attributed<R extends NewRun>(run: R, workflow: Workflow | undefined, report: Report): R {
  const registered = workflow?.attributes && registeredAttributes(run, workflow, report)
  const attributes = registered ? mergedAttributes(registered, run.attributes) : run.attributes
  return attributes === undefined || attributes === run.attributes ? run : { ...run, attributes }
}

/** The attributes of the parent that the child's workflow inherits. */
export function inheritedAttributes({ attributes }: Run, workflow: Workflow | undefined): Attributes | undefined {
  if (attributes === undefined || workflow?.inheritAttributes === undefined) return undefined
  const inherited = workflow.inheritAttributes.flatMap(key => {
    const value = Object.hasOwn(attributes, key) ? attributes[key] : undefined
    return value === undefined ? [] : [[key, value] as const]
  })
  return inherited.length === 0 ? undefined : Object.fromEntries(inherited)
}

/** Evaluates the registered attributes. One without a usable value is left out and reported, unless the value is null. */
function registeredAttributes(run: NewRun, workflow: Workflow, report: Report): Attributes | undefined {
  const subject = new EventSubject({ ...run.trigger, data: run.input })
  const found: [string, string | number | boolean][] = []
  for (const [key, source] of Object.entries(workflow.attributes ?? {})) {
    const evaluated = evaluateAttribute(source, subject)
    const value = evaluated.ok ? evaluated.value : null
    const isLong = typeof value === 'string' && [...value].length > ATTRIBUTE_VALUE_CHARS_MAX
    const tooLong = `the attribute evaluates to a string of more than ${ATTRIBUTE_VALUE_CHARS_MAX} characters`
    const error = evaluated.ok ? (isLong ? tooLong : undefined) : evaluated.error
    if (error !== undefined) report({ of: { app: workflow.app, workflow: workflow.name }, filter: source, error })
    else if (value !== null) found.push([key, value])
  }
  return found.length === 0 ? undefined : Object.fromEntries(found)
}
