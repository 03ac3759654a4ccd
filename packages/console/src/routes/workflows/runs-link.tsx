// A count of a workflow's runs, as a link to them.

import { Link } from '../../router/router.tsx'

/** Statuses of runs that have not ended. */
export const IN_FLIGHT = 'queued,running,paused'
/** The status of runs that are held back. */
export const HELD = 'queued'

export interface RunsLinkProps {
  of: { app: string; name: string }
  /** The status of the runs, or several statuses. */
  status: string
  count: number
  /** Describes the runs, for a screen reader. */
  what: string
}

/** Shows nothing if the count is zero. */
export function RunsLink({ of: { app, name }, status, count, what }: RunsLinkProps) {
  if (count === 0) return null
  return (
    <Link target={{ to: 'runs', query: { app, workflow: name, status } }} aria-label={`${count} ${what}`}>
      {count}
    </Link>
  )
}
