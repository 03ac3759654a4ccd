// `connect()`: a runner over the Connect transport. See docs/decisions/0007-connect.md.

import { closeOnce } from '../runner/close-on-signals.ts'
import { createHandler } from '../runner/handler.ts'
import { createReady } from '../runner/ready.ts'
import { Link } from './link.ts'
import { type ConnectedRunner, type ConnectOptions, readSettings } from './options.ts'
import { Passes } from './passes.ts'
import { Reporter } from './reporter.ts'

/**
 * Connects a runner to the engine and keeps it connected. The runner needs no address: the engine sends invokes over the
 * socket that the runner opened. A lost connection is opened again, without a limit of attempts. Passes in flight
 * continue without a connection, and frames that the engine has not acknowledged are sent again. Throws a TypeError for
 * an invalid option and a ConfigError for an invalid environment variable. All other problems are reported by `ready`,
 * `log` and `onError`.
 */
export function connect(options: ConnectOptions): ConnectedRunner {
  const handler = createHandler(options)
  const settings = readSettings(options, handler)
  const passes = new Passes(handler)
  const reporter = new Reporter(settings.engine, options)
  const { ready, resolve, reject } = createReady()
  const links = Array.from(
    { length: settings.sockets },
    (_, index) =>
      new Link({
        settings,
        passes,
        index,
        onRegistered: reply => {
          reporter.registered(reply)
          resolve(reply)
        },
        onLost: end => {
          reporter.lost(end, isConnected())
          if (end.refused) reject(end.error)
        },
        onWarning: message => reporter.warned(message),
      }),
  )
  const isConnected = () => links.some(link => link.registered)
  for (const link of links) link.start()

  const end = async () => {
    await Promise.all(links.map(link => link.end(settings.closeTimeoutMs)))
    reject(new Error('The runner was closed'))
  }
  return {
    ready,
    get connected() {
      return isConnected()
    },
    close: closeOnce(end, options.handleSignals),
  }
}
