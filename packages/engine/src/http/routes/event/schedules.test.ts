import { expect, test } from 'vitest'
import { blockCommits, eventually, testApp } from '../../../../../../test/kit/http/test-app.ts'

test('a schedule that is fired by hand has its event and its audit entry in one commit', async () => {
  const { app, store } = await testApp()
  const put = { method: 'PUT', url: '/schedules/tick', payload: { every: '1h', event: { name: 'tick' } } } as const
  expect((await app.inject(put)).statusCode).toBe(200)
  const blocked = blockCommits(store)
  const fired = app.inject({ method: 'POST', url: '/schedules/tick/fire' })
  await eventually(() => blocked.length === 1)
  blocked[0]?.()
  const { eventId } = (await fired).json() as { eventId: string }
  expect(blocked).toHaveLength(1)
  const [entry] = (await app.inject('/control-actions?action=schedule.fire')).json() as { detail: object }[]
  expect(entry?.detail).toEqual({ id: 'tick', eventId })
})
