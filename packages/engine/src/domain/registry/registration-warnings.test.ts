// Warnings of a registration about other live versions of its app, and about apps that no runner serves any more.

import { expect, test } from 'vitest'
import { runner, workflow } from '../testkit/nouns.testkit.ts'
import { registrationWarnings, renamedAppWarnings, versionWarnings } from './registration-warnings.ts'

const serving = (runnerId: string, digests: Record<string, string>, fields = {}) => ({
  ...runner(runnerId, { workflows: Object.keys(digests) }),
  definitions: Object.values(digests).map(digest => ({ digest, since: 1 })),
  ...fields,
})

test('a trigger for an event that the engine does not send never matches', () => {
  const triggers = ['perdure/run.*', 'perdure/run.failed', 'perdure/run.faild', 'run.failed'].map(event => ({ event }))
  const request = { app: 'shop', url: 'http://a/', workflows: [{ name: 'alert', triggers }] }
  expect(registrationWarnings(request)).toEqual([
    'workflow "alert": triggers[2].event: the engine never sends "perdure/run.faild", only perdure/run.succeeded, ' +
      'perdure/run.failed, perdure/run.cancelled',
  ])
})

test('a live runner with another definition is another version of the app', () => {
  const own = serving('new', { pay: 'b', ship: 'x' })
  const peers = [serving('old', { pay: 'a', ship: 'x', mail: 'm' }, { version: '1.4' }), serving('same', { pay: 'b' })]
  expect(versionWarnings(own, peers)).toEqual([
    'two versions of app "shop" are live: runner "old" (version 1.4) has another definition of "pay". The newest ' +
      'definition applies, and runs go to both runners; stop the old runner unless a deployment is in progress',
  ])
  expect(versionWarnings(own, [peers[1] as typeof own])).toEqual([])
})

test('an app without a runner that starts the same workflow at the same event was probably renamed', () => {
  const pay = { ...workflow('pay'), app: 'store', triggers: [{ event: 'order/paid' }] }
  const abandoned = { ...pay, app: 'shop' }
  expect(renamedAppWarnings([pay], [abandoned])).toEqual([
    'app "shop" has no runner, but it still starts "pay" on the same events; those runs wait for a runner. If this app ' +
      'replaces it, delete it: perdure apps delete shop',
  ])
  const others = [
    { ...abandoned, triggers: [{ cron: '* * * * *' }] },
    { ...abandoned, name: 'ship' },
  ]
  expect(renamedAppWarnings([pay], others)).toEqual([])
})
