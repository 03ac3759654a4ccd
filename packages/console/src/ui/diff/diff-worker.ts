// The worker of one comparison of large texts: it answers once.

import type { WorkerScope } from '../../data/worker-scope.ts'
import { type Diff, type DiffJob, diffOf } from './diff-job.ts'

const scope = self as unknown as WorkerScope<DiffJob, Diff>

scope.onmessage = ({ data }) => scope.postMessage(diffOf(data))
