// The bar on top: the namespace, the kind of access, search, and the session's menu.

import { useEffect } from 'react'
import { useNow } from '../data/time/clock.ts'
import { Link, useNamespace, useNavigate } from '../router/router.tsx'
import { canWrite, lock, signOut, useSession } from '../session/session.ts'
import { signedInNamespaces } from '../session/tokens.ts'
import { Button } from '../ui/button.tsx'
import { copyText } from '../ui/overlay/copy.tsx'
import { Menu } from '../ui/overlay/menu.tsx'
import { toast } from '../ui/overlay/toasts.tsx'
import { toggleVeil, useVeil } from '../ui/veil.ts'
import { shortName } from '../ui/visible-text.ts'
import { LivePill } from './live-pill.tsx'
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
  const { whoami } = session
  const isOpen = whoami?.open ?? false
  const veil = useVeil()
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
        {isOpen ? <b>{namespace}</b> : <Namespaces current={namespace} onOther={onNamespace} />}
        {whoami && <span>{isOpen ? 'open, this machine only' : (whoami.label ?? `${whoami.kind} key`)}</span>}
      </div>
      <button type="button" className={styles.search} title="Search (⌘K or /)" onClick={onSearch}>
        Search <kbd>⌘K</kbd>
      </button>
      <div className={styles.tools}>
        <LivePill />
        {whoami && !isOpen && <Access onUnlock={onUnlock} />}
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
            { label: 'Theme', keys: 't', onSelect: changeTheme },
            { label: 'Keyboard', keys: '?', onSelect: onHelp },
            ...(whoami && !isOpen ? [{ label: 'Sign out', onSelect: () => void signOut() }] : []),
          ]}
        />
      </div>
    </header>
  )
}

/** Copies the command that reads what the page shows. */
const copyPage = async (tool: 'perdure' | 'curl') => (await import('./copy/copy-page.ts')).copyPage(tool)

/** The namespaces that this tab is signed in to, and the way to another. */
function Namespaces({ current, onOther }: { current: string; onOther(): void }) {
  const navigate = useNavigate()
  const others = signedInNamespaces().filter(name => name !== current)
  return (
    <Menu
      label={current}
      name={`Namespace ${current}`}
      kind="bare"
      items={[
        ...others.map(name => ({
          label: shortName(name),
          onSelect: () => navigate({ to: 'runs', namespace: name }),
        })),
        { label: 'Another namespace…', onSelect: onOther },
      ]}
    />
  )
}

/** Whether actions are locked, and the way to change that. */
function Access({ onUnlock }: { onUnlock(): void }) {
  const session = useSession()
  if (session.unlockedUntil !== undefined) return <Unlocked until={session.unlockedUntil} />
  if (canWrite(session)) return null
  return (
    <Button title="Actions need a secret key" data-unlock="" onClick={onUnlock}>
      Unlock
    </Button>
  )
}

function Unlocked({ until }: { until: number }) {
  const leftS = Math.max(0, Math.round((until - useNow()) / 1000))
  useEffect(() => {
    if (leftS === 0) lock()
  }, [leftS])
  const left = `${Math.floor(leftS / 60)}:${String(leftS % 60).padStart(2, '0')}`
  return (
    <Button title="Lock actions" onClick={lock}>
      Lock · {left}
    </Button>
  )
}
