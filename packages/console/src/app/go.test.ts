import { expect, test } from 'vitest'
import { targetOfId } from './go.ts'

test.each([
  ['run_1', { to: 'run', params: { id: 'run_1' } }],
  ['blk_1', { to: 'bulk', params: { id: 'blk_1' } }],
  [
    'act_01JD90H2C5E8G1J4M7P0S3V6YB',
    { to: 'audit', query: { since: '2024-11-22T04:01:51.493Z', target: 'act_01JD90H2C5E8G1J4M7P0S3V6YB' } },
  ],
  ['act_1', { to: 'audit', query: { since: undefined, target: 'act_1' } }],
  ['key_1', { to: 'keys', query: { id: 'key_1' } }],
  ['xyz_1', undefined],
  ['run_a/b', undefined],
  ['order', undefined],
])('%s', (id, target) => {
  expect(targetOfId(id)).toEqual(target)
})
