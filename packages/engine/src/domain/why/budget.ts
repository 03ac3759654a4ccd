// The sentence about a run that is paused because it exceeds a budget (docs/budgets.md#beyond-a-limit). Called by run-why.ts.

import type { WaitingFor } from '../model/run.ts'
import { timestamp } from '../text/timestamp.ts'

/** States which limit of which run is exceeded, and how the run continues. */
export function pausedForBudgetSentence(
  since: number,
  ownId: string,
  { name, limit, spent, runId }: WaitingFor,
): string {
  const whose = runId === ownId ? 'its budget' : `the budget of run ${runId}`
  return `It was paused at ${timestamp(since)} because ${whose} is exceeded: ${spent} of ${limit} ${name} were spent. A higher limit resumes it (POST /runs/${runId}/budget); a resume alone pauses it again.`
}
