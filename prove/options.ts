// The command line of `npm run prove`.

export interface ProveOptions {
  /** Names of the suites to run; all if empty. */
  suites: readonly string[]
  isQuick: boolean
  seed: number
  /** Replaces the count of every chosen suite. */
  count?: number
  /** Replaces the length of suites that run for a fixed time. */
  minutes?: number
  /** Only print the suites. */
  isListOnly: boolean
}

const SEED_MAX = 2 ** 31 - 1

export const usage = (suites: readonly string[]) => `npm run prove -- [suites] [options]

  suites       ${suites.slice(0, 7).join(' ')}
               ${suites.slice(7).join(' ')} (default: all)
  --quick      small counts: all suites within five minutes
  --count N    how often the trouble happens, for the suites that count it
  --minutes N  how long suites run that last for a time
  --seed N     repeats the choices of an earlier run
  --list       print the suites and what each proves
`

/** Parses the arguments. Throws an error of one line if it cannot parse them. */
export function readOptions(args: readonly string[], known: readonly string[]): ProveOptions {
  const options: ProveOptions = { suites: [], isQuick: false, seed: randomSeed(), isListOnly: false }
  const suites: string[] = []
  for (let i = 0; i < args.length; i++) {
    const [flag = '', inline] = (args[i] as string).split('=', 2)
    if (!flag.startsWith('-')) suites.push(flag)
    else if (flag === '--quick') options.isQuick = true
    else if (flag === '--list') options.isListOnly = true
    else if (flag === '--count') options.count = whole(flag, inline ?? args[++i])
    else if (flag === '--seed') options.seed = whole(flag, inline ?? args[++i])
    else if (flag === '--minutes') options.minutes = positive(flag, inline ?? args[++i])
    else throw new Error(`there is no option ${flag}`)
  }
  const unknown = suites.find(name => !known.includes(name))
  if (unknown !== undefined) throw new Error(`there is no suite ${unknown}; there are ${known.join(', ')}`)
  return { ...options, suites }
}

function randomSeed(): number {
  return Date.now() % 1_000_000
}

function positive(flag: string, text: string | undefined): number {
  const value = Number(text)
  if (!(value > 0)) throw new Error(`${flag} must be a number above 0, not "${text}"`)
  return value
}

function whole(flag: string, text: string | undefined): number {
  const value = positive(flag, text)
  if (!Number.isInteger(value) || value > SEED_MAX) throw new Error(`${flag} must be an integer up to ${SEED_MAX}`)
  return value
}
