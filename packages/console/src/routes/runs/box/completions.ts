// Completions of the box of qualifiers: names of qualifiers, and the values of the one that is being typed. Pure.

import { RUN_STATUSES, WAITING_KINDS } from '@perdure/protocol/portable'
import { DAYS } from '../../../data/time/window.ts'
import { QUALIFIERS } from './qualifiers.ts'

/** Names of the catalog. */
export interface Known {
  workflows: readonly string[]
  apps: readonly string[]
}

const WINDOWS = ['1h', '24h', '7d', '30d', ...DAYS]
const COMPLETIONS_MAX = 20

/** By qualifier: its values, which completions offer. */
export const VALUES: Readonly<Record<string, (known: Known) => readonly string[]>> = {
  status: () => RUN_STATUSES,
  workflow: ({ workflows }) => workflows,
  app: ({ apps }) => apps,
  type: () => ['event', 'cron'],
  since: () => WINDOWS,
  until: () => WINDOWS,
  'ended-since': () => WINDOWS,
  'ended-until': () => WINDOWS,
  waiting: () => WAITING_KINDS,
  root: () => ['true'],
  in: () => ['names'],
}

/** Returns whole texts of the box that complete its last word. */
export function completionsOf(text: string, known: Known): string[] {
  const [, before = '', word = ''] = /^(.*\s)?(\S*)$/.exec(text) ?? []
  const [name, value] = word.split(/:(.*)/, 2) as [string, string?]
  const words =
    value === undefined
      ? [...QUALIFIERS, 'in'].filter(each => each.startsWith(name)).map(each => `${each}:`)
      : [...new Set(VALUES[name]?.(known) ?? [])]
          .filter(each => each.startsWith(value) && each !== value)
          .map(each => `${name}:${/\s/.test(each) ? `"${each}"` : each}`)
  return words.slice(0, COMPLETIONS_MAX).map(each => before + each)
}
