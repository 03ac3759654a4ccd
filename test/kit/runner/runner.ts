// Opens runners over HTTP, or over Connect where the environment of the project `connect` says so. Tests that work
// over both transports open their runners here.

import { test } from 'vitest'
import { ConnectRunner } from './connect-runner.ts'
import { PlainRunner, type PlainRunnerOptions } from './plain-runner.ts'

const isConnect = process.env.PERDURE_TEST_TRANSPORT === 'connect'

/** Opens a runner that can be registered. */
export async function openRunner(options: PlainRunnerOptions): Promise<PlainRunner> {
  return isConnect ? new ConnectRunner(options) : new PlainRunner(options).listen()
}

/** A test of something specific to HTTP, with the reason. The project `connect` skips it. */
export function overHttp(_why: string): typeof test {
  return test.skipIf(isConnect) as typeof test
}
