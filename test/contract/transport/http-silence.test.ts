// A runner's machine that vanishes: the engine does not wait for its calls when another runner takes them.

import { expect, it } from 'vitest'
import { VanishingHost } from '../../kit/servers/vanishing-host.ts'
import { until } from '../../kit/until.ts'
import { closesOpened, open } from './open-http.ts'

closesOpened()

it('a machine that vanishes takes no more calls, until it is back', async () => {
  const host = await VanishingHost.open()
  const { transport, invoke } = await open(() => {})
  const url = `http://127.0.0.1:${host.port}/invoke`
  const call = () => invoke({ url, timeoutMs: 60_000, mayMove: () => true })
  expect(await call()).toMatchObject({ kind: 'answered' })
  await host.vanish()
  // One uses the open connection, the other needs a new one.
  const [sent, unconnected] = await Promise.all([call(), call()])
  expect(sent).toEqual({ kind: 'refused', message: 'the machine of the runner does not answer', isSilent: true })
  expect(unconnected).toEqual({
    kind: 'refused',
    message: 'the host did not accept the connection within 2000 ms',
    isSilent: true,
  })
  expect(transport.reaches(url)).toBe(false)
  host.comeBack()
  await until(() => transport.reaches(url))
  expect(await call()).toMatchObject({ kind: 'answered' })
})
