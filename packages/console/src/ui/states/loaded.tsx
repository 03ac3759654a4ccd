// The states of a read: loading, error with the old data dimmed below it, forbidden, and the data.

import { ApiError } from '@perdure/client'
import { type ReactNode, useEffect, useState } from 'react'
import { callOfError } from '../../data/queries.ts'
import { canWrite, useSession } from '../../session/session.ts'
import { Button } from '../button.tsx'
import { copyText } from '../overlay/copy.tsx'
import { copyCommand } from '../overlay/copy-command.ts'
import styles from './states.module.css'

/** The part of a query of react-query that is read here. */
export interface ReadState<Data> {
  data: Data | undefined
  error: Error | null
  isFetching: boolean
  refetch(): unknown
}

const PATIENCE_MS = 150
const WAITING_ROWS = 6
const ROW_PX = 32

export interface LoadedProps<Data> {
  query: ReadState<Data>
  /** Number of rows to reserve space for until the first answer arrives. */
  rows?: number
  children: (data: Data) => ReactNode
}

/**
 * Shows the data of a read, or why there is none. Data that could not be renewed stays, dimmed. If no engine answers, one line
 * above all pages says so.
 */
export function Loaded<Data>({ query, rows = WAITING_ROWS, children }: LoadedProps<Data>) {
  const { data, error } = query
  const isAway = useSession().status === 'unreachable'
  if (error && error instanceof ApiError && error.status === 403) return <Forbidden error={error} />
  return (
    <>
      {error && !isAway && (
        <ErrorBanner error={error} isRetrying={query.isFetching} onRetry={() => void query.refetch()} />
      )}
      {data !== undefined && <div className={`${styles.data} ${error ? styles.stale : ''}`}>{children(data)}</div>}
      {data === undefined && (isAway || !error) && <Waiting rows={rows} />}
    </>
  )
}

/** Rows of the final height, shown after a moment without content. */
export function Waiting({ rows = WAITING_ROWS }: { rows?: number }) {
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), PATIENCE_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div aria-busy="true">
      {isLate && <span className="visually-hidden">Loading</span>}
      {isLate && <div className={styles.waitingRows} style={{ height: rows * ROW_PX }} />}
    </div>
  )
}

export interface ErrorBannerProps {
  error: Error
  isRetrying?: boolean
  onRetry?: () => void
}

/** Describes the failure: message, code, request id, the call as a command, and a button to try again. */
export function ErrorBanner({ error, isRetrying = false, onRetry }: ErrorBannerProps) {
  const { code, requestId } = error instanceof ApiError ? error : { code: 'unreachable', requestId: undefined }
  const id = requestId === undefined ? '' : ` · ${requestId}`
  const call = callOfError(error)
  const absent = code === 'not_found' && titled(error.message.replace(/^no such /, ''))
  return (
    <div className={styles.banner} role="alert">
      <p>
        <strong>{absent ? `${absent} not found.` : 'Could not load this.'}</strong>{' '}
        {code === 'not_found' ? 'Retention may have deleted it, or it is in another namespace.' : error.message}
        <small>
          {code}
          {id}
        </small>
      </p>
      {requestId !== undefined && <Button onClick={() => void copyText(`${code} ${requestId}`)}>Copy ID</Button>}
      {call && <Button onClick={() => void copyCommand(call, 'curl')}>Copy as curl</Button>}
      {onRetry && <Button onClick={onRetry}>{isRetrying ? 'Trying…' : 'Try again'}</Button>}
    </div>
  )
}

const titled = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** Shows which kind of key a page needs. */
export function Forbidden({ error }: { error: ApiError }) {
  const needs = (error.details as { needs?: string[] } | undefined)?.needs
  const isLocked = !canWrite(useSession())
  const hint = isLocked && needs?.includes('secret') && 'Use Unlock at the top of the page.'
  return (
    <div className={styles.empty}>
      <h2>{needs ? `${titled(needs.join(' or '))} key required` : 'Different key required'}</h2>
      <p>{needs ? hint : error.message}</p>
    </div>
  )
}
