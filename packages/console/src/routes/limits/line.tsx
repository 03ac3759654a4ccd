// The runs that wait for one limit, the longest wait first. The list of runs has no filter by key, so this file filters it.

import { itemsOf, usePages } from '../../data/queries.ts'
import { Link } from '../../router/router.tsx'
import { Button } from '../../ui/button.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { PlainTable } from '../../ui/table/plain-table.tsx'
import { shortName } from '../../ui/visible-text.ts'
import { type Limit, waitingOf } from './limit.ts'

/** Number of waiting runs per page, whatever their key. */
const READ_AT_ONCE = 200

interface OthersProps {
  /** Number of runs that wait for the limit, as the engine counts them. */
  waiting: number | string
  listed: number
  isWhole: boolean
}

/** Limits of several scopes may have the same key, and a run only names its key. */
function Others({ waiting, listed, isWhole }: OthersProps) {
  if (!isWhole || typeof waiting === 'string' || waiting >= listed) return null
  return (
    <p className="mute">
      {waiting} {waiting === 1 ? 'run waits' : 'runs wait'} for this limit; the others wait for another limit with the
      same key.
    </p>
  )
}

export function LineDialog({ limit, onClose }: { limit: Limit; onClose(): void }) {
  const { kind, app, workflow, key = '' } = limit
  const query = usePages('listRuns', {
    app,
    workflow,
    status: ['queued'],
    waitingFor: kind,
    dir: 'asc',
    limit: READ_AT_ONCE,
  })
  const read = itemsOf(query)
  const runs = read.filter(({ waitingFor }) => (waitingFor?.key ?? '') === key)
  return (
    <Dialog title={key === '' ? 'Waiting runs' : `Runs waiting for key ${shortName(key)}`} onClose={onClose}>
      <Loaded query={query}>
        {() => (
          <>
            <Others waiting={waitingOf(limit)} listed={runs.length} isWhole={!query.hasNextPage} />
            {runs.length === 0 ? (
              <p>None of the {read.length} runs read so far is waiting for this limit.</p>
            ) : (
              <PlainTable
                label="Waiting runs, longest wait first"
                className={undefined}
                heads={['Run', 'Workflow', 'Created']}
              >
                {runs.map(({ id, workflow, app, createdAt }) => (
                  <tr key={id}>
                    <td>
                      <Link target={{ to: 'run', params: { id } }}>{id}</Link>
                    </td>
                    <td>
                      {shortName(workflow)} <span className="mute">{shortName(app)}</span>
                    </td>
                    <td>
                      <Moment at={createdAt} />
                    </td>
                  </tr>
                ))}
              </PlainTable>
            )}
            {query.hasNextPage && (
              <p className="mute">
                From the {read.length} runs that have waited longest for any key.{' '}
                <Button onClick={() => void query.fetchNextPage()}>Load more</Button>
              </p>
            )}
          </>
        )}
      </Loaded>
    </Dialog>
  )
}
