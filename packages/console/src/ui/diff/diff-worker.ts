// The worker of one comparison of large texts: it answers once.

import { type Diff, type DiffJob, diffOf } from './diff-job.ts'

interface Scope {
  onmessage: ((event: MessageEvent<DiffJob>) => void) | null
  postMessage(message: Diff): void
}

const scope = self as unknown as Scope

scope.onmessage = ({ data }) => scope.postMessage(diffOf(data))
