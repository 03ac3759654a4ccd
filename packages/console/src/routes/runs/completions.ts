// Completions of the box of qualifiers: names of qualifiers, and the values of the one that is being typed. Pure.

import { QUALIFIERS } from './qualifiers.ts'

/** Names of the catalog. */
export interface Known {
  workflows: readonly string[]
  apps: readonly string[]
}

const WINDOWS = ['1h', '24h', '7d', '30d']
const COMPLETIONS_MAX = 20

const VALUES: Readonly<Record<string, (known: Known) => readonly string[]>> = {
  status: () => ['queued', 'running', 'waiting', 'paused', 'succeeded', 'failed', 'cancelled'],
  workflow: ({ workflows }) => workflows,
  app: ({ apps }) => apps,
  type: () => ['event', 'cron'],
  since: () => WINDOWS,
  until: () => WINDOWS,
  waiting: () => [
    'sleep',
    'event',
    'child',
    'retry',
    'runner',
    'concurrency',
    'throttle',
    'failure',
    'workflow-paused',
  ],
  in: () => ['payload'],
}

/** Whole texts of the box that complete its last word. */
export function completionsOf(text: string, known: Known): string[] {
  const [, before = '', word = ''] = /^(.*\s)?(\S*)$/.exec(text) ?? []
  const [name, value] = word.split(/:(.*)/, 2) as [string, string?]
  const words =
    value === undefined
      ? [...Object.keys(QUALIFIERS), 'in'].filter(each => each.startsWith(name)).map(each => `${each}:`)
      : [...new Set(VALUES[name]?.(known) ?? [])]
          .filter(each => each.startsWith(value) && each !== value)
          .map(each => `${name}:${/\s/.test(each) ? `"${each}"` : each}`)
  return words.slice(0, COMPLETIONS_MAX).map(each => before + each)
}
