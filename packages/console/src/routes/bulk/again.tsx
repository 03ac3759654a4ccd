// Repeats the failed runs of a job in a new job.

import { useState } from 'react'
import { readClient } from '../../session/session.ts'
import { WriteButton } from '../../ui/button.tsx'
import { toastError } from '../../ui/overlay/toasts.tsx'
import { grouped, runsText } from '../runs/bulk/actions.ts'
import { BulkDialog } from '../runs/bulk/bulk-dialog.tsx'
import css from './bulk.module.css'
import type { BulkDetail } from './job-text.tsx'

/** Maximum number of runs that a job accepts by id. */
const IDS_MAX = 1000
const PAGE = 200

export function Again({ job }: { job: BulkDetail }) {
  const [ids, setIds] = useState<string[]>()
  const [isReading, setReading] = useState(false)
  const count = Math.min(job.failed, IDS_MAX)
  const read = () => {
    setReading(true)
    failedRuns(job.id)
      .then(setIds, toastError)
      .finally(() => setReading(false))
  }
  return (
    <p className={css.again}>
      <WriteButton onClick={read}>{isReading ? 'Loading…' : `Repeat for ${runsText(count)} that failed…`}</WriteButton>
      {job.failed > IDS_MAX && <span>A job takes at most {grouped(IDS_MAX)} selected runs.</span>}
      {ids && <BulkDialog action={job.action} target={{ ids }} onClose={() => setIds(undefined)} />}
    </p>
  )
}

async function failedRuns(id: string): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const page = await readClient().getBulk({ id, outcome: 'failed', limit: PAGE, cursor })
    ids.push(...page.results.map(({ runId }) => runId))
    cursor = page.nextCursor
  } while (cursor !== undefined && ids.length < IDS_MAX)
  return ids.slice(0, IDS_MAX)
}
