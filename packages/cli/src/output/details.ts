// Prints one record in full: a label and a value per line, then its texts and its JSON values, indented.

import type { Paint } from './colour.ts'
import { plain, prettyJson } from './text.ts'

export interface Details {
  /** Lines with an undefined value are left out. */
  lines: readonly (readonly [label: string, value: string | undefined])[]
  /** Texts of several lines; a text without a line is left out. */
  text?: readonly (readonly [label: string, lines: readonly string[] | undefined])[]
  json?: readonly (readonly [label: string, value: unknown])[]
}

/** The lines of one record. */
export function details({ lines, text = [], json = [] }: Details, paint: Paint): string[] {
  const shown = lines.filter(([, value]) => value !== undefined)
  const width = Math.max(...shown.map(([label]) => label.length))
  return [
    ...shown.map(([label, value]) => `${paint('dim', label.padEnd(width))}  ${plain(value ?? '')}`),
    ...text.flatMap(([label, block = []]) => indented(label, block.map(plain), paint)),
    ...json.flatMap(([label, value]) =>
      value === undefined ? [] : indented(label, prettyJson(value).split('\n'), paint),
    ),
  ]
}

function indented(label: string, block: readonly string[], paint: Paint): string[] {
  return block.length === 0 ? [] : ['', paint('dim', label), ...block.map(line => `  ${line}`)]
}
