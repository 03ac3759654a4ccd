// Bulk jobs: their list, and one job with its filter, counts, progress and results. A job continues without this page.

import { usePage } from '../../router/router.tsx'
import { Job } from './job.tsx'
import { Jobs } from './jobs.tsx'

export default function BulkPage() {
  const { name, params } = usePage()
  return name === 'bulk' ? <Job id={params.id ?? ''} /> : <Jobs />
}
