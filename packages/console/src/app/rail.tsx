// The rail on the left: the sections of the console, each with a key after `g`.

import { useKeys } from '../keys/keys.ts'
import { type Counts, useLive } from '../live/use-live.ts'
import { Link, useLocation, useNavigate } from '../router/router.tsx'
import type { ListRoute } from '../router/routes.ts'
import { preload } from './pages.ts'
import styles from './shell.module.css'
import { isInSection } from './up.ts'

interface Section {
  to: ListRoute
  label: string
  key: string
  /** A count, shown unless it is zero, and its meaning. */
  count?: { of: keyof Counts; meaning: string }
}

export const sections: readonly Section[] = [
  { to: 'overview', label: 'Overview', key: 'o' },
  { to: 'runs', label: 'Runs', key: 'r' },
  { to: 'workflows', label: 'Workflows', key: 'w' },
  { to: 'events', label: 'Events', key: 'e' },
  { to: 'schedules', label: 'Schedules', key: 's' },
  {
    to: 'limits',
    label: 'Limits',
    key: 'l',
    count: { of: 'held', meaning: 'runs queued by limits' },
  },
  { to: 'runners', label: 'Runners', key: 'n', count: { of: 'silent', meaning: 'silent' } },
  {
    to: 'deliveries',
    label: 'Webhooks',
    key: 'b',
    count: { of: 'exhausted', meaning: 'deliveries gave up in 24 h' },
  },
  {
    to: 'errors',
    label: 'Errors',
    key: 'x',
    count: { of: 'failed', meaning: 'open in 24 h' },
  },
  { to: 'audit', label: 'Audit', key: 'a' },
  { to: 'keys', label: 'Keys', key: 'k' },
  { to: 'engine', label: 'Engine', key: 'i' },
]

export function Rail({ isOpen, onChoose }: { isOpen: boolean; onChoose(): void }) {
  const { match } = useLocation()
  const navigate = useNavigate()
  const { counts } = useLive()
  const current = match.kind === 'page' ? match.name : undefined
  useKeys(
    'Go to',
    sections.map(({ to, label, key }) => ({ keys: `g ${key}`, label, run: () => navigate({ to }) })),
  )
  return (
    <nav id="rail" className={styles.rail} aria-label="Sections" data-open={isOpen || undefined}>
      {sections.map(({ to, label, key, count }) => (
        <Link
          key={to}
          target={{ to }}
          aria-current={current !== undefined && isInSection(current, to) ? 'page' : undefined}
          title={`${label} (g ${key})`}
          onClick={onChoose}
          onPointerEnter={() => preload(to)}
        >
          {label}
          {count && <Count value={counts[count.of] ?? 0} meaning={count.meaning} />}
        </Link>
      ))}
    </nav>
  )
}

/** A number next to a section. A screen reader gets its meaning too. */
function Count({ value, meaning }: { value: number | string; meaning: string }) {
  if (value === 0) return null
  return (
    <span className={styles.count} title={`${value} ${meaning}`}>
      {value} <span className="visually-hidden">{meaning}</span>
    </span>
  )
}
