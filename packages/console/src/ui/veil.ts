// Whether payloads are hidden: by the engine for everyone, or in this browser. Their shapes are shown instead. A veil against
// looks over the shoulder, not a control of access.

import { useSyncExternalStore } from 'react'
import { browserStorage } from '../data/storage/storage.ts'

const STORED = 'perdure.payloads.hidden'
/** The engine writes `0` there when it hides payloads. */
const BY_ENGINE = document.querySelector<HTMLMetaElement>('meta[name=perdure-payloads]')?.content === '0'

const listeners = new Set<() => void>()
let isHiddenHere = browserStorage.getItem(STORED) === '1'

/** Hides payloads in this browser, or shows them again. Answers whether they are hidden now. */
export function toggleVeil(): boolean {
  isHiddenHere = !isHiddenHere
  if (isHiddenHere) browserStorage.setItem(STORED, '1')
  else browserStorage.removeItem(STORED)
  for (const listener of listeners) listener()
  return isHiddenHere
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Whether payloads are hidden, and whether the engine hides them for everyone. */
export function useVeil(): { isHidden: boolean; isByEngine: boolean } {
  const isHere = useSyncExternalStore(subscribe, () => isHiddenHere)
  return { isHidden: BY_ENGINE || isHere, isByEngine: BY_ENGINE }
}
