// The runners of an error group as text.

import type { Calls } from '@perdure/client'

export type ErrorRunner = NonNullable<Calls['listErrors']['reply'][number]['runners']>[number]

/** "2 runs, now with @perdure/sdk 0.1.0". The runner's version at the time is not known. */
export function ranWords({ count, sdkName, version }: Omit<ErrorRunner, 'runnerId'>): string {
  const sdk = [sdkName, version].filter(Boolean).join(' ')
  return `${count} ${count === 1 ? 'run' : 'runs'}${sdk && `, now with ${sdk}`}`
}

export const runnerWords = ({ runnerId, ...runner }: ErrorRunner): string => `${runnerId}: ${ranWords(runner)}`

/** "3 runners"; if there are more than were read, "10 or more runners". */
export function runnersText(runners: readonly ErrorRunner[], most: number): string {
  if (runners.length === 0) return ''
  if (runners.length === 1) return '1 runner'
  return `${runners.length}${runners.length < most ? '' : ' or more'} runners`
}
