// Which way the runners of the tests are reached: over HTTP, or over Connect in the project `connect`, whose environment
// says so. Everything that opens a runner without caring for the way opens it here.

import { test } from 'vitest'
import { ConnectRunner } from './connect-runner.ts'
import { PlainRunner, type PlainRunnerOptions } from './plain-runner.ts'

const isConnect = process.env.PERDURE_TEST_TRANSPORT === 'connect'

/** A runner that can be registered. */
export async function openRunner(options: PlainRunnerOptions): Promise<PlainRunner> {
  return isConnect ? new ConnectRunner(options) : new PlainRunner(options).listen()
}

/** A test of something that only HTTP has, and why: over Connect it is left out. */
export function overHttp(_why: string): typeof test {
  return test.skipIf(isConnect) as typeof test
}
