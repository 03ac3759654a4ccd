// The parts of the top bar that an open engine does not need: the namespaces of this tab, and how long actions stay unlocked.

import { useEffect } from 'react'
import { useNow } from '../data/time/clock.ts'
import { useNavigate } from '../router/router.tsx'
import { lock } from '../session/session.ts'
import { signedInNamespaces } from '../session/tokens.ts'
import { Button } from '../ui/button.tsx'
import { Menu } from '../ui/overlay/menu.tsx'
import { shortName } from '../ui/visible-text.ts'

/** The namespaces that this tab is signed in to, and a button to open another. */
export function Namespaces({ current, onOther }: { current: string; onOther(): void }) {
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

/** How long actions stay unlocked, and a button to lock them. */
export function Unlocked({ until }: { until: number }) {
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
