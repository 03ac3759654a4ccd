// Prints the error of a run or a step: its message with code and step, and its stack.

export interface ShownError {
  message: string
  name?: string | undefined
  stack?: string | undefined
  code?: string | undefined
  stepName?: string | undefined
}

/** "no luck (step_failed in step "pay")": the whole error but its stack. */
export function errorHead({ message, code, stepName }: ShownError): string {
  const where = [code, stepName !== undefined && `in step "${stepName}"`].filter(Boolean).join(' ')
  return where === '' ? message : `${message} (${where})`
}

/** The first line of the error's message, for a column of a table. */
export const errorNote = ({ message }: ShownError) => message.split('\n', 1)[0] as string

/** The lines of the stack that name places in code; the lines before them repeat the message. */
export function stackLines({ stack = '' }: Pick<ShownError, 'stack'>): string[] {
  const lines = stack.split('\n')
  const first = lines.findIndex(line => /^\s+at /.test(line))
  return (first < 0 ? [] : lines.slice(first)).map(line => line.trim()).filter(line => line !== '')
}
