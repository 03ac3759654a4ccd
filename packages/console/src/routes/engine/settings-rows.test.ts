import { expect, test } from 'vitest'
import { settingsRows } from './settings-rows.ts'

test('settings that differ between engines come first, each value with its engines', () => {
  const engines: Parameters<typeof settingsRows>[0] = [
    { id: 'a', settings: { ENGINE_RETENTION: '30d', ENGINE_PORT: '4777' } },
    { id: 'b', settings: { ENGINE_RETENTION: '7d', ENGINE_PORT: '4777' } },
    { id: 'c', settings: { ENGINE_RETENTION: '30d', ENGINE_CONSOLE: '0' } },
    { id: 'older' },
  ]
  expect(settingsRows(engines)).toEqual([
    {
      name: 'ENGINE_RETENTION',
      values: [
        { value: '30d', engines: ['a', 'c'] },
        { value: '7d', engines: ['b'] },
      ],
    },
    { name: 'ENGINE_CONSOLE', values: [{ value: '0', engines: ['c'] }] },
    { name: 'ENGINE_PORT', values: [{ value: '4777', engines: ['a', 'b'] }] },
  ])
})
