// A yes-or-no choice that this browser stores, as a store that components read.

import { useSyncExternalStore } from 'react'
import { browserStorage } from './storage.ts'

export interface Flag {
  isOn(): boolean
  /** Toggles the flag, and returns its new value. */
  toggle(): boolean
  /** Like `isOn`, for components: they are rendered again when the flag changes. */
  use(): boolean
}

/** Returns the flag that is stored under this name. It is off until it is toggled. */
export function browserFlag(name: string): Flag {
  const listeners = new Set<() => void>()
  const subscribe = (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  let isOn = browserStorage.getItem(name) === '1'
  const read = () => isOn
  return {
    isOn: read,
    toggle: () => {
      isOn = !isOn
      if (isOn) browserStorage.setItem(name, '1')
      else browserStorage.removeItem(name)
      for (const listener of listeners) listener()
      return isOn
    },
    use: () => useSyncExternalStore(subscribe, read),
  }
}
