// A shell in an empty folder, for the commands of the pages. `perdure` runs in one process for all command lines. Programs that
// a test machine does not have, or that other tests run, do nothing.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onCleanup } from '../cleanup.ts'
import { CommandHost } from '../engine/cli-process.ts'
import { within } from '../until.ts'
import { root } from './blocks.ts'

/** Commands that do not end by themselves, or need their own runner. The tests of the commands run them as processes. */
const ENDLESS = [
  'serve*',
  'dev*',
  'webhooks\\ listen*',
  'events\\ tail',
  'runs\\ watch',
  'runs\\ watch\\ --json',
  'stream\\ *',
  'conform*',
]

/** Sends the command line to the test; the status of the answer is its exit code. A lone `-` is the input. */
const PERDURE = `#!/usr/bin/env bash
case "$*" in ${ENDLESS.join('|')}) exit 0 ;; esac
out=$(mktemp "$SHIM_FOLDER/out.XXXXXX")
args=()
for arg in "$@"; do
  if [ "$arg" = - ]; then cat > "$out.in"; arg="@$out.in"; fi
  args+=("$arg")
done
code=$({ printf '%s\\0' "\${args[@]}" ENV; env -0 | grep -z '^ENGINE_'; } |
  /usr/bin/curl -s --data-binary @- -o "$out" -w '%{http_code}' "$SHIM_URL")
cat "$out"
cat "$SHIM_FOLDER/perdure.err" >&2
exit $((code - 200))
`

/** Adds the API key. Fails when the answer is not a success, or does not end. */
const CURL = `#!/usr/bin/env bash
case "$*" in *uthorization*) ;; *) set -- -H "Authorization: Bearer $ENGINE_API_KEY" "$@" ;; esac
exec /usr/bin/curl -s --fail-with-body --max-time 20 "$@"
`

/** \`npm run\` needs a script of that name; the tests of the packages and of the examples run the rest. */
const NPM = `#!/usr/bin/env bash
if [ "$1" = run ]; then jq -e --arg name "$2" '.scripts[$name]' "$ROOT/package.json" > /dev/null; fi
`

const NOTHING = '#!/usr/bin/env bash\n'

export class Shell {
  readonly folder = mkdtempSync(join(tmpdir(), 'perdure-shell-'))
  readonly #env: Record<string, string>
  readonly #host: CommandHost

  private constructor(env: Record<string, string>) {
    this.#env = env
    onCleanup(() => rmSync(this.folder, { recursive: true, force: true }))
    this.#host = new CommandHost(this.folder)
  }

  static async open(env: Record<string, string>): Promise<Shell> {
    const shell = new Shell(env)
    for (const [name, script] of Object.entries({ perdure: PERDURE, curl: CURL, npm: NPM }))
      shell.#program(name, script)
    for (const name of ['docker', 'kubectl', 'npx', 'node']) shell.#program(name, NOTHING)
    shell.#program('../node_modules/.bin/perdure', PERDURE)
    const server = createServer(async (request, response) => {
      let text = ''
      for await (const chunk of request.setEncoding('utf8')) text += chunk
      const words = text.split('\0').slice(0, -1)
      const end = words.lastIndexOf('ENV')
      const settings = words.slice(end + 1).map(pair => [pair.split('=')[0], pair.slice(pair.indexOf('=') + 1)])
      const exit = await shell.#host.run(words.slice(0, end), Object.fromEntries(settings))
      shell.write('perdure.err', exit.stderr)
      response.writeHead(200 + (exit.code ?? 1)).end(exit.stdout)
    }).listen(0, '127.0.0.1')
    onCleanup(() => server.close())
    await once(server, 'listening')
    shell.#env.SHIM_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return shell
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true })
    writeFileSync(join(this.folder, path), text)
  }

  /** Runs a script; a command that fails ends it. Resolves with its output; rejects when it failed, naming the command. */
  async run(script: string): Promise<string> {
    const traced = `set -Ee -o pipefail\ntrap 'echo "failed: $BASH_COMMAND" >&2' ERR\n${script}`
    const child = spawn('bash', ['-c', traced], {
      cwd: this.folder,
      env: {
        PATH: `${join(this.folder, 'bin')}:${process.env.PATH}`,
        HOME: this.folder,
        ROOT: root,
        SHIM_FOLDER: this.folder,
        ...this.#env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    onCleanup(() => void child.kill('SIGKILL'))
    const printed = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        printed[name] += text
      })
    const [code] = (await within(once(child, 'close'), 'the end of the script')) as [number]
    if (code !== 0) throw new Error(`${printed.stderr}\n${printed.stdout}`)
    return printed.stdout
  }

  #program(name: string, script: string): void {
    this.write(`bin/${name}`, script)
    chmodSync(join(this.folder, 'bin', name), 0o755)
  }
}
