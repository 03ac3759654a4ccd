// The time range of a page: a button that opens presets and the fields From and To. The range is `since` and `until` in the URL.

import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { engineNow } from '../../data/time/clock.ts'
import { timeText } from '../../data/time/time-text.ts'
import { momentIn, zoneName } from '../../data/time/zone.ts'
import { useQuery } from '../../router/router.tsx'
import { Button } from '../button.tsx'
import { place } from '../overlay/menu.tsx'
import css from './range.module.css'
import { fieldText, PRESETS, rangeFault } from './range-text.ts'

interface Range {
  since: string | undefined
  until: string | undefined
}

/** `showsSince`: no other control of the page shows where the range begins. */
export default function RangePicker({ showsSince = false }: { showsSince?: boolean }) {
  // All pages with a window use the same names for its ends.
  const [get, set] = useQuery('events')
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const popover = useRef<HTMLDivElement>(null)
  const range = { since: get('since'), until: get('until') }
  useEffect(() => {
    if (!isOpen || !popover.current || !button.current) return
    place(popover.current, button.current)
    popover.current.querySelector<HTMLElement>('button')?.focus()
  }, [isOpen])
  const choose = (chosen: Range) => {
    popover.current?.hidePopover()
    button.current?.focus()
    set({ since: chosen.since, until: chosen.until })
  }
  return (
    <>
      <Button
        ref={button}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        title="Choose a time range"
        onClick={() => popover.current?.togglePopover()}
      >
        {buttonText(showsSince ? range : { ...range, since: undefined })}
      </Button>
      <div
        ref={popover}
        popover="auto"
        role="dialog"
        aria-label="Time range"
        className={css.range}
        onToggle={event => setOpen(event.newState === 'open')}
        // The page's shortcuts do not apply to typing here.
        onKeyDown={(event: KeyboardEvent) => event.stopPropagation()}
      >
        {isOpen && <Choices range={range} onChoose={choose} />}
      </div>
    </>
  )
}

function buttonText(range: Range): string {
  const ends = (['since', 'until'] as const).flatMap(name => {
    const value = range[name]
    return value === undefined ? [] : `${name} ${timeText(value)}`
  })
  return ends.join(' ') || 'Time range'
}

function Choices({ range, onChoose }: { range: Range; onChoose(range: Range): void }) {
  const [now] = useState(engineNow)
  const shown = { since: fieldText(range.since, now), until: fieldText(range.until, now) }
  const [typed, setTyped] = useState(shown)
  const [fault, setFault] = useState<string>()
  // An unchanged field keeps its time to the millisecond.
  const chosenOf = (name: keyof Range) =>
    typed[name] === shown[name] ? range[name] : typed[name] === '' ? undefined : isoOf(typed[name])
  const apply = (event: FormEvent) => {
    event.preventDefault()
    const chosen = { since: chosenOf('since'), until: chosenOf('until') }
    const found = rangeFault(chosen.since, chosen.until, now)
    setFault(found)
    if (found === undefined) onChoose(chosen)
  }
  return (
    <form noValidate onSubmit={apply}>
      <div className={css.presets}>
        {PRESETS.map(({ label, since, until }) => (
          <Button
            key={label}
            kind="bare"
            aria-pressed={range.since === since && range.until === until}
            onClick={() => onChoose({ since, until })}
          >
            {label}
          </Button>
        ))}
      </div>
      {(['since', 'until'] as const).map(name => (
        <label key={name}>
          <span>{`${name === 'since' ? 'From' : 'To'} (${zoneName()})`}</span>
          <input
            type="datetime-local"
            value={typed[name]}
            aria-invalid={fault === undefined ? undefined : true}
            onChange={({ target }) => setTyped({ ...typed, [name]: target.value })}
          />
        </label>
      ))}
      {fault !== undefined && (
        <p role="alert" className={css.fault}>
          {fault}
        </p>
      )}
      <footer>
        <Button onClick={() => onChoose({ since: undefined, until: undefined })}>Clear</Button>
        <Button type="submit" kind="primary">
          Apply
        </Button>
      </footer>
    </form>
  )
}

function isoOf(text: string): string {
  const atMs = momentIn(text)
  return Number.isNaN(atMs) ? text : new Date(atMs).toISOString()
}
