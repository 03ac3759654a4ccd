// Reads a Dockerfile as far as the tests of the image need it: stages, their instructions, and what COPY copies.

interface Instruction {
  /** The instruction: `COPY`, `RUN`, ... */
  readonly word: string
  readonly rest: string
}

export interface Stage {
  readonly name: string
  /** The base of the stage: an image, or an earlier stage. */
  readonly from: string
  readonly instructions: readonly Instruction[]
}

export interface Copy {
  /** The stage to copy from. Absent: the build context. */
  readonly from?: string | undefined
  readonly sources: readonly string[]
  readonly to: string
}

/** The stages in order. Throws on instructions before the first FROM. */
export function readDockerfile(text: string): Stage[] {
  const stages: (Stage & { instructions: Instruction[] })[] = []
  for (const line of lines(text)) {
    const [, word, rest] = /^(\w+)\s+(.*)$/.exec(line) as unknown as [string, string, string]
    if (word === 'FROM') {
      const [from, , name = ''] = rest.split(/\s+/)
      stages.push({ name, from: from as string, instructions: [] })
      continue
    }
    const stage = stages.at(-1)
    if (!stage) throw new Error(`${word} comes before FROM`)
    stage.instructions.push({ word, rest })
  }
  return stages
}

export function copiesOf({ instructions }: Stage): Copy[] {
  return instructions
    .filter(({ word }) => word === 'COPY')
    .map(({ rest }) => {
      const words = rest.split(/\s+/)
      const paths = words.filter(word => !word.startsWith('--'))
      const from = words.find(word => word.startsWith('--from='))?.slice('--from='.length)
      return { from, sources: paths.slice(0, -1), to: paths.at(-1) as string }
    })
}

/**
 * The value of the stage's last instruction of this name that is a JSON list: CMD, ENTRYPOINT, VOLUME, a health
 * check.
 */
export function listOf({ instructions }: Stage, word: string): string[] {
  const rest = instructions.findLast(instruction => instruction.word === word)?.rest ?? '[]'
  return JSON.parse(rest.slice(rest.indexOf('['))) as string[]
}

/** The variables that the stage sets. */
export function environmentOf({ instructions }: Stage): Record<string, string> {
  const pairs = instructions.filter(({ word }) => word === 'ENV').flatMap(({ rest }) => rest.split(/\s+/))
  return Object.fromEntries(pairs.map(pair => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]))
}

/** Lines without comments, each joined with its continuations. */
function lines(text: string): string[] {
  const code = text.split('\n').filter(line => !line.trimStart().startsWith('#'))
  return code
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter(line => line.trim() !== '')
}
