import { expect, test } from 'vitest'
import { withoutPassword } from './service-url.ts'

test('an address is shown without its password, in its place or among the parameters', () => {
  const told = withoutPassword('postgres://ann:s3cret@db.example:5432/app?password=s3cret&sslmode=require')
  expect(told).toBe('postgres://ann:***@db.example:5432/app?password=***&sslmode=require')
  expect(withoutPassword('redis://127.0.0.1:6379/2')).toBe('redis://127.0.0.1:6379/2')
})
