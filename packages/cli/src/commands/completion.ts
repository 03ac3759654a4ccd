// `perdure completion`: prints a script with which a shell completes commands, options and their values. It is made from the
// program, so it contains every command.

import { type Command, Option } from 'commander'

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

/** One command of the program, with its place in it: `["runs", "list"]`. */
interface Place {
  path: readonly string[]
  commands: readonly Named[]
  options: readonly (Named & { takesValue: boolean; values: readonly string[] })[]
}

interface Named {
  name: string
  description: string
}

const HELP = `
Examples:
  echo 'source <(perdure completion bash)' >> ~/.bashrc
  echo 'source <(perdure completion zsh)' >> ~/.zshrc
  perdure completion fish > ~/.config/fish/completions/perdure.fish`

/**
 * Adds `perdure completion`. `whole` returns the program with every command; `flags` returns the flags of commands that it does
 * not parse.
 */
export function completionCommand(program: Command, whole: () => Promise<{ program: Command; flags: FlagsOf }>): void {
  program
    .command('completion')
    .description('print the script with which a shell completes commands')
    .argument('<shell>', SHELLS.join(', '))
    .addHelpText('after', HELP)
    .action(async (shell: string) => {
      const known = SHELLS.find(one => one === shell)
      if (!known) throw program.error(`perdure: the shell must be one of ${SHELLS.join(', ')}`, { exitCode: 2 })
      const { program: all, flags } = await whole()
      process.stdout.write(completionScript(known, all, flags))
    })
}

/** The flags of each command that the program does not parse itself, such as `serve`, without dashes. */
type FlagsOf = ReadonlyMap<string, readonly string[]>

function completionScript(shell: Shell, program: Command, flags: FlagsOf): string {
  const places = placesOf(program, [], flags)
  if (shell === 'fish') return fish(places)
  // zsh understands functions written for bash.
  const before = shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''
  return before + bash(places)
}

function placesOf(command: Command, path: readonly string[], flags: FlagsOf): Place[] {
  const own = command.options.filter(({ hidden }) => !hidden).map(optionOf)
  const unparsed = (flags.get(path.join(' ')) ?? []).map(flag => optionOf(new Option(`--${flag} <value>`)))
  const commands = command.commands.map(child => ({ name: child.name(), description: child.description() }))
  const inner = command.commands.flatMap(child => placesOf(child, [...path, child.name()], flags))
  return [{ path, commands, options: [...own, ...unparsed] }, ...inner]
}

function optionOf({ long, short, description, required, optional, argChoices = [] }: Option): Place['options'][number] {
  return { name: long ?? short ?? '', description, takesValue: required || optional, values: argChoices }
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
const keyOf = (path: readonly string[]) => path.map(name => ` ${name}`).join('')

function bash(places: readonly Place[]): string {
  const paths = places.map(({ path }) => quoted(keyOf(path)))
  const words = places.map(({ path, commands, options }) => {
    const names = [...commands, ...options].map(({ name }) => name).join(' ')
    return `    ${quoted(keyOf(path))}) words=${quoted(names)} ;;`
  })
  const values = places.flatMap(({ path, options }) =>
    options
      .filter(({ values }) => values.length > 0)
      .map(({ name, values }) => `    ${quoted(`${keyOf(path)} ${name}`)}) words=${quoted(values.join(' '))} ;;`),
  )
  return `_perdure() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" at='' words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
    ${paths.join(' | ')}) at="$at \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at" in
${words.join('\n')}
  esac
  case "$at \${COMP_WORDS[COMP_CWORD - 1]}" in
${values.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _perdure perdure
`
}

function fish(places: readonly Place[]): string {
  const paths = places.map(({ path }) => quoted(keyOf(path)))
  const lines = places.flatMap(({ path, commands, options }) => {
    const at = `complete -c perdure -n ${quoted(`__perdure_at "${keyOf(path)}"`)}`
    return [
      ...commands.map(({ name, description }) => `${at} -f -a ${quoted(name)} -d ${quoted(description)}`),
      ...options
        .filter(({ name }) => name.startsWith('--'))
        .map(({ name, description, takesValue, values }) => {
          const value = values.length > 0 ? ` -x -a ${quoted(values.join(' '))}` : takesValue ? ' -r' : ''
          return `${at} -l ${quoted(name.slice(2))}${value} -d ${quoted(description)}`
        }),
    ]
  })
  return `function __perdure_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    switch "$at $word"
      case ${paths.join(' ')}
        set at "$at $word"
    end
  end
  test "$at" = "$argv[1]"
end
${lines.join('\n')}
`
}
