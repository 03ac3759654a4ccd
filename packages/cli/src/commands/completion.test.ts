// The completion scripts: bash executes its own; the scripts of zsh and fish name everything that the program has.

import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { ran } from '../ran.testkit.ts'

const scriptOf = async (shell: string) => (await ran(['completion', shell])).stdout

/** The words that bash offers after these, the last of which is being typed. */
function offered(script: string, words: readonly string[]): string[] {
  const code = `${script}
    COMP_WORDS=(perdure ${words.map(word => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}
    _perdure; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr } = spawnSync('bash', ['-c', code], { encoding: 'utf8', timeout: 20_000 })
  expect(stderr).toBe('')
  return stdout.split('\n').filter(word => word !== '')
}

test('bash completes commands, options and values of options', async () => {
  const script = await scriptOf('bash')
  const after = (...words: string[]) => offered(script, words)
  expect(after('ru')).toEqual(['runs', 'runners'])
  expect(after('')).toEqual(expect.arrayContaining(['serve', 'dev', 'events', 'keys', 'completion']))
  expect(after('runs', 'li')).toEqual(['list'])
  expect(after('runs', 'list', '--work')).toEqual(['--workflow'])
  expect(after('keys', 'create', '--kind', 'r')).toEqual(['read', 'runner'])
  expect(after('webhooks', 'endpoints', '')).toEqual(expect.arrayContaining(['list', 'create']))
  expect(after('serve', '--po')).toEqual(['--port'])
  // Ids and other arguments are not commands.
  expect(after('runs', 'get', 'run_1', '--js')).toEqual(['--json'])
  expect(after('nonsense', 'runs', 'li')).toEqual(['list'])
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
