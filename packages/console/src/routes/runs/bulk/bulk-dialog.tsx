// Asks before a bulk job: counts the runs with a dry run, shows some, and requires typing the number if it is large. Then opens
// the page of the job.

import type { BulkPreview } from '@perdure/protocol'
import { useEffect, useId, useState } from 'react'
import { useWrite } from '../../../data/write.ts'
import { Link, useNavigate } from '../../../router/router.tsx'
import { Button, WriteButton } from '../../../ui/button.tsx'
import { Dialog, keepLabel } from '../../../ui/overlay/dialog.tsx'
import { ErrorBanner, Waiting } from '../../../ui/states/loaded.tsx'
import { Status } from '../../../ui/status.tsx'
import { shortName } from '../../../ui/visible-text.ts'
import { CleanupBox } from '../../run/actions/cleanup-box.tsx'
import styles from '../runs.module.css'
import { ACTIONS, type BulkAction, grouped, runsText } from './actions.ts'
import type { JobBody } from './filter.ts'

/** Above this count, the user types the number to confirm. */
const UNTYPED_MAX = 100
const SAMPLE_SHOWN = 5

export interface BulkDialogProps {
  action: BulkAction
  target: Pick<JobBody, 'filter' | 'ids'>
  onClose(): void
}

export function BulkDialog({ action, target, onClose }: BulkDialogProps) {
  const { verb, done, sentence, isDanger } = ACTIONS[action]
  const navigate = useNavigate()
  const { mutate: count, data, error, isPending } = useWrite('startBulk')
  const start = useWrite('startBulk', ['listBulks'])
  const [typed, setTyped] = useState('')
  const [cleansUp, setCleansUp] = useState(true)
  const counts: JobBody = { action, ...target }
  const body: JobBody = cleansUp ? counts : { ...counts, cleanup: false }
  const key = JSON.stringify(counts)
  useEffect(() => count({ body: { ...JSON.parse(key), dryRun: true } }), [count, key])
  const counted = data as unknown as BulkPreview | undefined
  const eligible = counted?.eligible ?? 0
  const mustType = eligible > UNTYPED_MAX
  const isConfirmed = !mustType || typed.replace(/[\s,._]/g, '') === String(eligible)
  const confirm = () =>
    start.mutate(
      { body },
      {
        onSuccess: started => {
          onClose()
          navigate({
            to: 'bulk',
            params: { id: (started as { bulkId: string }).bulkId },
            query: { of: String(counted?.matched ?? '') },
          })
        },
      },
    )
  const whyNot = !counted ? 'counting runs' : eligible === 0 ? 'no matching runs' : undefined
  return (
    <Dialog
      title={`${verb} ${counted ? runsText(eligible) : 'runs'}?`}
      onClose={onClose}
      call={{ id: 'startBulk', input: { body } }}
      actions={
        <>
          <Button onClick={onClose} data-autofocus="">
            {keepLabel(verb)}
          </Button>
          <WriteButton
            kind={isDanger ? 'danger' : 'primary'}
            disabledBecause={whyNot ?? (isConfirmed ? undefined : `type ${grouped(eligible)} first`)}
            onClick={confirm}
          >
            {start.isPending ? 'Starting…' : `${verb} ${counted ? runsText(eligible) : ''}`}
          </WriteButton>
        </>
      }
    >
      <p>{sentence}</p>
      {action === 'cancel' && <CleanupBox isOn={cleansUp} onChange={setCleansUp} />}
      {error && <ErrorBanner error={error} />}
      {start.error && <p role="alert">{start.error.message}</p>}
      {isPending && <Waiting rows={3} />}
      {counted && <Counted counted={counted} done={done} />}
      {mustType && <TypedNumber count={eligible} value={typed} onChange={setTyped} />}
    </Dialog>
  )
}

interface CountedProps {
  counted: BulkPreview
  /** Past participle of the action. */
  done: string
}

function Counted({ counted: { matched, eligible, skipped, replayed = 0, sample }, done }: CountedProps) {
  return (
    <>
      <p>
        {grouped(matched)} matched, {grouped(eligible)} can be {done}, {grouped(skipped)} skipped. Later runs are not
        included.
      </p>
      {replayed > 0 && (
        <p>
          <strong>
            {grouped(replayed)} of the {grouped(eligible)}
          </strong>{' '}
          {replayed === 1 ? 'was' : 'were'} replayed before and would be replayed again.
        </p>
      )}
      {sample.length > 0 && (
        <ul className={`plain-list ${styles.sample}`}>
          {sample.slice(0, SAMPLE_SHOWN).map(({ id, workflow, status }) => (
            <li key={id}>
              <Status status={status} /> {shortName(workflow)}{' '}
              <Link target={{ to: 'run', params: { id } }} className={styles.id}>
                {id}
              </Link>
            </li>
          ))}
          {eligible > SAMPLE_SHOWN && <li>and {grouped(eligible - SAMPLE_SHOWN)} more</li>}
        </ul>
      )}
    </>
  )
}

function TypedNumber({ count, value, onChange }: { count: number; value: string; onChange(value: string): void }) {
  const id = useId()
  return (
    <p className={styles.typed}>
      <label htmlFor={id}>Type {grouped(count)} to confirm</label>
      <input
        id={id}
        inputMode="numeric"
        autoComplete="off"
        value={value}
        onChange={event => onChange(event.target.value)}
      />
    </p>
  )
}
