// `@perdure/sdk/elysia`: serves inside an Elysia app, as a plugin. Elysia is typed by shape, so this file does not import
// it.

import type { OptionNames } from '@perdure/client/internal'
import { createHandlerFor, type HandlerOptions } from '../runner/handler.ts'
import { ADAPTER_OPTIONS, counted, type SignalOptions, startLeavingOnSignals } from '../runner/leave-on-signals.ts'
import type { Registration, RegistrationOptions } from '../runner/registration.ts'
import { createFetchHandler } from './fetch.ts'

/** The workflows to serve in an Elysia app, and how they are registered. */
export interface ElysiaPluginOptions extends HandlerOptions, RegistrationOptions, SignalOptions {
  /** Path of the invoke endpoint. Default `/invoke`. */
  path?: string
  /** URL at which the engine reaches the invoke endpoint. Default: the address at which the app listens. */
  url?: string
  /** Register with the engine. Default true. */
  register?: boolean
}

const OPTIONS: OptionNames<ElysiaPluginOptions> = { ...ADAPTER_OPTIONS, register: true }

/** The part of an Elysia app that the plugin uses. */
export interface ElysiaApp {
  all(
    path: string,
    handler: (context: { request: Request; server?: unknown }) => Promise<Response>,
    hook: { parse: 'none' },
  ): unknown
  onStart(handler: (app: { server: { url: URL; hostname?: string } | null }) => void): unknown
  onStop(handler: () => void): unknown
}

/**
 * Creates the plugin: `new Elysia().use(perdure({ app: 'shop', workflows }))`. It adds the invoke endpoint, registers it
 * with the engine when the app starts to listen, and leaves when the app stops.
 */
export function perdure(options: ElysiaPluginOptions): <App extends ElysiaApp>(elysia: App) => App {
  const { path = '/invoke' } = options
  const handler = counted(createHandlerFor('perdure', options, OPTIONS))
  const handle = createFetchHandler(handler)
  return elysia => {
    elysia.all(path, ({ request, server }) => handle(request, server), { parse: 'none' })
    if (options.register === false) return elysia
    let registration: Registration | undefined
    elysia.onStart(({ server }) => {
      if (server?.hostname !== undefined) handler.listensOn(server.hostname)
      const url = options.url ?? (server ? new URL(path, server.url).href : undefined)
      if (url === undefined) throw new TypeError('The adapter does not know where Elysia listens: give a `url`')
      registration = startLeavingOnSignals(handler, { url, framework: 'elysia' }, options)
    })
    elysia.onStop(() => registration?.leave())
    return elysia
  }
}
