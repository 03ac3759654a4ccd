// The completion scripts: bash executes its own; the scripts of zsh and fish name everything that the program has.

import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { ran } from '../ran.testkit.ts'

const scriptOf = async (shell: string) => (await ran(['completion', shell])).stdout

/** The words that bash offers after each of these lines, whose last word is being typed. */
function offered(script: string, lines: readonly string[][]): string[][] {
  const asked = lines.map(
    words => `COMP_WORDS=(perdure ${words.map(word => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}
    COMPREPLY=(); _perdure; printf '%s\\n' "\${COMPREPLY[@]}" --`,
  )
  const { stdout, stderr } = spawnSync('bash', ['-c', [script, ...asked].join('\n')], {
    encoding: 'utf8',
    timeout: 20_000,
  })
  expect(stderr).toBe('')
  return stdout
    .split('\n--\n')
    .slice(0, -1)
    .map(words => words.split('\n').filter(word => word !== ''))
}

test('bash completes commands, options and values of options', async () => {
  const cases: [string[], unknown][] = [
    [['ru'], ['runs', 'runners']],
    [[''], expect.arrayContaining(['serve', 'dev', 'events', 'keys', 'completion'])],
    [['runs', 'li'], ['list']],
    [['runs', 'list', '--work'], ['--workflow']],
    [
      ['keys', 'create', '--kind', 'r'],
      ['read', 'runner'],
    ],
    [['webhooks', 'endpoints', ''], expect.arrayContaining(['list', 'create'])],
    [['serve', '--po'], ['--port']],
    // Ids and other arguments are not commands.
    [['runs', 'get', 'run_1', '--js'], ['--json']],
    [['nonsense', 'runs', 'li'], ['list']],
  ]
  const words = offered(
    await scriptOf('bash'),
    cases.map(([line]) => line),
  )
  expect(words).toEqual(cases.map(([, expected]) => expected))
})

test('zsh uses the functions of bash', async () => {
  const bash = await scriptOf('bash')
  expect(await scriptOf('zsh')).toBe(`autoload -U +X bashcompinit && bashcompinit\n${bash}`)
})

test('fish has a line for each command and option', async () => {
  const lines = (await scriptOf('fish')).split('\n')
  expect(lines).toContainEqual(
    expect.stringMatching(/^complete -c perdure -n '__perdure_at " runs"' -f -a 'list' -d '.+'$/),
  )
  expect(lines).toContainEqual(
    expect.stringMatching(
      /^complete -c perdure -n '__perdure_at " keys create"' -l 'kind' -x -a 'secret read event runner'/,
    ),
  )
  expect(lines).toContainEqual(expect.stringMatching(/'__perdure_at " dev"' -l 'port' -r/))
})

test('another shell is bad usage', async () => {
  expect(await ran(['completion', 'tcsh'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('bash, zsh, fish'),
  })
})
