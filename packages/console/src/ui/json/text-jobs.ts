// Reads a JSON text that a person edits: finds its fault, and indents it. Pure; runs in the page, or in a worker for a large
// text.

import { parseJson } from './parse.ts'
import { printJson } from './print.ts'

export type TextJob = 'fault' | 'pretty'

export const TEXT_JOBS: Readonly<Record<TextJob, (text: string) => string | undefined>> = {
  fault: text => {
    try {
      parseJson(text)
      return undefined
    } catch (error) {
      return `This is ${(error as Error).message}`
    }
  },
  /** A text that is not JSON stays as it is. */
  pretty: text => {
    try {
      return printJson(parseJson(text))
    } catch {
      return text
    }
  },
}
