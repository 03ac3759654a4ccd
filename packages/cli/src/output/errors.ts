// Prints the error of a run or a step: its message with code and step, its own fields, its causes and its stack.

import type { ErrorFields, StepRecord } from '@perdure/protocol'

/** The error of a step, or of a run, whose codes are a list. */
export type ShownError = NonNullable<StepRecord['error']>

/**
 * "no luck (step_failed in step "pay")": the error without its detail. The code of the thrown error takes precedence over the
 * run's.
 */
export function errorHead({ message, code, stepName, fields }: ShownError): string {
  const own = fields?.code === undefined ? code : String(fields.code)
  const where = [own, stepName !== undefined && `in step "${stepName}"`].filter(Boolean).join(' ')
  return where === '' ? message : `${message} (${where})`
}

/** The own fields of an error as `name=value`, and a line for each cause. */
export function detailLines({ fields = {}, cause }: ShownError): string[] {
  const { code: _, ...own } = fields
  const lines = Object.keys(own).length === 0 ? [] : [fieldsText(own)]
  for (let one = cause; one !== undefined; one = one.cause) {
    const facts = [one.code, one.fields && fieldsText(one.fields)].filter(Boolean).join(' ')
    lines.push(`caused by ${one.name ?? 'Error'}: ${one.message}${facts === '' ? '' : ` (${facts})`}`)
  }
  return lines
}

function fieldsText(fields: ErrorFields): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')
}

/** The first line of the error's message, for a column of a table. */
export const errorNote = ({ message }: ShownError) => message.split('\n', 1)[0] as string

/** The lines of the stack that name places in code; the lines before them repeat the message. */
export function stackLines({ stack = '' }: Pick<ShownError, 'stack'>): string[] {
  const lines = stack.split('\n')
  const first = lines.findIndex(line => /^\s+at /.test(line))
  return (first < 0 ? [] : lines.slice(first)).map(line => line.trim()).filter(line => line !== '')
}
