// The rail on the left: the sections of the console, each with a key after `g`.

import { useKeys } from '../keys/keys.ts'
import { Link, useLocation, useNavigate } from '../router/router.tsx'
import type { RouteName } from '../router/routes.ts'
import { pageOf, preload } from './pages.ts'
import styles from './shell.module.css'

interface Section {
  to:
    | 'overview'
    | 'runs'
    | 'workflows'
    | 'events'
    | 'schedules'
    | 'limits'
    | 'runners'
    | 'deliveries'
    | 'errors'
    | 'audit'
    | 'keys'
    | 'engine'
  label: string
  key: string
  /** The routes at which the section is current. */
  routes: readonly RouteName[]
}

const SECTIONS: readonly Section[] = [
  { to: 'overview', label: 'Overview', key: 'o', routes: ['overview'] },
  { to: 'runs', label: 'Runs', key: 'r', routes: ['runs', 'run', 'bulk'] },
  { to: 'workflows', label: 'Workflows', key: 'w', routes: ['workflows', 'workflow'] },
  { to: 'events', label: 'Events', key: 'e', routes: ['events', 'event', 'sendEvent'] },
  { to: 'schedules', label: 'Schedules', key: 's', routes: ['schedules'] },
  { to: 'limits', label: 'Limits', key: 'l', routes: ['limits'] },
  { to: 'runners', label: 'Runners', key: 'n', routes: ['runners'] },
  {
    to: 'deliveries',
    label: 'Webhooks',
    key: 'b',
    routes: ['deliveries', 'delivery', 'endpoints', 'endpoint', 'receivers', 'receiver'],
  },
  { to: 'errors', label: 'Errors', key: 'x', routes: ['errors', 'errorGroup'] },
  { to: 'audit', label: 'Audit', key: 'a', routes: ['audit'] },
  { to: 'keys', label: 'Keys', key: 'k', routes: ['keys'] },
  { to: 'engine', label: 'Engine', key: 'i', routes: ['engine'] },
]

/** The sections whose pages exist. */
export const sections: readonly Section[] = SECTIONS.filter(({ to }) => pageOf(to) !== undefined)

export function Rail({ isOpen, onChoose }: { isOpen: boolean; onChoose(): void }) {
  const { match } = useLocation()
  const navigate = useNavigate()
  const current = match.kind === 'page' ? match.name : undefined
  useKeys(
    'Go to',
    sections.map(({ to, label, key }) => ({ keys: `g ${key}`, label, run: () => navigate({ to }) })),
  )
  return (
    <nav id="rail" className={styles.rail} aria-label="Sections" data-open={isOpen || undefined}>
      {sections.map(({ to, label, key, routes }) => (
        <Link
          key={to}
          target={{ to }}
          aria-current={current !== undefined && routes.includes(current) ? 'page' : undefined}
          title={`${label} (g ${key})`}
          onClick={onChoose}
          onPointerEnter={() => preload(to)}
        >
          {label}
        </Link>
      ))}
    </nav>
  )
}
