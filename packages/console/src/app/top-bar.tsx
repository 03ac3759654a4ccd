// The bar at the top: the namespace, the kind of access, search, and the session's menu.

import { Suspense } from 'react'
import { toggleZone, useUtc } from '../data/time/zone.ts'
import { Link, useNamespace } from '../router/router.tsx'
import { canWrite, signOut, useSession } from '../session/session.ts'
import { Button } from '../ui/button.tsx'
import { copyText } from '../ui/overlay/copy.tsx'
import { Menu } from '../ui/overlay/menu.tsx'
import { toast } from '../ui/overlay/toasts.tsx'
import { toggleVeil, useVeil } from '../ui/veil.ts'
import { LivePill } from './live-pill.tsx'
import { Namespaces, Unlocked } from './parts.tsx'
import styles from './shell.module.css'
import { nextTheme } from './theme.ts'

export interface TopBarProps {
  onSearch(): void
  /** Copies the link of the page with fixed times. */
  onPinned(): void
  /** Opens another namespace. */
  onNamespace(): void
  onUnlock(): void
  onHelp(): void
  onRail(): void
  isRailOpen: boolean
}

export function TopBar({ onSearch, onPinned, onNamespace, onUnlock, onHelp, onRail, isRailOpen }: TopBarProps) {
  const session = useSession()
  const namespace = useNamespace()
  const { whoami, unlockedUntil } = session
  const isKeyed = whoami?.open === false
  const name = <b>{namespace}</b>
  const veil = useVeil()
  const isUtc = useUtc()
  const changeZone = () => toast(`Times: ${toggleZone()}`)
  const changeTheme = () => toast(`Theme: ${nextTheme()}`)
  return (
    <header className={styles.top}>
      <Button
        kind="bare"
        className={styles.burger}
        aria-label="Sections"
        aria-expanded={isRailOpen}
        aria-controls="rail"
        onClick={onRail}
      >
        ☰
      </Button>
      <Link target={{ to: 'runs' }} className={styles.brand}>
        Perdure
      </Link>
      <div className={styles.where}>
        <Suspense fallback={name}>{isKeyed ? <Namespaces current={namespace} onOther={onNamespace} /> : name}</Suspense>
        {whoami && <span>{isKeyed ? (whoami.label ?? `${whoami.kind} key`) : 'open, this machine only'}</span>}
      </div>
      <button type="button" className={styles.search} title="Search (⌘K or /)" onClick={onSearch}>
        Search <kbd>⌘K</kbd>
      </button>
      <div className={styles.tools}>
        <LivePill />
        {isUtc && (
          <Button kind="bare" title="Show local time" onClick={changeZone}>
            UTC
          </Button>
        )}
        {isKeyed && !canWrite(session) && (
          // Locked buttons click this button, so it is not in a separate chunk.
          <Button title="Actions need a secret key" data-unlock="" onClick={onUnlock}>
            Unlock
          </Button>
        )}
        <Suspense>{unlockedUntil !== undefined && <Unlocked until={unlockedUntil} />}</Suspense>
        <Menu
          label="⋯"
          name="Session and help"
          kind="bare"
          items={[
            { label: 'Copy link', keys: 'y', onSelect: () => void copyText(location.href, 'Link copied') },
            { label: 'Copy permalink', keys: 'Y', onSelect: onPinned },
            { label: 'Copy as perdure', onSelect: () => void copyPage('perdure') },
            { label: 'Copy as curl', onSelect: () => void copyPage('curl') },
            {
              label: veil.isHidden ? 'Show payloads' : 'Hide payloads',
              disabledBecause: veil.isByEngine ? 'hidden by the engine' : undefined,
              onSelect: () => toast(toggleVeil() ? 'Payloads are hidden in this browser' : 'Payloads are shown'),
            },
            { label: isUtc ? 'Show local time' : 'Show UTC', onSelect: changeZone },
            { label: 'Theme', keys: 't', onSelect: changeTheme },
            { label: 'Keyboard', keys: '?', onSelect: onHelp },
            ...(isKeyed ? [{ label: 'Sign out', onSelect: () => void signOut() }] : []),
          ]}
        />
      </div>
    </header>
  )
}

/** Copies the command for the main read of the page. */
const copyPage = async (tool: 'perdure' | 'curl') => (await import('./copy/copy-page.ts')).copyPage(tool)
