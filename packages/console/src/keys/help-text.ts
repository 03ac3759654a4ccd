// Shortcuts as the help page shows them. Pure.

import type { Shortcut } from './keys.ts'

interface Group {
  group: string
  shortcuts: readonly Pick<Shortcut, 'keys' | 'label'>[]
}

const GLYPHS: Readonly<Record<string, string>> = {
  ArrowDown: '↓',
  ArrowUp: '↑',
  ArrowRight: '→',
  ArrowLeft: '←',
  Escape: 'Esc',
}

/** A key as it is printed on a keyboard. */
export const keyText = (keys: string): string => GLYPHS[keys] ?? keys.replace('mod+', '⌘')

/** Merges groups of the same name. A key that is registered twice counts once: the newest registration counts. */
export function groupsOf(groups: readonly Group[]): Group[] {
  const merged = new Map<string, Map<string, Group['shortcuts'][number]>>()
  for (const { group, shortcuts } of groups) {
    const known = merged.get(group) ?? new Map()
    for (const shortcut of shortcuts) known.set(shortcut.keys, shortcut)
    merged.set(group, known)
  }
  return [...merged].map(([group, shortcuts]) => ({ group, shortcuts: [...shortcuts.values()] }))
}
