// Builds the invokes that the suite sends, as an engine would. Called by http-runner.ts and connect-runner.ts.

import { hashStepId, type InvokeRequest, type MemoEntry } from '@perdure/protocol'
import type { PassRequest } from './runner.ts'

export interface RequestSource {
  app: string
  features: readonly string[]
}

/** A source of invoke bodies; each is of a run of its own, unless the pass names one. */
export function requestsOf({ app, features }: RequestSource): (pass: PassRequest) => object {
  let runs = 0
  return ({ workflow, data, memo = {}, attempt = 1, ctx = {}, change = request => request }) => {
    runs++
    const request: InvokeRequest = {
      event: { id: `evt_conform${runs}`, name: workflow, ...(data === undefined ? {} : { data }) },
      steps: Object.fromEntries(
        Object.entries(memo).map(([name, entry]): [string, MemoEntry] => [hashStepId(name), entry]),
      ),
      ctx: {
        runId: `run_conform${runs}`,
        workflow,
        app,
        runner: '',
        features: [...features],
        attempt,
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        ...ctx,
      },
    }
    return change(request)
  }
}
