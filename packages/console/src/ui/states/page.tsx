// The frame of a page: its title in the window and in the one `h1`, which has the focus after a change of the route, and its
// panels, each with an error boundary of its own.

import { Component, type ReactNode, useEffect, useRef } from 'react'
import { useKeys } from '../../keys/keys.ts'
import { currentLocation } from '../../router/history.ts'
import { Button } from '../button.tsx'
import { shortName } from '../visible-text.ts'
import { isLostScript } from './lost-script.ts'
import styles from './states.module.css'

const TITLE_MAX = 80

export interface PageProps {
  /** The heading. */
  title: string
  /** The window's title when it says more than the heading: "failed · process-order". */
  windowTitle?: string
  /** Replaces the text of the heading, which still names the page. */
  heading?: ReactNode
  actions?: ReactNode
  children: ReactNode
}

export function Page({ title, windowTitle = title, heading = title, actions, children }: PageProps) {
  const ref = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${shortName(windowTitle, TITLE_MAX)} · Perdure`
  }, [windowTitle])
  useEffect(() => {
    const { cause } = currentLocation()
    // A page that replaces another one took the focus with it.
    const isLost = cause === 'replace' && document.activeElement === document.body
    if (cause === 'push' || isLost) ref.current?.focus({ preventScroll: true })
  }, [])
  return (
    <div className={styles.page}>
      <header className={styles.pageHead}>
        <h1 ref={ref} tabIndex={-1}>
          {heading}
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

/** A part of a page that fails alone. */
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
}

/** Shows the error of a part that failed to render, and lets the rest of the page live. */
export class Boundary extends Component<BoundaryProps, { error: Error | undefined }> {
  override state = { error: undefined as Error | undefined }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  override render() {
    const { error } = this.state
    if (!error) return this.props.children
    return <Failed error={error} onClose={this.props.onClose} onRetry={() => this.setState({ error: undefined })} />
  }
}

interface FailedProps extends Pick<BoundaryProps, 'onClose'> {
  error: Error
  onRetry(): void
}

function Failed({ error, onClose, onRetry }: FailedProps) {
  const isLost = isLostScript(error)
  useKeys('Everywhere', onClose ? [{ keys: 'Escape', label: 'Close', run: onClose }] : [])
  return (
    <div className={styles.banner} role="alert">
      <p>
        <strong>This part of the page failed.</strong>{' '}
        {isLost ? 'The engine does not answer, or it was updated since this page was opened.' : error.message}
      </p>
      {/* Browsers keep the failure of a script, so only a new load of the page helps. */}
      <Button onClick={isLost ? () => location.reload() : onRetry}>{isLost ? 'Reload' : 'Try again'}</Button>
      {onClose && <Button onClick={onClose}>Close</Button>}
    </div>
  )
}
