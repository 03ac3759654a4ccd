// Checks whether PostgreSQL and Redis answer, on this machine unless `PERDURE_TEST_POSTGRES` and `PERDURE_TEST_REDIS` name
// others. vitest.config.ts calls it once. A run that must skip nothing (`npm run test:night`, or one with `CI=true`) fails when
// a server is missing.

import { connect } from 'node:net'
import { isNight } from './part.ts'

const POSTGRES_URL = process.env.PERDURE_TEST_POSTGRES ?? 'postgres://postgres@127.0.0.1:5432/test'
const REDIS_URL = process.env.PERDURE_TEST_REDIS ?? 'redis://127.0.0.1:6379'
const ANSWER_MS_MAX = 2000

/** Whether a missing server is a failure. */
export const isStrict = isNight || process.env.CI === 'true' || process.env.CI === '1'

/**
 * True when both servers answer. Otherwise prints in one line which tests are skipped, or throws when none may be skipped.
 */
export async function haveServers(): Promise<boolean> {
  const [postgres, redis] = await Promise.all([answers(POSTGRES_URL, 5432), answers(REDIS_URL, 6379)])
  if (postgres && redis) return true
  const missing = [postgres ? '' : 'PostgreSQL', redis ? '' : 'Redis'].filter(name => name !== '').join(' and ')
  if (isStrict) throw new Error(`${missing} must answer for all tests to run: see CONTRIBUTING.md`)
  console.warn(`${missing} cannot be reached: the project "postgres" and all tests that need them are LEFT OUT`)
  return false
}

function answers(url: string, defaultPort: number): Promise<boolean> {
  const { hostname, port } = new URL(url)
  return new Promise(resolve => {
    const socket = connect(Number(port || defaultPort), hostname)
    const end = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(ANSWER_MS_MAX, () => end(false))
    socket.on('connect', () => end(true)).on('error', () => end(false))
  })
}
