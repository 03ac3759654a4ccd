import { expect, test } from 'vitest'
import { postJson, testApp } from '../../../../../../test/kit/http/test-app.ts'

test('apps are ordered by code unit, whatever the locale of the machine', async () => {
  const { app } = await testApp()
  for (const name of ['b', 'a', 'B', 'ä']) {
    await postJson(app, '/register', JSON.stringify({ app: name, url: `http://127.0.0.1:9/`, workflows: [] }))
  }
  const apps = (await app.inject('/apps')).json()
  expect(apps.map((row: { name: string }) => row.name)).toEqual(['B', 'a', 'b', 'ä'])
})
