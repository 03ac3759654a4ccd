// The pill in the top bar: shows whether the page is live.

import { useNow } from '../data/time/clock.ts'
import { useKeys } from '../keys/keys.ts'
import { setPaused } from '../live/link.ts'
import { useLive } from '../live/use-live.ts'
import { useSession } from '../session/session.ts'
import { Button } from '../ui/button.tsx'
import { clockText } from '../ui/time.ts'
import styles from './shell.module.css'

export function LivePill() {
  const { state, isPaused, held, retryAt, staleSince, isSampling } = useLive()
  const { status } = useSession()
  useNow()
  useKeys('Live', [{ keys: 'l', label: 'Pause or resume live updates', run: () => setPaused(!isPaused) }])
  const isLost =
    state === 'reconnecting' || state === 'ended' || status === 'unreachable' || (staleSince !== undefined && !isPaused)
  const look = isLost ? 'stale' : isPaused ? 'paused' : state
  const text = {
    stale:
      retryAt !== undefined && retryAt > Date.now()
        ? `Reconnecting ${inSeconds(retryAt)} s`
        : `Stale${staleSince === undefined ? '' : ` since ${clockText(staleSince, Date.now())}`}`,
    paused: held > 0 ? `Paused · ${held} held` : 'Paused',
    live: isSampling ? 'Live · sampling' : 'Live',
    idle: '',
    ended: '',
    reconnecting: '',
  }[look]
  if (text === '') return null
  return (
    <Button
      kind="bare"
      className={styles.pill}
      data-look={look}
      aria-pressed={isPaused}
      title={isPaused ? 'Resume live updates (l)' : 'Pause live updates (l)'}
      onClick={() => setPaused(!isPaused)}
    >
      <span aria-hidden="true">{look === 'live' ? '●' : look === 'paused' ? '‖' : '○'}</span>
      {text}
    </Button>
  )
}

const inSeconds = (at: number) => Math.max(1, Math.ceil((at - Date.now()) / 1000))
