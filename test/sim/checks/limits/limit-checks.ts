// Checks the limit that steps share by the starts that runners recorded: in no window of its period does an app of a namespace
// have more than the limit (docs/steps.md#limits-that-steps-share). A callback that starts after its engine gave the pass up
// does not count: the engine has used the time of the loss as its start.

import { ensure } from '../../core/violation.ts'
import { VENDOR } from '../../workload/program.ts'
import type { RunnerRecord } from '../../workload/runner-record.ts'

export function checkLimit(runnerRecord: RunnerRecord): void {
  const all = runnerRecord.starts()
  for (const app of new Set(all.map(start => start.app))) {
    const starts = all.filter(start => start.app === app).sort((a, b) => a.at - b.at)
    for (let i = VENDOR.limit; i < starts.length; i++) {
      const window = starts.slice(i - VENDOR.limit, i + 1)
      const [first, last] = [window[0]?.at as number, window.at(-1)?.at as number]
      ensure(
        last - first >= VENDOR.period,
        'no period has more starts of steps than their limit',
        () => `${app}: ${JSON.stringify(window)}`,
        window.map(({ runId }) => runId),
      )
    }
  }
}
