import { describe, expect, test } from 'vitest'
import type { Workflow } from '../../../domain/model/workflow.ts'
import { refusal, testApp } from '../../http.testkit.ts'

const T = Date.parse('2024-01-02T03:04:05.678Z')
const namespace = 'default'

describe('GET /apps', () => {
  test('ordered by name', async () => {
    const { app, faces } = testApp()
    faces.apps = ['b', 'a', 'B', 'ä'].map(name => ({ namespace, name, createdAt: T }))
    faces.apps.push({ namespace: 'other', name: 'hidden', createdAt: T })
    const apps = (await app.inject('/apps')).json()
    expect(apps.map((row: { name: string }) => row.name)).toEqual(['B', 'a', 'b', 'ä'])
    expect(apps[0]).toEqual({ name: 'B', createdAt: '2024-01-02T03:04:05.678Z' })
  })
})

describe('GET /runners', () => {
  test('lists live and stale ones, of one app on request', async () => {
    const { app, faces } = testApp()
    const runner = { namespace, app: 'shop', runnerId: 'r1', url: 'http://r1', workflows: [], lastSeenAt: T }
    faces.runners = [
      { ...runner, live: true },
      { ...runner, runnerId: 'r2', app: 'mail', live: false },
    ]
    expect((await app.inject('/runners')).json()).toMatchObject([{ live: true }, { live: false }])
    expect((await app.inject('/runners?app=mail')).json()).toMatchObject([{ runnerId: 'r2' }])
    expect((await app.inject('/runners?app=none')).body).toBe('[]')
  })
})

describe('GET /workflows', () => {
  test('lists definitions, of one app on request', async () => {
    const { app, faces } = testApp()
    const retry = { maxAttempts: 5, initialMs: 1000, factor: 2, maxMs: 300_000, jitter: 0.2 }
    const flow: Workflow = {
      namespace,
      app: 'shop',
      name: 'checkout',
      triggers: [{ event: 'checkout' }],
      retry,
      onFailure: true,
      updatedAt: T,
    }
    faces.workflows = [flow, { ...flow, app: 'mail', name: 'greet' }]
    const [first] = (await app.inject('/workflows')).json()
    expect(first).toMatchObject({ name: 'checkout', retry, scheduled: false, schedules: [], onFailure: true })
    expect((await app.inject('/workflows?app=mail')).json()).toMatchObject([{ name: 'greet' }])
  })
})

test.each([
  '/runners?app=',
  '/runners?app=a&app=b',
  '/workflows?app=%20',
  `/workflows?app=${'x'.repeat(129)}`,
])('GET %s is refused', async url => {
  expect(refusal(await testApp().app.inject(url))).toBe('400 invalid_request')
})
