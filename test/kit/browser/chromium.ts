// Finds the Chromium of this machine. vitest.config.ts calls this once. Without a Chromium, the project `console` is skipped,
// with one line; a run with `CI=true` fails.

import { existsSync } from 'node:fs'
import { isStrict } from '../../servers.ts'

/** The headless shell has no windows, and takes two thirds of the CPU of the whole browser. */
const PLACES = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']

/** The path on Debian; `CHROMIUM` names another. */
export const CHROMIUM = process.env.CHROMIUM ?? PLACES.find(existsSync) ?? '/usr/bin/chromium'

/** Whether the tests of the console can run. Throws where no test may be skipped. */
export function haveChromium(): boolean {
  if (existsSync(CHROMIUM)) return true
  if (isStrict)
    throw new Error(
      `${CHROMIUM} must be there for all tests to run: apt-get install chromium-headless-shell, or set CHROMIUM`,
    )
  console.warn(`${CHROMIUM} is not there: the project "console" is LEFT OUT`)
  return false
}
