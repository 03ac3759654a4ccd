// `perdure console`: opens the console in a browser, signed in with a code that is valid once, within a minute.

import { spawn } from 'node:child_process'
import { type Command, Option } from 'commander'
import { type EngineOptions, engineCommand, show } from '../command-line/commands.ts'
import { consoleUrl } from '../command-line/console-url.ts'

interface ConsoleOptions extends EngineOptions {
  kind: 'read' | 'secret'
  browser: boolean
}

/** Adds `perdure console` to the program. */
export function consoleCommand(program: Command): void {
  engineCommand<ConsoleOptions>(
    program
      .command('console')
      .description('open the console, signed in for 12 hours')
      .addOption(new Option('--kind <kind>', 'what the session may do').choices(['read', 'secret']).default('read'))
      .option('--no-browser', 'print the address only'),
    ['perdure console', 'perdure console --no-browser --api-key pdk_secret_...'],
    async context => {
      const { client, options, json } = context
      const { open } = await client.whoami({}, context)
      const home = consoleUrl(options.url)
      // Without keys there is nothing to sign in to, and no key that could make a code.
      const made = open ? undefined : await client.makeSessionCode({ body: { kind: options.kind } }, context)
      const url = made === undefined ? home : `${home}#code=${made.code}`
      const isOpened = !json && options.browser && (await openBrowser(url))
      await show(context, { url, ...(made && { expiresAt: made.expiresAt }) }, () =>
        isOpened ? [`opened ${home}`] : [url],
      )
      return undefined
    },
  )
}

/** By platform: the program that opens an address. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
  linux: ['xdg-open'],
}

/** Opens the address in the user's browser. Returns false if this machine has no screen or no program that opens addresses. */
function openBrowser(url: string): Promise<boolean> {
  const [program, ...args] = OPENERS[process.platform] ?? []
  const hasScreen = process.platform !== 'linux' || !!(process.env.DISPLAY || process.env.WAYLAND_DISPLAY)
  if (program === undefined || !process.stdout.isTTY || !hasScreen) return Promise.resolve(false)
  return new Promise(resolve => {
    const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true })
    child.once('error', () => resolve(false)).once('spawn', () => resolve(true))
    child.unref()
  })
}
