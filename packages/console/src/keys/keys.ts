// Keyboard shortcuts. Components register theirs with `useKeys`; the newest registration of a key wins, so that a dialog or a
// list takes it from the page below. Single letters are off in inputs, and can be switched off (WCAG 2.1.4).

import { useEffect, useRef } from 'react'
import { browserStorage } from '../data/storage/storage.ts'

/** One shortcut. `keys` is a key (`j`, `Enter`, `?`), a sequence (`g r`), or one with the command key (`mod+k`). */
export interface Shortcut {
  keys: string
  /** For the help page. */
  label: string
  run(event: KeyboardEvent): void
  /** Works in inputs as well. */
  inInputs?: boolean
}

interface Registration {
  group: string
  shortcuts: readonly Shortcut[]
  isLast: boolean
  table: Table | undefined
}

type Table = { readonly current: HTMLTableElement | null }

const SEQUENCE_MS = 1000
const SWITCH = 'perdure.keys.off'
const registrations: Registration[] = []
let prefix: { key: string; at: number } | undefined

/** Whether single letters are switched off in this browser. */
export const areLettersOff = (): boolean => browserStorage.getItem(SWITCH) === '1'

export function switchLetters(off: boolean): void {
  if (off) browserStorage.setItem(SWITCH, '1')
  else browserStorage.removeItem(SWITCH)
}

/** Returns every shortcut that works now, by group, for the help page. */
export function shortcutsNow(): { group: string; shortcuts: readonly Shortcut[] }[] {
  return registrations.filter(({ shortcuts }) => shortcuts.length > 0)
}

/**
 * Registers shortcuts while the component is on the screen. They may change with every render. With `isLast`, every other
 * registration of a key has precedence: an ancestor registers after its children, and would hide theirs. Shortcuts of a `table`
 * work while one of its rows has the focus; while no row has it, those of the first row's table work.
 */
export function useKeys(
  group: string,
  shortcuts: readonly Shortcut[],
  { isLast = false, table }: { isLast?: boolean; table?: Table } = {},
): void {
  const current = useRef(shortcuts)
  current.current = shortcuts
  useEffect(() => {
    const registration: Registration = {
      group,
      isLast,
      table,
      get shortcuts() {
        return current.current
      },
    }
    if (isLast) registrations.unshift(registration)
    else registrations.push(registration)
    return () => {
      registrations.splice(registrations.indexOf(registration), 1)
    }
  }, [group, isLast, table])
}

/** Returns the text of an event's key in a shortcut: `mod+k`, `j`, `Enter`. Shift is part of a letter: `X`. */
export function keyOfEvent(event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>): string {
  const key = event.key === ' ' ? 'Space' : event.key
  if (event.ctrlKey || event.metaKey) return `mod+${key.toLowerCase()}`
  // On the keyboards of many countries, brackets need Option.
  return event.altKey && !/^[[\]{}]$/.test(key) ? `alt+${key.toLowerCase()}` : key
}

/** Returns the element that has the focus. For a key in a shadow root, the window sees the host as target. */
function originOf(event: KeyboardEvent): HTMLElement | undefined {
  const [origin] = event.composedPath()
  return origin instanceof HTMLElement ? origin : undefined
}

/** Controls without text: letters are shortcuts there. */
const NO_TEXT = '[type=checkbox],[type=radio],[type=range],[type=file]'
const isTextInput = (origin: HTMLElement) =>
  origin.isContentEditable || origin.matches(`input:not(${NO_TEXT}),textarea,select`)

/**
 * Whether the key belongs to the browser: Enter and Space on a button or link; on a control without text, also the keys that
 * move.
 */
const isOwnKey = (origin: HTMLElement, key: string) =>
  /^( |Enter)$/.test(key) ? origin.matches(`button,a,summary,${NO_TEXT}`) : MOVES.test(key) && origin.matches(NO_TEXT)
const MOVES = /^(Arrow|Page|Home|End)/

function onKeyDown(event: KeyboardEvent): void {
  const origin = originOf(event)
  if (event.defaultPrevented || event.isComposing || (origin && isOwnKey(origin, event.key))) return
  const key = keyOfEvent(event)
  const isTyping = origin !== undefined && isTextInput(origin)
  if (!isTyping && key.length === 1 && areLettersOff()) return
  const isOpenPrefix = prefix !== undefined && event.timeStamp - prefix.at < SEQUENCE_MS
  const sequence = isOpenPrefix ? `${prefix?.key} ${key}` : undefined
  prefix = undefined
  const shortcut = (sequence === undefined ? undefined : find(sequence, isTyping)) ?? find(key, isTyping)
  if (shortcut) {
    event.preventDefault()
    shortcut.run(event)
  } else if (isTyping && key === 'Escape') origin.blur()
  else if (!isTyping && isPrefix(key)) prefix = { key, at: event.timeStamp }
}

function find(keys: string, isTyping: boolean): Shortcut | undefined {
  const row = document.querySelector('tr[data-key]:focus-within') ?? document.querySelector('tr[data-key]')
  for (const { shortcuts, table } of registrations.toReversed()) {
    if (table && !table.current?.contains(row)) continue
    const found = shortcuts.find(each => each.keys === keys && (!isTyping || each.inInputs))
    if (found) return found
  }
  return undefined
}

const isPrefix = (key: string) =>
  registrations.some(({ shortcuts }) => shortcuts.some(({ keys }) => keys.startsWith(`${key} `)))

/** The text typed while a requested dialog with an input is being loaded. */
let typed: string | undefined

/** Keeps the text typed from now on, for the input of a dialog whose script is being loaded. */
export const keepTyped = (): void => {
  typed = ''
}

/** Returns the kept text, and stops keeping text. */
export function takeTyped(): string {
  const text = typed ?? ''
  typed = undefined
  return text
}

/** Starts to listen. Called once, by main.tsx. */
export function listenToKeys(): void {
  window.addEventListener('keydown', event => {
    // Behind a modal dialog the page is inert, and its shortcuts are too.
    if (document.querySelector('dialog:modal')) return
    if (typed !== undefined && /^(.|Space)$/.test(keyOfEvent(event))) {
      event.preventDefault()
      typed += event.key
    } else onKeyDown(event)
  })
}
