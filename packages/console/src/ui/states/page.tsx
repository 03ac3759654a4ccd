// The head of a page: its title in the window and in the only `h1`, which gets the focus after a change of the route, and its
// panels, each with its own error boundary.

import { Component, type ReactNode, useEffect, useRef } from 'react'
import { useKeys } from '../../keys/keys.ts'
import { currentLocation } from '../../router/history.ts'
import { useLocation } from '../../router/router.tsx'
import type { Match } from '../../router/routes.ts'
import { currentSession, retryNow, useSession } from '../../session/session.ts'
import { Button } from '../button.tsx'
import { shortName } from '../visible-text.ts'
import { isLostScript } from './lost-script.ts'
import styles from './states.module.css'

const TITLE_MAX = 80
/** The parameters that choose the rows of lists, in the order of the title. */
const FILTERS =
  'status state kind type waiting action q workflow name key error attribute source actor parent run target endpoint app'

export interface PageProps {
  /** The heading. */
  title: string
  /** The window's title if it is not the heading with the filters of the list: "failed · process-order". */
  windowTitle?: string
  actions?: ReactNode
  children: ReactNode
}

/** Returns the list filters in the URL. The page of a record has the filters of the list that it was opened from. */
function filtersOf(match: Match): string[] {
  if (match.kind !== 'page' || Object.keys(match.params).length > 0) return []
  return FILTERS.split(' ').flatMap(name => match.query.get(name) || [])
}

export function Page({ title, windowTitle, actions, children }: PageProps) {
  const ref = useRef<HTMLHeadingElement>(null)
  const { match } = useLocation()
  const shown = windowTitle ?? [...filtersOf(match), title].join(' · ')
  useEffect(() => {
    document.title = `${shortName(shown, TITLE_MAX)} · Perdure`
  }, [shown])
  useEffect(() => {
    const { cause } = currentLocation()
    // A page that replaces another one removed the element with the focus.
    const isLost = cause === 'replace' && document.activeElement === document.body
    if (cause === 'push' || isLost) ref.current?.focus({ preventScroll: true })
  }, [])
  return (
    <div className={styles.page}>
      <header className={styles.pageHead}>
        <h1 ref={ref} tabIndex={-1}>
          {title}
        </h1>
        {actions && <div className={styles.pageActions}>{actions}</div>}
      </header>
      {children}
    </div>
  )
}

export interface PanelProps {
  title?: string
  actions?: ReactNode
  /** Without padding: for tables and charts. */
  isFlush?: boolean
  children: ReactNode
}

/** A part of a page with its own error handling. */
export function Panel({ title, actions, isFlush = false, children }: PanelProps) {
  return (
    <section className={styles.panel} aria-label={title}>
      {(title !== undefined || actions !== undefined) && (
        <header className={styles.panelHead}>
          {title === undefined ? <span /> : <h2>{title}</h2>}
          {actions}
        </header>
      )}
      <div className={styles.panelBody} data-flush={isFlush || undefined}>
        <Boundary>{children}</Boundary>
      </div>
    </section>
  )
}

interface BoundaryProps {
  children: ReactNode
  /** Closes the notice. Without it, the notice stays. */
  onClose?: () => void
  /** Nothing else of the page is on the screen, so the page is reloaded as soon as an absent engine answers again. */
  isWholePage?: boolean
}

/** Shows the error of a part that failed to render, and keeps the rest of the page working. */
export class Boundary extends Component<BoundaryProps, { error: Error | undefined }> {
  override state = { error: undefined as Error | undefined }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  override render() {
    const { error } = this.state
    if (!error) return this.props.children
    const { onClose, isWholePage } = this.props
    const retry = () => this.setState({ error: undefined })
    return <Failed error={error} onClose={onClose} isWholePage={isWholePage} onRetry={retry} />
  }
}

interface FailedProps extends Pick<BoundaryProps, 'onClose' | 'isWholePage'> {
  error: Error
  onRetry(): void
}

function Failed({ error, onClose, isWholePage, onRetry }: FailedProps) {
  const isLost = isLostScript(error)
  const isAway = useIsAway(isLost, isWholePage)
  useKeys('Everywhere', onClose ? [{ keys: 'Escape', label: 'Close', run: onClose }] : [])
  return (
    <div className={styles.banner} role="alert">
      <p>
        <strong>This part of the page failed.</strong> {isLost ? lostText(isAway, isWholePage) : error.message}
      </p>
      {/* Browsers remember the failure of a script, so only reloading the page helps. */}
      {!isAway && (
        <Button onClick={isLost ? () => location.reload() : onRetry}>{isLost ? 'Reload' : 'Try again'}</Button>
      )}
      {onClose && <Button onClick={onClose}>Close</Button>}
    </div>
  )
}

function lostText(isAway: boolean, isWholePage = false): string {
  if (!isAway) return 'The engine is not responding, or was updated after this page was opened.'
  return `The engine is not responding.${isWholePage ? ' The page loads as soon as it does.' : ''}`
}

/** Whether a script is missing because no engine answers. Reloading the page would then show an error of the browser. */
function useIsAway(isLost: boolean, isWholePage = false): boolean {
  const { status } = useSession()
  const isAway = isLost && status === 'unreachable'
  const wasAway = useRef(false)
  useEffect(() => {
    if (isLost && currentSession().status === 'ready') retryNow()
  }, [isLost])
  useEffect(() => {
    wasAway.current ||= isAway
    if (isWholePage && wasAway.current && status === 'ready') location.reload()
  }, [isWholePage, isAway, status])
  return isAway
}
