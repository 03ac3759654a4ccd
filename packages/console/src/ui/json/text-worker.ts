// The worker for one job on a large JSON text: it answers once.

import { TEXT_JOBS, type TextJob } from './text-jobs.ts'

export interface ToTextWorker {
  job: TextJob
  text: string
}

interface Scope {
  onmessage: ((event: MessageEvent<ToTextWorker>) => void) | null
  postMessage(message: string | undefined): void
}

const scope = self as unknown as Scope

scope.onmessage = ({ data: { job, text } }) => scope.postMessage(TEXT_JOBS[job](text))
