// The worker for one job on a large JSON text: it answers once.

import type { WorkerScope } from '../../data/worker-scope.ts'
import { TEXT_JOBS, type TextJob } from './text-jobs.ts'

export interface ToTextWorker {
  job: TextJob
  text: string
}

const scope = self as unknown as WorkerScope<ToTextWorker, string | undefined>

scope.onmessage = ({ data: { job, text } }) => scope.postMessage(TEXT_JOBS[job](text))
