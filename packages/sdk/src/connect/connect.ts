// `connect()`: a runner over the Connect transport. See docs/decisions/0007-connect.md.

import type { RegisterReply } from '@perdure/protocol'
import { deferred } from '../run/deferred.ts'
import { closeOnce } from '../runner/close-on-signals.ts'
import { createHandlerFor } from '../runner/handler.ts'
import { StateLog } from '../runner/state-log.ts'
import { Beats } from './beats.ts'
import type { SocketEnd } from './failure.ts'
import { Link } from './link.ts'
import { CONNECT_OPTIONS, type ConnectedRunner, type ConnectOptions, readSettings } from './options.ts'
import { Passes } from './passes.ts'

/**
 * Connects a runner to the engine and keeps it connected. The runner needs no address: the engine sends invokes over the socket
 * that the runner opened. The runner reopens a lost connection, however often that takes. Passes in flight continue without a
 * connection, and frames that the engine has not acknowledged are sent again. Throws a TypeError for an invalid option and a
 * ConfigError for an invalid environment variable. All other problems are reported by `ready`, `log` and `onError`.
 */
export function connect(options: ConnectOptions): ConnectedRunner {
  const handler = createHandlerFor('connect', options, CONNECT_OPTIONS)
  const settings = readSettings(options, handler)
  const passes = new Passes(handler)
  const { engines } = settings
  const log = new StateLog(options)
  const { promise: ready, resolve, reject } = deferred<RegisterReply>()
  const { apiKey, instances } = settings
  const beats = new Beats({ urls: engines.urls.map(url => `${url}/connect`), apiKey, instances })
  const linkOptions = {
    settings,
    passes,
    beats,
    onRegistered(reply: RegisterReply, url: string) {
      // Without a runner id the engine invents one for each socket, so the log line leaves it out.
      const name = reply.runnerId.startsWith('conn:') ? '' : ` as ${reply.runnerId}`
      log.registered(reply, `Connected to ${url}${name}: ${reply.workflows} workflows`, handler.warnings)
      resolve(reply)
    },
    onLost({ error, refused }: SocketEnd, url: string) {
      const problem = refused ? `${url} refuses this runner` : `No connection to ${engines}, retrying`
      if (!isConnected()) log.failed(error, refused, problem)
      if (refused) reject(error)
    },
    onWarning: (message: string, url: string) => log.write('warn', `${url}: ${message}`),
  }
  const links = Array.from({ length: settings.sockets }, (_, index) => new Link({ ...linkOptions, index }))
  const isConnected = () => links.some(link => link.registered)
  for (const link of links) link.start()

  const end = async () => {
    handler.leaves()
    await Promise.all(links.map(link => link.end(settings.closeTimeoutMs)))
    beats.stop()
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
