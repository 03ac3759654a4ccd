// Shortcuts on the help page.

import { expect, test } from 'vitest'
import { groupsOf, keyText } from './help-text.ts'

test.each([
  ['ArrowDown', '↓'],
  ['Escape', 'Esc'],
  ['mod+k', '⌘k'],
  ['g r', 'g r'],
  ['?', '?'],
])('the key %s is shown as %s', (keys, text) => {
  expect(keyText(keys)).toBe(text)
})

test('groups of one name are one; of a key that is registered twice, the newest counts', () => {
  const copy = { keys: 'c', label: 'Copy ID' }
  const groups = [
    { group: 'Run', shortcuts: [{ keys: 'r', label: 'replay' }, copy] },
    { group: 'Tabs', shortcuts: [{ keys: '1', label: 'Timeline' }] },
    { group: 'Run', shortcuts: [{ keys: 'c', label: 'copy ID of the step' }] },
  ]
  expect(groupsOf(groups)).toEqual([
    {
      group: 'Run',
      shortcuts: [
        { keys: 'r', label: 'replay' },
        { keys: 'c', label: 'copy ID of the step' },
      ],
    },
    { group: 'Tabs', shortcuts: [{ keys: '1', label: 'Timeline' }] },
  ])
})
