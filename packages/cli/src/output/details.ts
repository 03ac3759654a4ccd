// Prints one record in full: a label and a value per line, then its JSON values, indented.

import type { Paint } from './colour.ts'
import { plain, prettyJson } from './text.ts'

export interface Details {
  /** Lines with an undefined value are left out. */
  lines: readonly (readonly [label: string, value: string | undefined])[]
  json?: readonly (readonly [label: string, value: unknown])[]
}

/** The lines of one record. */
export function details({ lines, json = [] }: Details, paint: Paint): string[] {
  const shown = lines.filter(([, value]) => value !== undefined)
  const width = Math.max(...shown.map(([label]) => label.length))
  return [
    ...shown.map(([label, value]) => `${paint('dim', label.padEnd(width))}  ${plain(value ?? '')}`),
    ...json.flatMap(([label, value]) =>
      value === undefined
        ? []
        : [
            '',
            paint('dim', label),
            ...prettyJson(value)
              .split('\n')
              .map(text => `  ${text}`),
          ],
    ),
  ]
}
