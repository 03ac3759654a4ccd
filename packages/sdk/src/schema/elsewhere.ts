// The step tools of other engines, with our equivalents. Called by the step tools of a pass, where such a call would otherwise
// fail with "is not a function".

import { NonRetriableError } from '@perdure/client'

function instead(tool: string, ours: string): () => never {
  return () => {
    throw new NonRetriableError(`There is no ${tool}; use ${ours}`)
  }
}

const RUN = 'step.run(name, callback)'

/** Members of `step` in other engines. */
export const STEP_TOOLS_ELSEWHERE = {
  invoke: instead('step.invoke', 'step.runWorkflow(name, { workflow, data })'),
  sendEvent: instead('step.sendEvent', 'step.emit(name, { event, data })'),
  do: instead('step.do', RUN),
  fetch: instead('step.fetch', 'step.run(name, () => fetch(url).then(response => response.json()))'),
  ai: { infer: instead('step.ai.infer', RUN), wrap: instead('step.ai.wrap', RUN) },
} as const

/** Members of `ctx` in other engines. */
export const CONTEXT_ELSEWHERE = {
  run: instead('ctx.run', RUN),
  sleep: instead('ctx.sleep', 'step.sleep(name, duration)'),
} as const
